"""Whole numbers that remember how they were reached and where they came from.

A bill shows its arithmetic.  Value, text and origin come from one expression, so they cannot drift apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Terms = tuple[tuple[str, str], ...]
"""An expression cut into (text, origin) pairs: a number has an origin, what stands between numbers has none."""


class Told(int):
    """A whole number with its origin: a config key, or a few words where the file does not give it."""

    origin: str

    def __new__(cls, value: int, origin: str):
        made = super().__new__(cls, value)
        made.origin = origin
        return made

    def __reduce__(self):
        return Told, (int(self), self.origin)


def origin(n: int) -> str:
    """Where a number came from; empty if it does not say."""
    return getattr(n, "origin", "")


def derived(value: int, n: int, how: str) -> int:
    """A value made from n, with that said behind n's origin."""
    return Told(value, f"{origin(n)}{how}") if origin(n) else value


@dataclass(frozen=True)
class Count:
    """A whole number, the expression behind it, and whether that expression is a bare sum."""

    value: int
    terms: Terms
    is_sum: bool = False

    @property
    def text(self) -> str:
        """The expression as it is read."""
        return text_of(self.terms)


def text_of(terms: Terms) -> str:
    """Terms put together."""
    return "".join(text for text, _ in terms)


def number(n: int | Count) -> Count:
    """A plain number, written with thousands separators."""
    return n if isinstance(n, Count) else Count(int(n), ((f"{n:,}", origin(n)),))


def times(*factors: int | Count) -> Count:
    """Product of the factors; a sum among them is put in brackets."""
    counts = [number(f) for f in factors]
    if len(counts) == 1:
        return counts[0]
    return Count(math.prod(c.value for c in counts), joined(" × ", [bracketed(c) for c in counts]))


def plus(*addends: int | Count) -> Count:
    """Sum of the addends."""
    counts = [number(a) for a in addends]
    return Count(sum(c.value for c in counts), joined(" + ", [c.terms for c in counts]), len(counts) > 1)


def bracketed(count: Count) -> Terms:
    """The terms of a count as a factor."""
    return (("(", ""), *count.terms, (")", "")) if count.is_sum else count.terms


def joined(between: str, parts: list[Terms]) -> Terms:
    """Expressions with an operator between them."""
    made: list[tuple[str, str]] = []
    for part in parts:
        made += [(between, ""), *part] if made else part
    return tuple(made)


def share(n: int, ranks: int) -> int:
    """How many of n heads the fullest of `ranks` tensor-parallel ranks holds; never fewer than one."""
    return n if ranks == 1 else derived(-(-n // ranks), n, f" over {ranks:,} ranks")
