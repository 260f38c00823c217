"""What of a sweep's result a picture shows: which numbers in which panels, and what theory says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from compute.sweeps.base import Result

Lines = list[tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True)
class Panel:
    """One map of a picture: its value on the axis of panels, the axes' values, what is drawn, `[up, across]` with NaN
    where nothing was computed, the question's settings, and the values taken on other axes."""

    value: Any
    across: list
    up: list
    values: np.ndarray
    question: Mapping[str, Any] = field(default_factory=dict)
    taken: Mapping[str, Any] = field(default_factory=dict)

    def each(self, what: Callable[[Any, Any], Any]) -> list[list[Any]]:
        """What (value up, value across) gives, of every cell."""
        return [[what(y, x) for x in self.across] for y in self.up]


@dataclass(frozen=True)
class Picture:
    """What of a sweep's result is drawn where.

    sweep: its word; view: the page; panels, across, up: names of axes of the array; at: the value taken on another one,
    over: what is made of all of its values; every: on which axis only each so many-th is drawn.
    shown: how a value is said; level: its place on the colour scale, 0 to 1; contours: values that get a line.
    written: whether a cell shows its value, instead of a colour scale that says its marks.
    heading: what stands over a panel; tick: how a value of an axis is said; height: of the figure, in px.

    Of theory, for one panel each.  law: what it expects, `[up, across]`, None where none is known: its lines at the
    levels of contours are dashed, and a cell says it under the pointer, as law_name.  theory: further dashed lines in
    values of the axes; equal: dotted ones, of equal bytes.  turns, overtakes: for every row the first column where by
    theory and by measurement something holds that did not before, None where it never does: a dashed and a solid mark
    stand before it.  aside: what stands behind each row.  …_label: what the legend calls it.
    more: further words under the pointer, by label, `[up, across]`.  says: the picture in sentences, with numbers of
    what is drawn.
    """

    sweep: str
    view: str
    title: str
    array: str
    panels: str
    across: str
    up: str
    across_label: str
    up_label: str
    value_label: str
    says: Callable[[list[Panel]], str]
    at: Mapping[str, Any] = field(default_factory=dict)
    every: Mapping[str, int] = field(default_factory=dict)
    over: Mapping[str, Callable[..., np.ndarray]] = field(default_factory=dict)
    contours: tuple[float, ...] = ()
    shown: Callable[[float], str] = "{:.2f}".format
    level: Callable[[np.ndarray], np.ndarray] = lambda values: values
    law: Callable[[Panel], np.ndarray | None] = lambda panel: None
    law_name: str = ""
    theory: Callable[[Panel], Lines] = lambda panel: []
    theory_label: str = ""
    equal: Callable[[Panel], Lines] = lambda panel: []
    equal_label: str = ""
    turns: Callable[[Panel], list[int | None]] = lambda panel: []
    overtakes: Callable[[Panel], list[int | None]] = lambda panel: []
    overtakes_label: str = ""
    aside: Callable[[Panel], list[str]] = lambda panel: []
    aside_label: str = ""
    more: Mapping[str, Callable[[Panel], list[list[str]]]] = field(default_factory=dict)
    written: bool = False
    marks: tuple[float, ...] = (0, 0.5, 1)
    heading: Callable[[Any], str] = str
    tick: Callable[[Any], str] = "{:,g}".format
    height: int = 214

    @property
    def name(self) -> str:
        """Of its figure, and the beginning of its sources'."""
        return f"{self.view}.{self.sweep}_sweep"

    @property
    def key(self) -> str:
        """What its axis and its lines are."""
        levels = ", ".join(f"{level:g}" for level in self.contours)
        told = {
            "up": self.up_label, "lines": levels and f"{self.value_label} {levels}", "dashed": self.theory_label,
            "solid": self.overtakes_label, "dotted": self.equal_label,
        }  # fmt: skip
        return "; ".join(f"{name}: {text}" for name, text in told.items() if text)


def _near(result: Result, name: str, value: float) -> int:
    return int(np.argmin(np.abs(np.asarray(result.axes[name], dtype=float) - value)))


def slab(result: Result, picture: Picture) -> np.ndarray:
    """The picture's array as [panels, up, across]; NaN where nothing was computed."""
    values = result.arrays[picture.array]
    dims = list(result.about["dims"][picture.array])
    for name, value in picture.at.items():
        values = np.take(values, _near(result, name, value), axis=dims.index(name))
        dims.remove(name)
    for name, made in picture.over.items():
        values = made(values, axis=dims.index(name))
        dims.remove(name)
    for name, step in picture.every.items():
        values = np.take(values, range(0, values.shape[dims.index(name)], step), axis=dims.index(name))
    return np.transpose(values, [dims.index(name) for name in (picture.panels, picture.up, picture.across)])


def axis(result: Result, picture: Picture, name: str) -> list:
    """Values along an axis as far as they are drawn."""
    return result.axes[name].tolist()[:: picture.every.get(name, 1)]


def panels_of(result: Result, picture: Picture) -> list[Panel]:
    """The panels of a picture, as theory and figure see them."""
    told, up, across = (axis(result, picture, name) for name in (picture.panels, picture.up, picture.across))
    question = result.about.get("question", {})
    taken = {name: result.axes[name].tolist()[_near(result, name, value)] for name, value in picture.at.items()}
    return [Panel(value, across, up, values, question, taken) for value, values in zip(told, slab(result, picture))]


def finding(result: Result, picture: Picture) -> str:
    """What a picture shows, in sentences."""
    return picture.says(panels_of(result, picture))


def said(result: Result) -> str:
    """Where a result comes from, in one line."""
    about = result.about
    told = [about["device"]["name"], about["device"]["versions"], about["date"], f"seed {about['question']['seed']}"]
    if not result.complete:
        told.append(f"{about['finished']} of {about['points']} points")
    return " · ".join((*told, *about["notes"]))
