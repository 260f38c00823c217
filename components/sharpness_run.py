"""Weights of every map at every sharpness, on the toy query and its keys."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.lesson import Question
from components.words import SOFTMAX
from compute.feature_maps import FEATURE_MAPS, FeatureMap, read_member
from compute.ordering import rank_correlation
from compute.sharpness import (
    UNDEFINED_BELOW,
    Kernel,
    limit_weights,
    match_kernel,
    match_weights,
    matching_query,
    misplaced,
)
from compute.toys import queries_and_keys

KEYS = 32
MATCH = 11
"""The key that the toy query is a copy of."""

DRAWS = 10
FAR = 10.0
"""Whiskers end here, far outside the frame: a draw without a denominator has no lowest weight."""

STEP = 1 / 65_535
"""Softmax's weights, always from 0 to 1, travel as whole steps of this size."""

STOPS = np.asarray(AXES["c"].stops)

WIDE = 1024
"""Features from which a random map's weights are worked out in float32: a draw is off by 1/√m, roundoff by 10⁻⁶."""


@lru_cache(maxsize=256)
def toy(d_k: int, seed: int, row: int | None, match: float = 1.0) -> tuple[np.ndarray, np.ndarray, int]:
    """The query, the keys and the index of the key that it matches.

    A row of the kernel matrix may be the query; its match is then the key with the largest score.
    """
    Q, K = queries_and_keys(d_k, seed)
    keys = K[:KEYS]
    if row is None:
        return matching_query(keys[MATCH], Q[MATCH], match), keys, MATCH
    return Q[row], keys, int(np.argmax(keys @ Q[row]))


@lru_cache(maxsize=512)
def bars(
    phi: FeatureMap | None, d_k: int, seed: int, row: int | None, match: float, single: int, chosen: bool = False
) -> dict:
    """Weights [C, 32] of one map: the draw itself, or for a random map the median and range of ten draws, or one of
    the ten (`single`, counted from 1) and the range of all.  chosen: whether what is said of the chosen map alone is
    told, too: its kernel values, the order of its weights, and how much of them is misplaced."""
    q, K, at = toy(d_k, seed, row, match)
    if phi is not None and phi.random and phi.d_phi(d_k) >= WIDE:
        q, K = q.astype(np.float32), K.astype(np.float32)
    of_pairs = None
    if chosen:
        (w, left), of_pairs = match_kernel(phi, q, K, STOPS, draws=DRAWS)
    else:
        w, left = match_weights(phi, q, K, STOPS, draws=DRAWS)
    w = np.where((left < UNDEFINED_BELOW)[..., None], np.nan, w)
    limit = limit_weights(phi, q, K, draws=DRAWS)[..., at]
    wrong = misplaced(w, _softmax(d_k, seed, row, match)) if chosen else None
    if w.ndim == 3:
        defined = np.mean(~np.isnan(w[..., 0]), axis=0) > 0.5
        with np.errstate(all="ignore"):
            low, middle, high = (np.where(defined[:, None], row, np.nan) for row in _over(w, (0, 0.5, 1)))
            limit = float(np.median(limit) if not single else limit[single - 1])
        low, high = np.clip(low, -FAR, FAR), np.clip(high, -FAR, FAR)
        if single:
            middle, left = w[single - 1], left[single - 1]
    else:
        middle, low, high = w, *np.full((2, len(w), 1), np.nan)  # no whiskers: a short row leaves the rest empty
    told = {
        "weight": middle.astype(np.float32),
        "low": low.astype(np.float32),
        "high": high.astype(np.float32),
        "signed": bool((middle < -0.005).any()),
        "left": np.median(left, axis=0) if left.ndim == 2 else left,
        "match": middle[:, at].astype(np.float64),
        "limit": np.float64(limit if np.isfinite(middle[-1, at]) else np.nan),  # no weights, no limit to draw
    }
    if not chosen:
        return told
    return {
        **told,
        "order": rank_correlation(middle, K @ q),
        "wrong": _ends(wrong) if w.ndim == 3 else np.stack([wrong, wrong]),
        "kernel": _kernel(of_pairs, single),
    }


def _kernel(told: Kernel, single: int) -> dict:
    """Logarithm and sign of the kernel [C, 32]; over draws those of the median, or of a single one, and of the ends."""
    log, sign = told.log.astype(np.float32), told.sign.astype(np.int8)
    if log.ndim == 2:
        return {"log": log, "sign": sign}
    # An order of signed numbers by their logarithms: κ itself may be beyond any float
    there = np.where(sign == 0, np.nanmax(log), log)
    above = sign * (there - there.min() + 1.0)
    order = np.argsort(above, axis=0, kind="stable")
    low, middle, high = (
        tuple(np.take_along_axis(a, order[[i]], axis=0)[0] for a in (log, sign)) for i in (0, (len(log) - 1) // 2, -1)
    )
    log, sign = (log[single - 1], sign[single - 1]) if single else middle
    return {"log": log, "sign": sign, "low": low, "high": high}


@lru_cache(maxsize=16)
def _softmax(d_k: int, seed: int, row: int | None, match: float) -> np.ndarray:
    """What every map is measured against, [C, 32]."""
    q, K, _ = toy(d_k, seed, row, match)
    return match_weights(None, q, K, STOPS).w


def _ends(over_draws: np.ndarray) -> np.ndarray:
    """Least and largest over the defined draws [draws, C] → [2, C]."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # at some stops no draw is defined
        return np.stack([np.nanmin(over_draws, axis=0), np.nanmax(over_draws, axis=0)])


def _over(w: np.ndarray, at: Sequence[float]) -> np.ndarray:
    """Nearest quantiles over draws; a draw without a denominator counts as the lowest."""
    ordered = np.sort(np.where(np.isnan(w), -np.inf, w), axis=0)
    return ordered[np.rint((len(w) - 1) * np.asarray(at)).astype(int)]


def members(question: Question) -> dict[str, FeatureMap | None]:
    """Every map of the selector at its default, the chosen one with its knobs."""
    told: dict[str, FeatureMap | None] = {SOFTMAX: None, **{word: read_member(word) for word in FEATURE_MAPS}}
    told[question.map_word] = question.map
    return told


def name_of(word: str) -> str:
    return SOFTMAX if word == SOFTMAX else FEATURE_MAPS[word].label
