"""One visitor's session: what is sent down after a choice."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import numpy as np
import pytest
from visiting import Visit, agree, finished

import app.session as session_module
from app.page import pages
from app.session import answers, same
from components.lesson import Question
from components.words import PHIS

every_page = pytest.mark.parametrize("name", pages())


CHOICES = {
    "phi": "favor", "d_k": 32, "seed": 5, "row": 101, "rule": "delta", "keys": "correlated", "model": "qwen3.8-27b",
}  # fmt: skip


@every_page
def test_a_session_begins_with_nothing_to_send(name):
    visit = Visit(name)
    visit.session.ask()
    visit.settle()
    assert visit.sent() == {}


@pytest.mark.parametrize("word, value", CHOICES.items(), ids=CHOICES)
@every_page
def test_only_what_a_choice_changes_is_sent_and_it_is_the_answer(name, word, value):
    visit = Visit(name)
    setattr(visit.lesson, word, value)
    visit.settle()
    old, new = answers(visit.views, Question()), answers(visit.views, Question(**{word: value}))
    sent = visit.sent()
    sent.pop("page.words", None)
    for source, columns in new.items():
        changed = {column for column, values in columns.items() if not same(values, old[source][column])}
        if not changed:
            assert source not in sent
        elif source.rpartition(".")[2] in ("texts", "math", "props"):
            assert set(sent[source]) == set(columns)  # rows of a told list go together
        else:
            assert set(sent[source]) == changed
        for column, values in sent.get(source, {}).items():
            assert agree(values, columns[column])
    assert set(sent) <= set(new)


@every_page
def test_going_back_sends_what_the_browser_no_longer_has(name):
    """After a choice and its undoing the sources, laid over the defaults, say the defaults."""
    visit = Visit(name)
    for phi in ("favor", "taylor", "elu"):
        visit.lesson.phi = phi
        visit.settle()
    default = answers(visit.views, Question())
    for source, columns in visit.sent().items():
        if not source.startswith("page."):
            assert all(agree(values, default[source][column]) for column, values in columns.items())


@every_page
def test_after_a_random_walk_the_browser_has_what_was_asked_last(name):
    visit, rng = Visit(name), np.random.default_rng(3)
    browser = {source: dict(columns) for source, columns in answers(visit.views, Question()).items()}
    for _ in range(12):
        word = rng.choice(["phi", "d_k", "rule", "keys", "model", "row"])
        value = {"phi": PHIS, "d_k": (8, 16), "rule": ("additive", "delta"), "keys": ("random", "phi"),
                 "model": ("minimax-01", "llama-3.1-8b"), "row": (None, 3)}[word]  # fmt: skip
        setattr(visit.lesson, word, value[rng.integers(len(value))])
        visit.settle()
        for source, columns in visit.sent().items():
            browser.setdefault(source, {}).update(columns)
        for source, columns in answers(visit.views, visit.lesson.question).items():
            assert all(agree(browser[source][column], values) for column, values in columns.items()), (
                source,
                visit.lesson.question,
            )


def test_the_words_of_the_address_are_told_with_the_answer():
    visit = Visit(seed=4)
    visit.lesson.phi = "favor~m~64"
    visit.settle()
    assert visit.words == {"phi": "favor~m~64", "seed": "4"}
    visit.lesson.take({"phi": "elu", "seed": "0"})
    visit.settle()
    assert visit.words == {}


# Asks coalesce


def test_changes_that_come_while_an_answer_is_made_are_answered_once_with_the_newest(monkeypatch):
    visit, asked, gate = Visit(), [], threading.Event()

    def slow(views, question):
        asked.append(question.phi)
        gate.wait(10)
        return answers(views, question)

    monkeypatch.setattr(session_module, "answers", slow)
    told = []
    monkeypatch.setattr(
        visit.session, "tell", lambda answer, tell=visit.session.tell: (told.append(answer), tell(answer))
    )

    async def run():
        visit.lesson.phi = "relu"
        (answer,) = [visit.waiting.pop()]
        running = asyncio.ensure_future(answer())
        await asyncio.sleep(0.05)
        for phi in ("silu", "favor", "taylor", "dpfp"):
            visit.lesson.phi = phi
        assert visit.waiting == []  # busy: nothing is queued behind
        gate.set()
        await running

    finished(run())
    assert asked == ["relu", "dpfp"] and len(told) == 1
    assert visit.words == {"phi": "dpfp"}
    assert "DPFP" in str(visit.sent()["sharpness.phrases"])


def test_what_may_wait_is_done_when_the_answer_has_been_told_and_finds_the_newest_choice(monkeypatch):
    visit, told = Visit(), []
    monkeypatch.setattr(visit.session, "tell", lambda answer: told.append("answer"))
    visit.session.afterwards.append(lambda: told.append(visit.lesson.rule))
    for rule in ("delta", "decay"):
        visit.lesson.rule = rule
    visit.settle()
    assert told == ["answer", "decay"]


def test_with_a_map_of_thousands_of_directions_guesses_are_due_again(monkeypatch):
    visit, told = Visit(), []
    monkeypatch.setattr(session_module, "DEAR", float("inf"))
    monkeypatch.setattr(session_module.AHEAD, "guess", lambda views, question, drawn: told.append(question.phi))
    for phi in ("relu", "favor", "favor~m~64", "favor~m~4096", "relu"):
        visit.lesson.phi = phi
        visit.settle()
    assert told == ["relu", "favor~m~4096", "relu"]


def test_the_next_draw_is_made_at_once_for_who_draws_and_later_for_who_does_not(monkeypatch):
    visit, told = Visit(), []
    monkeypatch.setattr(session_module.AHEAD, "guess", lambda views, question, drawn: told.append((question, drawn)))
    for word, value in (("d_k", 8), ("seed", 3), ("phi", "relu"), ("d_k", 16)):
        setattr(visit.lesson, word, value)
        visit.settle()
    asked = Question(d_k=8), Question(d_k=8, seed=3), Question(phi="relu", seed=3)
    assert told == list(zip(asked, (False, True, False)))


def test_an_answer_that_fails_leaves_the_session_able_to_answer(monkeypatch):
    visit = Visit()

    def broken(views, question):
        raise ValueError("phi is broken")

    with monkeypatch.context() as patch:
        patch.setattr(session_module, "answers", broken)
        visit.lesson.phi = "relu"
        with contextlib.suppress(ValueError):
            visit.settle()
    visit.lesson.phi = "favor"
    visit.settle()
    assert visit.words == {"phi": "favor"}


def test_two_visitors_share_no_state():
    one, two = Visit(), Visit()
    one.lesson.phi = "relu"
    one.settle()
    two.settle()
    assert two.sent() == {} and two.lesson.phi == "elu"


# Equality


class Odd:
    def __eq__(self, other):
        raise AssertionError("compared by value")


def test_same_is_identity_first():
    odd = Odd()
    assert same(odd, odd)


@pytest.mark.parametrize("a, b, equal", [
    ([1, 2], [1, 2], True),
    ([1, 2], [1, 3], False),
    ([1], [1, 1], False),
    (["a"], ["a"], True),
    ([["a", "b"]], [["a", "c"]], False),
    (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
    (np.array([1.0, np.nan]), np.array([np.nan, 1.0]), False),
    (np.array([1.0]), np.array([1.0], dtype=np.float32), False),
    (np.zeros((2, 3)), np.zeros((3, 2)), False),
    (np.zeros(2), [0.0, 0.0], False),
    (np.array([1, 2], dtype=np.uint8), np.array([1, 2], dtype=np.uint8), True),
    (1, 1.0, False),
    (1, True, False),
    ("1", 1, False),
    (None, None, True),
    (None, [], False),
    ([np.zeros(2)], [np.zeros(2)], True),
])  # fmt: skip
def test_same_compares_columns_by_value_and_kind(a, b, equal):
    assert same(a, b) is equal and same(b, a) is equal
