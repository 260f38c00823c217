"""Answers that are likely to be asked for next, made while nobody waits: the next draw, and other widths of a draw.

They land in the caches of the views, so that whoever asks finds them there.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import replace

from components.legal import Refused
from components.lesson import Question, fit
from components.view import View
from components.words import WIDTHS, WORDS

LOG = logging.getLogger(__name__)

QUIET = 0.03
"""Seconds without an answer after which the first guess is made: the last one is then on its way."""

DEAR = 0.1
"""Seconds of an answer from which on nothing is guessed: an ask that comes meanwhile would wait as long."""

KEPT = 32
"""Guesses that wait at most; older ones are forgotten."""


def likely(question: Question) -> list[Question]:
    """The next draw; and the other widths of a draw, but of the default one, whose widths are answered at the start."""
    told = []
    with suppress(Refused):  # it was the last
        told.append(replace(question, seed=WORDS["seed"].read(str(question.seed + 1))))
    if question.seed != WORDS["seed"].default:
        told += [
            replace(question, **fit({"phi": question.phi, "d_k": d_k})[0]) for d_k in WIDTHS if d_k != question.d_k
        ]
    return told


class Ahead:
    """One guess at a time, one view each, in the thread that answers.  Off until it is switched on."""

    def __init__(self, pool: Executor, quiet: float = QUIET):
        self.pool, self.quiet, self.on = pool, quiet, False
        self.waiting: deque[tuple[View, Question]] = deque(maxlen=KEPT)
        self.asks, self.working = 0, False
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
                self.asks -= 1
            self._soon()

    def guess(self, views: tuple[View, ...], question: Question) -> None:
        """What may follow on a question comes before what was guessed earlier."""
        if self.on:
            with self.lock:
                self.waiting.extendleft((view, next) for next in reversed(likely(question)) for view in reversed(views))
            self._soon()

    def _soon(self) -> None:
        with self.lock:
            self.timer.cancel()
            if self.waiting:
                self.timer = threading.Timer(self.quiet, self._begin)
                self.timer.daemon = True
                self.timer.start()

    def _begin(self) -> None:
        with self.lock:
            if self.asks or self.working or not self.waiting:
                return
            view, question = self.waiting.popleft()
            try:
                made = self.pool.submit(view.answer, question)
            except RuntimeError:  # the process ends
                return
            self.working = True
        made.add_done_callback(self._made)

    def _made(self, made: Future) -> None:
        with self.lock:
            self.working = False
        if made.exception():
            LOG.error("a guess failed", exc_info=made.exception())
        self._begin()
