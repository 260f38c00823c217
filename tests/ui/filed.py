"""A page opened as a file in a browser without a network: it loads nothing but itself and stays silent."""

from __future__ import annotations

from pathlib import Path

from driving import PAINTED, Tab

from app.choices import FileControl, file_controls
from app.page import control_words, views_of
from components.lesson import Lesson, Question, fit
from components.words import WORDS

READY = """document.documentElement.dataset.figures == 'ready' &&
  document.documentElement.dataset.session == 'file' &&
  'rehearsed' in document.documentElement.dataset && Bokeh.documents.every(d => d.is_idle)"""


class FileTab(Tab):
    """Requests for anything but the files that were opened are complaints."""

    def __init__(self, page):
        super().__init__(page, "file:")
        self.asked: list[str] = []
        self.files = 1
        page.on("request", lambda request: self.asked.append(request.url))

    def opens(self, path: Path) -> FileTab:
        self.page.goto(path.as_uri())
        self.settle()
        return self

    def settle(self):
        self.page.wait_for_function(f"() => {READY}")
        self.page.evaluate(PAINTED)

    @property
    def loaded(self) -> list[str]:
        return [url for url in self.asked if not url.startswith(("data:", "blob:"))]

    def live(self) -> dict[str, list[str]]:
        """Words that can still be chosen, and the texts that they may be."""
        return self.page.evaluate(
            "Object.fromEntries(Explorer.page.live.words.map(w => [w, Explorer.page.live.options[w]]))"
        )

    def takes(self, word: str, text: str):
        """Choose with the control that is shown."""
        place = self.page.locator(f'[data-control="{word}"]')
        assert place.is_visible()
        if place.locator("select").count():
            place.locator("select").select_option(text)
        else:
            place.locator(f'button[data-value="{text}"]').click()
        self.settle()


def offered(name: str) -> list[FileControl]:
    """Every control of the served page."""
    return file_controls(Lesson(), control_words(views_of(name)))


def asked_by(chosen: dict[str, str]) -> Question:
    """The question of some words' texts."""
    return Question(**fit({word: WORDS[word].read(text) for word, text in chosen.items()})[0])
