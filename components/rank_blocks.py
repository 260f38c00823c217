"""Ranks of the block of later rows and earlier columns, of the maps that a page offers: computed once, kept as a file.

Under the mask a page counts the blocks of all maps, which would cost it 10 to 20 ms of decompositions at a new draw;
always it counts the chosen map's, 1 to 5 ms.
`python -m components.rank_blocks` computes them anew; it takes half a minute of one core.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import product

import numpy as np

from components import rank_wide
from components.assets import ASSETS
from components.kept import is_readable, opened
from components.offered import turned
from components.rank_kept import MEMBERS, TURNED, word_of
from components.rank_values import STOPS, TOLERANCES, counted, first, is_first
from components.words import PHIS, SEEDS, WIDTHS
from compute.feature_maps import FeatureMap, spell
from compute.rank import PRECISIONS

FILE = ASSETS / "blocks.npz"

PARTS: dict[str, tuple[str, ...]] = {
    **{f"{precision}.{d_k}": PHIS for precision, d_k in product(PRECISIONS, WIDTHS)},
    **{f"{TURNED}.{d_k}": tuple(spell(phi) for phi in turned(d_k)) for d_k in WIDTHS},
}
"""Parts of the file, with their maps: the defaults, and in float64 the other members that the knobs offer."""


def block_ranks(phi: FeatureMap | None, d_k: int, seed: int, precision: str) -> np.ndarray:
    """Ranks [stops, tolerances] of the block of later rows and earlier columns: read, or else counted."""
    word = word_of(phi)
    if d_k in WIDTHS and 0 <= seed < SEEDS and (part := _part(word, d_k, precision)) and holds(word, d_k):
        return kept(part)[seed, PARTS[part].index(word)].astype(np.int64)
    if rank_wide.is_kept(phi, d_k, seed, precision):
        return rank_wide.blocks(phi, d_k, precision)
    return counted(phi, d_k, seed, precision)


def _part(word: str | None, d_k: int, precision: str) -> str | None:
    parts = [f"{precision}.{d_k}", *([f"{TURNED}.{d_k}"] if precision == "float64" else [])]
    return next((part for part in parts if word in PARTS[part]), None)


@cache
def holds(word: str, d_k: int) -> bool:
    """Whether the file was made of the map as it is now, by the spectrum of the first tokens."""
    parts = [f"first.{d_k}", *filter(None, {_part(word, d_k, precision): 0 for precision in PRECISIONS})]
    if not is_readable(FILE, f"the rank of blocks at d_k = {d_k}", lambda: [kept(part) for part in parts]):
        return False
    phi = next(phi for phi, name in MEMBERS.items() if name == word)
    return is_first(kept(parts[0])[_words(d_k).index(word)], phi, d_k)


def _words(d_k: int) -> tuple[str, ...]:
    """All maps that are kept at a width."""
    return *PHIS, *PARTS[f"{TURNED}.{d_k}"]


@cache
def kept(name: str) -> np.ndarray:
    """A part of the file: ranks [draws, maps, stops, tolerances], a quarter of a megabyte, or `first.D_K`, spectra
    [maps, first stop].  ValueError if the file was made for other stops, tolerances or maps."""
    with opened(FILE, _made(), "components.rank_blocks") as told:
        # Ranks are kept as what each tolerance adds to the one above it, most of which is nothing.
        return told[name] if name.startswith("first") else np.cumsum(told[name], axis=-1, dtype=np.uint8)


def _made() -> str:
    tolerances = [f"{rtol:.3g}" for rtol in TOLERANCES]
    return json.dumps({"maps": PARTS, "draws": SEEDS, "stops": STOPS, "tolerances": tolerances})


def save() -> None:
    of = {word: phi for phi, word in MEMBERS.items()}
    told = {f"first.{d_k}": np.array([first(of[word], d_k) for word in _words(d_k)]) for d_k in WIDTHS}
    for part, words in PARTS.items():
        name, d_k = part.split(".")
        precision = "float64" if name == TURNED else name
        ranks = [[counted(of[word], int(d_k), seed, precision) for word in words] for seed in range(SEEDS)]
        told[part] = np.diff(np.array(ranks, dtype=np.uint8), axis=-1, prepend=np.uint8(0))
    np.savez_compressed(FILE, made=_made(), **told)


if __name__ == "__main__":
    save()
