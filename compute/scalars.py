"""The door for what is no array: counts, rows of counts, real numbers, words, generators, value objects.

Each check raises ValueError, one sentence that begins with the argument's name.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import pairwise
from math import inf, isfinite
from typing import Any, TypeVar

import numpy as np

Some = TypeVar("Some")

Numbers = float | np.ndarray
"""A real number, or a NumPy array of them."""


def whole(name: str, value: Any, low: int | None, high: int | None = None) -> int:
    """An exact Python int in [low, high], None being no bound; neither a bool nor a float is one, however round."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, got {brief(value)}")
    if (low is not None and number < low) or (high is not None and number > high):
        bound = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {bound}, got {number}")
    return number


def wholes(name: str, values: Any, low: int, high: int | None = None, *, rising: bool = False) -> list[int]:
    """At least one whole number in [low, high].  rising: each above the one before."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{name} must be a row of whole numbers, got {brief(values)}")
    # An array is looked at as a whole: one by one takes longer than the sums that follow.
    numbers = values.tolist() if _lie(values, low, high) else [whole(name, value, low, high) for value in values]
    if not numbers:
        raise ValueError(f"{name} must hold at least one number, got none")
    if rising and any(b <= a for a, b in pairwise(numbers)):
        raise ValueError(f"{name} must rise, got {brief(numbers)}")
    return numbers


def _lie(values: Any, low: int, high: int | None) -> bool:
    """Whether it is an array of whole numbers in [low, high]."""
    fits = isinstance(values, np.ndarray) and values.size > 0 and values.dtype.kind in "iu"
    return fits and int(values.min()) >= low and (high is None or int(values.max()) <= high)


def real(name: str, value: Any, low: float = -inf, high: float = inf) -> float:
    """A finite number in [low, high] as a Python float; no text, no bool, no array with axes."""
    number = None
    if not isinstance(value, (str, bytes, bool, np.bool_)) and not getattr(value, "ndim", 0):
        try:
            number = float(value.item() if hasattr(value, "item") else value)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            number = None
    if number is None:
        raise ValueError(f"{name} must be a number, got {brief(value)}")
    if not isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    if not low <= number <= high:
        raise ValueError(f"{name} must {_range(low, high)}, got {number}")
    return number


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    number = real(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be above 0, got {number}")
    return number


def reals(name: str, value: Any, low: float = -inf, high: float = inf, *, infinite: bool = False) -> np.ndarray:
    """Finite numbers in [low, high] as a float64 array of any shape.  infinite: inf passes, for what has no bound."""
    try:
        given = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        given = np.asarray(None)
    if given.dtype.kind not in "iuf" or not given.size:
        raise ValueError(f"{name} must be a number or a NumPy array of them, got {brief(value)}")
    given = given.astype(np.float64, copy=False)
    if np.any(np.isnan(given)) or not (infinite or np.all(np.isfinite(given))):
        raise ValueError(f"{name} must be finite, got NaN or Inf")
    if np.any(given < low) or np.any(given > high):
        raise ValueError(f"{name} must {_range(low, high)}, got {np.min(given):.6g} to {np.max(given):.6g}")
    return given


def one_of(name: str, value: Any, words: Iterable[str]) -> str:
    """One of the words."""
    words = tuple(words)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}, got {brief(value)}")
    return value


def made(name: str, value: Any, kind: type[Some]) -> Some:
    """An object of the kind that is meant."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__}, got {brief(value)}")
    return value


def brief(value: Any) -> str:
    """The value as a message shows it: cut to a line."""
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else shown[:60] + "…"


def _range(low: float, high: float) -> str:
    if high == inf:
        return "not be negative" if low == 0 else f"be at least {low:g}"
    return f"be at most {high:g}" if low == -inf else f"be from {low:g} to {high:g}"
