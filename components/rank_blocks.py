"""Ranks of the block of later rows and earlier columns, of every map at its defaults: computed once, kept as a file.

Under the mask a page counts the blocks of all maps, which would cost it 10 to 20 ms of decompositions at a new draw.
`python -m components.rank_blocks` computes them anew; it takes half a minute of one core.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from itertools import product

import numpy as np

from components.assets import ASSETS
from components.kept import is_readable, opened
from components.rank_kept import CLEAR, MEMBERS
from components.rank_values import LARGEST, STOPS, TOLERANCES, computed, is_wide, matrix, wide
from components.words import PHIS, SEEDS, WIDTHS
from compute.feature_maps import FeatureMap
from compute.rank import PRECISIONS, feature_spectrum, past_to_future, rank_of, spectrum
from compute.toys import queries_and_keys

FILE = ASSETS / "blocks.npz"


def block_ranks(phi: FeatureMap | None, d_k: int, seed: int, precision: str) -> np.ndarray:
    """Ranks [stops, tolerances] of the block of later rows and earlier columns: read, or else counted."""
    word = MEMBERS.get(phi)
    if word in PHIS and d_k in WIDTHS and 0 <= seed < SEEDS and holds(word, d_k):
        return kept(f"{precision}.{d_k}")[seed, PHIS.index(word)].astype(np.int64)
    return counted(phi, d_k, seed, precision)


@lru_cache(maxsize=256)
def counted(phi: FeatureMap | None, d_k: int, seed: int, precision: str) -> np.ndarray:
    """The same, here and now."""
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    if phi is None or precision != "float64" or is_wide(phi, d_k):
        M = wide(phi, d_k, seed) if precision == "float64" and phi else matrix(Q, K, phi, precision)
        told = [spectrum(past_to_future(M[:N, :N]), dtype=precision) for N in STOPS]
    else:
        phi_q, phi_k = (phi.merged()(x) for x in (Q, K))
        told = [feature_spectrum(phi_q[N // 2 : N], phi_k[: N // 2]) for N in STOPS]
    rows = np.full((len(STOPS), LARGEST), np.nan)
    for row, values in zip(rows, told):
        row[: len(values)] = values
    return rank_of(rows, TOLERANCES)


@cache
def holds(word: str, d_k: int) -> bool:
    """Whether the file was made of the map as it is now, by the spectrum of the first tokens."""
    parts = [f"{part}.{d_k}" for part in ("first", *PRECISIONS)]
    if not is_readable(FILE, f"the rank of blocks at d_k = {d_k}", lambda: [kept(part) for part in parts]):
        return False
    phi = next(phi for phi, name in MEMBERS.items() if name == word)
    return np.allclose(kept(parts[0])[PHIS.index(word)], _first(phi, d_k), rtol=1e-4, atol=CLEAR)


def _first(phi: FeatureMap | None, d_k: int) -> np.ndarray:
    return computed(phi, d_k, 0, stops=STOPS[:1])[0]


@cache
def kept(name: str) -> np.ndarray:
    """A part of the file: `PRECISION.D_K`, ranks [draws, maps, stops, tolerances], a quarter of a megabyte, or
    `first.D_K`, spectra [maps, first stop].  ValueError if the file was made for other stops, tolerances or maps."""
    with opened(FILE, _made(), "components.rank_blocks") as told:
        # Ranks are kept as what each tolerance adds to the one above it, most of which is nothing.
        return told[name] if name.startswith("first") else np.cumsum(told[name], axis=-1, dtype=np.uint8)


def _made() -> str:
    tolerances = [f"{rtol:.3g}" for rtol in TOLERANCES]
    return json.dumps({"maps": PHIS, "widths": WIDTHS, "draws": SEEDS, "stops": STOPS, "tolerances": tolerances})


def save() -> None:
    phis = sorted(MEMBERS, key=lambda phi: PHIS.index(MEMBERS[phi]))
    told = {f"first.{d_k}": np.array([_first(phi, d_k) for phi in phis]) for d_k in WIDTHS}
    for precision, d_k in product(PRECISIONS, WIDTHS):
        ranks = [[counted(phi, d_k, seed, precision) for phi in phis] for seed in range(SEEDS)]
        told[f"{precision}.{d_k}"] = np.diff(np.array(ranks, dtype=np.uint8), axis=-1, prepend=np.uint8(0))
    np.savez_compressed(FILE, made=_made(), **told)


if __name__ == "__main__":
    save()
