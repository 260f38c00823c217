"""One visitor's side of a page: the lesson, its answers, and what comes up from the browser."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.models import ColumnDataSource, Div

from app.ahead import DEAR, Ahead, chosen, dear_by
from app.desk import Desk
from app.outputs import citation, code, saved
from app.packing import piece
from components.about import NAME
from components.gloss import chosen_map
from components.lesson import Lesson, Question
from components.own import MAX_BYTES, TOO_LARGE, ConfigError, paste, refusal
from components.reel import Answer, Columns, is_drawn
from components.sizing_export import exported
from components.view import View
from components.words import WORDS, written

EVENT_CHARACTERS = 4_000
PASTE_CHARACTERS = 3 * MAX_BYTES
"""Longest events a browser may send up: words and taps, and the longest config, escaped."""


LOG = logging.getLogger(__name__)

COMPUTING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="answers")
"""Answers are pure, so they may be made beside the event loop; models are written in session callbacks only."""

AHEAD = Ahead(COMPUTING)

SAVING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="files")
"""A page in one file takes seconds of computing: one at a time, beside the answers."""


def answers(views: tuple[View, ...], question: Question) -> Answer:
    """All that a page says to a question."""
    told = chosen_map(views, question)
    for view in views:
        told.update(view.answer(question))
    return told


class Session:
    """Answer sources; only columns that the browser does not have are sent.

    An ask while another is being answered waits for it and is then answered with the newest state: asks
    coalesce, without a fixed delay.
    """

    def __init__(self, views: tuple[View, ...], lesson: Lesson, document: Document, page: str = ""):
        self.views, self.lesson, self.document, self.page = views, lesson, document, page or views[0].word
        self.has = answers(views, Question())
        self.words: dict[str, str] = {}
        self.sources: dict[str, ColumnDataSource] = {}
        self.event = ColumnDataSource(data={"kind": [], "told": [], "count": []}, name="page.event")
        self.carrier = Div(tags=[self.event], visible=False, name="page.carrier")
        self.event.on_change("data", self._heard)
        self.answered, self.busy = Question(), False
        self.guessed: tuple[int, int, str] | None = None
        self.afterwards: list[Callable[[], None]] = []
        """What a change has to do that may wait until the newest answer is on its way."""
        self.desk: Desk | None = None
        self.offered: Mapping[str, Sequence[Any]] = {}
        """What the buttons of a word stand for, from left to right."""
        lesson.param.watch(self.ask, list(lesson.question.__dataclass_fields__))
        lesson.param.watch(lambda event: event.new or self._pasted(""), "own")  # what was said of it is over

    def ask(self, *_: Any) -> None:
        """See to it that the newest question gets answered."""
        if not self.busy:
            self.busy = True
            self.document.add_next_tick_callback(self._answer)

    async def _answer(self) -> None:
        spent, before = 0.0, self.answered
        try:
            while (question := self.lesson.question) != self.answered:
                start = time.monotonic()
                try:
                    with AHEAD.asked():
                        told = await asyncio.wrap_future(COMPUTING.submit(answers, self.views, question))
                except Exception:
                    LOG.exception("no answer to %s", question)
                    self.answered = question
                    self._refused(["This choice could not be computed; the picture shows the one before."])
                    continue
                self.answered, spent = question, time.monotonic() - start
                if question == self.lesson.question:  # else a newer one is waiting
                    self.tell(told)
        finally:
            self.busy = False
            for work in self.afterwards:  # the answer goes out when this callback ends
                self.document.add_next_tick_callback(work)
        if (dear := dear_by(self.answered)) != self.guessed and spent < DEAR:
            self.guessed = dear
            AHEAD.guess(self.views, self.answered, drawn=self.answered.seed != before.seed)

    def tell(self, told: Answer) -> None:
        """Send what differs from what the browser has, and the words if they do, in one piece.

        Not under a hold of Panel's: that writes beside the document's lock, and under load some pieces got lost.
        """
        news: dict[str, Columns] = {}
        for name, columns in told.items():
            changed = {
                column: value for column, value in columns.items() if not same(value, self.has[name].get(column))
            }
            if changed:
                self.has[name] = columns
                # Rows of a told list go together; a drawn column goes alone.
                news[name] = changed if is_drawn(name) else columns
        words = written({name: getattr(self.lesson, name) for name in self.lesson.question.__dataclass_fields__})
        if words != self.words:
            self.words = words
            news["page.words"] = {"word": list(words), "text": list(words.values())}
        if news:
            self.send("page.told", piece(news))

    def send(self, name: str, columns: Columns) -> None:
        """Write columns into the source `answer.<name>`.

        It is made when there is first something to say: most visitors ask little, and an empty source costs a session
        as much as a full one.
        """
        if name in self.sources:
            self.sources[name].data.update(columns)
        else:
            self.sources[name] = ColumnDataSource(data=dict(columns), name=f"answer.{name}")
            self.carrier.tags = [*self.carrier.tags, self.sources[name]]

    def _heard(self, attr: str, old: Any, new: Mapping[str, Any]) -> None:
        """An event from the browser.  It is input from outside: checked like the address."""
        try:
            kind, text = new["kind"][0], new["told"][0]
            longest = PASTE_CHARACTERS if kind == "paste" else EVENT_CHARACTERS
            if kind == "paste" and isinstance(text, str) and len(text) > longest:
                self._pasted(TOO_LARGE)
            elif isinstance(text, str) and len(text) > longest:
                self._refused([f"Nothing was changed: {len(text):,} characters are more than are read at once."])
            told = json.loads(text) if isinstance(text, str) and len(text) <= longest else None
        except (KeyError, IndexError, TypeError, ValueError, RecursionError):
            return
        if not isinstance(told, dict):
            return
        if kind == "words":
            self._refused(self.lesson.take(_texts_for(told, self.lesson)))
        elif kind == "tap" and told.get("what") == "row" and isinstance(told.get("at"), int):
            row = told["at"]
            self._refused(self.lesson.take({"row": "" if row == self.lesson.row else str(row)}))
        elif kind == "near":
            self._near(told.get("word"), told.get("at"))
        elif kind == "code":
            title = self.views[0].title if len(self.views) == 1 else NAME
            self._beside(COMPUTING, "page.cite", citation, self.page, title, self.lesson.question, told)
            if len(self.views) == 1:
                self._beside(COMPUTING, "page.code", code, self.page, self.lesson.question, told)
        elif kind == "sweep" and len(self.views) == 1:
            self._desk().ask(told.get("name"), told.get("do"))
        elif kind == "save":
            self._beside(SAVING, "page.saved", saved, self.page, self.lesson.question, told)
        elif kind == "paste":
            self._paste(str(told.get("text", "")))
        elif kind == "export" and "sizing" in {view.word for view in self.views}:
            self._export(told)

    def _near(self, word: Any, at: Any) -> None:
        """A pointer rests on a button, which is mostly pressed next: its answer is made ready, and the way for it."""
        values = self.offered.get(word, ()) if isinstance(word, str) else ()
        if isinstance(at, int) and 0 <= at < len(values):
            AHEAD.near(self.views, chosen(self.lesson.question, word, values[at]))
            if "page.told" not in self.sources:
                self.send("page.told", piece({}))

    def _desk(self) -> Desk:
        if self.desk is None:
            self.desk = Desk(self.document, self.send, f"session {id(self)}")
            self.document.on_session_destroyed(lambda context: self.desk.leave())
        return self.desk

    def _beside(self, pool: Executor, name: str, work: Callable[..., str], *asked: Any) -> None:
        """Do what takes long in another thread; the session sends its text, or one sentence why there is none."""

        async def send() -> None:
            try:
                told = await asyncio.wrap_future(pool.submit(work, *asked))
            except ValueError as reason:
                self._refused([f"Nothing was made: {reason}"])
            except Exception:
                LOG.exception("%s failed for %s", name, asked)
                self._refused(["Nothing was made: the program failed at it, and its log says why."])
            else:
                self.send(name, {"text": [told]})

        self.document.add_next_tick_callback(send)

    def _paste(self, text: str) -> None:
        try:
            self.lesson.own = own = paste(text)
        except ConfigError as error:
            self._pasted(refusal(error))
        else:
            said = f"Read as {own.shape.model_type}, {own.shape.n_layers} layers: the page now shows your model."
            if own.text is None:
                said += " It is too long for a link: the address does not carry it."
            self._pasted(said, taken=True)

    def _pasted(self, said: str, taken: bool = False) -> None:
        self.send("page.paste", {"text": [said], "taken": [taken]})

    def _export(self, told: Mapping[str, Any]) -> None:
        try:
            made = exported(self.lesson.question, WORDS["T"].read(str(told.get("T"))), told.get("format"))
        except ValueError as error:
            self._refused([f"No file was made: {error}"])
        else:
            self.send("page.download", {"name": [made[0]], "text": [made[1]]})

    def _refused(self, sentences: list[str]) -> None:
        self.send("page.notice", {"text": [" · ".join(sentences)]})


def _texts_for(told: Mapping[str, Any], lesson: Lesson) -> dict[str, str]:
    """Server words of an event; null means the default."""
    texts = {}
    for name in lesson.question.__dataclass_fields__:
        if name in told:
            value = told[name]
            texts[name] = WORDS[name].write(WORDS[name].default) if value is None else str(value)
    return texts


def same(a: Any, b: Any) -> bool:
    """Equal columns; identity first, since answers are cached."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return False
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return all(same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and a == b
