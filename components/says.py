"""How numbers are said in headlines: short, with units, never rounded to a falsehood."""

from __future__ import annotations

import math


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
