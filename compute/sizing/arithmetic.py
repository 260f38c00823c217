"""Whole numbers that remember how they were reached.

A bill shows its arithmetic.  Value and text come from one expression, so they cannot drift apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    """A whole number, the text of the expression behind it, and whether that expression is a bare sum."""

    value: int
    text: str
    is_sum: bool = False


def number(n: int | Count) -> Count:
    """A plain number, written with thousands separators."""
    return n if isinstance(n, Count) else Count(n, f"{n:,}")


def times(*factors: int | Count) -> Count:
    """Product of the factors; a sum among them is put in brackets."""
    terms = [number(f) for f in factors]
    text = " × ".join(f"({t.text})" if t.is_sum and len(terms) > 1 else t.text for t in terms)
    return Count(math.prod(t.value for t in terms), text, len(terms) == 1 and terms[0].is_sum)


def plus(*addends: int | Count) -> Count:
    """Sum of the addends."""
    terms = [number(a) for a in addends]
    return Count(sum(t.value for t in terms), " + ".join(t.text for t in terms), len(terms) > 1)


def share(n: int, ranks: int) -> int:
    """How many of n heads the fullest of `ranks` tensor-parallel ranks holds; never fewer than one."""
    return -(-n // ranks)
