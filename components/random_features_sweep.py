"""How far estimates from random features spread over draws: computed once, kept as a file, read by the page.

`python -m components.random_features_sweep` computes it anew; it takes a minute of one core.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from datetime import date
from functools import cache

import numpy as np

from components.assets import ASSETS
from components.axes import AXES
from compute.feature_error import ratio_draws
from compute.sweeps.feature_surface import WIDTHS
from compute.sweeps.quantiles import AT

FILE = ASSETS / "sweeps" / "random-features.json"

LENGTHS = AXES["r"].stops
DRAWS, SEED = 10_000, 0
DIGITS = 4


@dataclass(frozen=True)
class Spread:
    """Of estimate/true value, for every length [L] and width d_φ [M].

    quantiles [L, M, 5] at AT; share [L, M]: of draws below the true value for positive features, below zero for
    trigonometric ones; error [L, M]: mean of |ratio − 1|.
    """

    quantiles: np.ndarray
    share: np.ndarray
    error: np.ndarray


def compute(draws: int = DRAWS, seed: int = SEED) -> dict[str, dict]:
    """Both kinds over fresh draws.  A trigonometric pair has ‖q−k‖ in place of ‖q+k‖, and half as many directions.

    The mean of |ratio − 1| is taken as twice the mean of what ratios lack to 1, which is the same since their mean
    is 1: rare huge draws, which 10,000 may or may not contain, then do not matter.
    """
    told = {}
    for kind, directions, limit in (("positive", WIDTHS, 1.0), ("trig", tuple(m // 2 for m in WIDTHS), 0.0)):
        ratios = ratio_draws(LENGTHS, directions, kind=kind, draws=draws, seed=seed)
        told[kind] = {
            "quantiles": np.moveaxis(np.quantile(ratios, AT, axis=1), 0, -1),
            "share": np.mean(ratios < limit, axis=1),
            "error": 2 * np.mean(np.maximum(1 - ratios, 0), axis=1),
        }
    return told


@cache
def stored() -> tuple[dict[str, Spread], dict]:
    """What the file holds, and how it was made."""
    told = json.loads(FILE.read_text(encoding="utf-8"))
    spreads = {
        kind: Spread(*(np.array(told[kind][part]) for part in ("quantiles", "share", "error")))
        for kind in ("positive", "trig")
    }
    return spreads, told["made"]


def _rounded(values: np.ndarray) -> list:
    """To a few digits, as nested lists."""
    return np.vectorize(lambda x: float(f"{x:.{DIGITS}g}"))(values).tolist()


def main() -> None:
    made = {
        "date": date.today().isoformat(), "draws": DRAWS, "seed": SEED, "numpy": np.__version__,
        "machine": f"one core of an {platform.machine()} processor, float64", "directions": "independent",
        "lengths": list(LENGTHS), "widths": list(WIDTHS), "at": list(AT),
    }  # fmt: skip
    told = {kind: {part: _rounded(v) for part, v in parts.items()} for kind, parts in compute().items()}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps({"made": made, **told}, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
