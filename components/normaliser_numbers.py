"""Numbers of the normaliser's view: sums of kernel values over arriving tokens, shares, derivatives, over draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from components.normaliser_ways import STOPS, Way, band, of_identity, ways
from components.words import SOFTMAX
from compute.arriving import Sums, arrived_at, score_derivatives_at, sums_at
from compute.feature_maps import FEATURE_MAPS, read_member
from compute.normaliser import kernel_derivative_bound
from compute.rounding import running_sum
from compute.sharpness import UNDEFINED_BELOW
from compute.streams import DRAWS, kernel_values, stream

T = np.array(STOPS)
NEARBY = 64
"""Tokens that count as near."""

SIGNED = {"identity": "identity", "silu": "silu", "trig": "trig~m~16"}
"""Signed maps that are drawn beside the chosen one: slot and member."""

LOWEST = 1e-7
"""What is zero is drawn here, below every axis of shares: a logarithm has no place for it."""

BFLOAT = "elu"
"""The map whose z is also summed in bfloat16."""


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
    kappa = _kernel(phi, d_k, seed)
    sums, *shares, derivatives = arrived_at(kappa, STOPS, NEARBY)
    left = left_of(sums)
    defined = np.abs(left) >= UNDEFINED_BELOW
    positive = bool(kappa.min() >= 0)
    shares, near = (np.where(defined, share, np.nan) for share in shares)
    bands = {
        "denominator": band(np.where(sums.net == 0, np.nan, np.abs(sums.net))),
        "share": np.maximum(band(np.abs(shares)), LOWEST),
        "near": np.maximum(band(np.abs(near)), LOWEST),
        "kernel": band(np.where(defined, derivatives, np.nan)),
        "score": _score_band(d_k, seed),
    }
    return Numbers(
        positive, float(kappa.mean(dtype=float)), sums, left, defined, shares, near, bands,
        bound=band(np.where(defined, kernel_derivative_bound(sums.net[..., None]), np.nan))[1],
        law=_law(kappa, positive),
        short=_in_bfloat16(d_k, seed) if phi == BFLOAT else np.full(len(T), np.nan),
        ways=ways(d_k, seed, kappa, sums, defined),
    )  # fmt: skip


def left_of(sums: Sums) -> np.ndarray:
    """What signs leave of a sum, Σκ/Σ|κ|."""
    return sums.net / np.where(sums.gross == 0, np.nan, sums.gross)


@lru_cache(maxsize=32)
def signed_left(d_k: int, seed: int) -> dict[str, np.ndarray]:
    """Σκ/Σ|κ| of the signed maps, [draws, n] each."""
    sums = {"identity": of_identity(d_k, seed)[1]}
    return {slot: left_of(sums.get(word) or sums_at(_kernel(word, d_k, seed), STOPS)) for slot, word in SIGNED.items()}


def _kernel(phi: str, d_k: int, seed: int) -> np.ndarray:
    return kernel_values(None if phi == SOFTMAX else read_member(phi), d_k, seed, draws=DRAWS)


@lru_cache(maxsize=32)
def _score_band(d_k: int, seed: int) -> np.ndarray:
    return band(score_derivatives_at(_kernel(SOFTMAX, d_k, seed), STOPS))


def _law(kappa: np.ndarray, positive: bool) -> np.ndarray:
    """t·mean for a positive kernel; else the size of a sum of t independent values, √(t²·mean² + t·variance)."""
    mean = float(kappa.mean(dtype=float))
    return T * mean if positive else np.sqrt((T * mean) ** 2 + T * float(kappa.var(dtype=float)))


@lru_cache(maxsize=32)
def _in_bfloat16(d_k: int, seed: int) -> np.ndarray:
    phi, drawn = FEATURE_MAPS[BFLOAT](), stream(d_k, seed)
    z = running_sum(phi(d_k**-0.25 * drawn.K), "bfloat16")  # the first draw meets the keys as they stand
    return (z @ phi(d_k**-0.25 * drawn.Q[0]))[T - 1]
