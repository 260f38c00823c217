"""Singular values of every map at its defaults, for the draws of a page: computed once, kept as a file.

A draw that nobody asked for before would cost a page 30 ms of decompositions.  `python -m components.rank_kept`
computes them anew; it takes half a minute of one core.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from components.rank_values import LARGEST, STOPS, computed
from components.words import PHIS, SOFTMAX, WIDTHS, WORDS
from compute.feature_maps import FeatureMap, read_member

LOG = logging.getLogger(__name__)
FILE = Path(__file__).resolve().parent.parent / "assets" / "spectra.npz"

EVERY, DRAWS = 32, 100
"""Seeds from 0 that are kept at every width, and at the default width: as many as fit into a megabyte."""

STEPS = 600
"""A value is kept as the step it lies on, so many to a decade: at most 0.2 % beside it.  Each tolerance of the page
lies between two steps, hence ranks are counted as of the values themselves."""

LOWEST = 14 * STEPS
"""The step of zero: what is smaller is drawn there."""

NEAR, CLEAR = 2e-3, 1e-11
"""How far a kept value may be from one computed anew, where roundoff does not reach it."""

MEMBERS: dict[FeatureMap | None, str] = {None: SOFTMAX, **{read_member(w): w for w in PHIS if w != SOFTMAX}}


def is_kept(phi: FeatureMap | None, d_k: int, seed: int) -> bool:
    """Whether the file holds the singular values of a map as it is now."""
    word = MEMBERS.get(phi)
    return word is not None and d_k in widths(seed) and readable(0) and readable(seed) and holds(word, d_k)


@cache
def readable(seed: int) -> bool:
    """Whether the file gives this draw.  What is missing or damaged is computed instead, and said once in the log."""
    try:
        load()
        _steps(seed)
    except Exception as error:  # a broken archive has a dozen ways to say so, and no page depends on it
        LOG.warning("%s: draw %d is computed instead of read (%s)", FILE, seed, error)
        return False
    return True


def widths(seed: int) -> tuple[int, ...]:
    """The widths at which a draw is kept."""
    if 0 <= seed < EVERY:
        return WIDTHS
    return (WORDS["d_k"].default,) if EVERY <= seed < DRAWS else ()


def kept(phi: FeatureMap | None, d_k: int, seed: int) -> np.ndarray:
    """`computed` in float64 of what `is_kept`, within NEAR; every value has the ranks that it had."""
    return _values(MEMBERS[phi], d_k, seed)


@cache
def holds(word: str, d_k: int) -> bool:
    """Whether the file was made of the map as it is now: as wide, and with the same spectrum of the first tokens."""
    phi = next(phi for phi, name in MEMBERS.items() if name == word)
    if load()["most"].get(str(d_k), {}).get(word) != _most(phi, d_k):
        return False
    now = computed(phi, d_k, 0, "float64", STOPS[:1])[0]
    return np.allclose(_values(word, d_k, 0)[0, : STOPS[0]], now, rtol=NEAR, atol=CLEAR)


def _most(phi: FeatureMap | None, d_k: int) -> int:
    """Values that may differ from zero, at any number of tokens here."""
    return LARGEST if phi is None else min(LARGEST, phi.rank_bound(d_k))


def _values(word: str, d_k: int, seed: int) -> np.ndarray:
    told = np.full((len(STOPS), LARGEST), np.nan)
    start, lengths = _places(widths(seed))[d_k, word]
    for row, N, length in zip(told, STOPS, lengths):
        row[:N] = 0
        row[:length] = values_at(_steps(seed)[start : start + length])
        start += length
    return told


def steps_of(values: np.ndarray) -> np.ndarray:
    """The steps that relative singular values lie on, 0 from 1 downwards."""
    return np.minimum(np.floor(-np.log10(np.maximum(values, np.finfo(float).tiny)) * STEPS), LOWEST)


def values_at(steps: np.ndarray) -> np.ndarray:
    """The middles of steps; the first value is 1, the last step stands for 0."""
    told = np.where(steps < LOWEST, 10 ** (-(steps + 0.5) / STEPS), 0)
    told[0] = 1
    return told


@cache
def load() -> dict:
    """What is said of the file.  ValueError if it was made for other numbers of tokens."""
    with FILE.open("rb") as raw, np.load(raw) as file:
        made = json.loads(str(file["made"]))
    if (made["stops"], made["steps"], made["draws"]) != (list(STOPS), STEPS, [EVERY, DRAWS]):
        raise ValueError(f"{FILE.name} was made for other stops; run python -m components.rank_kept")
    return made


@cache
def _places(kept: tuple[int, ...]) -> dict[tuple[int, str], tuple[int, list[int]]]:
    """Where the steps of a map begin in a draw that is kept at these widths, and how many there are at each stop."""
    told, start = {}, 0
    for d_k in kept:
        for word, most in load()["most"][str(d_k)].items():
            told[d_k, word] = start, [min(N, most) for N in STOPS]
            start += sum(told[d_k, word][1])
    return told


@lru_cache(maxsize=4)
def _steps(seed: int) -> np.ndarray:
    """All steps of a draw, one after the other, at most fifty kilobytes."""
    with FILE.open("rb") as raw, np.load(raw) as file:
        low, high = file[str(seed)]
    lengths = np.concatenate([lengths for _, lengths in _places(widths(seed)).values()])
    ends = np.cumsum(lengths)
    total = np.cumsum(low + 256 * high.astype(np.int64))
    before = np.concatenate([[0], total[ends[:-1] - 1]])  # steps begin anew with each spectrum
    return (total - np.repeat(before, lengths)).astype(np.uint16)


def _packed(seed: int) -> np.ndarray:
    """The steps of a draw, each as the distance from the one before: low bytes [n], then high ones."""
    rows = [row for d_k, word in product(widths(seed), PHIS) for row in _rows(word, d_k, seed)]
    return np.ascontiguousarray(np.concatenate(rows).astype("<u2").view(np.uint8).reshape(-1, 2).T)


def _rows(word: str, d_k: int, seed: int) -> Iterator[np.ndarray]:
    phi = None if word == SOFTMAX else read_member(word)
    for N, row in zip(STOPS, computed(phi, d_k, seed, "float64")):
        yield np.diff(steps_of(row[: min(N, _most(phi, d_k))]), prepend=0)


def save() -> None:
    made = {
        "date": date.today().isoformat(),
        "numpy": np.__version__,
        "stops": STOPS,
        "steps": STEPS,
        "draws": (EVERY, DRAWS),
        "most": {str(d): {word: _most(phi, d) for phi, word in MEMBERS.items()} for d in WIDTHS},
    }
    np.savez_compressed(FILE, made=json.dumps(made), **{str(seed): _packed(seed) for seed in range(DRAWS)})


if __name__ == "__main__":
    save()
