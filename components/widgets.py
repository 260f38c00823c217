"""Panel widgets in the house's look, each linked to a word of the lesson both ways.

None waits before it sends: what asks coalesce on is the server's answer, not a delay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import panel as pn

from components.assets import ASSETS
from components.lesson import Lesson


def _css(name: str) -> str:
    return (ASSETS / f"{name}.css").read_text(encoding="utf-8")


SEGMENTED = _css("segmented")

FIELD = _css("field")

SLIDER = _css("slider")

FINDER = _css("finder")


class Plain:
    """What a visitor's widget leaves out: the delay, and the dozen properties that no browser changes, each of which
    would have its own callback."""

    _debounce = 0
    _linked_properties: tuple[str, ...] = ("value",)
    _busy__ignore: tuple[str, ...] = ("value", "active")  # no page shows that the server is busy
    why = ""
    """Why it changes nothing now, if it does not; the browser says so under the pointer."""

    instead = ""
    """What an example has in place of its value, which waits for other states; a style sheet shows it."""

    closed = False
    """Whether there is nothing to choose, whatever it would change."""

    def rest(self, why: str, instead: str = "") -> None:
        """Grey it, with the reason, or wake it."""
        self.why, self.instead = why, instead
        disabled = self.closed or bool(why)
        if self.disabled == disabled:
            self.param.trigger("disabled")  # what it says is another
        else:
            self.disabled = disabled

    @property
    def attributes(self) -> dict[str, str]:
        """What its element in the page says beside itself."""
        return {name: text for name, text in (("title", self.why), ("data-instead", self.instead)) if text}

    def _process_param_change(self, params: dict[str, Any]) -> dict[str, Any]:
        told = super()._process_param_change(params)  # type: ignore[misc]
        return {**told, "html_attributes": self.attributes} if "disabled" in told else told

    def _init_params(self) -> dict[str, Any]:
        values = ((name, getattr(self, name)) for name in self._synced_params)
        return {name: value for name, value in values if value is not None}


class Segmented(Plain, pn.widgets.RadioButtonGroup):
    _linked_properties = ("active",)


class Choice(Plain, pn.widgets.Select):
    pass


class Finder(Plain, pn.widgets.AutocompleteInput):
    """A list that is searched by any letters of an entry."""

    def __init__(self, **settings: Any):
        super().__init__(
            label="", min_characters=0, case_sensitive=False, search_strategy="includes", restrict=True, **settings
        )

    def _process_param_change(self, params: dict[str, Any]) -> dict[str, Any]:
        told = super()._process_param_change(params)
        if "value" in told:
            told["value"] = told["value"] or ""  # the browser's field knows no None
        return told


class Whole(Plain, pn.widgets.IntInput):
    pass


class Dial(Plain, pn.widgets.FloatSlider):
    pass


class Count(Plain, pn.widgets.IntSlider):
    pass


@dataclass(frozen=True)
class Control:
    """A widget, its caption (empty where the widget carries it: both then vanish together), and when it is of use."""

    label: str
    make: Callable[[Lesson], pn.widgets.Widget]
    shown: Callable[[Lesson], bool] | None = None


def segmented(word: str, options: dict[str, Any], extra: str = "") -> Callable[[Lesson], pn.widgets.Widget]:
    def make(lesson: Lesson) -> pn.widgets.Widget:
        widget = Segmented(options=options, value=getattr(lesson, word), stylesheets=[SEGMENTED + extra])
        return link(widget, lesson, word)

    return make


def dial(word: str, label: str, low: float, high: float, step: float) -> Callable[[Lesson], pn.widgets.Widget]:
    def make(lesson: Lesson) -> pn.widgets.Widget:
        widget = Dial(
            label=label, start=low, end=high, step=step, value=getattr(lesson, word), width=132, stylesheets=[SLIDER]
        )
        return link(widget, lesson, word)

    return make


def count(word: str, label: str, low: int, high: int) -> Callable[[Lesson], pn.widgets.Widget]:
    """A slider of whole numbers."""

    def make(lesson: Lesson) -> pn.widgets.Widget:
        widget = Count(label=label, start=low, end=high, value=getattr(lesson, word), width=132, stylesheets=[SLIDER])
        return link(widget, lesson, word)

    return make


def whole(word: str, low: int, high: int, width: int) -> Callable[[Lesson], pn.widgets.Widget]:
    def make(lesson: Lesson) -> pn.widgets.Widget:
        widget = Whole(label="", value=getattr(lesson, word), start=low, end=high, width=width, stylesheets=[FIELD])
        return link(widget, lesson, word)

    return make


def choice(word: str, options: Any, width: int, label: str = "") -> Callable[[Lesson], pn.widgets.Widget]:
    """A select; with a label of its own where it may be hidden together with it."""
    told = options if isinstance(options, dict) else {word: word for word in options}

    def make(lesson: Lesson) -> pn.widgets.Widget:
        style = [FIELD, ":host { --caption: block }"] if label else [FIELD]
        widget = Choice(label=label, options=told, value=getattr(lesson, word), width=width, stylesheets=style)
        return link(widget, lesson, word)

    return make


def link(widget: pn.widgets.Widget, lesson: Lesson, word: str) -> pn.widgets.Widget:
    widget.param.watch(lambda event: setattr(lesson, word, event.new), "value")
    lesson.param.watch(lambda event: setattr(widget, "value", event.new), word)
    return widget
