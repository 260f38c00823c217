"""Whether what was found is what a claim says."""

from __future__ import annotations

from typing import Any

import numpy as np

RULES = ("exact", "absolute", "relative", "at most", "at least")
"""How a tolerance reads; `absolute` and `relative` are followed by a size."""


def agrees(found: Any, expected: Any, tolerance: str | list[str]) -> bool:
    """Whether what was found is what the ledger expects, by one of RULES, or by one rule for each item of a list.

    ValueError for another number of items, or of numbers.
    """
    if isinstance(tolerance, list):
        if not len(found) == len(expected) == len(tolerance):
            raise ValueError(f"found must have {len(expected)} items, got {len(found)}")
        return all(agrees(*item) for item in zip(found, expected, tolerance))
    rule, _, size = tolerance.partition(" ")
    if rule == "exact":
        same = [a == b or (a != a and b != b) for a, b in zip(np.ravel(found).tolist(), np.ravel(expected).tolist())]
        return np.shape(found) == np.shape(expected) and all(same)
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if found.shape != expected.shape:
        raise ValueError(f"found must hold {expected.size} numbers, got {found.size}")
    near = {
        "absolute": lambda: np.abs(found - expected) <= float(size),
        "relative": lambda: np.abs(found - expected) <= float(size) * np.abs(expected),
        "at most": lambda: found <= expected,
        "at least": lambda: found >= expected,
    }
    return bool(np.all(near[rule if rule in near else tolerance]()))
