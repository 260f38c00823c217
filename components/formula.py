"""LaTeX to MathML.  A formula is written once, in LaTeX, beside what computes it."""

from __future__ import annotations

import re
from functools import lru_cache

from latex2mathml.converter import convert


@lru_cache(maxsize=512)
def mathml(latex: str, display: str = "inline") -> str:
    """MathML element for a formula of our own (never of a visitor).  φ takes the form that it has in text.  The bars of
    a norm keep their size: the second one carries an exponent, and the first alone would grow with its neighbours."""
    made = convert(re.sub(r"\\phi(?![A-Za-z])", r"\\varphi", latex), display=display)
    return re.sub(r"<mo>(?=&#x02016;)", '<mo stretchy="false">', made)


def with_values(symbols: list[tuple[str, str]]) -> str:
    """LaTeX of a product of symbols with their current values underneath."""
    return " ".join(rf"\underset{{{value}}}{{{symbol}}}" if value else symbol for symbol, value in symbols)
