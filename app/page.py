"""A page: the frame, the figures as a file, and the visitor's session."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.document import Document
from jinja2 import Environment, FileSystemLoader, Template
from panel.io.state import set_curdoc

from app.claimed import claims_of
from app.context import between_stops, context, in_script, started
from app.copies import copy_of
from app.device import badge
from app.figures import Figures, page_figures
from app.files import publish
from app.session import Session, answers
from components import normaliser_kept, sweep_drawn
from components.assets import ASSETS
from components.controls import CONTROLS, make_controls, variables
from components.fonts import fonts_script
from components.lesson import Lesson, Question, fit
from components.view import View
from components.waiting import waiting
from components.widgets import Segmented
from components.words import PHIS, WIDTHS, WORDS, read_address
from compute.memory import WRITE_RULES

ROOT = Path(__file__).resolve().parent.parent
OVERVIEW = "explorer"
NOTES = "notes"
"""The page of the claims, which has no view."""


@cache
def template() -> Template:
    """The page's template.  Everything put into it is escaped unless it is our own markup."""
    found = Environment(loader=FileSystemLoader(ASSETS), autoescape=True)
    for part in ("icon.html", "nav.html"):  # else read and compiled for the first visitor
        found.get_template(part)
    return found.get_template("page.html")


@cache
def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def view(word: str) -> View:
    return importlib.import_module(f"components.{word.replace('-', '_')}").VIEW


@cache
def pages() -> dict[str, str]:
    """Address and title of every page of views, in the order of the navigation: the folder is the list."""
    words = [path.stem for path in (Path(__file__).parent / "pages").glob("*.py") if path.stem != NOTES]
    single = sorted((view(word) for word in words if word != OVERVIEW), key=lambda v: v.place)
    return {OVERVIEW: "Overview", **{v.word: v.title for v in single}}


def navigation() -> list[tuple[str, str]]:
    """Address and title of every place that a page leads to.

    The overview goes by its own name: `/` is the overview only where the server was told so (`--index explorer`).
    """
    return [*pages().items(), (NOTES, "Notes")]


def unseen(name: str) -> dict[str, str]:
    """Title and question of the pages whose views the overview leaves out; of none on another page."""
    others = map(view, pages().keys() - {OVERVIEW} - {v.word for v in views_of(name)}) if name == OVERVIEW else ()
    return {v.title: v.question for v in others}


def views_of(name: str) -> tuple[View, ...]:
    """The four views of the overview, or the one of a page."""
    if name != OVERVIEW:
        return (view(name),)
    return tuple(view(word).card or view(word) for word in ("sharpness", "memory", "rank", "sizing"))


@cache
def figures_of(name: str) -> Figures:
    """The figures of a page, drawn once and shared by every visitor."""
    return page_figures(views_of(name), Question())


@cache
def claimed(name: str) -> dict[str, dict[str, object]]:
    """What the script of a view's own page knows of its claims."""
    return {} if name == OVERVIEW else claims_of(figures_of(name).drawings)


@cache
def fonts_address() -> str:
    """Where a page finds its fonts: a file of their own, so that they are fetched once for all pages."""
    return publish("fonts", ".js", fonts_script())


@cache
def figures_address(name: str) -> str:
    return publish(f"figures-{name}", ".json", figures_of(name).json)


def warm() -> None:
    """Draw every page's figures, answer every feature map, write rule and width once, and do what Panel and Jinja do at
    the first page, before the first visitor."""
    sweep_drawn.start()
    template()
    with set_curdoc(Document()):  # of a page that nobody sees
        pn.extension()
    for name in pages():
        figures_address(name)
    for phi in PHIS:
        answers(views_of(OVERVIEW), Question(phi=phi))
    for rule in WRITE_RULES:
        answers(views_of("memory"), Question(rule=rule))
    for d_k in WIDTHS:  # a hundred milliseconds each, the first time
        for name in (OVERVIEW, "rank"):
            answers(views_of(name), Question(d_k=d_k))
        normaliser_kept.holds(d_k)


def serve(name: str) -> None:
    """Fill the current document with a page.  Called once for every visitor."""
    pn.extension()  # for this session alone: else the first page that calls it decides what all pages load
    document = pn.state.curdoc
    with document.models.freeze():
        _fill(document, name)


def _fill(document: Any, name: str) -> None:
    pn.config.browser_info = False  # else Panel adds a root for it beside every widget
    views = views_of(name)
    values, notes = read_address(pn.state.session_args)
    values, unknown = started(views, values)
    values, clash = fit(values)
    notes += unknown + clash + between_stops(values)
    lesson = Lesson(**{word: value for word, value in values.items() if WORDS[word].server})
    session = Session(views, lesson, document, name)
    session.ask()
    own = (views[0].idle, views[0].instead) if len(views) == 1 else ()
    controls = make_controls(lesson, control_words(views), *own, later=session.afterwards.append)
    session.offered = {word: [*w.options.values()] for word, w in controls.items() if isinstance(w, Segmented)}
    document.add_root(session.carrier)
    for word, widget in controls.items():
        widget.server_doc(document, location=False)
        document.roots[-1].name = f"control.{word}"
    told = context(
        name,
        views,
        figures_of(name),
        answers(views, Question()),
        values,
        titles=pages(),
        nav=navigation(),
        here=name,
        notes=notes,
        ribbon=ribbon(views),
        questions=unseen(name),
    )
    told["data"]["figures"] = figures_address(name)
    told["data"]["claims"] = claimed(name)
    document.title = told["heading"]
    document.template = template()
    document.template_variables.update(
        told,
        static=copy_of(name),
        device=badge(name),
        pending=lesson.question != Question(),
        controls={word: CONTROLS[word].label for word in controls},
        waiting={word: waiting(widget) for word, widget in controls.items()},
        page_data=in_script(told["data"]),
        fonts=fonts_address(),
        css=styles(),
        tables=asset("tables.js"),
        scripts=scripts("page.js", "paste.js", "claims.js"),
    )


def styles() -> str:
    return variables() + asset("page.css")


def scripts(*last: str) -> list[str]:
    """The scripts of a page in their order: figures and reels, the frame, then who answers its choices."""
    figures = ("paint.js", "together.js", "reel.js", "play.js", "magnet.js", "frame.js")
    return [asset(name) for name in (*figures, *last, "fit.js", "host.js", "stills.js", "share.js")]


RIBBON = ("phi", "knob", "d_k", "head", "seed", "model", "compare")


def ribbon(views: tuple[View, ...]) -> tuple[str, ...]:
    """Words of the shared choice in their order.  The overview compares no models; d_φ is shown where d_k is chosen."""
    words = {word for v in views for word in v.ribbon} - ({"compare"} if len(views) > 1 else set())
    shown = [word for word in RIBBON if word in words or (word == "knob" and {"phi", "d_k"} <= words)]
    own = views[0].ribbon if len(views) == 1 else RIBBON  # a page's own order, where it says one
    return tuple(sorted(shown, key=lambda word: own.index(word if word in own else "phi")))


def control_words(views: tuple[View, ...]) -> tuple[str, ...]:
    """Every word that a page has a control for, in the order of the page."""
    asks = (word for v in views for word in (v.asks if len(views) > 1 else v.asks + v.dials + v.more))
    return tuple(dict.fromkeys((*ribbon(views), *asks)))
