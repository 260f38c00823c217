"""A page: the frame, the figures as a file, and the visitor's session."""

from __future__ import annotations

import importlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import panel as pn
from jinja2 import Environment, FileSystemLoader, Template

from app.figures import Figures, page_figures
from app.session import Session, answers
from components.axes import AXES
from components.controls import CONTROLS, make_controls, slot_styles
from components.lesson import Lesson, Question, fit
from components.palette import SLOTS
from components.reel import frame_texts
from components.teaching import teaching
from components.view import View, start_positions
from components.words import PHIS, WORDS, read_address, written

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"
OVERVIEW = "explorer"
TITLE = "Linear Attention Explorer"


@cache
def template() -> Template:
    """The page's template.  Everything put into it is escaped unless it is our own markup."""
    return Environment(loader=FileSystemLoader(ASSETS), autoescape=True).get_template("page.html")


@cache
def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def view(word: str) -> View:
    return importlib.import_module(f"components.{word.replace('-', '_')}").VIEW


@cache
def pages() -> dict[str, str]:
    """Address and title of every page, in the order of the navigation: the folder is the list."""
    words = [path.stem for path in (Path(__file__).parent / "pages").glob("*.py")]
    single = sorted((view(word) for word in words if word != OVERVIEW), key=lambda v: v.place)
    return {OVERVIEW: "Overview", **{v.word: v.title for v in single}}


def views_of(name: str) -> tuple[View, ...]:
    """The four views of the overview, or the one of a page."""
    if name != OVERVIEW:
        return (view(name),)
    return tuple(view(word).card or view(word) for word in ("sharpness", "memory", "rank", "sizing"))


@cache
def figures_of(name: str) -> Figures:
    return page_figures(views_of(name), name, Question(), name == OVERVIEW)


def warm() -> None:
    """Draw every page's figures, and answer every feature map once, before the first visitor comes."""
    for name in pages():
        figures_of(name)
    for phi in PHIS:
        answers(views_of(OVERVIEW), Question(phi=phi))


def serve(name: str) -> None:
    """Fill the current document with a page.  Called once for every visitor."""
    pn.extension()  # for this session alone: else the first page that calls it decides what all pages load
    document = pn.state.curdoc
    with document.models.freeze():
        _fill(document, name)


def _fill(document: Any, name: str) -> None:
    pn.config.browser_info = False  # else Panel adds a root for it beside every widget
    values, refused = read_address(pn.state.session_args)
    values, clash = fit(values)
    refused += clash
    lesson = Lesson(**{word: value for word, value in values.items() if WORDS[word].server})
    views, compact = views_of(name), name == OVERVIEW
    session = Session(views, lesson, document)
    session.ask()
    ribbon = _ribbon(views)
    wanted = (*ribbon, *(word for v in views for word in (v.asks if compact else v.asks + v.dials)))
    controls = make_controls(lesson, tuple(dict.fromkeys(wanted)))
    document.add_root(session.carrier)
    for word, widget in controls.items():
        widget.server_doc(document, location=False)
        document.roots[-1].name = f"control.{word}"
    document.title = TITLE if compact else f"{views[0].title} · {TITLE}"
    document.template = template()
    document.template_variables.update(
        _context(name, views, lesson, values, refused, ribbon),
        controls={word: CONTROLS[word].label for word in controls},
    )


RIBBON = ("phi", "knob", "d_k", "head", "seed", "model", "compare")


def _ribbon(views: tuple[View, ...]) -> tuple[str, ...]:
    """Words of the shared choice in their order.  The overview compares no models; d_φ is shown where d_k is chosen."""
    words = {word for v in views for word in v.ribbon} - ({"compare"} if len(views) > 1 else set())
    return tuple(word for word in RIBBON if word in words or (word == "knob" and {"phi", "d_k"} <= words))


def _context(
    name: str,
    views: tuple[View, ...],
    lesson: Lesson,
    values: dict[str, Any],
    refused: list[str],
    ribbon: tuple[str, ...],
) -> dict[str, Any]:
    compact, figures = name == OVERVIEW, figures_of(name)
    positions, told = start_positions(values), answers(views, Question())
    notes = list(refused)
    for word, axis in AXES.items():
        if word in values and axis.stops[positions[word]] != values[word]:
            shown = axis.say(axis.stops[positions[word]])
            notes.append(f"{word} = {WORDS[word].write(values[word])} lies between stops: {shown} is shown")
    shown_axes = {v.axis for v in views} | ({"T"} if compact else set())
    axes = {
        word: {
            "stops": list(AXES[word].stops),
            "words": [AXES[word].say(stop) for stop in AXES[word].stops],
            "label": AXES[word].label,
            "index": positions[word],
            "start": AXES[word].stops[AXES[word].index(WORDS[word].default)],
        }
        for word in AXES
        if word in shown_axes or any(reel.axis == word for v in views for reel in v.reels)
    }
    shown = {node: text for v in views for node, text in frame_texts(v.reels, told, positions).items()}
    maths: dict[str, str] = {}
    for source, columns in told.items():
        if source.endswith(".texts"):
            shown.update(zip(columns["node"], columns["text"]))
        elif source.endswith(".math"):
            maths.update({node: text for node, text in zip(columns["node"], columns["text"])})
    changed = lesson.question != Question()
    kept = {
        word: WORDS[word].write(values[word])
        for word in ("embed", "hide")
        if word in values and values[word] != WORDS[word].default
    }
    data = {
        "axes": axes,
        "slots": SLOTS,
        "figures": figures.address,
        "phi": lesson.phi,
        "phis": list(PHIS),
        "server": written({word: value for word, value in values.items() if WORDS[word].server}),
        "words": [word for word in WORDS if WORDS[word].server],
        "kept": kept,
        "quiet": [node for v in views for node in v.side_nodes] if compact else [],
    }
    theme = values.get("theme", "light")
    return {
        "heading": TITLE if compact else f"{views[0].title} · {TITLE}",
        "theme": theme,
        "embed": values.get("embed") == "1",
        "hide": values.get("hide", ""),
        "pending": changed,
        "compact": compact,
        "here": "./" if compact else name,
        "nav": [("./" if word == OVERVIEW else word, title) for word, title in pages().items()],
        "cards": [
            {
                "view": v,
                "rows": drawing.rows,
                "says": teaching(v.word),
                "rail": not (compact and v.axis == "T"),
                "asks": v.asks if compact else v.asks + v.dials,
            }
            for v, drawing in figures.drawings
        ],
        "ribbon": ribbon,
        "ribbon_axes": ["T"] if compact else [],
        "axes": axes,
        "texts": {"page.copied": "Copy link", **shown},
        "maths": maths,
        "notice": " · ".join(notes),
        "css": slot_styles() + asset("page.css"),
        "reel_js": asset("reel.js"),
        "page_js": asset("page.js"),
        "page_data": json.dumps(data).replace("</", "<\\/"),
    }
