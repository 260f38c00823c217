"""Large numbers as people write them: `2.2·10¹²`."""

from __future__ import annotations

RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
PLAIN_BELOW = 100_000


def powers(value: float) -> str:
    """Two digits and a power of ten; below 100,000 the number itself, whole or with three digits."""
    if value == 0:
        return "0"
    if 0.01 <= abs(value) < PLAIN_BELOW:
        text = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
        return text.replace("-", "−")
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}·10{raised(int(exponent))}".replace("-", "−", 1 if value < 0 else 0)


def raised(exponent: int) -> str:
    """Superscript digits."""
    return str(exponent).translate(RAISED)


def times(ratio: float) -> str:
    """`512×`, `15.9×`: how many times as much."""
    return f"{ratio:,.0f}×" if ratio >= 100 or ratio == int(ratio) else f"{ratio:.3g}×"
