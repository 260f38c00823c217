"""One display of a view in a notebook: figures, widgets, reels and texts, all moved from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import count
from typing import Any, Protocol

import panel as pn
from bokeh.models import ColumnDataSource, CustomJS, Div, HoverTool, Model

from components.axes import AXES, Axis
from components.controls import CONTROLS, make_controls
from components.formula import at_stops
from components.lesson import SERVER, Lesson
from components.palette import FAMILIES, LIGHT
from components.reel import Answer, frame_columns, frame_properties, frame_texts
from components.view import View

VARIABLES = {
    **{f"--slot-{slot}": value for slot, value in LIGHT.items()},
    **{f"--{name}": LIGHT[name] for name in ("ink", "muted", "ground")},
    **{f"--{name}": family for name, family in FAMILIES.items()},
    "--bk-major-label-text-color": LIGHT["muted"],
    "--bk-axis-label-text-color": LIGHT["muted"],
    "--bk-axis-line-color": LIGHT["faint"],
    "--bk-grid-line-color": LIGHT["band"],
}
"""What figures and widgets take from a page's style sheet: on paper, whatever the notebook's theme."""

SHEET = (
    f":host {{ {'; '.join(f'{name}: {value}' for name, value in VARIABLES.items())}; background: {LIGHT['ground']}; "
    f"color: {LIGHT['ink']}; font-family: var(--sans); padding: 12px 16px; max-width: 1100px }}"
)
TEXT = ":host { font-size: 13px; line-height: 1.4 } h3 { margin: 0; font-size: 18px } p { margin: 4px 0 0 } \
td { padding: 1px 14px 1px 0; vertical-align: top } td:first-child { color: var(--muted) } \
th { text-align: left; padding-top: 6px } small { color: var(--muted) } math { font: 15px var(--math) }"


SET = """
const {at, property, value} = cb_obj.data
for (let i = 0; i < at.length; i++) {
  const model = models[at[i]], told = value[i]
  model.setv({[property[i]]: told instanceof Map ? Object.fromEntries(told) : told}, {silent: true})
  model.properties[property[i]].change.emit()
  model.change.emit()
}
"""
"""Sets properties on the page alone.  Panel tells Python of every other change, also of one that came from Python:
late, so that a newer value may be lost, and colours of lines in a form that Python refuses."""


class State(Protocol):
    """What a picture follows."""

    view: View
    lesson: Lesson
    at: dict[str, int]
    param: Any


class Picture:
    """A view's own figures, widgets and texts, which follow the state of what is shown and change it."""

    def __init__(self, state: State):
        """state: its `view`, its `lesson`, and `at`, the index of the stop at which each reel stands."""
        self.state, self.view, self.lesson = state, state.view, state.lesson
        self.counter = count()
        drawing = self.view.draw(self.lesson.question, False)
        self.sources = drawing.sources
        figures = [cell.figure for row in drawing.rows for cell in row]
        self.models = {model.name: model for model in _all(figures) if model.name}
        self.drawn = [name for name, source in self.sources.items() if self.models.get(name) is source]
        _only_pictures(_all(figures))
        self.message = ColumnDataSource(data={"at": [], "property": [], "value": [], "count": []})
        self.head, self.side = _text(), _text(tags=[self.message])
        self.captions: dict[str, Div] = {}
        rows = [pn.Row(*(self._cell(cell) for cell in row), sizing_mode="stretch_width") for row in drawing.rows]
        self.layout = pn.Column(
            pn.pane.Bokeh(self.head), self._controls(), *map(self._slider, self._axes()), *rows,
            pn.pane.Bokeh(self.side),
            stylesheets=[SHEET], sizing_mode="stretch_width",
        )  # fmt: skip
        self.targets = [*self.models.values(), self.head, self.side, *self.captions.values()]
        self.message.js_on_change("data", CustomJS(args={"models": self.targets}, code=SET))
        self.refresh()
        self.lesson.param.watch(self.refresh, list(SERVER))
        state.param.watch(lambda _: self._show(reels_only=True), "at")

    def _axes(self) -> tuple[str, ...]:
        return (self.view.axis, *self.view.rails)

    def _cell(self, cell: Any) -> pn.viewable.Viewable:
        pane = pn.pane.Bokeh(cell.figure, sizing_mode="stretch_width")
        if not cell.title_node:
            column = pn.Column(pane, sizing_mode="stretch_width")
        else:
            self.captions[cell.title_node] = caption = _text()
            column = pn.Column(caption, pane, sizing_mode="stretch_width")
        if cell.width and not cell.least:
            column.param.update(width=cell.width, sizing_mode="fixed")
        return column

    def _controls(self) -> pn.FlexBox:
        view = self.view
        words = [*view.ribbon, *view.asks, *view.dials, *view.more]
        if {"phi", "d_k"} <= set(words):
            words.insert(words.index("phi") + 1, "knob")
        made = make_controls(self.lesson, tuple(dict.fromkeys(word for word in words if word in CONTROLS)))
        return pn.FlexBox(
            *(
                pn.Column(_text(f"<small>{escape(CONTROLS[word].label)}</small>", sizing_mode="fixed"), widget)
                for word, widget in made.items()
            ),
            gap="4px 16px",
        )

    def _slider(self, word: str) -> pn.Column:
        """A reel's slider counts stops, as the page's does, and the caption says which one it is at."""
        self.captions[f"axis.{word}"] = caption = _text()
        slider = pn.widgets.IntSlider(
            label="", start=0, end=len(AXES[word].stops) - 1, value=self.state.at[word], show_value=False,
            tooltips=False, sizing_mode="stretch_width", margin=(0, 16, 8, 16),
        )  # fmt: skip
        slider.param.watch(lambda event: setattr(self.state, "at", {**self.state.at, word: event.new}), "value")
        self.state.param.watch(lambda event: setattr(slider, "value", event.new[word]), "at")
        return pn.Column(caption, slider, sizing_mode="stretch_width")

    def refresh(self, *_: Any) -> None:
        """Bring figures and texts to the present question and positions."""
        self._show()

    def _show(self, reels_only: bool = False) -> None:
        answer = self.view.answer(self.lesson.question)
        framed, said = frame_columns(self.view.reels, answer, self.state.at), self._said(answer)
        rows: list[tuple[Model, str, Any]] = []
        for name in self.drawn:
            columns = {**answer.get(name, {}), **framed.get(name, {})}
            if columns and (name in framed or not reels_only):
                rows.append((self.sources[name], "data", columns))
        rows += [(self.models[name], *rest) for name, *rest in self._properties(answer) if name in self.models]
        rows += [(self.head, "text", self._head(said)), (self.side, "text", self._side(said))]
        rows += [(div, "text", f"<small>{said.get(node, '')}</small>") for node, div in self.captions.items()]
        self._set(rows)

    def _set(self, rows: list[tuple[Model, str, Any]]) -> None:
        """Set properties: in Python until the picture is displayed, from then on by a message to the page."""
        if self.head.document is None:
            for model, prop, value in rows:
                setattr(model, prop, value)
            return
        at = [next(i for i, target in enumerate(self.targets) if target is model) for model, _, _ in rows]
        self.message.data = {
            "at": at,
            "property": [prop for _, prop, _ in rows],
            "value": [value for _, _, value in rows],
            "count": [next(self.counter)] * len(rows),  # a message is never the one before
        }
        pn.io.push_notebook(self.layout)

    def _properties(self, answer: Answer) -> Iterable[tuple[str, str, Any]]:
        told = answer.get(f"{self.view.word}.props", {"model": (), "property": (), "value": ()})
        for name, prop, value in (
            *frame_properties(self.view.reels, answer, self.state.at),
            *zip(told["model"], told["property"], told["value"]),
        ):
            if isinstance(value, str):
                value = LIGHT.get(value.removeprefix("slot:"), value)
            yield name, prop, value.item() if hasattr(value, "item") else value

    def _said(self, answer: Answer) -> dict[str, str]:
        """HTML of every text node: texts escaped, formulas as they are, which are our own."""
        told = dict(frame_texts(self.view.reels, answer, self.state.at))
        texts = answer.get(f"{self.view.word}.texts", {"node": (), "text": ()})
        told |= zip(texts["node"], texts["text"])
        said = {node: escape(text) for node, text in told.items()}
        maths = answer.get(f"{self.view.word}.math", {"node": (), "text": ()})
        axes = {f"axis.{word}": self._position(AXES[word]) for word in self._axes()}
        formulas = (at_stops(formula, self.state.at, answer) for formula in maths["text"])
        return {**said, **dict(zip(maths["node"], formulas)), **axes}

    def _position(self, axis: Axis) -> str:
        return escape(f"{axis.label} · {axis.say(axis.stops[self.state.at[axis.word]])}")

    def _head(self, said: Mapping[str, str]) -> str:
        headline, sentence, aside, subject, formula = (
            said.get(f"{self.view.word}.{node}", "") for node in ("headline", "sentence", "aside", "subject", "formula")
        )
        title = f"<small>{escape(self.view.title)}{subject}</small>"
        return f"{title}<h3>{headline}</h3><p>{sentence} {aside}</p><p>{formula}</p>"

    def _side(self, said: Mapping[str, str]) -> str:
        """The view's readouts and bill as a table, headings alone on their row, empty ones left out."""
        of_view, rows = f"{self.view.word}.", []
        for label, node, *_ in self.view.readouts:
            text = said.get(node, "")
            label = said.get(label, "") if self.view.is_node(label) else escape(label)
            if not node:
                rows.append(f"<tr><th colspan=2>{label}</th></tr>")
            elif text:
                rows.append(f"<tr><td>{label}</td><td>{text}</td></tr>")
        for i in range(self.view.table):
            kind, size, sum_ = (said.get(f"{of_view}row.{i}.{part}", "") for part in ("kind", "bytes", "arithmetic"))
            if kind and size:
                rows.append(f"<tr><td>{kind}</td><td>{size} <small>{sum_}</small></td></tr>")
        return f"{said.get(f'{of_view}values', '')}<table>{''.join(rows)}</table>"


def _text(html: str = "", **look: Any) -> Div:
    """HTML of ours.  A model of Bokeh's and not a pane: a pane that changes asks for its style sheets again, and in a
    notebook from another host."""
    return Div(
        text=html,
        disable_math=True,
        stylesheets=[TEXT],
        **{"sizing_mode": "stretch_width", "margin": (4, 10, 0, 10), **look},
    )


def _all(figures: Iterable[Model]) -> list[Model]:
    return list({model for figure in figures for model in figure.references()})


def _only_pictures(models: Iterable[Model]) -> None:
    """Takes away what calls the page's script, which a notebook has not."""
    for model in models:
        model.js_event_callbacks, model.js_property_callbacks = {}, {}
        if isinstance(model, HoverTool):
            model.callback = None
