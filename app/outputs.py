"""What a visitor takes away: a script, a citation, a page in one file.  What they ask is checked like the address."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlencode

from app.files import publish
from components.axes import AXES
from components.cite import cite
from components.code import script
from components.legal import Refused
from components.lesson import Question
from components.teaching import teaching
from components.words import WORDS, written

MOST_FILES = 24
"""Saved pages that are kept for fetching; the oldest goes first."""


MOST_LINK = 4_000
"""Characters of the address that a saved page names as its origin."""


def positions(told: Any) -> dict[str, float]:
    """Where the browser says that its reels stand.  Refused on a word that is no axis, or no number of it."""
    at = {}
    for name, text in told.items() if isinstance(told, dict) else ():
        if name not in AXES:
            raise Refused(f"{str(name)[:40]} is no axis")
        try:
            at[name] = WORDS[name].read(str(text))
        except Refused as reason:
            raise Refused(f"{name} {reason}") from None
    return at


def code(view: str, question: Question, told: Mapping[str, Any]) -> str:
    """The script of a view at a state, or one sentence why there is none."""
    try:
        return script(view, question, positions(told.get("at")), plain=told.get("plain") is True)
    except ValueError as reason:
        return f"# {reason}\n"


def citation(page: str, title: str, question: Question, told: Mapping[str, Any]) -> str:
    """The entry of a state in BibTeX, and as a sentence."""
    entry = cite(page, title, question, positions(told.get("at")), web_link(told.get("link")), date.today())
    return f"{entry.bibtex}\n{entry.text}\n"


def web_link(told: Any) -> str:
    """An address that a browser says it is at, without its words; empty if it is none of the web."""
    link = str(told or "").partition("?")[0][:MOST_LINK]
    return link if link.startswith(("https://", "http://")) else ""


def _begun(name: str, told: Any, words: Mapping[str, Any]) -> dict[str, str]:
    """The preset that a state began from, with its words as they are now, if the page has one of that name."""
    for preset in teaching(name).presets:
        if preset.slug == told:
            return {"preset": preset.slug, **{word: WORDS[word].write(words[word]) for word in preset.words}}
    return {}


def saved(name: str, question: Question, told: Mapping[str, Any]) -> str:
    """The address of the page as one file.  ExportError or Refused says why there is none."""
    from app.export import SUFFIX, one_file  # which imports the session's answers

    words = {f: getattr(question, f) for f in question.__dataclass_fields__} | positions(told.get("at"))
    theme = {"theme": "dark"} if told.get("theme") == "dark" else {}
    query = urlencode({**_begun(name, told.get("preset"), words), **written(words), **theme})
    link = web_link(told.get("link"))
    page = one_file(name, query, link=link and f"{link}?{query}")
    return publish(name, SUFFIX, page, most=MOST_FILES)
