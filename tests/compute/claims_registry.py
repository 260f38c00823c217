"""The checks of the claims ledger by name.

A check takes nothing, recomputes one claim from the public functions of `compute` and returns what it finds: a
number, a truth, a word, or a list of them.  What the claim says it should find stands in the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attention_cases import miss

from compute.feature_maps import FEATURE_MAPS

CHECKS: dict[str, Callable[[], Any]] = {}

PHI = {word: Map() for word, Map in FEATURE_MAPS.items()}
"""The default member of each family of maps."""


def check(function: Callable[[], Any]) -> Callable[[], Any]:
    """Lists a check under its own name."""
    assert function.__name__ not in CHECKS, f"{function.__name__} is listed twice"
    CHECKS[function.__name__] = function
    return function


def normals(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def largest_miss(pairs) -> float:
    """The largest relative distance over pairs (got, wanted)."""
    return max(miss(got, want) for got, want in pairs)


RULES = ("exact", "absolute", "relative", "at most", "at least")
"""How a tolerance reads; `absolute` and `relative` are followed by a size."""


def agrees(found: Any, expected: Any, tolerance: str | list[str]) -> bool:
    """Whether what was found is what the ledger expects, by one of RULES, or by one rule for each item of a list."""
    if isinstance(tolerance, list):
        assert len(found) == len(expected) == len(tolerance), f"found {len(found)} items of {len(expected)}"
        return all(agrees(*item) for item in zip(found, expected, tolerance))
    rule, _, size = tolerance.partition(" ")
    if rule == "exact":
        same = [a == b or (a != a and b != b) for a, b in zip(np.ravel(found).tolist(), np.ravel(expected).tolist())]
        return np.shape(found) == np.shape(expected) and all(same)
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, f"found {found.shape} numbers, the ledger expects {expected.shape}"
    near = {
        "absolute": lambda: np.abs(found - expected) <= float(size),
        "relative": lambda: np.abs(found - expected) <= float(size) * np.abs(expected),
        "at most": lambda: found <= expected,
        "at least": lambda: found >= expected,
    }
    return bool(np.all(near[rule if rule in near else tolerance]()))
