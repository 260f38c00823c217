"""The slider that says how many features a random map has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import panel as pn
from bokeh.models import CustomJSTickFormatter

from components.lesson import Lesson
from components.offered import OFFERED
from components.widgets import SLIDER, Count
from components.words import SOFTMAX
from compute.feature_maps import read_member, spell


def is_random(lesson: Lesson) -> bool:
    return lesson.phi != SOFTMAX and read_member(lesson.phi).random


def make_features(lesson: Lesson) -> pn.widgets.Widget:
    """How many directions a random map has, in powers of two: the same knob as d_φ, under the finger."""
    low, high = (m.bit_length() - 1 for m in OFFERED)
    said = {i: f"{2**i:,}" for i in range(low, high + 1)}
    names = CustomJSTickFormatter(args={"said": said}, code="return said.get(tick) ?? said[tick]")
    widget = Count(
        label="random features m", start=low, end=high, value=8, width=132, format=names, stylesheets=[SLIDER]
    )

    def refresh(*_: Any) -> None:
        if is_random(lesson):
            widget.value = (read_member(lesson.phi).m - 1).bit_length()

    def chosen(event: Any) -> None:
        # A width between two stops stays what it is until the slider is moved.
        if is_random(lesson) and event.new != (read_member(lesson.phi).m - 1).bit_length():
            lesson.phi = spell(replace(read_member(lesson.phi), m=2**event.new))

    refresh()
    widget.param.watch(chosen, "value")
    lesson.param.watch(refresh, "phi")
    return widget
