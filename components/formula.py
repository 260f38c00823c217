"""LaTeX to MathML.  A formula is written once, in LaTeX, beside what computes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from latex2mathml.converter import convert

from components.axes import AXES
from components.reel import Answer

NOTHING: Answer = MappingProxyType({})


@lru_cache(maxsize=512)
def mathml(latex: str, display: str = "inline") -> str:
    """MathML element for a formula of our own (never of a visitor).  φ takes the form that it has in text.  The bars of
    a norm keep their size: the second one carries an exponent, and the first alone would grow with its neighbours.  The
    place of a number under the finger is an element of its own, for whoever knows the position."""
    made = convert(re.sub(r"\\phi(?![A-Za-z])", r"\\varphi", latex), display=display)
    made = re.sub(r"<mtext>@(\w+)(?:@([\w.-]+))?</mtext>", _place, made)
    return re.sub(r"<mo>(?=&#x02016;)", '<mo stretchy="false">', made)


def _place(marked: re.Match) -> str:
    column = f' data-column="{marked[2]}"' if marked[2] else ""
    return f'<mtext data-under="{marked[1]}"{column}></mtext>'


def with_values(symbols: list[tuple[str, str]]) -> str:
    """LaTeX of a product of symbols with their current values underneath."""
    return " ".join(rf"\underset{{{value}}}{{{symbol}}}" if value else symbol for symbol, value in symbols)


def under_finger(symbol: str, axis: str, column: str = "") -> str:
    """LaTeX of a symbol with the place for its number underneath, which the position on an axis gives: the stop's own,
    or what a `source.column` of texts, one a stop, says there."""
    return rf"\underset{{{at_finger(axis, column)}}}{{{symbol}}}"


def at_finger(axis: str, column: str = "") -> str:
    """LaTeX of that place by itself: what a formula comes to at the position."""
    return rf"\text{{@{axis}{'@' * bool(column)}{column}}}"


def at_stops(formula: str, positions: Mapping[str, int], told: Answer = NOTHING) -> str:
    """A formula with the numbers of these positions in their places.  told: the answer whose columns it names."""

    def filled(place: re.Match) -> str:
        i, (source, _, column) = positions[place[1]], (place[2] or "").rpartition(".")
        return f"{place[0]}{told[source][column][i] if column else AXES[place[1]].number(i)}"

    return re.sub(r'<mtext data-under="(\w+)"(?: data-column="([\w.-]+)")?>(?=</mtext>)', filled, formula)
