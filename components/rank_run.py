"""Spectra and ranks of every map, at all numbers of tokens and tolerances."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from components import rank_kept, rank_wide
from components.axes import AXES
from components.lesson import Question
from components.rank_blocks import block_ranks
from components.rank_values import CELLS, TOLERANCES, computed, is_wide, painted, wide
from components.sharpness_run import members
from components.words import WORDS
from compute.feature_maps import FeatureMap
from compute.rank import rank_of

START = AXES["rtol"].index(WORDS["rtol"].default)
TOLERANCE = float(TOLERANCES[START])
"""Where the line stands at first, and always on the overview."""

FLOOR = 1e-13
"""Where the axis ends; a singular value that is zero exactly is drawn below it."""


def file_of(*asked: Any) -> ModuleType | None:
    """What has the singular values of a map at a width and a draw, in a precision and under a mask; None where they
    are computed now."""
    return next((file for file in (rank_kept, rank_wide) if file.is_kept(*asked)), None)


@lru_cache(maxsize=512)
def values_of(phi: FeatureMap | None, d_k: int, seed: int, precision: str, mask: str = "none") -> np.ndarray:
    """Singular values [stops, 256] of the first N queries and keys, relative to the largest; NaN behind the N-th."""
    asked = phi, d_k, seed, precision, mask
    file = file_of(*asked)
    return file.kept(*asked) if file else computed(*asked)


def ranks(relative: np.ndarray, tolerances: np.ndarray = TOLERANCES) -> np.ndarray:
    """Ranks [..., tolerances] of spectra [..., n]."""
    return rank_of(relative, tolerances)


@lru_cache(maxsize=128)
def pictures(phi: FeatureMap | None, d_k: int, seed: int, mask: str, cells: int = CELLS) -> np.ndarray:
    """Pictures of the kernel matrix [extents, cells, cells] uint8, rows relative to their largest entry."""
    if rank_wide.is_kept(phi, d_k, seed, mask=mask):
        return rank_wide.picture(phi, d_k)[:, :: CELLS // cells, :: CELLS // cells]
    # What is not kept is decomposed, too: the matrix of a wide map serves both.
    there = is_wide(phi, d_k) and file_of(phi, d_k, seed) is None
    return painted(phi, d_k, seed, mask, cells, wide(phi, d_k, seed) if there else None)


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
