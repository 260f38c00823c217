"""What the memory's figures are written on with: no name and no number lies on a line, on another one or on an edge."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS
from geometry import crossed, inside, meets, rectangle

from components.lesson import Question
from components.memory_names import CLEAR, END, HAND_END, TOP, UNDER
from compute.memory import WRITE_RULES

answer = VIEWS["memory"].answer


@pytest.mark.parametrize("rule", ["decay", "delta", "gated_delta"])
@pytest.mark.parametrize("stream", ["plain", "overwrite", "topics", "ungated"])
def test_the_names_of_two_rules_lie_on_neither_line(rule, stream):
    told = answer(Question(rule=rule, duel="additive", stream=stream))
    lines = np.array([told["memory.curve"][name][256 - UNDER : 257] for name in ("mean", "rival")], dtype=float)
    heights = told["memory.duel"]["y"]
    upper = np.argmax(lines.mean(axis=1))
    assert heights[upper] >= min(lines[upper].max() + CLEAR, TOP - CLEAR / 2) - 1e-6
    assert np.abs(lines - heights[1 - upper]).min() >= CLEAR / 2 and abs(heights[0] - heights[1]) >= CLEAR - 1e-6


def test_a_memory_that_ends_early_has_its_names_too():
    told = answer(Question(keys="orthonormal", rule="decay", duel="additive"))
    assert np.isfinite(told["memory.duel"]["y"]).all() and all(told["memory.duel"]["text"])


MEMORIES = [
    *(Question(keys=keys, rule=rule) for keys in ("random", "orthonormal", "correlated") for rule in WRITE_RULES),
    Question(keys="phi"), Question(keys="phi", phi="taylor"), Question(seed=5), Question(d_v=1), Question(d_v=128),
    Question(rule="delta", duel="additive"), Question(duel="gated_delta"), Question(rule="gated_delta", duel="decay"),
    Question(stream="topics", rule="decay"), Question(stream="overwrite", rule="delta"), Question(stream="hand"),
]  # fmt: skip


@pytest.mark.parametrize(
    "width, height, card", [(343, 177, False), (371, 177, False), (177, 111, True), (377, 111, True)]
)
@pytest.mark.parametrize("question", MEMORIES, ids=lambda q: f"{q.keys}-{q.rule}-{q.duel}-{q.stream}-{q.d_v}-{q.seed}")
def test_the_number_beside_the_dot_lies_on_no_curve_and_no_name_and_is_not_cut(question, width, height, card):
    """At every number of pairs, in px, on the page and on the overview, in a narrow and in a wide window."""
    told = (VIEWS["memory"].card if card else VIEWS["memory"]).answer(question)
    reel, curve = told["memory.reel"], told["memory.curve"]
    end = HAND_END if question.stream == "hand" else END

    def place(x, y):
        return np.asarray(x, dtype=float) / end * width, height - np.asarray(y, dtype=float) / 1.18 * height

    lines = [place(curve["n"], curve[name]) for name in (("mean", "law") if card else ("mean", "law", "best", "rival"))]
    named = [("names", "left", 0, 0)]
    if not card:
        named += [("best_name", "left", 0, 0), ("duel", "right", -2, 0), ("far", "right", 0, -6.5)]
    taken = [
        rectangle(*place(x, y), text, align, dx, dy, 6.2)
        for name, align, dx, dy in named
        for x, y, text in zip(*(told[f"memory.{name}"][column] for column in ("x", "y", "text")))
        if text
    ]
    columns = (reel[name] for name in ("n", "here", "here_text", "here_align", "here_dx", "here_dy"))
    for n, (at, y, text, align, dx, dy) in enumerate(zip(*columns)):
        if not text:
            continue
        box = rectangle(*place(at, y), text, align, dx, dy, 6.2)
        assert inside(box, width, height), (n, text)
        assert not any(meets(box, other) for other in taken), (n, text)
        assert not any(crossed(box, xs, ys) for xs, ys in lines), (n, text)
