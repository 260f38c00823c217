"""Where everything of a sweep's picture stands: one map of cells per panel, side by side, contours and theory on top.

Everything is placed in one plane: panel p spans [p·STEP, p·STEP + 1] across and [0, 1] up, and every value of an axis
has a cell of equal size.  So another grid, as a quick run has it, changes columns and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from contourpy import contour_generator

from components.reel import Answer

if TYPE_CHECKING:
    from compute.sweeps.base import Result

STEP, GAP = 1.16, 0.1
"""From the left edge of a panel to that of the next, and what of it is given up behind the last."""

SCALE, SHADES, SCALE_PANEL = 0.34, 24, "scale of colours"
"""Width of the colour scale behind the last panel, how many shades it shows, and what a pointer on it is told."""

MOST_TICKS, ALL_TICKS = 4, 8
FRAME, LETTER, APART = 860, 6.4, 5
"""px: all panels together where a page is narrow, a letter of a tick, and what lies between two ticks."""

Lines = list[tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True)
class Picture:
    """What of a sweep's result is drawn where.

    sweep: its word; view: the page; panels, across, up: names of axes of the array; at: the value taken on another one,
    over: what is made of all of its values; every: on which axis only each so many-th is drawn.
    shown: how a value is said; level: its place on the colour scale, 0 to 1; contours: values that get a line.
    theory: lines of one panel in values of the axes, dashed; written: whether a cell shows its value,
    instead of a colour scale that says its marks.
    heading: what stands over a panel; tick: how a value of an axis is said; height: of the figure, in px.
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
    at: Mapping[str, Any] = field(default_factory=dict)
    every: Mapping[str, int] = field(default_factory=dict)
    over: Mapping[str, Callable[..., np.ndarray]] = field(default_factory=dict)
    contours: tuple[float, ...] = ()
    contour_label: str = ""
    shown: Callable[[float], str] = "{:.2f}".format
    level: Callable[[np.ndarray], np.ndarray] = lambda values: values
    theory: Callable[[Any, Sequence[float], Sequence[float]], Lines] = lambda panel, across, up: []
    theory_label: str = ""
    written: bool = False
    marks: tuple[float, ...] = (0, 0.5, 1)
    heading: Callable[[Any], str] = str
    tick: Callable[[Any], str] = "{:,g}".format
    height: int = 214

    @property
    def name(self) -> str:
        """Of its figure, and the beginning of its sources'."""
        return f"{self.view}.{self.sweep}_sweep"


def slab(result: Result, picture: Picture) -> np.ndarray:
    """The picture's array as [panels, up, across]; NaN where nothing was computed."""
    values = result.arrays[picture.array]
    dims = list(result.about["dims"][picture.array])
    for name, value in picture.at.items():
        i = int(np.argmin(np.abs(np.asarray(result.axes[name], dtype=float) - value)))
        values = np.take(values, i, axis=dims.index(name))
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


def columns(picture: Picture, result: Result) -> Answer:
    """What stands in the picture's sources."""
    values = slab(result, picture)
    panels, up, across = (axis(result, picture, name) for name in (picture.panels, picture.up, picture.across))
    cells: dict[str, list] = {name: [] for name in dict.fromkeys((*NUMERIC, *CELL))}
    contours, theory, texts = ([], []), ([], []), ([], [], [])
    for p, panel in enumerate(panels):
        _cells(cells, picture, p, panel, values[p], up, across)
        for lines, into in ((_contours(picture, values[p]), contours), (_theory(picture, panel, up, across), theory)):
            for x, y in lines:
                into[0].append([p * STEP + at for at in x])
                into[1].append(list(y))
        _texts(texts, picture, p, panel, across, len(panels))
        if picture.written:
            _values(texts, picture, p, values[p])
    if scale(picture):
        _scale(cells, texts, picture, values, len(panels))
    named = range(len(up)) if isinstance(up[0], str) else _thinned(len(up))  # of numbers a few tell the others
    ticks = [(_middle(i, len(up)), picture.tick(up[i])) for i in named]
    return {
        f"{picture.name}_cells": {
            name: np.asarray(column) if name in NUMERIC else column for name, column in cells.items()
        },
        f"{picture.name}_contours": {"xs": contours[0], "ys": contours[1]},
        f"{picture.name}_theory": {"xs": theory[0], "ys": theory[1]},
        f"{picture.name}_texts": dict(zip(("x", "y", "text"), texts)),
        f"{picture.name}_ticks": {
            "x": [-0.02] * len(ticks),
            "y": [y for y, _ in ticks],
            "text": [t for _, t in ticks],
        },
    }


NUMERIC = ("left", "right", "bottom", "top", "color")
CELL = ("color", "panel", "x", "y", "said")


def _cells(
    into: dict[str, list], picture: Picture, p: int, panel: Any, values: np.ndarray, up: list, across: list
) -> None:
    rows, cols = values.shape
    levels = np.clip(picture.level(values), 0, 1)
    for j in range(rows):
        for i in range(cols):
            if np.isfinite(values[j, i]):
                told = (p * STEP + i / cols, p * STEP + (i + 1) / cols, j / rows, (j + 1) / rows, float(levels[j, i]))
                for name, value in zip(NUMERIC, told):
                    into[name].append(value)
                into["panel"].append(picture.heading(panel))
                into["x"].append(picture.tick(across[i]))
                into["y"].append(picture.tick(up[j]))
                into["said"].append(picture.shown(float(values[j, i])))


def scale(picture: Picture) -> bool:
    """Whether a colour scale stands behind the last panel: where cells do not say their values."""
    return not picture.written


def _scale(
    cells: dict[str, list], texts: tuple[list, list, list], picture: Picture, values: np.ndarray, panels: int
) -> None:
    seen = np.sort(values[np.isfinite(values)])
    left = panels * STEP - GAP + 0.06
    for k in range(SHADES):
        told = (left, left + 0.06, k / SHADES, (k + 1) / SHADES, (k + 0.5) / SHADES)
        for name, value in zip(NUMERIC, told):
            cells[name].append(value)
        said = picture.shown(float(np.interp(told[-1], picture.level(seen), seen)))
        for name, text in zip(CELL[1:], (SCALE_PANEL, "any", "any", said)):
            cells[name].append(text)
    said = [(left + 0.13, float(np.clip(picture.level(np.asarray(mark)), 0, 1)), f"{mark:g}") for mark in picture.marks]
    for x, y, text in [*said, (left + 0.05, 1.08, picture.value_label)]:
        for column, value in zip(texts, (x, y, text)):
            column.append(value)


def _middle(i: int, n: int) -> float:
    return (i + 0.5) / n


def _contours(picture: Picture, values: np.ndarray) -> Lines:
    if min(values.shape) < 2 or not picture.contours:
        return []
    rows, cols = values.shape
    made = contour_generator(
        [_middle(i, cols) for i in range(cols)], [_middle(j, rows) for j in range(rows)], np.ma.masked_invalid(values)
    )
    return [(line[:, 0], line[:, 1]) for level in picture.contours for line in made.lines(level)]


def _theory(picture: Picture, panel: Any, up: list, across: list) -> Lines:
    """Lines from values of the axes to places, cut to the cells' middles."""
    places = []
    for x, y in picture.theory(panel, across, up):
        x, y = (np.asarray(a, dtype=float) for a in (x, y))
        inside = (x >= across[0]) & (x <= across[-1]) & (y >= up[0]) & (y <= up[-1])
        if inside.sum() > 1:
            places.append((_place(x[inside], across), _place(y[inside], up)))
    return places


def _place(values: np.ndarray, stops: list) -> np.ndarray:
    return np.interp(values, stops, [_middle(i, len(stops)) for i in range(len(stops))])


def _texts(into: tuple[list, list, list], picture: Picture, p: int, panel: Any, across: list, panels: int) -> None:
    told = [(0.5, 1.08, picture.heading(panel)), (0.5, -0.25, picture.across_label)]
    ticks = [picture.tick(value) for value in across]
    told += [(_middle(i, len(across)), -0.09, ticks[i]) for i in _untouching(ticks, panels)]
    for x, y, text in told:
        for column, value in zip(into, (p * STEP + x, y, text)):
            column.append(value)


def _values(into: tuple[list, list, list], picture: Picture, p: int, values: np.ndarray) -> None:
    rows, cols = values.shape
    for j, i in zip(*np.nonzero(np.isfinite(values))):
        told = (p * STEP + _middle(i, cols), _middle(j, rows), picture.shown(float(values[j, i])))
        for column, value in zip(into, told):
            column.append(value)


def _thinned(n: int) -> list[int]:
    """Evenly spaced places of n, the last among them: all if they are few."""
    return sorted(range(n - 1, -1, -max(1, round(n / MOST_TICKS)))) if n > ALL_TICKS else list(range(n))


def _untouching(ticks: list[str], panels: int) -> list[int]:
    """The places of `_thinned`, or of them each so many-th, the last among them, whose words do not touch."""
    at, cell = _thinned(len(ticks)), FRAME / (panels * STEP) / len(ticks)
    for step in range(1, len(at) + 1):
        kept = at[::-1][::step][::-1]
        if all((b - a) * cell >= LETTER * (len(ticks[a]) + len(ticks[b])) / 2 + APART for a, b in pairwise(kept)):
            break
    return kept


def said(result: Result) -> str:
    """Where a result comes from, in one line."""
    about = result.about
    told = [about["device"]["name"], about["device"]["versions"], about["date"], f"seed {about['question']['seed']}"]
    if not result.complete:
        told.append(f"{about['finished']} of {about['points']} points")
    return " · ".join((*told, *about["notes"]))
