"""What may come up from a browser: it is checked like the address."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visiting import Visit

import app.session as session_module
from app.session import EVENT_CHARACTERS
from components.lesson import Question
from components.words import WORDS

# Events


def test_words_that_come_up_are_taken_and_absent_ones_are_left():
    visit = Visit(seed=4)
    visit.event("words", json.dumps({"phi": "relu", "d_k": "8"}))
    assert visit.lesson.question == Question(phi="relu", d_k=8, seed=4)
    visit.event("words", json.dumps({"phi": None, "seed": None, "d_k": "8"}), 2)
    assert visit.lesson.question == Question(d_k=8)
    assert visit.notice == ""


def test_a_tap_takes_a_row_and_a_second_tap_lets_it_go():
    visit = Visit()
    visit.event("tap", json.dumps({"what": "row", "at": 7}))
    assert visit.lesson.row == 7
    visit.event("tap", json.dumps({"what": "row", "at": 7}), 2)
    assert visit.lesson.row is None


OFFERED = {"rule": ["additive", "delta"], "d_k": [8, 16]}


@pytest.fixture
def guessed(monkeypatch):
    """Questions that are answered ahead because a pointer came near."""
    told = []
    monkeypatch.setattr(session_module.AHEAD, "near", lambda views, question: told.append(question))
    return told


def test_the_button_under_a_pointer_is_answered_ahead_and_not_chosen(guessed):
    visit = Visit(seed=4)
    visit.session.offered = OFFERED
    visit.event("near", json.dumps({"word": "rule", "at": 1}))
    assert guessed == [Question(seed=4, rule="delta")]
    assert visit.lesson.question == Question(seed=4) and visit.waiting == []


def test_with_the_first_button_under_a_pointer_an_answer_finds_its_source_there_and_nothing_in_it(guessed):
    visit = Visit()
    visit.session.offered = OFFERED
    assert visit.session.sources == {}
    for at in (0, 1):
        visit.event("near", json.dumps({"word": "d_k", "at": at}))
    assert list(visit.session.sources) == ["page.told"] and visit.sent() == {}
    visit.lesson.d_k = 8
    visit.settle()
    visit.event("near", json.dumps({"word": "d_k", "at": 1}))
    assert list(visit.session.sources) == ["page.told"] and visit.words == {"d_k": "8"}


@pytest.mark.parametrize(
    "told", [{}, {"word": "rule"}, {"word": "rule", "at": 2}, {"word": "rule", "at": -1}, {"word": "rule", "at": "1"},
             {"word": "rule", "at": 0.5}, {"word": ["rule"], "at": 1}, {"word": "seed", "at": 0}, {"at": 0}],
)  # fmt: skip
def test_a_pointer_near_nothing_has_nothing_answered(guessed, told):
    visit = Visit()
    visit.session.offered = OFFERED
    visit.event("near", json.dumps(told))
    assert not guessed and visit.session.sources == {}


BAD_EVENTS = {
    "no JSON": ("words", "{"),
    "a number": ("words", "1"),
    "a list": ("words", "[]"),
    "null": ("words", "null"),
    "bytes": ("words", b"{}"),
    "nothing": ("words", None),
    "an object": ("words", {"phi": "relu"}),
    "deep": ("words", "[" * 3_000),
    "huge": ("words", json.dumps({"phi": "relu", "more": "x" * EVENT_CHARACTERS})),
    "markup": ("words", json.dumps({"phi": "<img src=x onerror=alert(1)>"})),
    "markup everywhere": ("words", json.dumps({word: "</script>" for word in WORDS})),
    "a nested word": ("words", json.dumps({"phi": {"phi": "relu"}})),
    "a list for a word": ("words", json.dumps({"phi": ["relu"]})),
    "a bool for a number": ("words", json.dumps({"d_k": True})),
    "infinity": ("words", '{"rho": Infinity}'),
    "NaN": ("words", '{"rho": NaN}'),
    "a huge number": ("words", '{"seed": ' + "9" * 1_000 + "}"),
    "no width": ("words", '{"d_k": 5}'),
    "a surrogate": ("words", '{"phi": "\\ud800"}'),
    "a dunder": ("words", '{"__class__": "x", "phi ": "relu"}'),
    "a negative row": ("tap", '{"what": "row", "at": -1}'),
    "a row beyond": ("tap", '{"what": "row", "at": 256}'),
    "a fractional row": ("tap", '{"what": "row", "at": 3.5}'),
    "a row in words": ("tap", '{"what": "row", "at": "7"}'),
    "a row of all rows": ("tap", '{"what": "row", "at": [1, 2]}'),
    "a true row": ("tap", '{"what": "row", "at": true}'),
    "a tap on nothing": ("tap", '{"what": "column", "at": 3}'),
    "a tap without a place": ("tap", '{"what": "row"}'),
    "another kind": ("shutdown", "{}"),
    "a kind that is a list": (["words"], '{"phi": "relu"}'),
    "a rest": ("rest", '{"word": "n", "value": 12}'),
}


@pytest.mark.parametrize("kind, told", BAD_EVENTS.values(), ids=BAD_EVENTS)
def test_a_bad_event_changes_nothing_and_raises_nothing(kind, told):
    visit = Visit()
    visit.event(kind, told)
    assert visit.lesson.question == Question()
    assert visit.waiting == []
    assert "<" not in visit.notice or kind == "words"  # the page shows a notice as text, never as markup
    assert len(visit.notice) < 6_000


@pytest.mark.parametrize(
    "data", [{}, {"kind": []}, {"kind": ["words"], "told": []}, {"told": ["{}"]}, {"kind": ["words"]}]
)
@pytest.mark.filterwarnings("ignore:ColumnDataSource")
def test_an_event_without_its_columns_is_passed_over(data):
    visit = Visit()
    visit.session.event.data = data
    assert visit.lesson.question == Question()


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12))
TOLD = st.dictionaries(st.sampled_from([*WORDS, "what", "at", "word"]), VALUES, max_size=4).map(json.dumps)


@given(st.sampled_from(["words", "tap", "near", "rest", ""]), st.one_of(st.text(max_size=60), TOLD))
def test_whatever_comes_up_leaves_a_legal_lesson(kind, told):
    visit = Visit("sizing")
    visit.event(kind, told)
    for word, value in ((name, getattr(visit.lesson, name)) for name in Question.__dataclass_fields__):
        assert WORDS[word].read(WORDS[word].write(value)) == value


def test_a_refused_word_is_named_and_the_next_good_event_clears_the_notice():
    visit = Visit()
    visit.event("words", json.dumps({"phi": "nonsense", "d_k": "8"}))
    assert visit.notice.startswith("phi ") and visit.lesson.d_k == 8
    visit.event("words", json.dumps({"d_k": "16"}), 2)
    assert visit.notice == ""
