"""What rank says: spectra, the rank at every tolerance, and where its names stand."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components import rank_said
from components.axes import AXES, tolerance
from components.cases import checked
from components.formula import mathml
from components.lesson import Question
from components.palette import DASHES
from components.plots import spread
from components.rank_blocks import block_ranks
from components.rank_cases import CASES
from components.rank_far import LENGTHS, PARTS, far_ranks
from components.rank_run import (
    FLOOR,
    START,
    TOLERANCE,
    every_rank,
    every_spectrum,
    pictures,
    ranks,
    values_of,
)
from components.rank_values import CELLS, EXTENTS, LARGEST, STOPS, TOLERANCES
from components.reel import Answer
from components.sharpness_run import members, name_of
from components.view import props, texts
from components.words import PHIS

DIGITS = AXES["rtol"].stops
FRAMES = np.searchsorted(EXTENTS, STOPS)
ALL_N = (*STOPS, *LENGTHS)
LAST, FAR_END = 1130.0, 1400.0
"""On the axis of tokens: where the swatches of the names begin, and where it ends."""

BESIDE, END = LARGEST + 10.0, LARGEST + 28.0
"""The same on the axis of singular values."""

NOWHERE = -100.0
"""A mark that is not drawn stands here, left of every axis."""

PART = dict(zip(("none", "causal"), PARTS))
"""Which part of the matrix is counted at lengths beyond the slider, by the word of the mask."""

ASKED = 32
"""Width of the head that the view's question asks about."""

SWATCHES = [DASHES.get(w, "solid") for w in PHIS]


def answer(question: Question) -> Answer:
    return _answer(question.phi, question.d_k, question.seed, question.mask, question.precision) | _chosen(question)


def answer_at_default(question: Question) -> Answer:
    """What the overview shows: one tolerance, and half as many rows and columns of the matrix."""
    return _at_default(question.phi, question.d_k, question.seed) | _chosen(question)


def _chosen(question: Question) -> Answer:
    y = -10.0 if question.row is None else question.row + 0.5
    return {"rank.chosen": {"x": np.array([0.0]), "y": np.array([y]), "right": np.array([float(LARGEST)])}}


@lru_cache(maxsize=128)
def _answer(phi: str, d_k: int, seed: int, mask: str, precision: str) -> Answer:
    question = Question(phi=phi, d_k=d_k, seed=seed, mask=mask, precision=precision)
    every = every_spectrum(question)
    counted = {w: None if values is None else ranks(values) for w, values in every.items()}
    blocks, grown = block_ranks(question.map, d_k, seed, precision), every_rank(question, counted)
    far = np.moveaxis(far_ranks(precision, PART[mask], d_k), -1, 0).reshape(len(DIGITS), -1)
    return {
        **_drawn(question, every, {w: None if told is None else told[:, START] for w, told in counted.items()}),
        "rank.counts": _counts(question, counted, grown, blocks),
        "rank.tolerance": {
            "location": TOLERANCES,
            "cut_text": [f"counted above {tolerance(digits)} σ₁" for digits in DIGITS],
            "far": far.astype(np.float32),
            "ends_y": _end_heights(grown),
            **{f"growth_{w}": grown[w].T.astype(np.float32) for w in PHIS},
        },
        "rank.pictures": {"picture": pictures(question.map, d_k, seed, mask)},
        "rank.below": {"right": np.array([LARGEST + 2.0])},
        "rank.cut_name": {"x": np.array([6.0])},
        "rank.growth": {"N": np.array(STOPS, dtype=float)},
        "rank.limits": {
            "N": np.array(ALL_N, dtype=float),
            "full": np.array([rank_said.counted_of(question, N) for N in ALL_N], dtype=float),
            "bound": np.array([rank_said.bound_of(question, N) for N in ALL_N], dtype=float),
        },
        "rank.predicted": _predicted(),
        "rank.far": {"N": np.tile(np.array(LENGTHS, dtype=float), len(PHIS)), "word": np.repeat(PHIS, 2).tolist()},
        "rank.ends": {"word": list(PHIS), "tick": np.full(len(PHIS), LAST), "x": np.full(len(PHIS), FAR_END),
                      "dash": SWATCHES, "text": [name_of(w) for w in PHIS]},
    }  # fmt: skip


@lru_cache(maxsize=128)
def _at_default(phi: str, d_k: int, seed: int) -> Answer:
    question = Question(phi=phi, d_k=d_k, seed=seed)
    every = every_spectrum(question)
    counted = dict(zip(every, ranks(np.stack([*every.values()]), [TOLERANCE])))
    blocks = block_ranks(question.map, d_k, seed, question.precision)[:, START, None]
    told = _drawn(question, every, {w: told[:, 0] for w, told in counted.items()})
    return {
        **told,
        "rank.reel": {**told["rank.reel"], "row": [*range(len(STOPS))]},
        "rank.counts": _counts(question, counted, counted, blocks),
        "rank.pictures": {"picture": pictures(question.map, d_k, seed, question.mask, cells=CELLS // 2)},
    }


def _drawn(question: Question, every: dict, at_start: dict) -> Answer:
    """What does not depend on the tolerance.  every: spectra by map; at_start: their ranks [stops] where the line
    stands at first."""
    word, member, d_k, masked = question.map_word, question.map, question.d_k, question.mask == "causal"
    marked = [N if masked else rank_said.bound_of(question, N) for N in STOPS]
    stacks = {w: _stack(values, _kept(question, w)) for w, values in every.items()}
    return {
        **{f"rank.spectra_{w}": {w: stack[0]} for w, stack in stacks.items()},
        "rank.reel": {
            **{f"start_{w}": stack[1] for w, stack in stacks.items()},
            **{f"stop_{w}": stack[2] for w, stack in stacks.items()},
            "names_y": _name_heights(at_start),
            "N": np.array(STOPS, dtype=float),
            "half": np.array(STOPS) / 2,
            "half_said": [str(N // 2) for N in STOPS],
            "frame": FRAMES.astype(np.int32),
            "extent": np.array(EXTENTS, dtype=float)[FRAMES],
            "frame_title": [f"{'masked' if masked else 'kernel'} matrix, {N} × {N}" for N in STOPS],
            "limit": [rank_said.width(member, d_k)] * len(STOPS),
            "bound": np.array([NOWHERE if b == N else b + 0.5 for b, N in zip(marked, STOPS)]),
        },
        "rank.phrases": rank_said.phrases(question),
        "rank.diagonal": {"x": np.array([0.0, LARGEST]), "y": np.array([0.0, LARGEST])},
        "rank.outline": {"left": np.zeros(1)},
        "rank.spectrum": {"index": np.arange(1, LARGEST + 1)},
        "rank.names": {"word": list(PHIS), "text": [name_of(w) for w in PHIS], "x": np.full(len(PHIS), END),
                       "tick": np.full(len(PHIS), BESIDE), "dash": SWATCHES},
        "rank.props": props([
            ("rank.values_axis", "axis_label", rank_said.values_axis(question)),
            ("rank.growth_axis", "axis_label", rank_said.growth_axis(question)),
            *((f"rank.curve.{w}", "line_width", 3.2 if w == word else 1.4) for w in PHIS),
            *((f"rank.grows.{w}", "line_width", 3.2 if w == word else 1.4) for w in PHIS),
        ]),
        "rank.math": texts(
            [
                ("rank.formula", mathml(rank_said.bound_latex(question))),
                ("rank.values", rank_said.values(question)),
            ]
        ),
        "rank.texts": texts([("rank.aside", rank_said.aside(question)), ("rank.subject", rank_said.subject(question)),
                             ("rank.found", rank_said.found(question)), ("rank.made", rank_said.made()),
                             *checked("rank", CASES)]),
    }  # fmt: skip


def _counts(question: Question, counted: dict, grown: dict, blocks: np.ndarray) -> dict:
    """Ranks and what is said of them, a row for each stop and, within it, for each tolerance."""
    ranked = np.stack([_every(counted[w], blocks.size) for w in PHIS], axis=-1)
    return {"rank": ranked, **rank_said.said(question, counted, grown, blocks)}


@lru_cache(maxsize=1)
def _predicted() -> dict:
    """The answer to the view's question: elu+1 in the head it asks about, at every number of tokens, whatever width
    the page is at."""
    asked = Question(phi="elu", d_k=ASKED)
    told = ranks(values_of(asked.map, asked.d_k, asked.seed, asked.precision))[:, START]
    return {
        "x": np.array(STOPS, dtype=float),
        "y": told.astype(float),
        "text": [f"d_k = {ASKED}: rank {told[-1]}" if N == LARGEST // 2 else "" for N in STOPS],
    }


def _kept(question: Question, word: str) -> list[int]:
    """Values sent for each stop: as many as the map has distinct features, and one more, where its curve drops."""
    member = members(question)[word]
    if member is None or question.mask == "causal" or question.precision != "float64":
        return list(STOPS)
    return [min(N, member.rank_bound(question.d_k) + 1) for N in STOPS]


def _stack(values: np.ndarray | None, kept: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first values of each stop, one after the other, float32, and where each stop's begin and end."""
    if values is None:
        return np.zeros(0, dtype=np.float32), *np.zeros((2, len(STOPS)), dtype=np.int32)
    stops = np.cumsum(kept)
    stacked = np.maximum(values[np.arange(LARGEST) < np.array(kept)[:, None]], FLOOR / 10)
    return stacked.astype(np.float32), (stops - kept).astype(np.int32), stops.astype(np.int32)


def _every(counts: np.ndarray | None, rows: int) -> np.ndarray:
    """Ranks of a map in one column of so many rows; −1 where the mask leaves it out."""
    return np.full(rows, -1, np.int16) if counts is None else counts.ravel().astype(np.int16)


def _name_heights(at_start: dict) -> np.ndarray:
    """Where the names stand, highest rank on top: [stops, maps]; nowhere for maps that are left out."""
    nowhere = np.full(len(STOPS), -1)
    rows = np.stack([nowhere if at_start[w] is None else at_start[w] for w in PHIS], axis=-1)
    order = np.argsort(np.argsort(-rows, axis=1, kind="stable"), axis=1)
    levels = 10.0 ** np.linspace(-0.1, np.log10(FLOOR) + 0.9, len(PHIS))
    return np.where(rows < 0, np.nan, levels[order])


def _end_heights(grown: dict) -> np.ndarray:
    """Heights of the names at the end of the curves of rank against N: [tolerances, maps]."""
    ends = np.log2(np.maximum(1, [grown[w][-1] for w in PHIS]))
    return (2.0 ** np.array([spread(at, 0.95, 0.2, 9.8) for at in ends.T])).astype(np.float32)
