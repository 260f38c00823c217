"""Which choices of a page stay live in a file: every answer that they lead to is put into it, as far as they fit."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from math import prod
from typing import Any

from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.models import ColumnDataSource

from app.session import answers, same
from components.controls import CONTROLS, make_controls
from components.lesson import SERVER, Lesson, Question, fit
from components.reel import Columns, is_drawn
from components.view import View
from components.words import WORDS
from compute.sizing import models

MOST_SHOWN_AS_BUTTONS = 12
MOST_ANSWERS = 64
"""Combinations that a file answers: more would take minutes to make."""

LISTS: dict[str, Callable[[Lesson], str]] = {
    "compare": lambda lesson: ", ".join(models()[word].name for word in lesson.compare.split(",") if word) or "none",
    "knob": lambda lesson: "as each map has them",
}
"""Controls whose list follows from other choices, never live in a file, and what is said of them."""


@dataclass(frozen=True)
class Option:
    text: str
    label: str


@dataclass(frozen=True)
class FileControl:
    """A choice as the file shows it.  options: none where it is fixed.  chosen: text of the word, told: its label."""

    word: str
    label: str
    chosen: str
    told: str
    options: tuple[Option, ...] = ()

    @property
    def buttons(self) -> bool:
        return len(self.options) <= MOST_SHOWN_AS_BUTTONS


@dataclass
class Choices:
    """Live words, and their answers: columns by name, and for each combination the names that it needs.

    idle: for each combination the words of controls that change nothing in it, each with the reason."""

    words: tuple[str, ...] = ()
    told: dict[str, Columns] = field(default_factory=dict)
    table: dict[str, dict[str, str]] = field(default_factory=dict)
    idle: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def rests(self, word: str) -> bool:
        """Whether a control changes nothing, whatever is chosen here."""
        return bool(self.idle) and all(word in told for told in self.idle.values())

    def sources(self) -> tuple[ColumnDataSource, ...]:
        """The answers as models of a new document."""
        return tuple(ColumnDataSource(data=dict(columns), name=name) for name, columns in self.told.items())

    def size(self) -> int:
        """Bytes that the answers take in a file."""
        document = Document()
        for source in self.sources():
            document.add_root(source)
        return len(packed(serialize_json(document.to_json(deferred=False))))


def packed(text: str) -> str:
    """Text as it stands in a file: gzip, then base64."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def file_controls(lesson: Lesson, words: tuple[str, ...]) -> list[FileControl]:
    """The page's controls, each with all that it offers; those without a list have no options."""
    told = []
    for word, widget in make_controls(lesson, words).items():
        if word in LISTS:
            told.append(FileControl(word, CONTROLS[word].label, "", LISTS[word](lesson)))
            continue
        if word not in SERVER:  # a second hand on what another control says
            continue
        value = lesson.question.map_word if word == "phi" else getattr(lesson, word)
        listed = getattr(widget, "options", None) or {}
        named = listed if isinstance(listed, dict) else {str(option): option for option in listed}
        # What is of no use yet may be after another choice: it is told, but stays as it is.
        offered = named.items() if widget.visible else ()
        options = tuple(Option(WORDS[word].write(option), str(label)) for label, option in offered)
        label = next((str(label) for label, option in named.items() if option == value), WORDS[word].write(value))
        title = CONTROLS[word].label or getattr(widget, "label", "") or WORDS[word].meaning
        told.append(FileControl(word, title, WORDS[word].write(value), label, options))
    return told


def live_choices(views: tuple[View, ...], lesson: Lesson, controls: list[FileControl], room: int) -> Choices:
    """As many choices, a view's own first, as have answers that together take at most `room` bytes."""
    kept, live = Choices(idle=_idle(views, lesson, [])), []
    order = [word for v in views for word in ((*v.asks, *v.ribbon, *v.dials) if len(views) == 1 else v.ribbon)]
    for control in sorted(controls, key=lambda c: order.index(c.word) if c.word in order else len(order)):
        wanted = [*live, control]
        if len(control.options) < 2 or prod(len(c.options) for c in wanted) > MOST_ANSWERS:
            continue
        if Choices(idle=_idle(views, lesson, wanted)).rests(control.word):
            continue
        made = _choices(views, lesson, wanted)
        if made.told and made.size() <= room:
            kept, live = made, wanted
    return kept


def _choices(views: tuple[View, ...], lesson: Lesson, live: list[FileControl]) -> Choices:
    told = {key: answers(views, question) for key, question in _combinations(lesson, live)}
    made = Choices(tuple(control.word for control in live), idle=_idle(views, lesson, live))
    base = told[key_of(control.chosen for control in live)]
    for name, columns in base.items():
        moving = [c for c in columns if any(not same(columns[c], other[name].get(c)) for other in told.values())]
        if moving:
            # Rows of a told list go together; a drawn column goes alone.
            sent = moving if is_drawn(name) else list(columns)
            _share(made, name, {key: {c: other[name][c] for c in sent} for key, other in told.items()})
    return made


def _idle(views: tuple[View, ...], lesson: Lesson, live: list[FileControl]) -> dict[str, Mapping[str, str]]:
    said = views[0].idle if len(views) == 1 else None
    return {key: said(question) for key, question in _combinations(lesson, live)} if said else {}


def _share(made: Choices, name: str, columns: Mapping[str, Columns]) -> None:
    """One source for all combinations that say the same."""
    distinct: list[tuple[Columns, str]] = []
    for key, told in columns.items():
        for other, known in distinct:
            if all(same(told[c], other[c]) for c in told):
                made.table.setdefault(key, {})[name] = known
                break
        else:
            new = f"choice.{len(made.told)}"
            made.told[new] = told
            distinct.append((told, new))
            made.table.setdefault(key, {})[name] = new


def _combinations(lesson: Lesson, live: list[FileControl]) -> Iterator[tuple[str, Question]]:
    now = {f.name: getattr(lesson, f.name) for f in fields(Question)}
    for texts in product(*([option.text for option in control.options] for control in live)):
        chosen = {control.word: WORDS[control.word].read(text) for control, text in zip(live, texts)}
        if "phi" in chosen and chosen["phi"] == lesson.question.map_word:
            chosen["phi"] = lesson.phi  # with the knobs that it has
        yield key_of(texts), Question(**fit({**now, **chosen})[0])


def key_of(texts: Any) -> str:
    return "|".join(texts)
