"""Numbers of the normaliser's view: sums of kernel values over arriving tokens, shares, derivatives, over draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from components.normaliser_draws import BFLOAT, kernel_of, left_of
from components.normaliser_kept import beside_of
from components.normaliser_ways import STOPS, Way, band, ways
from compute.arriving import Sums, arrived_at
from compute.normaliser import kernel_derivative_bound
from compute.sharpness import UNDEFINED_BELOW

T = np.array(STOPS)
NEARBY = 64
"""Tokens that count as near."""

LOWEST = 1e-7
"""What is zero is drawn here, below every axis of shares: a logarithm has no place for it."""


@dataclass(frozen=True)
class Numbers:
    """Of one map, width and seed; [draws, n] over draws and stops, [n] of the first draw, bands [3, n].

    left: Σκ/Σ|κ|.  defined: where that is enough to divide by.  shares, near: weight on the newest and on the NEARBY
    newest.  law: size that independent kernel values would sum up to.  short: the denominator of the first draw with z
    kept in bfloat16.  bound: one over the denominator, the middle one of the draws.
    """

    positive: bool
    mean: float
    sums: Sums
    left: np.ndarray
    defined: np.ndarray
    shares: np.ndarray
    near: np.ndarray
    bands: dict[str, np.ndarray]
    bound: np.ndarray
    law: np.ndarray
    short: np.ndarray
    ways: tuple[Way, ...]


@lru_cache(maxsize=16)
def numbers(phi: str, d_k: int, seed: int) -> Numbers:
    kappa, beside = kernel_of(phi, d_k, seed), beside_of(d_k, seed)
    sums, *shares, derivatives = arrived_at(kappa, STOPS, NEARBY)
    left = left_of(sums)
    defined = np.abs(left) >= UNDEFINED_BELOW
    positive = bool(kappa.min() >= 0)
    shares, near = (np.where(defined, share, np.nan) for share in shares)
    mean = float(kappa.mean(dtype=float))
    sizes = (
        np.where(sums.net == 0, np.nan, np.abs(sums.net)), np.abs(shares), np.abs(near),
        *(np.where(defined, of, np.nan) for of in (derivatives, kernel_derivative_bound(sums.net[..., None]))),
    )  # fmt: skip
    size, newest, nearby, moved, bound = np.split(band(np.concatenate(sizes, axis=1)), len(sizes), axis=1)
    bands = {
        "denominator": size,
        "share": np.maximum(newest, LOWEST),
        "near": np.maximum(nearby, LOWEST),
        "kernel": moved,
        "score": beside.score,
    }
    return Numbers(
        positive, mean, sums, left, defined, shares, near, bands,
        bound=bound[1],
        law=_law(kappa, mean, positive),
        short=beside.short if phi == BFLOAT else np.full(len(T), np.nan),
        ways=ways(d_k, seed, kappa, sums, defined),
    )  # fmt: skip


def _law(kappa: np.ndarray, mean: float, positive: bool) -> np.ndarray:
    """t·mean for a positive kernel; else the size of a sum of t independent values, √(t²·mean² + t·variance)."""
    return T * mean if positive else np.sqrt((T * mean) ** 2 + T * float(kappa.var(dtype=float)))
