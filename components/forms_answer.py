"""Two modes, what is said to a question: one example in all forms, one of them perhaps with a mistake."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from components.axes import AXES
from components.forms_frames import (
    MOST,
    checks,
    constant_end,
    held,
    labels,
    marks,
    matrix_cells,
    outputs,
    padded,
    side_texts,
    state_cells,
    state_shape,
    value_range,
)
from components.forms_picture import (
    BOXES,
    READS,
    WITHOUT_STATE,
    cell_places,
    number_places,
    outlines,
    read_names,
)
from components.forms_run import CHANNELS, D_V, HAND, ONES, RANDOM, Run, long_sums, run
from components.forms_said import formula, fraction, headlines, numbers, readouts, sentences, values
from components.forms_small import shared, shared_said, small_cases
from components.lesson import Question
from components.reel import Answer
from components.says import decimals
from components.sharpness_answer import name_of
from components.view import props, texts
from components.words import SOFTMAX
from compute.examples import exact_kernel, exact_steps
from compute.pitfalls import PITFALLS
from compute.rank import kernel_matrix
from compute.rounding import stalls_at

STOPS = np.array(AXES["t"].stops)
LAST = np.minimum(STOPS, RANDOM - 1).astype(np.int32)
"""Frame of every stop, the same whatever is asked: a short example repeats its last one."""

PRODUCT = 4
"""A q·k at which the temperature shows."""


def answer(question: Question) -> Answer:
    hand = question.example == "hand"
    phi, d_k, seed = ("elu", 2, 0) if hand else (question.phi, question.d_k, question.seed)
    pitfall = "none" if phi == SOFTMAX else question.pitfall
    chunk = HAND if hand else RANDOM
    if phi != SOFTMAX:  # which has no state to hand on
        chunk = min(chunk, question.chunk)
    told, fixed = _answer(question.example, phi, d_k, seed, chunk, pitfall)
    return {**told, "forms.texts": texts([*fixed, *_about(question)])}


@lru_cache(maxsize=64)
def _answer(example: str, phi: str, d_k: int, seed: int, chunk: int, pitfall: str) -> tuple[Answer, list]:
    """All but the texts that depend on words which the example has no use for; and the texts that do not."""
    told = run(example, phi, d_k, seed, chunk, pitfall)
    exact = exact_steps(pitfall) if told.by_hand else None
    drawn: Answer = {
        "forms.reel": {"t": STOPS.astype(float), "last": LAST},
        "forms.frames": held(
            {
                "cells": state_cells(told),
                **marks(told),
                **labels(told),
                **side_texts(told),
                "headline": headlines(told, exact),
                "sentence": sentences(told, exact),
                "numbers": numbers(told, exact),
                "end": np.full(told.T, told.T - 1, dtype=np.int32),
            }
        ),
        "forms.kernel": matrix_cells(told),
        "forms.outputs": outputs(told),
        "forms.checks": checks(told),
        **_fixed(told),
        "forms.props": props(
            [
                ("forms.tokens", "end", 0.5 + 1.2 * told.T),
                ("forms.ticks", "ticks", [1, 2, 3] if told.by_hand else [1, *range(5, told.T + 1, 5)]),
                *(("forms.values.y", end, value) for end, value in zip(("start", "end"), value_range(told))),
                ("forms.dot", "size", 3 if 8 * chunk <= told.T else 7),
            ]
        ),
        "forms.math": texts([("forms.formula", formula(told)), ("forms.values", values(told, exact))]),
    }
    return drawn, [*readouts(told), *small_cases(told), *_captions(told)]


def _fixed(told: Run) -> Answer:
    """The columns that no token changes."""
    starts, stops = (np.array(column, dtype=float) / told.T for column in zip(*told.chunks))
    x, y = number_places()
    return {
        "forms.cells": cell_places(state_shape(told)),
        "forms.numbers": {"x": x, "y": y},
        "forms.broken": outlines(READS[told.pitfall].touched),
        "forms.boxes": outlines(tuple(BOXES) if told.features else WITHOUT_STATE),
        "forms.reads": read_names(told.pitfall, told.T, "" if told.features else _no_state(told.Q.shape[1])),
        "forms.chunks": {"zero": np.zeros(MOST), "start": padded(starts), "stop": padded(stops)},
        "forms.matrix_numbers": _matrix_numbers(told.by_hand),
        "forms.row": {"x": np.ones(1)},
        "forms.constant_end": constant_end(told),
        "forms.first": _from_the_last(told),
        "forms.trouble": {"x": np.ones(1), "y": np.array([1e-3]), "text": [_trouble(told)]},
        "forms.sums": _sums(),
        "forms.sum_names": {
            "x": np.array([510.0, 385.0]),
            "y": np.array([182.0, 470.0]),
            "text": [f"bfloat16 stops at {stalls_at(1, 'bfloat16'):.0f}", "exact"],
        },
    }


def _matrix_numbers(by_hand: bool) -> dict[str, object]:
    """The kernel of the hand example, all nine entries; those that the mask takes out in brackets."""
    centres = (np.arange(HAND) + 0.5) / HAND
    said = [""] * HAND**2
    if by_hand:
        said = [
            text if s <= t else f"({text})" for (t, s), x in np.ndenumerate(exact_kernel()) for text in [fraction(x)]
        ]
    return {"x": np.tile(centres, HAND), "y": np.repeat(centres, HAND), "text": said}


def _from_the_last(told: Run) -> dict[str, object]:
    """What token 1 would read from the summary of all tokens, a ring for each channel; softmax has none."""
    none = told.features is None
    read = np.full(CHANNELS, np.nan) if none else shared(told)[:CHANNELS]
    said = "" if none else f"one summary:\n{shared_said(told)}"
    return {"x": np.ones(CHANNELS), "y": read, "text": [said, *[""] * (CHANNELS - 1)]}


def _trouble(told: Run) -> str:
    if told.member is None:
        return "no finite φ: only the matrix exists"
    if told.steps is None:
        return f"S is {told.features[1].shape[1]:,} × {D_V}: transposed, it cannot be read"
    return ""


@lru_cache(maxsize=1)
def _sums() -> dict[str, np.ndarray]:
    exact, rounded, _ = long_sums()
    columns = {"n": np.arange(ONES + 1), "exact": exact, "bf16": rounded}
    return {name: values[::8].astype(np.float32) for name, values in columns.items()}


def _captions(told: Run) -> list[tuple[str, str]]:
    sizes = f"chunks of {told.chunk}" if told.chunk < told.T else "one chunk"
    if told.T % told.chunk:
        sizes += f", the last of {told.T % told.chunk}"
    return [
        ("forms.grid", f"masked kernel matrix, {sizes}"),
        ("forms.caption.values", "outputs of the three forms"),
        ("forms.caption.differences", "largest difference from the parallel form"),
        ("forms.caption.constants", "the check with constant values: ones must come back as ones"),
        ("forms.caption.stall", "a sum of ones in bfloat16, the same whatever is chosen"),
    ]


@cache
def _temperature(d_k: int) -> tuple[float, float]:
    """Softmax's kernel of PRODUCT, with its temperature and without."""
    q, k = np.ones((1, d_k)), np.full((1, d_k), PRODUCT / d_k)
    return float(kernel_matrix(q, k)[0, 0]), float(kernel_matrix(q, k, scale=1.0)[0, 0])


def _no_state(d_k: int) -> str:
    """What stands in place of the recurrence."""
    own, bare = (decimals(x) for x in _temperature(d_k))
    return (
        "Softmax has no finite φ: there is no state to draw.\n"
        f"At q·k = {PRODUCT} and d_k = {d_k} its kernel is exp({PRODUCT}/√{d_k}) = {own};\n"
        f"without 1/√d_k it would be exp({PRODUCT}) = {bare}, {_ratio(d_k)} times as large."
    )


def _ratio(d_k: int) -> str:
    own, bare = _temperature(d_k)
    return decimals(bare / own)


def _about(question: Question) -> list[tuple[str, str]]:
    """What the state is called, and what is said about its mistake."""
    mistake, name = PITFALLS[question.pitfall], name_of(question.map_word)
    why = f"{mistake.why} {mistake.caught_by}".strip()
    if question.example == "hand":
        why = f"φ, d_k and draw rest: these three bring their own, random tokens take {name}. {why}".strip()
        return [("forms.subject", " · three tokens by hand, exact fractions"), ("forms.aside", why)]
    if question.phi == SOFTMAX:
        why = f"Without 1/√d_k a kernel at q·k = {PRODUCT} would be {_ratio(question.d_k)} times as large."
        if question.pitfall != "none":
            why = "There is no recurrent form that could be broken."
    return [("forms.subject", f" · {RANDOM} random tokens, {name}"), ("forms.aside", why)]
