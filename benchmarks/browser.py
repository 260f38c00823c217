"""Chromium, a page in it, and what goes over its websocket."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PAINTS = (Path(__file__).parent / "paints.js").read_text(encoding="utf-8")
SCREEN = {"width": 1440, "height": 900}
READY = (
    "() => document.documentElement.dataset.figures == 'ready' && document.documentElement.dataset.session == 'ready'"
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium on the path, else the one that Playwright has installed."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Traffic:
    """Messages and bytes of a page's websocket since the last `clear`."""

    up: int = 0
    down: int = 0
    sent: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)

    def clear(self) -> None:
        self.up = self.down = 0
        self.sent.clear()
        self.received.clear()

    def watch(self, page: Page) -> None:
        page.on("websocket", self._opened)

    def _opened(self, websocket: Any) -> None:
        websocket.on("framesent", self._frame_sent)
        websocket.on("framereceived", self._frame_received)

    def _frame_sent(self, frame: str | bytes) -> None:
        self.up += len(frame)
        self.sent.update(_kind(frame))

    def _frame_received(self, frame: str | bytes) -> None:
        self.down += len(frame)
        self.received.update(_kind(frame))


def _kind(frame: str | bytes) -> list[str]:
    """The kind of message that begins with this frame: each has a header, then frames of content."""
    if len(frame) < 200:
        with suppress(ValueError, TypeError, KeyError):
            return [json.loads(frame)["msgtype"]]
    return []


@dataclass
class Visit:
    """A page that is open, with everything that was noticed about it."""

    page: Page
    traffic: Traffic
    errors: list[str]
    addresses: list[str]

    def rest(self, quiet: int = 120, most: int = 2000) -> dict[str, list[dict[str, Any]]]:
        """Wait for the painting to end; the frames and events since the last `clear`."""
        return self.page.evaluate("([quiet, most]) => Paints.rest(quiet, most)", [quiet, most])

    def clear(self) -> None:
        self.page.evaluate("Paints.clear()")
        self.traffic.clear()


@contextmanager
def visit(browser: Browser, url: str) -> Iterator[Visit]:
    """Open a page with an empty cache and wait until its figures stand and its session answers."""
    context = browser.new_context(viewport=SCREEN)
    page, traffic, errors, addresses = context.new_page(), Traffic(), [], []
    page.add_init_script(PAINTS)
    traffic.watch(page)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: addresses.append(request.url))
    try:
        page.goto(url, wait_until="domcontentloaded")
        page.wait_for_function(READY, timeout=30_000)
        told = Visit(page, traffic, errors, addresses)
        told.rest(300, 5000)
        yield told
    finally:
        context.close()
