"""What the normaliser draws of a stream beside the chosen map, and so whatever that map is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from components.normaliser_ways import STOPS, band
from components.words import SOFTMAX
from compute.arriving import Sums, score_derivatives_at, sums_at
from compute.feature_maps import FEATURE_MAPS, read_member
from compute.rounding import running_sum
from compute.streams import kernel_values, stream

SIGNED = {"identity": "identity", "silu": "silu", "trig": "trig~m~16"}
"""Signed maps that are drawn beside the chosen one: slot and member."""

BFLOAT = "elu"
"""The map whose z is also summed in bfloat16."""


class Signed(NamedTuple):
    """Of a signed map, [n]: Σκ/Σ|κ| of the first draw, and how many draws have a sum below zero."""

    left: np.ndarray
    below: np.ndarray


class Beside(NamedTuple):
    """Of one width and seed, after each number of tokens.

    score: band over draws of what a score moves a softmax weight by, [3, n].  short: denominator of the first draw with
    z of BFLOAT kept in bfloat16, [n].  signed: of each slot of SIGNED.
    """

    score: np.ndarray
    short: np.ndarray
    signed: dict[str, Signed]


def computed(d_k: int, seed: int) -> Beside:
    score = band(score_derivatives_at(kernel_of(SOFTMAX, d_k, seed), STOPS)).astype(np.float32)
    return Beside(score, _in_bfloat16(d_k, seed), {slot: _signed(word, d_k, seed) for slot, word in SIGNED.items()})


def kernel_of(phi: str, d_k: int, seed: int) -> np.ndarray:
    """Kernel values [DRAWS, TOKENS] of a map's word."""
    return kernel_values(None if phi == SOFTMAX else read_member(phi), d_k, seed)


def left_of(sums: Sums) -> np.ndarray:
    """What signs leave of a sum, Σκ/Σ|κ|."""
    return sums.net / np.where(sums.gross == 0, np.nan, sums.gross)


def _signed(word: str, d_k: int, seed: int) -> Signed:
    sums = sums_at(kernel_of(word, d_k, seed), STOPS)
    return Signed(left_of(sums)[0], np.sum(sums.net < 0, axis=0))


def _in_bfloat16(d_k: int, seed: int) -> np.ndarray:
    phi, drawn = FEATURE_MAPS[BFLOAT](), stream(d_k, seed)
    z = running_sum(phi(d_k**-0.25 * drawn.K), "bfloat16")  # the first draw meets the keys as they stand
    return (z @ phi(d_k**-0.25 * drawn.Q[0]))[np.array(STOPS) - 1]
