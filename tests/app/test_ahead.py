"""What is answered before anybody asks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from app.ahead import Ahead, chosen, next_draw, other_widths
from components.lesson import Question
from components.words import WIDTHS


@pytest.fixture
def ahead():
    with ThreadPoolExecutor(max_workers=1) as pool:
        made = Ahead(pool, quiet=0, rest=0)
        made.on = True
        yield made


class Told:
    """A view that notes what it is asked."""

    def __init__(self, last: Question):
        self.asked, self.last, self.done = [], last, threading.Event()
        self.view = SimpleNamespace(answer=self.answer)

    def answer(self, question: Question):
        self.asked.append(question)
        if question == self.last:
            self.done.set()


def test_the_next_draw_keeps_everything_else_and_there_is_none_after_the_last():
    assert next_draw(Question(phi="relu", d_k=8)) == [Question(phi="relu", d_k=8, seed=1)]
    assert next_draw(Question(seed=99)) == []


def test_other_widths_are_those_of_a_draw_of_ones_own():
    assert other_widths(Question(phi="relu")) == []
    assert other_widths(Question(seed=7)) == [Question(seed=7, d_k=d_k) for d_k in WIDTHS if d_k != 16]


def test_a_map_that_does_not_exist_at_a_width_is_guessed_as_it_would_be_answered():
    guessed = {question.d_k: question.phi for question in other_widths(Question(phi="dpfp~nu~9", seed=1))}
    assert guessed[4] == "dpfp" and guessed[8] == "dpfp~nu~9"


def test_no_other_width_is_guessed_that_needs_the_directions_of_a_wide_map():
    """By hand: 65,536 numbers are 4,096 directions at a width of 16, and 1,024 at 64."""
    assert other_widths(Question(phi="favor~m~4096", seed=7)) == []
    guessed = other_widths(Question(phi="trig~m~1024", seed=7))
    assert guessed == [Question(phi="trig~m~1024", seed=7, d_k=d_k) for d_k in (4, 8, 32)]
    assert next_draw(Question(phi="favor~m~4096", seed=7)) == [Question(phi="favor~m~4096", seed=8)]


def test_a_choice_leaves_the_rest_and_takes_a_map_that_exists():
    assert chosen(Question(phi="relu", seed=3), "rule", "delta") == Question(phi="relu", seed=3, rule="delta")
    assert chosen(Question(phi="relu", d_k=8), "phi", "taylor") == Question(phi="taylor", d_k=8)
    assert chosen(Question(phi="dpfp~nu~9"), "d_k", 4) == Question(phi="dpfp", d_k=4)


def test_guesses_are_answered_in_their_order_while_nobody_waits(ahead):
    question = Question(seed=3)
    guesses = next_draw(question) + other_widths(question)
    told = Told(last=guesses[-1])
    ahead.guess((told.view,), question)
    assert told.done.wait(10)
    assert told.asked == guesses


def test_other_widths_wait_for_a_rest(ahead):
    ahead.rest = 3600
    told = Told(last=Question(seed=4))
    with ahead.asked():
        ahead.guess((told.view,), Question(seed=3))
    assert told.done.wait(10)
    ahead.pool.submit(int).result()  # what was begun after it would be done
    assert told.asked == [Question(seed=4)] and len(ahead.waiting) == len(WIDTHS) - 1
    ahead.timer.cancel()


def test_the_next_draw_waits_for_a_rest_unless_a_draw_was_chosen(ahead):
    ahead.rest = 3600
    told = Told(last=Question(seed=4))
    with ahead.asked():
        ahead.guess((told.view,), Question(seed=3), drawn=False)
    ahead.pool.submit(int).result()
    assert not told.asked and len(ahead.waiting) == len(WIDTHS)
    ahead.timer.cancel()
    with ahead.asked():
        ahead.guess((told.view,), Question(seed=3))
    assert told.done.wait(10)
    ahead.timer.cancel()


def test_what_a_pointer_rests_on_is_answered_before_all_else_and_without_a_pause(ahead):
    ahead.quiet = ahead.rest = 3600
    near = Question(rule="delta")
    told = Told(last=near)
    with ahead.asked():
        ahead.guess((told.view,), Question(seed=3))
        ahead.near((told.view,), near)
    assert told.done.wait(10)
    ahead.pool.submit(int).result()  # what was begun after it would be done
    assert told.asked == [near]
    ahead.timer.cancel()


def test_nothing_is_begun_while_somebody_waits(ahead):
    told = Told(last=Question(seed=1))
    with ahead.asked():
        ahead.guess((told.view,), Question())
        ahead._begin()
        assert not told.asked and not ahead.working
    assert told.done.wait(10)


def test_what_is_guessed_last_comes_first(ahead):
    told = Told(last=Question(seed=1))
    with ahead.asked():
        ahead.guess((told.view,), Question())
        ahead.guess((told.view,), Question(phi="relu"))
    assert told.done.wait(10)
    assert told.asked == [Question(phi="relu", seed=1), Question(seed=1)]


def test_a_guess_that_fails_stops_neither_the_next_one_nor_anybody(ahead, caplog):
    told = Told(last=Question(seed=1))
    broken = SimpleNamespace(answer=lambda question: 1 / 0)
    ahead.guess((broken, told.view), Question())
    assert told.done.wait(10)
    assert "a guess failed" in caplog.text


def test_nothing_is_guessed_until_it_is_switched_on(ahead):
    ahead.on = False
    ahead.guess((SimpleNamespace(answer=print),), Question())
    assert not ahead.waiting
