"""Spectra and ranks of every map, at all numbers of tokens and tolerances."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.lesson import Question
from components.rank_blocks import block_ranks
from components.rank_kept import is_kept, kept
from components.rank_values import LARGEST, TOLERANCES, computed, is_wide
from components.sharpness_run import members
from components.words import WORDS
from compute.feature_maps import FeatureMap
from compute.rank import kernel_matrix, rank_of
from compute.toys import queries_and_keys

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
def values_of(phi: FeatureMap | None, d_k: int, seed: int, precision: str, mask: str = "none") -> np.ndarray:
    """Singular values [stops, 256] of the first N queries and keys, relative to the largest; NaN behind the N-th."""
    source = kept if is_kept(phi, d_k, seed, precision, mask) else computed
    return source(phi, d_k, seed, precision, mask)


def ranks(relative: np.ndarray, tolerances: np.ndarray = TOLERANCES) -> np.ndarray:
    """Ranks [..., tolerances] of spectra [..., n]."""
    return rank_of(relative, tolerances)


@lru_cache(maxsize=128)
def pictures(phi: FeatureMap | None, d_k: int, seed: int, mask: str, cells: int = CELLS) -> np.ndarray:
    """Pictures of the kernel matrix [extents, cells, cells] uint8, rows relative to their largest entry.

    Only the rows that some picture draws are multiplied out: with 64 cells every second one."""
    drawn = [np.arange(0, extent, extent // cells) for extent in EXTENTS]
    rows = np.unique(np.concatenate(drawn))
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    size = np.abs(phi.kernel(Q[rows], K) if is_wide(phi, d_k) else kernel_matrix(Q[rows], K, phi and phi.merged()))
    if mask == "causal":
        size = np.where(np.arange(LARGEST) <= rows[:, None], size, 0.0)
    most = np.maximum(size.max(axis=1, keepdims=True), np.finfo(float).tiny)
    told = []
    for tokens in drawn:
        own = np.searchsorted(rows, tokens)
        told.append(np.sqrt(size[own[:, None], tokens] / most[own]))
    return np.rint(255 * np.stack(told)).astype(np.uint8)


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
        word: values_of(member, *at, question.mask) if word in (question.map_word, "softmax") else None
        for word, member in members(question).items()
    }
