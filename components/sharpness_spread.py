"""How much weight a map puts on the match over other draws: computed once for every map, kept as a file.

`python -m components.sharpness_spread` computes it anew; it takes about two minutes of one core.  What is not in the
file (another match, another knob) is computed on demand from fewer draws of the wide random maps.
"""

from __future__ import annotations

import json
import platform
from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from components.assets import ASSETS
from components.axes import AXES
from components.words import PHIS, SOFTMAX, WIDTHS
from compute.feature_maps import FEATURE_MAPS, FeatureMap, read_member, spell
from compute.sharpness import spread_over_seeds

FILE = ASSETS / "sweeps" / "sharpness.json"

STOPS = np.asarray(AXES["c"].stops)
SEEDS, FEWER, FEWEST = 200, 100, 40
"""Draws of query, keys and directions in the file; on demand; on demand of a random map."""

FEATURES = tuple(2**i for i in range(4, 13))
"""Widths of random maps that are kept, 16 to 4,096."""

DIGITS = 4


class Band(NamedTuple):
    """Weight on the match at 5, 50 and 95 % of the draws [3, stops], and how many draws there were."""

    quantiles: np.ndarray
    seeds: int


def kept() -> list[FeatureMap | None]:
    """The maps whose bands are in the file."""
    members: list = [None if word == SOFTMAX else read_member(word) for word in PHIS]
    members += [FEATURE_MAPS[word](m=m) for word in ("favor", "trig") for m in FEATURES]
    return list(dict.fromkeys(members + [FEATURE_MAPS["dpfp"](nu=nu) for nu in range(1, 7)]))


def compute() -> dict[str, dict[str, list]]:
    """`{map: {d_k: quantiles [3][stops]}}`; one stop for maps that do not react to sharpness."""
    told: dict = {}
    for member in kept():
        told[name_of(member)] = {}
        for d_k in WIDTHS:
            try:
                wide = 1 if member is None else member.d_phi(d_k) // 256 + 1
            except ValueError:  # a knob that does not fit the width
                continue
            band = spread_over_seeds(member, d_k, STOPS, seeds=SEEDS * wide if member and member.random else SEEDS)
            flat = member is not None and member.homogeneity is not None
            told[name_of(member)][str(d_k)] = _rounded(band.quantiles[:, :1] if flat else band.quantiles)
    return told


def _rounded(quantiles: np.ndarray) -> list:
    return [[None if np.isnan(x) else round(float(x), DIGITS) for x in row] for row in quantiles]


def name_of(member: FeatureMap | None) -> str:
    return SOFTMAX if member is None else spell(member)


def save() -> None:
    made = {
        "date": date.today().isoformat(),
        "seeds": SEEDS,
        "numpy": np.__version__,
        "machine": f"one core of an {platform.machine()} processor, float64",
        "stops": STOPS.tolist(),
    }
    FILE.write_text(json.dumps({"made": made, "bands": compute()}, separators=(",", ":")), encoding="utf-8")


@cache
def load() -> dict:
    """The file.  ValueError if it was made for other stops."""
    told = json.loads(FILE.read_text(encoding="utf-8"))
    if told["made"]["stops"] != STOPS.tolist():
        raise ValueError(f"{FILE.name} was made for other stops; run python -m components.sharpness_spread")
    return told


@lru_cache(maxsize=512)
def band_of(member: FeatureMap | None, d_k: int, match: float = 1.0) -> Band:
    """The band of a map over other draws, from the file if it is there."""
    rows = load()["bands"].get(name_of(member), {}).get(str(d_k)) if match == 1 else None
    if rows is not None:
        quantiles = np.array(rows, dtype=float)  # None becomes NaN
        return Band(np.broadcast_to(quantiles, (3, len(STOPS))), load()["made"]["seeds"])
    told = spread_over_seeds(member, d_k, STOPS, match, FEWEST if member is not None and member.random else FEWER)
    return Band(told.quantiles, told.seeds)


if __name__ == "__main__":
    save()
