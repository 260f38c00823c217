"""The notes page: every claim of the lessons, its source, what this program finds, and where to see it.

`python -m app.notes` runs every check and writes what it finds to assets/claims-found.json; the page reads the file.
"""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from importlib.metadata import version
from itertools import groupby
from typing import Any

import panel as pn
from bokeh.models import Div
from jinja2 import Environment, FileSystemLoader

from app.context import started
from app.page import ASSETS, NOTES, asset, fonts_address, navigation, pages, styles
from components.about import NAME
from components.ledger import claims, lessons, papers, topics
from components.ledger_said import FILE, OUTCOMES, rows, stored
from components.words import WORDS, read_address
from compute.claims import CHECKS

KEPT = ("theme", "embed")


def serve() -> None:
    """Fill the current document with the notes.  Called once for every visitor."""
    pn.config.browser_info = False
    document = pn.state.curdoc
    values, _ = read_address(pn.state.session_args)
    values, _ = started((), {word: value for word, value in values.items() if word in KEPT})
    document.add_root(Div(visible=False, name="page.carrier"))
    document.title = f"Notes · {NAME}"
    document.template = template()
    document.template_variables.update(
        heading=document.title,
        **{word: values.get(word, WORDS[word].default) for word in KEPT},
        nav=navigation(),
        here=NOTES,
        fonts=fonts_address(),
        css=styles() + asset("notes.css"),
        script=asset("notes.js"),
        body=body(),
    )


@cache
def template() -> Any:
    return _environment().get_template("notes.html")


@cache
def body() -> str:
    """The part that is the same for all: introduction, filters and tables."""
    made, told = stored()["made"], rows()
    count = {word: sum(row.outcome == word for row in told) for word in OUTCOMES}
    grouped = {topic: list(of) for topic, of in groupby(told, key=lambda row: row.claim.topic)}
    shown = pages()
    return _environment().get_template("notes-body.html").render(
        made=made, count=count, grouped=grouped, topics=topics(), lessons=lessons(), papers=papers(),
        outcomes={word: label for word, label in OUTCOMES.items() if count[word]}, pages=shown,
        views={page: shown[page] for page in shown if any(row.claim.page == page for row in told)}, total=len(told),
    )  # fmt: skip


@cache
def _environment() -> Environment:
    return Environment(loader=FileSystemLoader(ASSETS), autoescape=True, trim_blocks=True, lstrip_blocks=True)


def compute() -> dict[str, Any]:
    """What every check of the ledger finds now, by the number of its claim."""
    return {number: CHECKS[claim.compute]() for number, claim in claims().items() if claim.compute}


def main() -> None:
    made = {"date": date.today().isoformat(), **{name: version(name) for name in ("numpy", "torch")}}
    found = ",\n".join(f"{json.dumps(number)}: {json.dumps(value)}" for number, value in compute().items())
    FILE.write_text(f'{{"made": {json.dumps(made)},\n"found": {{\n{found}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
