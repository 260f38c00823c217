"""Numbers of the map itself at every stop of sharpness: what its two figures frame, and what lies in the frames."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.sharpness_run import STOPS, toy
from compute.feature_maps import FeatureMap
from compute.one_number import number_features

FEATURES = ("f0", "f1", "f2", "f3")
"""Columns of the curves of an entry's features: no map is drawn with more."""

ENTRIES = 16
"""Entries of the query that are drawn, the first ones."""

GROWN = 2.0 ** np.arange(6)
"""A window is the least of these times its own size that holds what is drawn: it seldom moves under a finger."""

ENTRY = np.array([-2.0, 4.0, -1.0, 5.0])
SCORE = np.array([-6.5, 12.0])
"""Windows as they begin: left, right, bottom and top of an entry; left and right of a score, whose e^s fills the
other axis, so that softmax is the diagonal."""

TALLEST = 3
"""Kernel values are framed up to this window: what lies further out is said in words."""

NOTED = 0.24
"""Share of a frame's height, from its top, that the note of a map with draws takes: their whiskers end below it."""

ALONG, LIFTED = -5.2, 0.13
"""Where e^s has its name: at this score, in the first window, and no lower than this share of the frame's height."""

SMALLEST, LARGEST = 1e-38, 1e38
"""Numbers that still travel in 32 bits."""


def grid(end: float, n: int = 121) -> np.ndarray:
    """Places from −end to end, close about zero, and zero itself."""
    return 2 * np.sinh(np.linspace(-1, 1, n) * np.arcsinh(end / 2))


NUMBERS, SCORES = grid(GROWN[-1] * ENTRY[1] / 2), grid(GROWN[-1] * SCORE[1])


def first_window(low: np.ndarray, high: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Index of the least window that holds from low to high, the last if none does."""
    inside = (low[..., None] >= window[0] * GROWN) & (high[..., None] <= window[1] * GROWN)
    return np.where(inside.any(axis=-1), inside.argmax(axis=-1), len(GROWN) - 1)


def drawn_features(phi: FeatureMap | None, x: np.ndarray) -> np.ndarray:
    """Features of numbers, [n] → [n, at most 4]; what no axis could show is NaN."""
    waves = 2 if phi is not None and phi.random and phi.d_phi(1) > phi.m else 4  # each direction has two
    with np.errstate(over="ignore", invalid="ignore"):
        told = number_features(phi, x, waves)
    return np.where(np.abs(told) < 1e30, told, np.nan)


@lru_cache(maxsize=32)
def entries(phi: FeatureMap | None, d_k: int, seed: int, row: int | None, match: float, least: int) -> dict:
    """The query's entries [C, 16] at every stop, where one feature stands for one entry its value, else 0; and the
    window, which is no smaller than `least`."""
    q = toy(d_k, seed, row, match)[0][:ENTRIES] * d_k**-0.25
    x = STOPS[:, None] * q
    curves = drawn_features(phi, x.ravel())
    value = curves.reshape(x.shape) if curves.shape[1] == 1 else np.zeros_like(x)
    window = np.maximum(first_window(x.min(axis=1), x.max(axis=1), ENTRY), least)
    height = np.minimum(window, np.array(_heights(phi))[window])
    edges = np.column_stack([GROWN[window, None] * ENTRY[:2], GROWN[height, None] * ENTRY[2:]])
    return {"x": x, "value": value, "window": window, "edges": edges}


@lru_cache(maxsize=32)
def _heights(phi: FeatureMap | None) -> tuple[int, ...]:
    """For each window of an entry the least one that is high enough for all features in it."""
    curves = drawn_features(phi, NUMBERS)
    told = []
    for grown in GROWN:
        left, right = grown * ENTRY[:2]
        seen = curves[(left <= NUMBERS) & (right >= NUMBERS)]
        told.append(int(first_window(np.nanmin(seen), np.nanmax(seen), ENTRY[2:])))
    return tuple(told)


def pairs(kernel: dict, d_k: int, seed: int, row: int | None, match: float) -> dict:
    """Scores [C, 32] and the kernel values of `bars`, as they are drawn: |κ|, whether it is above zero, the ends of
    whiskers; the window, and how many values lie above and below its frame, and how many are zero."""
    q, K, _ = toy(d_k, seed, row, match)
    score = STOPS[:, None] * (K @ q) / d_k**0.5
    log, sign = kernel["log"].astype(float), kernel["sign"]
    x = first_window(score.min(axis=1), score.max(axis=1), SCORE)
    there = np.where(sign == 0, np.nan, log)
    low, high = (np.nan_to_num(_quantile(there, at)) for at in (0.1, 1.0))
    down = np.clip(first_window(low, 0 * low, SCORE), x, TALLEST)
    up = np.clip(first_window(0 * high, high, SCORE), x, TALLEST)
    ends = _whiskers(kernel)
    if "low" in kernel:
        foot, tip = GROWN[down] * SCORE[0], np.log(np.nanmax(ends["most"], axis=1))
        clear = first_window(0 * tip, np.nan_to_num(tip + NOTED / (1 - NOTED) * (tip - foot)), SCORE)
        up = np.clip(np.maximum(up, clear), x, TALLEST)
    bottom, top = np.exp(GROWN[down] * SCORE[0]).clip(SMALLEST), np.exp(GROWN[up] * SCORE[1]).clip(max=LARGEST)
    size = _sized(log)
    return {
        "score": score,
        "kernel": np.where((sign == 0) | (size < SMALLEST) | (size > LARGEST), np.nan, size),
        "filled": (sign > 0).astype(np.uint8),
        **ends,
        "diagonal": _name_place(GROWN[x] * ALONG, np.log(bottom), np.log(top)),
        "window": x,
        "edges": np.column_stack([GROWN[x, None] * SCORE, bottom, top]),
        "above": (size > top[:, None]).sum(axis=1),
        "below": ((size < bottom[:, None]) & (sign != 0)).sum(axis=1),
        "zero": (sign == 0).sum(axis=1),
    }


def _name_place(along: np.ndarray, bottom: np.ndarray, top: np.ndarray) -> np.ndarray:
    """Score and e^score [C, 2] of the name, clear of the frame's foot; both ends of the frame as logarithms."""
    at = np.maximum(along, bottom + LIFTED * (top - bottom))
    return np.column_stack([at, np.exp(at)])


def _sized(log: np.ndarray) -> np.ndarray:
    """|κ| by its logarithm, held where 32 bits can carry it."""
    return np.exp(np.clip(log, -700, 700)).clip(SMALLEST / 3, LARGEST * 3)


def _whiskers(kernel: dict) -> dict[str, np.ndarray]:
    """Ends of the range over draws on an axis of sizes: one across zero begins at the bottom.  None without draws."""
    if "low" not in kernel:
        return {name: np.full((len(STOPS), 1), np.nan) for name in ("least", "most")}
    (low, low_sign), (high, high_sign) = kernel["low"], kernel["high"]
    sizes = np.stack([_sized(low.astype(float)), _sized(high.astype(float))])
    across = low_sign * high_sign <= 0
    return {"least": np.where(across, SMALLEST, sizes.min(axis=0)), "most": sizes.max(axis=0)}


def _quantile(rows: np.ndarray, at: float) -> np.ndarray:
    """Of each row, NaN left out; NaN for a row of nothing else."""
    ordered = np.sort(rows, axis=1)
    last = (~np.isnan(rows)).sum(axis=1) - 1
    return np.take_along_axis(ordered, np.floor(at * last.clip(0)).astype(int)[:, None], axis=1)[:, 0]
