"""The checks of the claims ledger by name, and what their rooms share.

A check takes nothing, recomputes one claim from the public functions of `compute` and returns what it finds: a
number, a truth, a word, or a list of them.  What the claim says it should find stands in the ledger,
assets/claims.toml, beside the check's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from compute.arrays import Array
from compute.feature_maps import FEATURE_MAPS

CHECKS: dict[str, Callable[[], Any]] = {}

PHI = {word: Map() for word, Map in FEATURE_MAPS.items()}
"""The default member of each family of maps."""


def check(function: Callable[[], Any]) -> Callable[[], Any]:
    """Lists a check under its own name.  ValueError if the name is taken."""
    if function.__name__ in CHECKS:
        raise ValueError(f"function must have a name of its own, {function.__name__} is listed twice")
    CHECKS[function.__name__] = function
    return function


def normals(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers of a shape."""
    return np.random.default_rng(seed).standard_normal(shape)


def tokens(T: int, seed: int = 0, lead: tuple[int, ...] = (2, 2), d_k: int = 5, d_v: int = 3) -> tuple[np.ndarray, ...]:
    """Normal Q, K [*lead, T, d_k] and V [*lead, T, d_v]."""
    rng = np.random.default_rng(seed)
    Q, K = rng.standard_normal((2, *lead, T, d_k))
    return Q, K, rng.standard_normal((*lead, T, d_v))


def miss(got: Array, want: Array) -> float:
    """Distance relative to the size of what is wanted.  ValueError for another shape."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        raise ValueError(f"got must have the shape of what is wanted, {want.shape}, not {got.shape}")
    return float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300))


def largest_miss(pairs: Iterable[tuple[Array, Array]]) -> float:
    """The largest relative distance over pairs (got, wanted)."""
    return max(miss(got, want) for got, want in pairs)
