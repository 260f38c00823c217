"""What sharpness says: weights of every map at every stop, and the sentences about them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.cases import reported
from components.formula import mathml
from components.lesson import Question
from components.palette import DASHES
from components.plots import spread
from components.reel import Answer, together
from components.says import decimals, percent
from components.sharpness_cases import REPORTS, small_cases
from components.sharpness_kept import curve, own_bars
from components.sharpness_map_answer import map_answer
from components.sharpness_run import KEYS, STEP, STOPS, bars, members, name_of, toy
from components.sharpness_said import end_name, map_math, phrases, said, subject, weight_latex
from components.sharpness_spread import band_of
from components.view import props, texts
from components.words import PHIS, SOFTMAX, WIDTHS, WORDS
from compute.feature_maps import read_member

LOST_AT = -0.035
"""Height of the strip that shows where signs cancel."""

BELOW_ZERO, TOP = -0.7, 1.09
"""Where the axis of weights starts when some are negative, and where it ends."""

LOWEST, HIGHEST = -0.06, 1.07
"""The frame of the curves."""

EDGED, ARROW = 0.025, 5
"""Height of an arrow above or below the edge that it stands at, and its size in px."""

SHORT, LEAVES = 4, 24
"""Stops of an excursion that one arrow stands for, and rows for the places where curves leave their frame."""

END, LIMIT_END, TICK_AT, EDGE = 16, 18.5, 21.5, 25
"""On the axis of sharpness: where curves end, where limits end, where swatches of the names begin, where it ends."""


def answer(question: Question) -> Answer:
    return _answer(*_asked(question))


def weights_answer(question: Question) -> Answer:
    """The answer without the two figures of the map itself."""
    return _weights_answer(*_asked(question))


def _asked(question: Question) -> tuple:
    """The words that matter, those without effect at a fixed value."""
    plain = question.map is None or not question.map.random
    return (
        question.phi, question.d_k, question.seed, question.row, 1.0 if question.row is not None else question.match,
        0 if plain else question.single,
    )  # fmt: skip


@lru_cache(maxsize=256)
def _answer(phi: str, d_k: int, seed: int, row: int | None, match: float, single: int) -> Answer:
    question = Question(phi=phi, d_k=d_k, seed=seed, row=row, match=match, single=single)
    return together(_weights_answer(phi, d_k, seed, row, match, single), map_answer(question, match, single))


@lru_cache(maxsize=256)
def _weights_answer(phi: str, d_k: int, seed: int, row: int | None, match: float, single: int) -> Answer:
    question = Question(phi=phi, d_k=d_k, seed=seed, row=row, match=match, single=single)
    word = question.map_word
    every = {
        w: own_bars(member, d_k, seed, row, match, single) if w == word else curve(member, d_k, seed, row, match)
        for w, member in members(question).items()
    }
    own, soft, at = every[word], every[SOFTMAX], toy(d_k, seed, row, match)[2]
    ends = {w: b["limit"] if np.isfinite(b["limit"]) else b["match"][-1] for w, b in every.items()}
    drawn = [w for w in PHIS if np.isfinite(ends[w])]
    heights = dict(zip(drawn, spread([ends[w] for w in drawn], 0.104, 0.0, 1.02)))
    left = at > 2 * KEYS // 3
    band, seeds = band_of(question.map, d_k, match)
    lost, foot = np.isnan(own["match"]), BELOW_ZERO if own["signed"] else 0.0
    return {
        "sharpness.bars": {
            "key": np.arange(KEYS), "head": np.full(KEYS, TOP - EDGED), "foot": np.full(KEYS, foot + EDGED),
        },
        "sharpness.phrases": phrases(question, seeds),
        "sharpness.labels": {"x": np.full(2, at - 0.7 if left else at + 0.7)},
        "sharpness.reel": {
            "c": STOPS,
            **{column: own[column] for column in ("weight", "low", "high")},
            "over": ARROW * (np.fmax(own["weight"], own["high"]) > TOP).astype(np.uint8),
            "under": ARROW * (np.fmin(own["weight"], own["low"]) < foot).astype(np.uint8),
            "softmax": np.rint(soft["weight"] / STEP).astype(np.uint16),
            **said(word, own, soft, at, question, band),
        },
        "sharpness.curves": {"c": STOPS, **{w: b["match"] for w, b in every.items()}},
        "sharpness.leaves": leaves({w: b["match"] for w, b in every.items()}),
        "sharpness.band": {
            "c": STOPS, "low": band[0].astype(np.float32), "high": band[2].astype(np.float32),
            "lost": np.where(lost, LOST_AT, np.nan).astype(np.float32),
        },
        "sharpness.lost_name": {
            "x": np.array([STOPS[np.argmax(lost)] if lost.any() else 1.0]),
            "y": np.array([LOST_AT + 0.2]),
            "text": ["signs cancel: the denominator is near zero" if lost.any() else ""],
        },
        "sharpness.predicted": _predicted(),
        "sharpness.ends": {
            "word": list(PHIS),
            "text": [end_name(w, every[w]) if w in heights else "" for w in PHIS],
            "x": np.full(len(PHIS), EDGE, dtype=float),
            "y": np.array([heights.get(w, np.nan) for w in PHIS]),
            "limit": np.array([np.clip(every[w]["limit"], 0, 1) for w in PHIS]),
            "from": np.full(len(PHIS), END, dtype=float),
            "to": np.full(len(PHIS), LIMIT_END, dtype=float),
            "tick": np.full(len(PHIS), TICK_AT, dtype=float),
            "dash": [DASHES.get(w, "solid") for w in PHIS],
        },
        "sharpness.props": props(
            [
                ("sharpness.weight", "fill_color", f"slot:{word}"),
                ("sharpness.weight_axis", "start", foot),
                ("sharpness.whisker", "line_color", f"slot:{word}"),
                *((f"sharpness.{edge}", "fill_color", f"slot:{word}") for edge in ("over", "under")),
                ("sharpness.shade", "fill_color", f"slot:{word}"),
                ("sharpness.names", "text_align", "right" if left else "left"),
                *((f"sharpness.curve.{w}", "line_width", 3.2 if w == word else 1.6) for w in PHIS),
            ]
        ),
        "sharpness.texts": texts(
            [
                ("sharpness.subject", subject(question)),
                ("sharpness.aside", ""),
                *small_cases(word),
                *reported("sharpness", REPORTS),
                ("sharpness.temperature", f"d_k^(−1/4) = {decimals(d_k**-0.25)}"),
            ]
        ),
        "sharpness.math": texts(
            [("sharpness.formula", mathml(weight_latex(word))), ("sharpness.values", map_math(question.map, d_k))]
        ),
    }  # fmt: skip


def leaves(curves: dict[str, np.ndarray]) -> Answer:
    """Where curves leave their frame and come back, as arrows at its edge: one for a short excursion, and for a longer
    one its ends, unless they are the axis' own."""
    found = []
    for word, weights in curves.items():
        for beyond, marker, y in (
            (weights > HIGHEST, "triangle", HIGHEST - EDGED), (weights < LOWEST, "inverted_triangle", LOWEST + EDGED)
        ):  # fmt: skip
            steps = np.flatnonzero(np.diff(np.concatenate([[False], beyond, [False]]).astype(int)))
            for first, last in zip(steps[::2], steps[1::2] - 1):
                at = {first, last} - {0, len(weights) - 1} if last - first >= SHORT else {(first + last) // 2}
                found += [(STOPS[i], y, marker, word) for i in sorted(at)]
    x, y, marker, word = zip(*(found + [(np.nan, np.nan, "triangle", SOFTMAX)] * LEAVES)[:LEAVES])
    return {"x": np.array(x, dtype=float), "y": np.array(y, dtype=float), "marker": list(marker), "word": list(word)}


@lru_cache(maxsize=1)
def _predicted() -> dict:
    """The answer to the view's question: elu+1 in the widest heads."""
    default, c = Question(), AXES["c"].index(WORDS["c"].default)
    weight = bars(read_member("elu"), WIDTHS[-1], default.seed, None, 1.0, 0)["match"][c]
    return {
        "x": np.array([STOPS[c]]),
        "y": np.array([weight]),
        "text": [f"elu+1 at d_k = {WIDTHS[-1]}: {percent(weight)}"],
    }


__all__ = ["answer", "name_of"]
