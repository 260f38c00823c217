"""A control that changes nothing is greyed and says why; one that is awake changes something."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asked import DEFAULT, VIEWS, _mark, examples, goes_together

from app.page import control_words
from components.controls import make_controls
from components.forms_run import run
from components.lesson import SERVER, Lesson, Question
from components.memory_idle import idle
from components.teaching import teaching
from components.waiting import waiting
from components.widgets import Plain
from components.words import PHIS
from compute.feature_maps import read_member
from compute.sizing import models

ALSO = {"seed": ("1",), "pair": ("3",), "rho": ("0.3",), "alpha": ("0.7",), "beta": ("0.8",), "gib": ("40",)}
"""Texts of words whose ends alone may happen to look alike."""

FEW = {"phi": PHIS, "model": ("qwen3.8-27b", "llama-3.1-8b", "mamba-130m")}
"""Texts that stand for all that a word takes."""

BESIDE = {("forms.texts", "forms.aside"), ("sizing.fit", "fill")}
"""What may follow a choice that changes no picture: a sentence that says so, for who has no pointer, and the state in
which a link opens memory."""

OTHERS = {
    "memory": (
        *({"keys": keys} for keys in ("orthonormal", "correlated")),
        *({"stream": stream} for stream in ("topics", "overwrite", "ungated")),
        *({"duel": duel} for duel in ("additive", "decay", "delta", "gated_delta")),
        *({"keys": "phi", "phi": phi} for phi in ("softmax", "elu")),
        *({"stream": "hand", "keys": "phi"}, {"rule": "decay"}, {"rule": "gated_delta", "keys": "phi"}),
    ),
    "forms": (
        *({"phi": phi} for phi in ("softmax", "taylor", "favor")),
        *({"phi": phi, "example": "random"} for phi in ("softmax", "taylor", "favor")),
        *({"phi": "softmax", "example": "random", **more} for more in ({"chunk": 7}, {"pitfall": "bf16"})),
    ),
    "sizing": ({"model": "mamba-130m"}, {"model": "mamba-130m", "phi": "softmax"}),
}
"""States to look at beside a view's presets."""


def states() -> list[tuple[str, Question]]:
    asked: dict[tuple[str, Question], None] = {}
    for word in VIEWS:
        told = [{name: text for name, text in p.words.items() if name in SERVER} for p in teaching(word).presets]
        read = [{name: SERVER[name].read(text) for name, text in words.items()} for words in told]
        asked |= dict.fromkeys((word, Question(**words)) for words in ({}, *read, *OTHERS.get(word, ())))
    return list(asked)


def named(asked: tuple[str, Question]) -> str:
    word, question = asked
    return "-".join((word, *(str(v) for name, v in vars(question).items() if v != getattr(DEFAULT, name))))


def moved(lesson: Lesson, word: str, widget: Plain) -> list[Question]:
    """What a control leads to: every choice of a list, both ends of a range; d_φ is a part of φ."""
    question = lesson.question
    if word == "knob":
        asked = [replace(question, phi=phi) for phi in widget.options.values()]
    else:
        texts = (*FEW.get(word, examples(SERVER[word])), *ALSO.get(word, ()))
        asked = [replace(question, **{word: SERVER[word].read(text)}) for text in texts]
    return [other for other in asked if other != question and goes_together(other)]


def seen(word: str, question: Question) -> dict[tuple[str, str], object]:
    """All that the view answers, by place: a node by its text, anything else by its column."""
    told = {}
    for name, columns in VIEWS[word].answer(question).items():
        if "node" in columns:
            told |= {(name, node): text for node, text in zip(columns["node"], columns["text"])}
        else:
            told |= {(name, column): _mark(value) for column, value in columns.items()}
    return {place: value for place, value in told.items() if place not in BESIDE}


@pytest.mark.parametrize("asked", states(), ids=named)
def test_controls_are_greyed_exactly_where_they_change_nothing(asked):
    word, question = asked
    view, told = VIEWS[word], seen(word, question)
    lesson = Lesson(**{name: getattr(question, name) for name in SERVER})
    for name, widget in make_controls(lesson, control_words((view,)), view.idle).items():
        if name != "features" and widget.visible and not widget.closed:  # which is another hand on d_φ
            changes = any(seen(word, other) != told for other in moved(lesson, name, widget))
            assert changes != bool(widget.why), (name, widget.why)


@pytest.mark.parametrize("model", models())
def test_phi_is_greyed_for_exactly_the_models_whose_picture_it_leaves_as_it_is(model):
    told = [seen("sizing", Question(model=model, phi=phi)) for phi in PHIS]
    assert (VIEWS["sizing"].idle(Question(model=model)) == {}) == any(other != told[0] for other in told)


BY_HAND = {"memory": {"stream": "hand"}, "forms": {"example": "hand"}}
"""The states that are worked by hand, by view."""


@pytest.mark.parametrize(("word", "hand"), BY_HAND.items())
def test_of_an_example_greyed_controls_say_what_it_has_and_keep_their_value(word, hand):
    view, lesson = VIEWS[word], Lesson(phi="taylor", d_k=8, seed=3, keys="correlated", stream="plain", example="random")
    made = make_controls(lesson, control_words((view,)), view.idle, view.instead)
    assert not any(widget.instead for widget in made.values())
    lesson.param.update(**hand)
    said = {name: widget.instead for name, widget in made.items() if widget.visible and widget.why}
    assert all(said.values()) and said["knob"] == f"{said['d_k']} = d_k, by hand" and lesson.d_k == 8
    for name, widget in made.items():
        assert f'data-instead="{said[name]}"' in waiting(widget) if name in said else not widget.instead
    lesson.param.update(stream="plain", example="random")
    assert not any(widget.attributes.get("data-instead") for widget in made.values()) and made["d_k"].value == 8


def test_what_the_examples_have_is_what_is_drawn_of_them():
    told = VIEWS["memory"].instead(Question(stream="hand"))
    texts = VIEWS["memory"].answer(Question(stream="hand"))["memory.texts"]
    assert dict(zip(texts["node"], texts["text"]))["memory.shape"] == f"{told['d_k']} × {told['d_v']}"
    told, drawn = VIEWS["forms"].instead(Question(example="hand")), run("hand", "taylor", 16, 3, 1, "none")
    assert told["d_k"] == str(drawn.Q.shape[1]) and told["knob"].startswith(f"{drawn.features[0].shape[1]} = ")
    assert read_member(told["phi"]) == drawn.member


def test_a_greyed_control_keeps_its_value_and_wakes_when_it_is_of_use():
    lesson = Lesson(phi="taylor", d_k=8)
    made = make_controls(lesson, ("phi", "knob", "d_k", "keys"), idle)
    assert all(made[word].disabled and "choose keys" in made[word].why for word in ("phi", "knob", "d_k"))
    assert not made["keys"].disabled and made["phi"].value == "taylor" and made["d_k"].value == 8
    lesson.keys = "phi"
    assert not any(made[word].disabled or made[word].why for word in ("phi", "knob", "d_k"))
    lesson.phi = "elu"
    assert made["knob"].disabled and not made["knob"].why  # one width alone: nothing to choose
    lesson.keys = "random"
    assert made["phi"].disabled and lesson.phi == "elu" and lesson.d_k == 8
