"""A control that changes nothing is greyed and says why; one that is awake changes something."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asked import DEFAULT, VIEWS, _mark, examples, goes_together

from components.controls import CONTROLS, make_controls
from components.lesson import SERVER, Lesson, Question
from components.memory_idle import idle

VIEW = VIEWS["memory"]
WORDS = [word for word in (*VIEW.ribbon, *VIEW.asks, *VIEW.dials) if word in SERVER]

ALSO = {"seed": ("1",), "pair": ("3",), "rho": ("0.3",), "alpha": ("0.7",), "beta": ("0.8",)}
"""Texts of words whose ends alone may happen to look alike."""


def texts(word: str) -> tuple[str, ...]:
    return (*examples(SERVER[word]), *ALSO.get(word, ()))


def moved(question: Question, word: str) -> list[Question]:
    values = (SERVER[word].read(text) for text in texts(word))
    asked = [replace(question, **{word: value}) for value in values if value != getattr(question, word)]
    return [other for other in asked if goes_together(other)]


def seen(question: Question) -> tuple:
    return tuple((n, c, _mark(v)) for n, columns in VIEW.answer(question).items() for c, v in columns.items())


STATES = [
    DEFAULT,
    *(other for word in ("keys", "stream", "duel") for other in moved(DEFAULT, word)),
    *(Question(keys="phi", phi=phi) for phi in ("softmax", "taylor")),
    *(Question(stream="hand", keys="phi"), Question(stream="hand", rule="delta")),
    *(Question(rule="decay"), Question(rule="gated_delta", keys="phi")),
]


@pytest.mark.parametrize("question", STATES, ids=lambda q: f"{q.keys}-{q.rule}-{q.stream}-{q.duel}-{q.phi}")
def test_memorys_controls_are_greyed_exactly_where_they_change_nothing(question):
    told = seen(question)
    lesson = Lesson(**{word: getattr(question, word) for word in SERVER})
    for word in WORDS:
        shown = CONTROLS[word].shown
        if shown is not None and not shown(lesson):
            continue
        changes = any(seen(other) != told for other in moved(question, word))
        assert changes == (word not in idle(question)), (word, idle(question).get(word))


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
