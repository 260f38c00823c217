"""Sizing's own controls: a model found by a few letters, models beside it, and when a switch is of use."""

from __future__ import annotations

from typing import Any

import panel as pn

from components.lesson import Lesson
from components.widgets import FIELD, FINDER, Finder
from compute.sizing import DTYPES, load_model, models
from compute.sizing.options import ARITHMETIC

MOST_BESIDE = 3

DTYPE_NAMES = {
    d.word if d.block == 1 else f"{d.word}: {d.block_bytes} B per {d.block}": d.word for d in DTYPES.values()
}
"""Dtypes as a list offers them; a format of blocks says what a block with its scale takes."""


def make_model(lesson: Lesson) -> pn.widgets.Widget:
    """A field that shows the model and finds another one; a pasted model gives way to it."""
    names = {model.name: word for word, model in models().items()}
    widget = Finder(options=names, value=None, width=196, stylesheets=[FIELD, FINDER])

    def refresh(*_: Any) -> None:
        name = lesson.own.name if lesson.own else models()[lesson.model].name
        widget.param.update(value=None, placeholder=name)

    def chosen(event: Any) -> None:
        if event.new:
            lesson.param.update(model=event.new, own=None)
            refresh()

    refresh()
    widget.param.watch(chosen, "value")
    lesson.param.watch(refresh, ["model", "own"])
    return widget


def make_compare(lesson: Lesson) -> pn.widgets.Widget:
    """Up to three models drawn beside the chosen one: entries that add a model (+) or take one away (×)."""
    widget = Finder(value=None, width=176, stylesheets=[FIELD, FINDER])

    def chosen() -> list[str]:
        return [word for word in lesson.compare.split(",") if word]

    def refresh(*_: Any) -> None:
        beside = chosen()
        told = {f"× {models()[word].name}": word for word in beside}
        if len(beside) < MOST_BESIDE:
            told |= {f"+ {model.name}": word for word, model in models().items() if word not in beside}
        said = f"{len(beside)} beside it: + or ×" if beside else "+ up to three models"
        widget.param.update(options=told, value=None, placeholder=said)

    def toggle(event: Any) -> None:
        if event.new:
            beside = chosen()
            lesson.compare = ",".join([w for w in beside if w != event.new] + [event.new] * (event.new not in beside))
            refresh()

    refresh()
    widget.param.watch(toggle, "value")
    lesson.param.watch(refresh, "compare")
    return widget


def _families(lesson: Lesson) -> list[Any]:
    shape = lesson.own.shape if lesson.own else load_model(lesson.model)
    return [group.family for group in shape.layers]


def has_state(lesson: Lesson) -> bool:
    return any(family.state() for family in _families(lesson))


def has_conv(lesson: Lesson) -> bool:
    return any(family.conv() for family in _families(lesson))


def has_cache(lesson: Lesson) -> bool:
    return any(family.token() for family in _families(lesson))


def has_open_conv(lesson: Lesson) -> bool:
    """Whether the columns of a convolution window are anybody's choice: an engine leaves none."""
    return has_conv(lesson) and lesson.engine == ARITHMETIC


def has_open_latent(lesson: Lesson) -> bool:
    """Whether the form of a latent is anybody's choice."""
    return any("mla" in family.kind for family in _families(lesson)) and lesson.engine == ARITHMETIC
