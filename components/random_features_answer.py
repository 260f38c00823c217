"""What random features draw: bands over draws, one draw of the visitor's own, exact variances, a ladder of widths."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from components import random_features_said
from components.cases import checked
from components.formula import mathml
from components.lesson import Question
from components.plots import spread
from components.powers import powers
from components.random_features_bands import NAME_AT, SHARES_AT, axis, bands, own, threads
from components.random_features_cases import CASES
from components.random_features_said import D_PHI, EXACT, KINDS, LADDER, STOPS, whole_features
from components.random_features_sweep import WIDTHS
from components.reel import Answer
from components.view import props, texts
from compute.feature_error import positive_variance, usual_square
from compute.small_values import rms_error

BESIDE = (4, 256)
"""Head widths whose orthogonal gain is drawn beside the chosen one's."""

VALUES = np.geomspace(1e-3, 20, 60)
"""True kernel values that errors are drawn for."""

ERRORS, FAR_ERRORS = (1e-5, 1e6), (1e-5, 1e17)
"""Ends of the axis of errors, and where the first ones do not hold a stop's lines."""

FEATURES = (1e-3, 1e30)
"""Ends of the axis of features needed: the longest vectors are on it."""

EDGE = 8.6
"""Where the axis of lengths ends: there the names of heads begin."""

BEGINS, TOP = 0.29, 1e25
"""Left of this length there is no room for a number before the point on the curve, and from here on none above it."""

TITLES = (
    ("random-features.positive_title", "positive features: estimate ÷ true value (↑ ↓ beyond the axis)"),
    ("random-features.error_title", f"error (root mean square) of {D_PHI} features as the true value falls"),
    ("random-features.needed_title", "features at which the standard error is as large as the value: e^‖q+k‖² − 1"),
)


def answer(question: Question) -> Answer:
    return _answer(question.head, question.seed)


@lru_cache(maxsize=256)
def _answer(d_k: int, seed: int) -> Answer:
    usual = usual_square(d_k) ** 0.5
    return {
        "random-features.reel": {
            "r": STOPS, **_dot(), **axis(), **bands(), **own(seed), **threads(seed), **_errors(),
            **random_features_said.said(d_k),
        },
        "random-features.phrases": {
            "headline": [
                f"{D_PHI} random features typically read {{}} of the true value; {{}} of draws read too little."
            ],
            "sentence": [
                f"Exact relative variance at ‖q+k‖ = {{}}{{}}: (e^‖q+k‖² − 1)/d_φ = {{}}/{D_PHI} = {{}}."
            ],
        },
        **{f"random-features.{kind}_band": {"d_phi": np.array(WIDTHS, dtype=float)} for kind in KINDS},
        **{
            f"random-features.{kind}_names": {
                "from": np.full(5, float(WIDTHS[-1])),
                "x": np.full(5, float(NAME_AT)),
            }
            for kind in KINDS
        },
        **{
            f"random-features.{kind}_shares": {
                "x": np.array(SHARES_AT, dtype=float),
                "align": ["left", "center", "right"], "shift": np.array([4.0, 0.0, -4.0]),
            }
            for kind in KINDS
        },
        "random-features.errors": {"value": VALUES},
        "random-features.error_names": {
            "x": np.full(3, 7.5e-4), "text": ["trigonometric", "the value itself", "positive"],
        },
        "random-features.orthogonal": {"r": STOPS, "own": random_features_said.kept(d_k).astype(np.float32)},
        **_beside(),
        "random-features.needed": {"r": STOPS, "features": positive_variance(STOPS)},
        **_ladder(),
        "random-features.usual": {
            "x": np.array([usual, STOPS[0]]), "y": np.array([FEATURES[1] / 1e2, float(D_PHI)]),
            "text": [f"usual at d_k = {d_k}", f"{D_PHI} features"],
            "align": ["right", "left"], "dx": np.array([-6.0, 6.0]), "dy": np.array([0.0, -9.0]),
        },
        "random-features.props": props([("random-features.typical", "location", float(usual))]),
        "random-features.texts": texts(
            [
                ("random-features.subject", ""),
                ("random-features.aside", random_features_said.aside(d_k)),
                ("random-features.made", random_features_said.made()),
                *checked("random-features", CASES),
                *TITLES,
                (
                    "random-features.orthogonal_title",
                    f"variance left by {D_PHI} directions orthogonal in blocks of d_k = {d_k}",
                ),
            ]
        ),
        "random-features.math": texts(
            [
                ("random-features.formula", mathml(random_features_said.LATEX)),
                ("random-features.values", random_features_said.values(d_k)),
            ]
        ),
    }  # fmt: skip


@cache
def _dot() -> dict[str, np.ndarray | list]:
    """The point on the curve of features needed, and its number: left of it but where the figure begins."""
    needed, right = positive_variance(EXACT), STOPS < BEGINS
    return {
        "dot_y": needed,
        "dot_text": [whole_features(n) for n in needed],
        "dot_align": ["left" if r else "right" for r in right],
        "dot_dx": np.where(right, 9, -9).astype(np.float32),
        "dot_dy": np.where(needed > TOP, 0, -9).astype(np.float32),
    }


@cache
def _errors() -> dict[str, np.ndarray]:
    """Root mean square errors at the usual width, and where their names stand, at every stop."""
    told = {
        "error_positive": rms_error(STOPS[:, None], VALUES, D_PHI),
        "error_trig": rms_error(STOPS[:, None], VALUES, D_PHI // 2, "trig"),
    }
    told = {name: values.astype(np.float32) for name, values in told.items()}
    ends = np.stack([told["error_trig"][:, 0], np.full(len(STOPS), VALUES[0]), told["error_positive"][:, 0]], axis=1)
    most = np.maximum(*(np.nanmax(values, axis=1) for values in told.values()))
    top = np.where(most < ERRORS[1], ERRORS[1], FAR_ERRORS[1])
    placed = []
    for row, low, high in zip(np.log10(ends), np.full(len(STOPS), np.log10(ERRORS[0])), np.log10(top)):
        edge, gap = 0.07 * (high - low), 0.14 * (high - low)  # as many px, whichever the axis
        placed.append(spread(list(row), gap, low + edge, high - edge))
    return {**told, "error_names": 10 ** np.array(placed), "error_top": top}


@cache
def _beside() -> Answer:
    """The gain of the narrowest and the widest head, and their names left of its lowest points."""
    gains = {d: random_features_said.kept(d) for d in BESIDE}
    return {
        "random-features.orthogonal_beside": {
            "r": STOPS, **{f"d_{d}": gain.astype(np.float32) for d, gain in gains.items()}
        },
        "random-features.orthogonal_names": {
            "x": np.array([0.92 * STOPS[gain.argmin()] for gain in gains.values()]),
            "y": np.array([gain.min() + shift for gain, shift in zip(gains.values(), (0.06, -0.034))]),
            "text": [f"d_k = {d}" for d in BESIDE],
        },
    }  # fmt: skip


@cache
def _ladder() -> Answer:
    """Heads of growing width at their usual ‖q+k‖: how many features make the standard error as large as the value."""
    lengths = [usual_square(d) ** 0.5 for d in LADDER]
    heights = [float(positive_variance(r)) for r in lengths]
    low, high = np.log10(FEATURES)
    told = {
        "x": np.array(lengths),
        "y": np.array(heights),
        "to": np.full(len(LADDER), EDGE),
        "beside": 10.0 ** np.array(spread(list(np.log10(heights)), 0.115 * (high - low), low + 1, high - 1)),
        "text": [f"d_k = {d}: {powers(y)}" for d, y in zip(LADDER, heights)],
    }
    return {
        "random-features.ladder": {column: values[:-1] for column, values in told.items()},
        "random-features.widest": {column: values[-1:] for column, values in told.items()},
    }
