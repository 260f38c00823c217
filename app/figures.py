"""Figures of a page as one piece of Bokeh JSON."""

from __future__ import annotations

from dataclasses import dataclass

from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.models import ColumnDataSource

from components.lesson import Question
from components.reel import frame_properties
from components.sweep_drawn import drawn
from components.sweep_pictures import pictures_of
from components.view import Drawing, View, start_positions


@dataclass(frozen=True)
class Figures:
    """The figures' Bokeh JSON, and what the page must leave room for."""

    json: str
    drawings: tuple[tuple[View, Drawing], ...]


def figure_document(views: tuple[View, ...], question: Question, compact: bool) -> tuple[Document, list]:
    """All figures of a page in one document.

    Sources without a glyph (reels, pools) are not part of a document by themselves: they hang on the
    tags of their view's first figure.
    """
    document, drawings = Document(), []
    for view in views:
        drawing = view.draw(question, compact)
        figures = [cell.figure for row in drawing.rows for cell in row]
        figures += [] if compact else drawn(tuple(picture.name for picture in pictures_of(view.word)))
        figures[0].tags = [*figures[0].tags, *drawing.sources.values()]
        for figure in figures:
            document.add_root(figure)
        _apply_marks(document, view, question)
        drawings.append((view, drawing))
    return document, drawings


def _apply_marks(document: Document, view: View, question: Question) -> None:
    answer = view.answer(question)
    rows = frame_properties(view.reels, answer, start_positions())
    told = answer.get(f"{view.word}.props", {"model": [], "property": [], "value": []})
    rows += list(zip(told["model"], told["property"], told["value"]))
    for name, prop, value in rows:
        setattr(document.get_model_by_name(name), prop, _plain(value))


def _plain(value):
    from components.palette import LIGHT

    if isinstance(value, str) and value.startswith("slot:"):
        return LIGHT[value.removeprefix("slot:")]
    return value.item() if hasattr(value, "item") else value


def page_figures(views: tuple[View, ...], question: Question, more: tuple[ColumnDataSource, ...] = ()) -> Figures:
    """Draw and serialise the figures of a page, and with them `more` sources that no figure shows yet."""
    document, drawings = figure_document(views, question, len(views) > 1)
    document.roots[0].tags = [*document.roots[0].tags, *more]
    roots = [[figure.id, figure.name] for figure in document.roots]
    text = serialize_json({"document": document.to_json(deferred=False), "roots": roots})
    return Figures(text, tuple(drawings))
