"""Answers that are likely to be asked for next, made while nobody waits: the next draw, other widths of a draw, and the
choice on which a pointer rests.

They land in the caches of the views, so that whoever asks finds them there.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from components.legal import Refused
from components.lesson import Question, fit
from components.offered import WIDE
from components.view import View
from components.words import WIDTHS, WORDS

LOG = logging.getLogger(__name__)

QUIET, REST = 0.03, 0.3
"""Seconds without an answer after which the next draw is made, if somebody goes through draws, the last answer then
being on its way; and other widths, for they cost four times as much, and who goes through draws needs none."""

DEAR = 0.1
"""Seconds of an answer from which on nothing is guessed: an ask that comes meanwhile would wait as long."""

KEPT = 32
"""Guesses that wait at most; older ones are forgotten."""


def chosen(question: Question, word: str, value: Any) -> Question:
    """The question after one more choice."""
    return replace(question, **fit({"phi": question.phi, "d_k": question.d_k, word: value})[0])


def dear_by(question: Question) -> tuple[int, int, str]:
    """What an answer is dear by: draw, width, and a map of thousands of directions.  Guesses follow its changes."""
    return question.seed, question.d_k, question.phi if (question.map, question.d_k) in WIDE else ""


def next_draw(question: Question) -> list[Question]:
    """The question at the draw that follows; none after the last."""
    try:
        return [replace(question, seed=WORDS["seed"].read(str(question.seed + 1)))]
    except Refused:
        return []


def other_widths(question: Question) -> list[Question]:
    """The question at the other widths; none at the default draw, for which they are answered at the start, and none
    that needs the directions of a wide map: ten draws of them take longer than all else, and push each other out of the
    memory that the next draw at this width counts on."""
    if question.seed == WORDS["seed"].default or (question.map, question.d_k) in WIDE:
        return []
    others = [chosen(question, "d_k", d_k) for d_k in WIDTHS if d_k != question.d_k]
    return [other for other in others if (other.map, other.d_k) not in WIDE]


class Ahead:
    """One guess at a time, one view each, in the thread that answers.  Off until it is switched on."""

    def __init__(self, pool: Executor, quiet: float = QUIET, rest: float = REST):
        self.pool, self.quiet, self.rest, self.on = pool, quiet, rest, False
        self.waiting: deque[tuple[float, View, Question]] = deque(maxlen=KEPT)
        self.asks, self.working, self.last = 0, False, 0.0
        self.lock, self.timer = threading.Lock(), threading.Timer(0, int)

    @contextmanager
    def asked(self) -> Iterator[None]:
        """While somebody waits for an answer nothing is begun."""
        with self.lock:
            self.asks += 1
        try:
            yield
        finally:
            with self.lock:
                self.asks, self.last = self.asks - 1, time.monotonic()
            self._begin()

    def guess(self, views: tuple[View, ...], question: Question, drawn: bool = True) -> None:
        """What may follow on a question comes before what was guessed earlier.  drawn: whether the draw was chosen just
        now; who goes through something else hardly asks for the next one at once, and it waits for a rest, too."""
        guesses = [(self.quiet if drawn else self.rest, next) for next in next_draw(question)]
        guesses += [(self.rest, other) for other in other_widths(question)]
        self._first(views, guesses)

    def near(self, views: tuple[View, ...], question: Question) -> None:
        """What a pointer rests on comes before all else, and without a pause."""
        self._first(views, [(0, question)])

    def _first(self, views: tuple[View, ...], guesses: list[tuple[float, Question]]) -> None:
        if not self.on:
            return
        with self.lock:
            self.waiting.extendleft((pause, view, guess) for pause, guess in guesses[::-1] for view in views[::-1])
        self._begin()

    def _begin(self) -> None:
        """Make the first guess, if it has been quiet for long enough; else look again then."""
        with self.lock:
            if self.asks or self.working or not self.waiting:
                return
            pause, view, question = self.waiting[0]
            self.timer.cancel()
            if (left := self.last + pause - time.monotonic()) > 0:
                self.timer = threading.Timer(left, self._begin)
                self.timer.daemon = True
                self.timer.start()
                return
            try:
                made = self.pool.submit(view.answer, question)
            except RuntimeError:  # the process ends
                return
            self.waiting.popleft()
            self.working = True
        made.add_done_callback(self._made)

    def _made(self, made: Future) -> None:
        with self.lock:
            self.working = False
        if made.exception():
            LOG.error("a guess failed", exc_info=made.exception())
        self._begin()
