"""Singular values as the steps of a ladder that they lie on: whole numbers, of less than a byte each in an archive.

Each tolerance of the page lies between two steps, so that the ranks are those of the values themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from components.rank_values import LARGEST, STOPS

FINE, COARSE = 600, 50
"""Steps to a decade."""

INDEX = np.arange(LARGEST)

DECADES = 14
"""Where the steps end: what is smaller is zero."""


def near(grain: int) -> float:
    """How far a value that is kept in so many steps to a decade may be from one computed anew, as a share of it."""
    return 10 ** (0.5 / grain) - 1 + 1e-4


def steps_of(values: np.ndarray, grain: int) -> np.ndarray:
    """The steps, so many to a decade, that relative singular values lie on: 0 from 1 downwards."""
    return np.minimum(np.floor(-np.log10(np.maximum(values, np.finfo(float).tiny)) * grain), DECADES * grain)


def values_at(steps: np.ndarray, grain: int) -> np.ndarray:
    """The middles of steps; the first value is 1, the last step stands for 0."""
    told = _middles(grain)[steps.astype(int)]
    told[0] = 1
    return told


@cache
def _middles(grain: int) -> np.ndarray:
    """The middle of every step: looked up, for powers of ten take longer than all else that is read."""
    return np.append(10 ** (-(np.arange(DECADES * grain) + 0.5) / grain), 0.0)


def stacked(steps: np.ndarray, lengths: Sequence[int], grain: int) -> np.ndarray:
    """Spectra [stops, largest stop] of steps that follow each other, so many of each stop; zeros up to its number of
    tokens, NaN behind it."""
    told = np.where(np.array(STOPS)[:, None] > INDEX, 0.0, np.nan)
    told[np.array(lengths)[:, None] > INDEX] = _middles(grain)[steps]
    told[:, 0] = 1
    return told


def packed(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of steps, each as the distance from the one before: low bytes [n], then high ones."""
    apart = [np.diff(row, prepend=0) for row in rows]
    return np.ascontiguousarray(np.concatenate(apart).astype("<u2").view(np.uint8).reshape(-1, 2).T)


def unpacked(told: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """The steps of all rows, one after the other, from their lengths."""
    low, high = told
    ends = np.cumsum(lengths)
    total = np.cumsum(low + 256 * high.astype(np.int64))
    before = np.concatenate([[0], total[ends[:-1] - 1]])  # steps begin anew with each spectrum
    return (total - np.repeat(before, lengths)).astype(np.uint16)
