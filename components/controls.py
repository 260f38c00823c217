"""Panel widgets for the server words, each linked to the lesson both ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import panel as pn

from components.lesson import Lesson
from components.palette import SLOTS
from components.words import KEYS, PHIS, SOFTMAX, WIDTHS
from compute.feature_maps import FEATURE_MAPS, read_member, spell
from compute.memory import WRITE_RULES
from compute.sizing.models import models

ASSETS = Path(__file__).resolve().parent.parent / "assets"


def _css(name: str) -> str:
    return (ASSETS / f"{name}.css").read_text(encoding="utf-8")


SEGMENTED = _css("segmented")

FIELD = _css("field")

SLIDER = _css("slider")


def _dots() -> str:
    return "".join(
        f".bk-btn:nth-child({i})::before {{ content: ''; display: inline-block; width: 8px; height: 8px; "
        f"margin-right: 5px; border-radius: 50%; background: var(--slot-{word}) }}\n"
        for i, word in enumerate(PHIS, 1)
    )


class Segmented(pn.widgets.RadioButtonGroup):
    _debounce = 0


class Choice(pn.widgets.Select):
    _debounce = 0


class Whole(pn.widgets.IntInput):
    _debounce = 0


class Dial(pn.widgets.FloatSlider):
    _debounce = 0


@dataclass(frozen=True)
class Control:
    """A widget, its caption (empty where the widget carries it: both then vanish together), and when it is of use."""

    label: str
    make: Callable[[Lesson], pn.widgets.Widget]
    shown: Callable[[Lesson], bool] | None = None


def segmented(word: str, options: dict[str, Any], extra: str = "") -> Callable[[Lesson], pn.widgets.Widget]:
    def make(lesson: Lesson) -> pn.widgets.Widget:
        widget = Segmented(options=options, value=getattr(lesson, word), stylesheets=[SEGMENTED + extra])
        return _link(widget, lesson, word)

    return make


def dial(word: str, label: str, low: float, high: float, step: float) -> Callable[[Lesson], pn.widgets.Widget]:
    def make(lesson: Lesson) -> pn.widgets.Widget:
        widget = Dial(
            label=label, start=low, end=high, step=step, value=getattr(lesson, word), width=132, stylesheets=[SLIDER]
        )
        return _link(widget, lesson, word)

    return make


def _link(widget: pn.widgets.Widget, lesson: Lesson, word: str) -> pn.widgets.Widget:
    widget.param.watch(lambda event: setattr(lesson, word, event.new), "value")
    lesson.param.watch(lambda event: setattr(widget, "value", event.new), word)
    return widget


def make_phi(lesson: Lesson) -> pn.widgets.Widget:
    """Families of feature maps; a family keeps the knobs it had while it is chosen."""
    names = {SOFTMAX: SOFTMAX, **{kind.label: word for word, kind in FEATURE_MAPS.items()}}
    widget = Segmented(options=names, value=_family(lesson), stylesheets=[SEGMENTED + _dots()])

    def chosen(event: Any) -> None:
        if event.new != _family(lesson):
            lesson.phi = event.new

    widget.param.watch(chosen, "value")
    lesson.param.watch(lambda event: setattr(widget, "value", _family(lesson)), "phi")
    return widget


def _family(lesson: Lesson) -> str:
    return lesson.phi.partition("~")[0]


KNOBS = {"m": (16, 64, 256, 1024, 4096), "nu": (1, 2, 3, 4, 5, 6), "symmetric": (False, True)}
"""The knobs a visitor can turn, with their stops.  One row of a family's choices is shown at a time."""


def make_knob(lesson: Lesson) -> pn.widgets.Widget:
    """The width d_φ: a choice where the map leaves one, else what follows from d_k."""
    widget = Choice(width=98, stylesheets=[FIELD])

    def refresh(*_: Any) -> None:
        options = _knob_options(lesson)
        widget.param.update(options=options, value=lesson.phi, disabled=len(options) < 2)

    def chosen(event: Any) -> None:
        if event.new != lesson.phi and event.new in _knob_options(lesson).values():
            lesson.phi = event.new

    refresh()
    widget.param.watch(chosen, "value")
    lesson.param.watch(refresh, ["phi", "d_k"])
    return widget


def _knob_options(lesson: Lesson) -> dict[str, str]:
    """What can be chosen, as {what is said: spelled member}; the member itself is always there."""
    if lesson.phi == SOFTMAX:
        return {"no finite d_φ": SOFTMAX}
    member = read_member(lesson.phi)
    told = {}
    for knob in fields(member):
        for stop in KNOBS.get(knob.name, ()):
            choice = replace(member, **{knob.name: stop})
            told[_width(choice, lesson.d_k)] = spell(choice)
    told = {said: word for said, word in told.items() if said}
    if spell(member) in told.values():
        return told
    said = _width(member, lesson.d_k)
    return {(f"{said} = d_k" if said == str(lesson.d_k) else said): spell(member), **told}


def _width(member: Any, d_k: int) -> str:
    try:
        return f"{member.d_phi(d_k):,}"
    except ValueError:
        return ""


CONTROLS: dict[str, Control] = {
    "phi": Control("feature map φ", make_phi),
    "knob": Control("features d_φ", make_knob),
    "d_k": Control("key width d_k", segmented("d_k", {str(d): d for d in WIDTHS})),
    "seed": Control(
        "draw",
        lambda lesson: _link(
            Whole(label="", value=lesson.seed, start=0, end=99, width=58, stylesheets=[FIELD]), lesson, "seed"
        ),
    ),
    "rule": Control("write rule", segmented("rule", {word.replace("_", " "): word for word in WRITE_RULES})),
    "keys": Control("keys", segmented("keys", {("φ(k)" if word == "phi" else word): word for word in KEYS})),
    "rho": Control("", dial("rho", "common share ρ", 0, 0.95, 0.05), lambda lesson: lesson.keys == "correlated"),
    "alpha": Control(
        "", dial("alpha", "kept per write α", 0.5, 1, 0.01), lambda lesson: "alpha" in WRITE_RULES[lesson.rule].uses
    ),
    "beta": Control(
        "", dial("beta", "write strength β", 0.05, 1, 0.05), lambda lesson: "beta" in WRITE_RULES[lesson.rule].uses
    ),
    "model": Control(
        "model",
        lambda lesson: _link(
            Choice(
                options={model.name: word for word, model in models().items()},
                value=lesson.model,
                width=152,
                stylesheets=[FIELD],
            ),
            lesson,
            "model",
        ),
    ),
}


def make_controls(lesson: Lesson, words: tuple[str, ...]) -> dict[str, pn.widgets.Widget]:
    """A widget for each word, shown only while it is of use."""
    made = {}
    for word in words:
        control = CONTROLS[word]
        made[word] = widget = control.make(lesson)
        if control.shown is not None:
            _follow(widget, lesson, control.shown)
    return made


def _follow(widget: pn.widgets.Widget, lesson: Lesson, shown: Callable[[Lesson], bool]) -> None:
    def refresh(*_: Any) -> None:
        widget.visible = shown(lesson)

    refresh()
    lesson.param.watch(refresh, ["phi", "d_k", "rule", "keys"])


def slot_styles() -> str:
    """The slots as CSS variables for both themes, for page and widgets."""
    light = "".join(f"--slot-{slot}:{pair[0]};" for slot, pair in SLOTS.items())
    dark = "".join(f"--slot-{slot}:{pair[1]};" for slot, pair in SLOTS.items())
    return f":root{{{light}}}\n:root[data-theme=dark]{{{dark}}}\n"
