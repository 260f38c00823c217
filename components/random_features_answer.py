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
from components.random_features_cases import CASES
from components.random_features_said import D_PHI, EXACT, KINDS, LADDER, STOPS, whole_features
from components.random_features_sweep import WIDTHS, stored
from components.reel import Answer
from components.says import percent
from components.view import props, texts
from compute.feature_error import (
    positive_variance,
    ratio_draws,
    usual_square,
)
from compute.small_values import rms_error

SHARES_AT = (16, 256, 4096)
"""Widths at which the share of misleading draws is written into the plot."""

RATIOS = (-2.3, 4.3)
"""Ends of the axis of estimate/true value."""

FAR = 50.0
"""Ratios beyond ± this are drawn here, far outside the frame."""

NAME_AT = 5_800
"""Where the axis of d_φ ends: there stand the names of lines, each at a thread of its own."""

BESIDE = (4, 256)
"""Head widths whose orthogonal gain is drawn beside the chosen one's."""

VALUES = np.geomspace(1e-3, 20, 60)
"""True kernel values that errors are drawn for."""

ERRORS = (1e-5, 1e6)
"""Ends of the axis of errors."""

FEATURES = (4e-2, 2e15)
"""Ends of the axis of features needed."""

BEGINS = 0.29
"""Left of this length there is no room for a number before the point on the curve."""

TITLES = (
    ("random-features.positive_title", "positive features: estimate ÷ true value"),
    ("random-features.trig_title", "trigonometric, for q·k = 0: estimate ÷ true value (↑ ↓ beyond the axis)"),
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
            "r": STOPS, **_dot(), **_bands(), **_own(seed), **_threads(seed), **_errors(),
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
                "x": np.array(SHARES_AT, dtype=float), "y": np.full(3, RATIOS[0] + 0.6),
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
            "x": np.array([usual, STOPS[0]]), "y": np.array([0.2, 3.5 * D_PHI]),
            "text": [f"usual at d_k = {d_k}", f"{D_PHI} features"],
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
        "dot_y": np.minimum(needed, FEATURES[1] * 10),
        "dot_text": [whole_features(n) for n in needed],
        "dot_align": ["left" if r else "right" for r in right],
        "dot_dx": np.where(right, 9, -9).astype(np.float32),
    }


@cache
def _bands() -> dict[str, np.ndarray | list]:
    """Quantiles over draws, [stop, width] each, and the share of misleading draws in words."""
    told = {}
    for kind, found in stored()[0].items():
        drawn = np.clip(found.quantiles, -FAR, FAR).astype(np.float32)
        told |= {f"{kind}_{name}": drawn[..., k] for k, name in enumerate(("q05", "q25", "q50", "q75", "q95"))}
        told[f"{kind}_typical"] = _seen(found.quantiles[..., 2])
        what = "too low" if kind == "positive" else "below 0"
        at = [WIDTHS.index(m) for m in SHARES_AT]
        told[f"{kind}_shares"] = [[f"{percent(row[i])}\n{what}" for i in at] for row in found.share]
    return told


@lru_cache(maxsize=256)
def _own(seed: int) -> dict[str, np.ndarray]:
    """One draw of directions, at every stop: all that a layer ever sees."""
    return {f"{kind}_own": _seen(ratios) for kind, ratios in _ratios(seed).items()}


@lru_cache(maxsize=256)
def _ratios(seed: int) -> dict[str, np.ndarray]:
    return {
        kind: ratio_draws(STOPS, directions, kind=kind, draws=1, seed=seed)[:, 0]
        for kind, directions in (("positive", WIDTHS), ("trig", [m // 2 for m in WIDTHS]))
    }


def _seen(ratios: np.ndarray) -> np.ndarray:
    """What lies on the axis: of a line that leaps across it, the strokes would say nothing."""
    return np.where((ratios >= RATIOS[0]) & (ratios <= RATIOS[1]), ratios, np.nan).astype(np.float32)


@lru_cache(maxsize=256)
def _threads(seed: int) -> dict[str, np.ndarray]:
    """Where the lines end, and where their names stand: in the order of the lines, never one upon another, and with an
    arrow where a line has left the axis."""
    told, low, high = {}, RATIOS[0] + 0.2, RATIOS[1] - 0.2
    said = ["95 % lie below", "true value", "median", f"draw {seed}", "5 % lie below"]
    for kind in KINDS:
        ends = np.column_stack(
            [stored()[0][kind].quantiles[:, -1, k] for k in (4, 2, 0)]
            + [np.ones(len(STOPS)), _ratios(seed)[kind][:, -1]]
        )[:, [0, 3, 1, 4, 2]]
        order = np.argsort(ends, axis=1, kind="stable")  # of lines that the axis cuts off, heights would not tell it
        placed, seen = np.empty_like(ends), np.clip(ends, low, high)
        for at, row, rank in zip(placed, seen, order):
            at[rank] = spread(list(row[rank]), 0.5, low, high)
        told[f"{kind}_ends"] = seen.astype(np.float32)
        told[f"{kind}_names"] = placed.astype(np.float32)
        told[f"{kind}_said"] = [
            [("↑ " if y > RATIOS[1] else "↓ " if y < RATIOS[0] else "") + text for y, text in zip(row, said)]
            for row in ends
        ]
    return told


@cache
def _errors() -> dict[str, np.ndarray]:
    """Root mean square errors at the usual width, and where their names stand, at every stop."""
    told = {
        "error_positive": rms_error(STOPS[:, None], VALUES, D_PHI),
        "error_trig": rms_error(STOPS[:, None], VALUES, D_PHI // 2, "trig"),
    }
    told = {name: np.clip(values, ERRORS[0] / 10, ERRORS[1] * 10).astype(np.float32) for name, values in told.items()}
    ends = np.stack([told["error_trig"][:, 0], np.full(len(STOPS), VALUES[0]), told["error_positive"][:, 0]], axis=1)
    low, high = np.log10(ERRORS[0]) + 0.4, np.log10(ERRORS[1]) - 0.4
    placed = [spread(list(np.clip(np.log10(row), low, high)), 1.3, low, high) for row in ends]
    return {**told, "error_names": 10 ** np.array(placed)}


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
    rungs = [(usual_square(d) ** 0.5, d) for d in LADDER]
    told = {
        "x": np.array([r for r, _ in rungs]),
        "y": np.array([positive_variance(r) for r, _ in rungs]),
        "text": [f"d_k = {d}: {powers(positive_variance(r))}" for r, d in rungs],
    }
    return {
        "random-features.ladder": {column: values[:-1] for column, values in told.items()},
        "random-features.widest": {column: values[-1:] for column, values in told.items()},
    }
