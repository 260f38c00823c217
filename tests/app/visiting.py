"""One visitor without a browser: a session whose callbacks run when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bokeh.document import Document

from app.page import OVERVIEW, views_of
from app.session import Session
from components.lesson import Lesson

T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What comes of asynchronous work.  It has a thread of its own: where a browser test came before, a loop of
    Playwright's goes on running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Visit:
    """A session whose next-tick callbacks are kept until `settle` runs them, as the event loop would."""

    def __init__(self, name: str = OVERVIEW, **words):
        self.document, self.waiting = Document(), []
        self.document.add_next_tick_callback = self.waiting.append
        self.lesson, self.views = Lesson(**words), views_of(name)
        self.session = Session(self.views, self.lesson, self.document)

    def settle(self):
        async def run():
            while self.waiting:
                await self.waiting.pop(0)()

        finished(run())

    def sent(self) -> dict[str, dict]:
        """Columns that stand in the answer sources."""
        return {name: dict(source.data) for name, source in self.session.sources.items() if source.data}

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
