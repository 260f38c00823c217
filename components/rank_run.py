"""Spectra and ranks of every map, at all numbers of tokens and tolerances."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.lesson import Question
from components.sharpness_run import members
from components.words import WORDS
from compute.feature_maps import FeatureMap
from compute.rank import feature_spectrum, kernel_matrix, past_to_future, rank_of, spectra, spectrum
from compute.toys import queries_and_keys

STOPS = AXES["N"].stops
LARGEST = STOPS[-1]
TOLERANCES = 10.0 ** -np.array(AXES["rtol"].stops)
START = AXES["rtol"].index(WORDS["rtol"].default)
TOLERANCE = float(TOLERANCES[START])
"""Where the line stands at first, and always on the overview."""

CELLS = 64
"""Rows and columns of a picture of the kernel matrix."""

EXTENTS = (64, 128, 256)
"""Tokens that a picture spans: every one, every second or every fourth is drawn.  A stop shows a corner of one."""

FLOOR = 1e-13
"""Where the axis ends; a singular value that is zero exactly is drawn below it."""


@lru_cache(maxsize=512)
def values_of(phi: FeatureMap | None, d_k: int, seed: int, precision: str) -> np.ndarray:
    """Singular values [stops, 256] of the first N queries and keys, relative to the largest; NaN behind the N-th.

    In float64 the features themselves are decomposed.  In float32 the matrix is formed, so that its roundoff shows.
    """
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    if precision == "float64" and not _is_wide(phi, d_k):
        return _relative(spectra(Q, K, phi and phi.merged(), STOPS))
    if precision == "float64":
        return _relative(_formed(_wide(phi, d_k, seed), precision))
    return _relative(_formed(matrix(Q, K, phi, precision), precision))


def _is_wide(phi: FeatureMap | None, d_k: int) -> bool:
    """Whether the distinct features are as many as the tokens, so that nothing is gained by decomposing them."""
    return phi is not None and phi.rank_bound(d_k) >= LARGEST


@lru_cache(maxsize=4)
def _wide(phi: FeatureMap, d_k: int, seed: int) -> np.ndarray:
    """A wide map's kernel matrix, [256, 256], half a megabyte; its features may be thirty."""
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    return phi.kernel(Q, K)


@lru_cache(maxsize=128)
def masked_values(phi: FeatureMap | None, d_k: int, seed: int, precision: str) -> np.ndarray:
    """The same for the matrix under the causal mask."""
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    return _relative(_formed(np.tril(matrix(Q, K, phi, precision)), precision))


def matrix(Q: np.ndarray, K: np.ndarray, phi: FeatureMap | None, precision: str) -> np.ndarray:
    """The kernel matrix up to a factor, multiplied out in the given precision.

    Features are brought to size one before they are rounded: some maps leave float32's range at wide keys, and a
    factor does not change a rank.
    """
    if phi is None or precision == "float64":
        return kernel_matrix(Q, K, phi and phi.merged(), dtype=precision)
    left, right = ((x / np.max(np.abs(x))).astype(precision) for x in (phi.merged()(Q), phi.merged()(K)))
    return left @ right.T


def _formed(M: np.ndarray, precision: str) -> np.ndarray:
    rows = np.full((len(STOPS), LARGEST), np.nan)
    for row, N in zip(rows, STOPS):
        row[:N] = spectrum(M[:N, :N], dtype=precision)
    return rows


def _relative(values: np.ndarray) -> np.ndarray:
    return values / values[:, :1]


def ranks(relative: np.ndarray) -> np.ndarray:
    """Ranks [..., tolerances] of spectra [..., n]."""
    return rank_of(relative, TOLERANCES)


@lru_cache(maxsize=256)
def block_ranks(phi: FeatureMap | None, d_k: int, seed: int, precision: str) -> np.ndarray:
    """Ranks [stops, tolerances] of the block of later rows and earlier columns, counted."""
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    told = []
    if phi is None or precision != "float64" or _is_wide(phi, d_k):
        M = _wide(phi, d_k, seed) if precision == "float64" and phi else matrix(Q, K, phi, precision)
        told = [spectrum(past_to_future(M[:N, :N]), dtype=precision) for N in STOPS]
    else:
        phi_q, phi_k = (phi.merged()(x) for x in (Q, K))
        told = [feature_spectrum(phi_q[N // 2 : N], phi_k[: N // 2]) for N in STOPS]
    return np.stack([ranks(values) for values in told])


@lru_cache(maxsize=128)
def pictures(phi: FeatureMap | None, d_k: int, seed: int, mask: str) -> np.ndarray:
    """Pictures of the kernel matrix [extents, 64, 64] uint8, rows relative to their largest entry."""
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    size = np.abs(_wide(phi, d_k, seed) if _is_wide(phi, d_k) else kernel_matrix(Q, K, phi and phi.merged()))
    if mask == "causal":
        size = np.tril(size)
    size = np.sqrt(size / np.maximum(size.max(axis=1, keepdims=True), np.finfo(float).tiny))
    told = np.stack([size[: extent : extent // CELLS, : extent : extent // CELLS] for extent in EXTENTS])
    return np.rint(255 * told).astype(np.uint8)


def every_rank(question: Question, counted: dict[str, np.ndarray | None]) -> dict[str, np.ndarray]:
    """Ranks [stops, tolerances] of each map's matrix; under the mask, of its block of later rows and earlier columns:
    the whole one, which the mask makes invertible, would say nothing of what the past tells the future.

    counted: the ranks of each map's matrix."""
    if question.mask == "none":
        return counted
    at = question.d_k, question.seed, question.precision
    return {word: block_ranks(member, *at) for word, member in members(question).items()}


def every_spectrum(question: Question) -> dict[str, np.ndarray | None]:
    """Relative singular values of each map; None where the mask leaves a map out: only softmax and the chosen one are
    decomposed under it, for no feature helps there and each matrix costs a full decomposition."""
    at = question.d_k, question.seed, question.precision
    if question.mask == "none":
        return {word: values_of(member, *at) for word, member in members(question).items()}
    return {
        word: masked_values(member, *at) if word in (question.map_word, "softmax") else None
        for word, member in members(question).items()
    }
