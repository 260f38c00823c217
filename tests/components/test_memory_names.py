"""What the memory's figures are written on with: no name and no number lies on a line, on another one or on an edge."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS
from geometry import crossed, inside, letter_of, meets, rectangle

from components.lesson import SERVER, Question
from components.memory_names import CARD_FRAMES, CLEAR, END, HAND_END, PAGE_FRAMES, TOP, UNDER
from components.teaching import teaching
from components.words import PHIS
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


PRESETS = [
    Question(**{name: SERVER[name].read(text) for name, text in preset.words.items() if name in SERVER})
    for preset in teaching("memory").presets
]
LETTER = 6.2
"""Width of a letter of a label, px, taken wide."""


def named(question):
    return f"{question.keys}-{question.rule}-{question.duel}-{question.stream}-{question.d_v}-{question.seed}"


def placing(question, width, height):
    """What stands at (pairs, cosine), in px from the top left corner of the frame of the curves."""
    end = HAND_END if question.stream == "hand" else END
    return lambda x, y: (np.asarray(x, dtype=float) / end * width, (1 - np.asarray(y, dtype=float) / TOP) * height)


def written(told, place, card, letter=0.0):
    """The names of the curves, (text, rectangle) each, as wide as they are or as letters of a width make them."""
    beside = [] if card else [("best_name", "left", 0), ("duel", "right", -2), ("far", "right", 0)]
    return [
        (text, rectangle(*place(x, y), text, align, dx, 0, letter or letter_of(text)))
        for name, align, dx in [("names", "left", 0), *beside]
        for x, y, text in zip(*(told[f"memory.{name}"][column] for column in ("x", "y", "text")))
        if text and x >= 0
    ]


@pytest.mark.parametrize("width, height", PAGE_FRAMES)
@pytest.mark.parametrize("question", dict.fromkeys([*PRESETS, *MEMORIES]), ids=named)
def test_names_of_curves_lie_neither_on_each_other_nor_on_an_edge(question, width, height):
    names = written(answer(question), placing(question, width, height), card=False)
    for i, (text, box) in enumerate(names):
        assert inside(box, width, height), text
        assert not [other for other, taken in names[:i] if meets(box, taken)], text


@pytest.mark.parametrize(
    "width, height, card", [*((*frame, False) for frame in PAGE_FRAMES), *((*frame, True) for frame in CARD_FRAMES)]
)
@pytest.mark.parametrize("question", MEMORIES, ids=named)
def test_the_number_beside_the_dot_lies_on_no_curve_and_no_name_and_is_not_cut(question, width, height, card):
    """At every number of pairs, in px, on the page and on the overview, in a narrow and in a wide window."""
    told, place = (VIEWS["memory"].card if card else VIEWS["memory"]).answer(question), placing(question, width, height)
    reel, curve = told["memory.reel"], told["memory.curve"]
    lines = [place(curve["n"], curve[name]) for name in (("mean", "law") if card else ("mean", "law", "best", "rival"))]
    taken = [box for _, box in written(told, place, card, LETTER)]
    columns = (reel[name] for name in ("n", "here", "here_text", "here_align", "here_dx", "here_dy"))
    for n, (at, y, text, align, dx, dy) in enumerate(zip(*columns)):
        if not text:
            continue
        box = rectangle(*place(at, y), text, align, dx, dy, LETTER)
        assert inside(box, width, height), (n, text)
        assert not any(meets(box, other) for other in taken), (n, text)
        assert not any(crossed(box, xs, ys) for xs, ys in lines), (n, text)


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("d_k", [8, 16])
def test_the_law_of_energies_has_the_name_that_it_has_beside_and_it_lies_on_no_line(phi, d_k):
    told = answer(Question(keys="phi", phi=phi, d_k=d_k))
    name, height = told["memory.energy_names"]["text"][0], told["memory.energy_names"]["y"][0]
    assert name.removeprefix("dashed: ") == told["memory.names"]["text"][1]
    for line in ("energy", "law"):
        drawn = told["memory.energies"][line]
        assert abs(np.log(height / drawn[-1])) > np.log(1.4)
        assert name == "law" or height > 1.4 * np.nanmax(drawn)


@pytest.mark.parametrize("question", dict.fromkeys([*PRESETS, *MEMORIES]), ids=named)
def test_the_names_of_energies_lie_apart(question):
    law, least = answer(question)["memory.energy_names"]["y"]
    assert not abs(np.log(law / least)) < np.log(2)


@pytest.mark.parametrize("rule", ["additive", "decay", "delta", "gated_delta"])
def test_where_no_pair_disturbs_another_the_empty_panel_says_so(rule):
    told = answer(Question(keys="orthonormal", rule=rule))
    named = dict(zip(told["memory.energy_names"]["text"], told["memory.energy_names"]["y"]))
    assert not np.nanmax(told["memory.energies"]["energy"]) > 1e-9
    assert np.isfinite(named["no crosstalk: 0 at every n"])
    assert "no crosstalk: 0 at every n" not in answer(Question(rule=rule))["memory.energy_names"]["text"]


def test_the_card_names_no_dots_for_it_draws_none():
    page, card = (
        view.answer(Question(rule="delta"))["memory.names"]["text"] for view in (VIEWS["memory"], VIEWS["memory"].card)
    )
    assert page[2].startswith("dots") and card == [*page[:2], ""]
