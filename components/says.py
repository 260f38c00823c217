"""How numbers are said in headlines: short, with units, never rounded to a falsehood."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np


def percent(share: float) -> str:
    """`76 %`, `4 %`, `0.3 %`; below a thousandth it says so."""
    if math.isnan(share):
        return "undefined"
    value = float(100 * share)  # NumPy's own numbers take twice as long to compare and to write
    if 0 < abs(value) < 0.1:
        return "under 0.1 %" if value > 0 else "about 0 %"
    if 99.5 <= value < 99.95:
        return f"{value:.1f} %"
    text = f"{value:.1f} %" if abs(value) < 1 and value else f"{value:.0f} %"
    return text.replace("-", "−")


def tokens(count: float) -> str:
    """`1,048,576`."""
    return f"{count:,.0f}"


def counted_tokens(count: float) -> str:
    """`1 token`, `1,048,576 tokens`."""
    return f"{tokens(count)} token{'s' * (tokens(count) != '1')}"


def each_row(ratio: float) -> str:
    """Tokens for each row of a state: `8,192`, `2.4`, `0.50`."""
    whole = ratio >= 10 or ratio == round(ratio)
    return tokens(ratio) if whole else f"{ratio:.1f}" if ratio >= 1 else decimals(ratio, 2)


def short_tokens(count: float) -> str:
    """`64K`, `1M`: powers of two at the ticks of an axis."""
    for unit, size in (("M", 2**20), ("K", 2**10)):
        if count >= size and count % size == 0:
            return f"{count / size:.0f}{unit}"
    return tokens(count)


TOKEN_TICKS = {n: short_tokens(n) for n in (2**e for e in range(0, 21, 4))}
"""Ticks of an axis of context lengths."""


def decimals(value: float, places: int = 2) -> str:
    """Fixed places, with a true minus sign; three significant digits below 0.1."""
    value = float(value)
    if math.isnan(value):
        return "undefined"
    if abs(value) < 1e-9:  # roundoff
        return "0"
    if abs(value) < 1e-4:
        return "under 0.0001" if value > 0 else "about 0"
    text = f"{value:.{places}f}" if abs(value) >= 0.1 else f"{value:.2g}"
    return text.replace("-", "−")


def each_decimals(values: np.ndarray, places: int = 2) -> list[str]:
    """`decimals` of a row of numbers, in a fifth of the time: a text is made once for all that round to it."""
    values = np.asarray(values, dtype=float)
    size = np.abs(values)
    steps_per_one = np.where(size >= 0.1, 10**places, 1000)  # as many places as `decimals` has there
    with np.errstate(invalid="ignore"):
        scaled = values * steps_per_one
        steps = np.rint(scaled)
        # Halfway between two steps the last bit decides, and what rounds up to 0.1 has a place less: one by one.
        clear = (size >= 0.01) & (size < 100) & (np.abs(np.abs(scaled - steps) - 0.5) > 1e-6)
        clear &= (size >= 0.1) | (np.abs(steps) < 100)
    rows = zip(values.tolist(), steps.tolist(), steps_per_one.tolist(), clear.tolist())
    return [_on_step(k, per_one, places) if sure else decimals(value, places) for value, k, per_one, sure in rows]


@lru_cache(maxsize=4096)
def _on_step(k: float, per_one: int, places: int) -> str:
    return decimals(k / per_one, places)
