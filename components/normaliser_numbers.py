"""Numbers of the normaliser's view: sums of kernel values over arriving tokens, shares, derivatives, over draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.normaliser_draws import BFLOAT, kernel_of, left_of
from components.normaliser_kept import beside_of
from components.normaliser_ways import STOPS, Way, band, ways, ways_with_phi
from compute.arriving import arrived_at
from compute.normaliser import kernel_derivative_bound
from compute.sharpness import UNDEFINED_BELOW

T = np.array(STOPS)
NEARBY = 64
"""Tokens that count as near."""

LOWEST = 1e-7
"""What is zero is drawn here, below every axis of shares: a logarithm has no place for it."""


@dataclass(frozen=True)
class Numbers:
    """Of one map, width and seed: [n] over stops, bands over draws [3, n].

    positive, mean: of all kernel values.  net, gross, left, share, near: of the first draw the sum of kernel values,
    that without signs, Σκ/Σ|κ|, and the weight on the newest and on the NEARBY newest, NaN where too little is left to
    divide by.  lost, negative, empty: how many draws have too little left, have a sum below zero, begin with 0/0.
    sizes: ends of what sums of all draws and the law reach.  bound: one over the denominator, the middle one of the
    draws.  law: size that independent kernel values would sum up to.  short: the denominator of the first draw with z
    kept in bfloat16.
    """

    positive: bool
    mean: float
    net: np.ndarray
    gross: np.ndarray
    left: np.ndarray
    share: np.ndarray
    near: np.ndarray
    lost: np.ndarray
    negative: np.ndarray
    empty: int
    sizes: np.ndarray
    bands: dict[str, np.ndarray]
    bound: np.ndarray
    law: np.ndarray
    short: np.ndarray
    ways: tuple[Way, ...]


def computed(phi: str, d_k: int, seed: int) -> Numbers:
    kappa, beside = kernel_of(phi, d_k, seed), beside_of(d_k, seed)
    sums, *shares, derivatives = arrived_at(kappa, STOPS, NEARBY)
    left = left_of(sums)
    defined = np.abs(left) >= UNDEFINED_BELOW
    positive = bool(kappa.min() >= 0)
    shares, near = (np.where(defined, share, np.nan) for share in shares)
    mean = float(kappa.mean(dtype=float))
    law = _law(kappa, mean, positive)
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
        positive, mean, sums.net[0], sums.gross[0], left[0], shares[0], near[0],
        lost=np.sum(~defined, axis=0),
        negative=np.sum(sums.net < 0, axis=0),
        empty=int(np.sum(sums.gross[:, 0] == 0)),
        sizes=ends_of(np.append(np.abs(sums.net).ravel(), law)),
        bands=bands, bound=bound[1], law=law, short=short_of(phi, d_k, seed),
        ways=ways(ways_with_phi(d_k, seed, kappa, sums, defined), d_k, seed),
    )  # fmt: skip


def short_of(phi: str, d_k: int, seed: int) -> np.ndarray:
    """The sum in few digits of the one map that is summed so."""
    return beside_of(d_k, seed).short if phi == BFLOAT else np.full(len(T), np.nan)


def ends_of(sizes: np.ndarray) -> np.ndarray:
    """Between which nearly all of them lie that a log axis has a place for."""
    return np.quantile(sizes[sizes > 0], (0.001, 1))


def _law(kappa: np.ndarray, mean: float, positive: bool) -> np.ndarray:
    """t·mean for a positive kernel; else the size of a sum of t independent values, √(t²·mean² + t·variance)."""
    return T * mean if positive else np.sqrt((T * mean) ** 2 + T * float(kappa.var(dtype=float)))
