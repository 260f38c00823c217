"""One visitor without a browser: a session whose callbacks run when the test says so."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from bokeh.document import Document

from app.packing import ITEM, ROW, TABLE_AT
from app.page import OVERVIEW, views_of
from app.session import Session
from components.lesson import Lesson

T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What comes of asynchronous work.  It has a thread of its own: where a browser test came before, a loop of
    Playwright's goes on running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def unpacked(piece: np.ndarray) -> dict[str, dict]:
    """An answer's columns as a browser reads them out of its piece."""
    raw = piece.tobytes()
    begins = TABLE_AT + int.from_bytes(raw[:TABLE_AT], "little")

    def read(column):
        if isinstance(column, list):
            return column
        cut = raw[begins + column["start"] : begins + column["stop"]]
        if column["dtype"] == "text":
            return [row[1:].split(ITEM) if row.startswith(ITEM) else row for row in cut.decode().split(ROW)]
        return np.frombuffer(cut, column["dtype"]).reshape(column["shape"])

    table = json.loads(raw[TABLE_AT:begins])
    return {source: {name: read(column) for name, column in columns.items()} for source, columns in table.items()}


def agree(read: Any, told: Any) -> bool:
    """The same column, though numbers may have taken another type on the way."""
    if isinstance(read, np.ndarray):
        return np.array_equal(read, told, equal_nan=read.dtype.kind == "f")
    return list(read) == list(told)


class Visit:
    """A session whose next-tick callbacks are kept until `settle` runs them, as the event loop would."""

    def __init__(self, name: str = OVERVIEW, **words):
        self.document, self.waiting = Document(), []
        self.document.add_next_tick_callback = self.waiting.append
        self.lesson, self.views = Lesson(**words), views_of(name)
        self.session = Session(self.views, self.lesson, self.document)
        self.browser: dict[str, dict] = {}
        self.send, self.session.send = self.session.send, self._sent

    def settle(self):
        async def run():
            while self.waiting:
                if (work := self.waiting.pop(0)()) is not None:
                    await work

        finished(run())

    def _sent(self, name: str, columns: dict) -> None:
        self.send(name, columns)
        told = {name: columns}
        if name == "page.told":
            (piece,), (deflated,) = columns["piece"], columns["deflated"]
            told = unpacked(np.frombuffer(zlib.decompress(piece), np.uint8) if deflated else piece)
        for source, new in told.items():
            self.browser.setdefault(source, {}).update(new)

    def sent(self) -> dict[str, dict]:
        """Columns that the browser was told, the newest of each."""
        return {name: dict(columns) for name, columns in self.browser.items()}

    def event(self, kind, told, count=1):
        self.session.event.data = {"kind": [kind], "told": [told], "count": [count]}

    @property
    def notice(self) -> str:
        told = self.session.sources.get("page.notice")
        return told.data["text"][0] if told else ""

    @property
    def words(self) -> dict[str, str]:
        """What the browser is told to write into the address."""
        told = self.sent().get("page.words", {"word": [], "text": []})
        return dict(zip(told["word"], told["text"], strict=True))
