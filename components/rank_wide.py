"""What rank shows of random maps of thousands of features, at the draw with which a page begins: kept as a file.

Their directions, kernel matrix and decompositions take 25 to 200 ms, and a link brings them to the page.
`python -m components.rank_wide` computes the file anew, in two seconds of one core.
"""

from __future__ import annotations

import json
from datetime import date
from functools import cache, lru_cache

import numpy as np

from components.assets import ASSETS
from components.kept import is_readable, opened
from components.offered import WIDE, slid
from components.rank_steps import FINE, near, packed, stacked, steps_of, unpacked
from components.rank_values import CELLS, EXTENTS, STOPS, TOLERANCES, computed, counted, first, is_first, painted
from components.words import WIDTHS, WORDS
from compute.feature_maps import FeatureMap, read_member, spell
from compute.rank import PRECISIONS

FILE = ASSETS / "wide.npz"

FIRST = WORDS["seed"].default

DEAR = 2048
"""Directions from which on the kernel matrix and its pictures take 15 ms, however wide the head is."""

PAIRS = [(phi, d_k) for phi, d_k in slid() if (phi, d_k) in WIDE or phi.m >= DEAR]
"""Maps that are kept, each with its width of a head."""


def is_kept(phi: FeatureMap | None, d_k: int, seed: int, precision: str = "float64", mask: str = "none") -> bool:
    """Whether the file holds what rank shows of a map as it is now."""
    return mask == "none" and seed == FIRST and (phi, d_k) in PAIRS and holds(phi, d_k)


@cache
def holds(phi: FeatureMap, d_k: int) -> bool:
    """Whether the file was made of the family as it is now: the same formula at its default number of directions tells,
    for the directions are what is saved."""
    if not is_readable(FILE, f"the rank of {spell(phi)} at d_k = {d_k}", lambda: (load("first"), _read(phi, d_k))):
        return False
    return is_first(load("first")[_families().index(phi.word), WIDTHS.index(d_k)], read_member(phi.word), d_k)


def made(*_: object) -> tuple[str, float]:
    """When what `is_kept` was computed, and how far a value may be from one computed anew, as a share of it."""
    return str(load("date")), near(FINE)


def kept(phi: FeatureMap, d_k: int, seed: int, precision: str = "float64", mask: str = "none") -> np.ndarray:
    """`computed` of what `is_kept`, as `near` as its steps; every value has the ranks that it had."""
    lengths = [*STOPS] * len(PRECISIONS)
    steps = np.split(unpacked(_read(phi, d_k)["steps"], lengths), len(PRECISIONS))
    return stacked(steps[PRECISIONS.index(precision)], STOPS, FINE)


def blocks(phi: FeatureMap, d_k: int, precision: str) -> np.ndarray:
    """`counted` of what `is_kept`."""
    return np.cumsum(_read(phi, d_k)["blocks"][PRECISIONS.index(precision)], axis=-1, dtype=np.int64)


def picture(phi: FeatureMap, d_k: int) -> np.ndarray:
    """`painted` of what `is_kept`."""
    return _read(phi, d_k)["picture"]


def _read(phi: FeatureMap, d_k: int) -> dict[str, np.ndarray]:
    """What the file has of a map, 20 kB."""
    return {part: load(f"{spell(phi)}.{d_k}.{part}") for part in ("steps", "blocks", "picture")}


@lru_cache(maxsize=16)
def load(name: str) -> np.ndarray:
    """A part of the file.  ValueError if it was made for other stops, tolerances or maps."""
    with opened(FILE, _made(), "components.rank_wide") as told:
        return told[name]


def _families() -> list[str]:
    return list(dict.fromkeys(phi.word for phi, _ in slid()))


def _made() -> str:
    about = {"steps": FINE, "tolerances": [f"{rtol:.3g}" for rtol in TOLERANCES], "cells": CELLS, "extents": EXTENTS}
    return json.dumps({"maps": [f"{spell(phi)}.{d_k}" for phi, d_k in PAIRS], "stops": STOPS, **about})


def _parts(phi: FeatureMap, d_k: int) -> dict[str, np.ndarray]:
    spectra = [computed(phi, d_k, FIRST, precision) for precision in PRECISIONS]
    ranks = np.array([counted(phi, d_k, FIRST, precision) for precision in PRECISIONS], dtype=np.uint8)
    return {
        "steps": packed([steps_of(row[:N], FINE) for rows in spectra for N, row in zip(STOPS, rows)]),
        "blocks": np.diff(ranks, axis=-1, prepend=np.uint8(0)),
        "picture": painted(phi, d_k, FIRST, "none"),
    }


def save() -> None:
    told = {f"{spell(phi)}.{d_k}.{part}": of for phi, d_k in PAIRS for part, of in _parts(phi, d_k).items()}
    told["first"] = np.array([[first(read_member(word), d_k) for d_k in WIDTHS] for word in _families()])
    np.savez_compressed(FILE, made=_made(), date=date.today().isoformat(), **told)


if __name__ == "__main__":
    save()
