"""The dialog that gives a state away: how tests open it, and what they take out of it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from driving import Tab

from components.lesson import Question

STATE = {"phi": "favor~m~64", "rule": "delta", "n": "17"}
QUESTION, AT = Question(phi="favor~m~64", rule="delta"), {"n": 17}


def opened(tab: Tab, name: str = "memory", panel: str = "embed", **words) -> Tab:
    tab.open(name, **words)
    tab.page.locator("[data-share]").click()
    tab.page.locator(f'[data-tab="{panel}"]').click()
    assert tab.page.locator(f'[data-panel="{panel}"]').is_visible()
    return measured(tab) if panel == "embed" else tab


def measured(tab: Tab) -> Tab:
    """Until Share knows how high the view is."""
    tab.page.wait_for_function("/ px/.test(document.querySelector('.fits').textContent)")
    return tab


def snippet(tab: Tab, word: str) -> str:
    return tab.page.locator(f'[data-snippet="{word}"]').text_content()


def words_of(url: str) -> dict[str, str]:
    return {word: texts[0] for word, texts in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}


def download(tab: Tab, button: str) -> tuple[str, bytes]:
    with tab.page.expect_download() as got:
        tab.page.locator(button).click()
    return got.value.suggested_filename, Path(got.value.path()).read_bytes()
