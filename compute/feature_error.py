"""How wrong is a random-feature estimate of e^(q·k)?  Exact variances, and the spread of estimates over draws.

Everything depends on one length per pair: ‖q+k‖ for positive features, ‖q−k‖ for trigonometric ones.  So neither
d_k nor vectors appear, except with orthogonal directions, where d_k says how many share a block.  Errors are
relative to the true value: the ratio estimate/true has mean 1 and the variances below.  Lengths and numbers m of
directions are numbers or NumPy arrays; ValueError, beginning with the argument's name, on NaN, Inf, a length below 0
or an m below 1.
Source: Choromanski et al. 2020, arXiv:2009.14794, lemmas 1 and 2, theorem 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import numpy as np
from array_api_compat import device

from compute.arrays import Array, admit, leave
from compute.scalars import Numbers, one_of, real, reals, whole, wholes


def usual_square(d_k: int) -> float:
    """Mean of ‖q+k‖² for unit-variance entries after the temperature d_k^(−1/4) on both sides: 2√d_k."""
    return 2 * whole("d_k", d_k, 1) ** 0.5


def kernel_value(sum_length: Numbers, difference_length: Numbers) -> Numbers:
    """e^(q·k) from sum_length ‖q+k‖ and difference_length ‖q−k‖."""
    longer, shorter = reals("sum_length", sum_length, 0), reals("difference_length", difference_length, 0)
    return np.exp((np.square(longer) - np.square(shorter)) / 4)


def positive_variance(length: Numbers, m: Numbers = 1) -> Numbers:
    """Relative variance of positive features at ‖q+k‖ = length, m independent directions: (e^(length²) − 1)/m."""
    return np.expm1(np.square(reals("length", length, 0))) / reals("m", m, 1)


def trigonometric_variance(length: Numbers, m: Numbers = 1) -> Numbers:
    """Relative variance of trigonometric features at ‖q−k‖ = length, m independent directions: 2 sinh²(length²/2)/m.

    Times the squared kernel value it is e^(‖q+k‖²)(1 − e^(−‖q−k‖²))²/(2mκ²), which grows without bound as κ falls.
    """
    return 2 * np.square(np.sinh(np.square(reals("length", length, 0)) / 2)) / reals("m", m, 1)


def orthogonal_variance(length: Numbers, m: int, d_k: int) -> np.ndarray:
    """Relative variance of positive features at ‖q+k‖ = length, m directions orthogonal in blocks of d_k.

    Two directions of one block make products that miss each other: their covariance is `−block_gain`.
    """
    m, d_k = whole("m", m, 1), whole("d_k", d_k, 1)
    blocks, rest = divmod(m, d_k)
    pairs = blocks * d_k * (d_k - 1) + rest * (rest - 1)
    return (positive_variance(length) - pairs / m * block_gain(length, d_k)) / m


def block_gain(length: Numbers, d_k: int) -> np.ndarray:
    """Minus the covariance of the ratios of two orthogonal directions, in [0, 1): what orthogonality takes away.

    For a Haar frame with independent χ(d_k) lengths it is E[1 − Π_{j<N} (d_k+j)/(d_k+2j)], N Poisson with mean
    length².  It follows from the even moments of two coordinates of a random unit vector, summed over their orders
    by Vandermonde's identity, and is exact.  At length² far above 1 it is dwarfed by e^(length²).
    """
    d_k, square = whole("d_k", d_k, 1), np.square(reals("length", length, 0))[..., None]
    top = float(np.max(square))
    n = np.arange(int(top + 12 * top**0.5 + 40))
    step = np.concatenate([[0.0], np.cumsum(np.log1p(-n / (d_k + 2 * n)))[:-1]])
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(n[1:]))])
    with np.errstate(divide="ignore"):  # log 0 = −∞ gives the right weight 0 for N > 0 at length 0
        log_square = np.log(square)
    exponent = np.where(n == 0, 0.0, np.where(n == 0, 1, n) * log_square) - log_factorial - square
    return np.sum(np.exp(exponent) * -np.expm1(step), axis=-1)


class RatioSpread(NamedTuple):
    """The ratio estimate/true over draws, for each length [L] and number of directions [M].

    quantiles [L, M, len(at)]; below [L, M], the share of draws under the true value; negative [L, M], the share under
    zero; mean_error [L, M], the mean of |ratio − 1|.  It is taken as twice the mean of what a ratio lacks of 1: the
    mean ratio being 1 that is the same, and at lengths from 4 on the rare draws above 1 are hardly ever met.
    """

    quantiles: np.ndarray
    below: np.ndarray
    negative: np.ndarray
    mean_error: np.ndarray


def ratio_draws(
    lengths: Sequence[float],
    widths: Sequence[int],
    *,
    kind: str = "positive",
    d_k: int | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> np.ndarray:
    """Draws of estimate/true, [L, draws, M], for each length and each number of directions in widths (ascending).

    kind: "positive" (length ‖q+k‖) or "trig" (‖q−k‖).  d_k: None for independent directions, else orthogonal blocks.
    Only the projections of the directions on one fixed direction are drawn: normals, or in a block the coordinates
    of a random unit vector times χ(d_k) lengths.  All lengths share them and all widths are their prefixes.
    Raises ValueError naming lengths, widths, kind, d_k, draws or seed.
    """
    lengths, kind = reals("lengths", lengths, 0), one_of("kind", kind, KINDS)
    if lengths.ndim != 1:
        raise ValueError(f"lengths must be a row of numbers, got shape {lengths.shape}")
    widths, draws = wholes("widths", widths, 1, rising=True), whole("draws", draws, 1)
    d_k, rng = None if d_k is None else whole("d_k", d_k, 1), np.random.default_rng(whole("seed", seed, 0))
    told = np.empty((len(lengths), draws, len(widths)))
    for first in range(0, draws, BATCH):
        batch = slice(first, min(first + BATCH, draws))
        g = _projections(rng, batch.stop - first, widths[-1], d_k)
        for i, length in enumerate(lengths):
            told[i, batch] = ratios(g, float(length), widths, kind)
    return told


def ratios(projections: Array, length: float, widths: Sequence[int], kind: str = "positive") -> Array:
    """estimate/true, [draws, M], from projections [draws, m] of the directions on q+k, or for kind "trig" on q−k.

    widths: numbers of directions, ascending; each estimate uses a prefix.  ValueError naming an argument; projections
    are not searched for NaN, a sweep's inner loop being no place for that.
    """
    admitted = admit(ndim=2, finite=False, projections=projections)
    xp, _, (g,) = admitted
    if g.ndim != 2:
        raise ValueError(f"projections must have shape [draws, m], got {tuple(g.shape)}")
    length, kind = real("length", length, 0), one_of("kind", kind, KINDS)
    ends = wholes("widths", widths, 1, g.shape[-1], rising=True)
    terms = xp.exp(length * g - length**2 / 2) if kind == "positive" else xp.cos(length * g) * exp(length**2 / 2)
    sums = [xp.sum(terms[:, a:b], axis=-1) for a, b in zip([0, *ends], ends)]
    counts = xp.asarray(ends, dtype=g.dtype, device=device(g))
    return leave(admitted, xp.cumulative_sum(xp.stack(sums, axis=-1), axis=-1) / counts)


def ratio_spread(
    lengths: Sequence[float], widths: Sequence[int], *, at: Sequence[float] = (0.05, 0.5, 0.95), **options
) -> RatioSpread:
    """Quantiles and shares of `ratio_draws`, which takes lengths, widths and options (kind, d_k, draws, seed).

    at: quantiles from 0 to 1, a row.  ValueError naming at, or as there.
    """
    at = reals("at", at, 0, 1)
    if at.ndim != 1:
        raise ValueError(f"at must be a row of numbers, got shape {at.shape}")
    drawn = ratio_draws(lengths, widths, **options)
    return RatioSpread(
        np.moveaxis(np.quantile(drawn, at, axis=1), 0, -1),
        np.mean(drawn < 1, axis=1),
        np.mean(drawn < 0, axis=1),
        2 * np.mean(np.maximum(1 - drawn, 0), axis=1),
    )


KINDS = ("positive", "trig")
"""Of features: positive ones err with ‖q+k‖, trigonometric ones with ‖q−k‖."""

BATCH = 256
"""Draws in memory at once; 4,096 directions then take 8 MiB."""


def _projections(rng: np.random.Generator, draws: int, m: int, d_k: int | None) -> np.ndarray:
    """[draws, m]: ω·u for a fixed unit u and m directions ω, each standard normal."""
    if d_k is None:
        return rng.standard_normal((draws, m))
    blocks = -(-m // d_k)
    g = rng.standard_normal((draws, blocks, d_k))
    g /= np.linalg.norm(g, axis=-1, keepdims=True)
    return (g * np.sqrt(rng.chisquare(d_k, g.shape))).reshape(draws, -1)[:, :m]
