"""Estimate over true value: bands over draws, one draw of the visitor's own, and how far their axis goes."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from components.plots import spread
from components.powers import raised
from components.random_features_said import KINDS, STOPS, USUAL
from components.random_features_sweep import WIDTHS, stored
from components.says import percent
from compute.feature_error import ratio_draws

SHARES_AT = (16, 256, 4096)
"""Widths at which the share of misleading draws is written into the plot."""

RATIOS = (-2.3, 4.3)
"""Ends of the axis of estimate/true value, in its unit."""

RATIO_TICKS = {0.0: "0"} | {
    float(digit * 10**e): (f"{digit * 10**e:,}" if e < 4 else f"{digit}·10{raised(e)}").replace("-", "−")
    for e in range(15)
    for digit in (-2, 2, 4)
}
"""Its ticks, whatever the unit."""

FAR = 50.0
"""Ratios beyond ± as many units are drawn here, far outside the frame."""

NAME_AT = 5_800
"""Where the axis of d_φ ends: there stand the names of lines, each at a thread of its own."""


@cache
def units() -> dict[str, np.ndarray]:
    """What the axis of estimate/true value counts in, at every stop.  Trigonometric estimates of long vectors miss by
    powers of ten: the least one in which the middle half of the draws at the usual width fits.  Positive ones keep 1,
    which they fall below."""
    middle = stored()[0]["trig"].quantiles[:, USUAL, [1, 3]]
    most = np.maximum((middle / RATIOS).max(axis=1), 1)
    return {"positive": np.ones(len(STOPS)), "trig": 10.0 ** np.ceil(np.log10(most))}


@cache
def axis() -> dict[str, np.ndarray | list]:
    """Ends of the axis of trigonometric estimates, how far it goes in words, and the height of the shares in it."""
    steps = units()
    return {
        **{f"trig_{name}": end * steps["trig"] for name, end in zip(("bottom", "top"), RATIOS)},
        "trig_title": [
            f"trigonometric, for q·k = 0: estimate ÷ true value, axis to {RATIO_TICKS[4 * unit]} (↑ ↓ beyond)"
            for unit in steps["trig"]
        ],
        **{f"{kind}_shares_y": np.outer(unit, np.full(3, RATIOS[0] + 0.6)) for kind, unit in steps.items()},
    }


@cache
def bands() -> dict[str, np.ndarray | list]:
    """Quantiles over draws, [stop, width] each, and the share of misleading draws in words."""
    told = {}
    for kind, found in stored()[0].items():
        unit = units()[kind]
        far = FAR * unit[:, None, None]
        drawn = np.clip(found.quantiles, -far, far).astype(np.float32)
        told |= {f"{kind}_{name}": drawn[..., k] for k, name in enumerate(("q05", "q25", "q50", "q75", "q95"))}
        told[f"{kind}_typical"] = _seen(found.quantiles[..., 2], unit)
        what = "too low" if kind == "positive" else "below 0"
        at = [WIDTHS.index(m) for m in SHARES_AT]
        told[f"{kind}_shares"] = [[f"{percent(row[i])}\n{what}" for i in at] for row in found.share]
    return told


@lru_cache(maxsize=256)
def own(seed: int) -> dict[str, np.ndarray]:
    """One draw of directions, at every stop: all that a layer ever sees."""
    return {f"{kind}_own": _seen(ratios, units()[kind]) for kind, ratios in _ratios(seed).items()}


@lru_cache(maxsize=256)
def _ratios(seed: int) -> dict[str, np.ndarray]:
    return {
        kind: ratio_draws(STOPS, directions, kind=kind, draws=1, seed=seed)[:, 0]
        for kind, directions in (("positive", WIDTHS), ("trig", [m // 2 for m in WIDTHS]))
    }


def _seen(ratios: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """What lies on the axis: of a line that leaps across it, the strokes would say nothing."""
    low, high = (end * unit[:, None] for end in RATIOS)
    return np.where((ratios >= low) & (ratios <= high), ratios, np.nan).astype(np.float32)


@lru_cache(maxsize=256)
def threads(seed: int) -> dict[str, np.ndarray]:
    """Where the lines end, and where their names stand: in the order of the lines, never one upon another, and with an
    arrow where a line has left the axis."""
    told, low, high = {}, RATIOS[0] + 0.2, RATIOS[1] - 0.2
    said = ["95 % lie below", "true value", "median", f"draw {seed}", "5 % lie below"]
    for kind in KINDS:
        ends = np.column_stack(
            [stored()[0][kind].quantiles[:, -1, k] for k in (4, 2, 0)]
            + [np.ones(len(STOPS)), _ratios(seed)[kind][:, -1]]
        )[:, [0, 3, 1, 4, 2]]
        unit = units()[kind][:, None]
        ends = ends / unit
        order = np.argsort(ends, axis=1, kind="stable")  # of lines that the axis cuts off, heights would not tell it
        placed, seen = np.empty_like(ends), np.clip(ends, low, high)
        for at, row, rank in zip(placed, seen, order):
            at[rank] = spread(list(row[rank]), 0.55, low, high)
        told[f"{kind}_ends"] = (seen * unit).astype(np.float32)
        told[f"{kind}_names"] = (placed * unit).astype(np.float32)
        told[f"{kind}_said"] = [
            [("↑ " if y > RATIOS[1] else "↓ " if y < RATIOS[0] else "") + text for y, text in zip(row, said)]
            for row in ends
        ]
    return told
