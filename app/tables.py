"""Tables of README.md and CONTRIBUTING.md that repeat what the code says.  `python -m app.tables` writes them anew.

Each stands between the lines `<!-- name -->` and `<!-- /name -->`; what is written by hand between them is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from app.page import NOTES, OVERVIEW, ROOT, pages, view
from components.axes import AXES
from components.lesson import Question
from components.plots import glyphs
from components.words import WORDS

FILES = ("README.md", "CONTRIBUTING.md")
MOST_OPTIONS = 12
"""A word with more options than this is told by its first ones and their number."""


def views() -> str:
    rows = [(f"`/{'' if word == OVERVIEW else word}`", title, *_told(word)) for word, title in pages().items()]
    rows.append((f"`/{NOTES}`", "Notes", "What do the lessons say, and what does this program find?", "–"))
    return table(("address", "view", "what it asks", "under the finger"), rows)


def _told(word: str) -> tuple[str, str]:
    if word == OVERVIEW:
        return "One choice of φ, four consequences: all that follows on one page, linked.", "all of them"
    return view(word).question, AXES[view(word).axis].label if view(word).axis else "–"


def words() -> str:
    rows = [(f"`{w.name}`", w.meaning, _legal(w.legal), w.write(w.default) or "–") for w in WORDS.values()]
    return table(("word", "means", "may be", "without it"), rows)


def _legal(told: str) -> str:
    options = told.split(" | ")
    if len(options) <= MOST_OPTIONS:
        return ", ".join(option or "nothing" for option in options)
    return f"{', '.join(options[:3])} … ({len(options)})"


def sources() -> str:
    rows = []
    for word in pages():
        if word != OVERVIEW:
            drawing = view(word).draw(Question(), False)
            figures = [cell.figure for row in drawing.rows for cell in row]
            drawn = {r.data_source.name for figure in figures for r in glyphs(figure)} - {None}
            rows.append((word, _list(drawn), _list(drawing.sources.keys() - drawn)))
    return table(("view", "drawn from", "carried for the reels"), rows)


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; a bar inside a cell would end the cell."""
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


TABLES: dict[str, Callable[[], str]] = {"views": views, "words": words, "sources": sources}


def filled(text: str) -> str:
    """The text with every table that it has a place for as the code says it now."""
    for name in TABLES:
        place = re.compile(f"<!-- {name} -->\n.*?<!-- /{name} -->", re.DOTALL)
        if place.search(text):
            told = f"<!-- {name} -->\n{TABLES[name]()}\n<!-- /{name} -->"
            text = place.sub(lambda _, told=told: told, text)
    return text


def main() -> None:
    for name in FILES:
        path = ROOT / name
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
