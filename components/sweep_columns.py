"""Where everything of a sweep's picture stands: one map of cells per panel, side by side, contours and theory on top.

Everything is placed in one plane: panel p spans [p·STEP, p·STEP + 1] across and [0, 1] up, and every value of an axis
has a cell of equal size.  So another grid, as a quick run has it, changes columns and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from contourpy import contour_generator

from components.reel import Answer
from components.sweep_shown import Lines, Panel, Picture, panels_of

if TYPE_CHECKING:
    from compute.sweeps.base import Result

STEP, GAP = 1.16, 0.1
"""From the left edge of a panel to that of the next, and what of it is given up behind the last."""

SCALE, SHADES, SCALE_PANEL = 0.34, 24, "scale of colours"
"""Width of the colour scale behind the last panel, how many shades it shows, and what a pointer on it is told."""

MOST_TICKS, ALL_TICKS = 4, 8
FRAME, LETTER, APART = 860, 6.4, 5
"""px: all panels together where a page is narrow, a letter of a tick, and what lies between two ticks."""


def columns(picture: Picture, result: Result) -> Answer:
    """What stands in the picture's sources."""
    panels = panels_of(result, picture)
    up = panels[0].up
    cells: dict[str, list] = {name: [] for name in dict.fromkeys((*NUMERIC, *CELL, *more(picture)))}
    drawn: dict[str, tuple[list, list]] = {part: ([], []) for part in LINES}
    texts: tuple[list, list, list] = ([], [], [])
    for p, panel in enumerate(panels):
        law = picture.law(panel)
        _cells(cells, picture, p, panel, law)
        for part, lines in _lines(picture, panel, law).items():
            for x, y in lines:
                drawn[part][0].append([p * STEP + float(at) for at in x])
                drawn[part][1].append([float(at) for at in y])
        _texts(texts, picture, p, panel, len(panels))
    if scale(picture):
        _scale(cells, texts, picture, np.array([panel.values for panel in panels]), len(panels))
    named = range(len(up)) if isinstance(up[0], str) else _thinned(len(up))  # of numbers a few tell the others
    ticks = [(_middle(i, len(up)), picture.tick(up[i])) for i in named]
    return {
        f"{picture.name}_cells": {
            name: np.asarray(column) if name in NUMERIC else column for name, column in cells.items()
        },
        **{f"{picture.name}_{part}": {"xs": xs, "ys": ys} for part, (xs, ys) in drawn.items()},
        f"{picture.name}_texts": dict(zip(("x", "y", "text"), texts)),
        f"{picture.name}_ticks": {
            "x": [-0.02] * len(ticks),
            "y": [y for y, _ in ticks],
            "text": [t for _, t in ticks],
        },
    }


NUMERIC = ("left", "right", "bottom", "top", "color")
CELL = ("color", "panel", "x", "y", "said")
LINES = ("contours", "theory", "equal")
"""Measured and solid, expected and dashed, of equal bytes and dotted."""

NO_LAW = "none here"
"""What a cell says under the pointer where a picture has a law, but not for this panel."""


def more(picture: Picture) -> dict[str, str]:
    """Columns of further words under the pointer, and what they are called there."""
    return {f"more_{k}": label for k, label in enumerate((*filter(None, [picture.law_name]), *picture.more))}


def _cells(into: dict[str, list], picture: Picture, p: int, panel: Panel, law: np.ndarray | None) -> None:
    values, (rows, cols) = panel.values, panel.values.shape
    levels = np.clip(picture.level(values), 0, 1)
    told = [made(panel) for made in picture.more.values()]
    if picture.law_name:
        told.insert(0, [[NO_LAW if law is None else picture.shown(float(law[j, i])) for i in range(cols)]
                        for j in range(rows)])  # fmt: skip
    for j, i in zip(*np.nonzero(np.isfinite(values))):
        at = (p * STEP + i / cols, p * STEP + (i + 1) / cols, j / rows, (j + 1) / rows, float(levels[j, i]))
        words = (picture.heading(panel.value), picture.tick(panel.across[i]), picture.tick(panel.up[j]),
                 picture.shown(float(values[j, i])), *(lines[j][i] for lines in told))  # fmt: skip
        for name, value in zip((*NUMERIC, *CELL[1:], *more(picture)), (*at, *words)):
            into[name].append(value)


def scale(picture: Picture) -> bool:
    """Whether a colour scale stands behind the last panel: where cells do not say their values."""
    return not picture.written


def end(picture: Picture, panels: int) -> float:
    """Where the plane ends: what stands behind each panel has its room behind the last one too."""
    return panels * STEP - (0 if picture.aside_label else GAP) + (SCALE if scale(picture) else 0)


def _scale(
    cells: dict[str, list], texts: tuple[list, list, list], picture: Picture, values: np.ndarray, panels: int
) -> None:
    seen = np.sort(values[np.isfinite(values)])
    left = panels * STEP - GAP + 0.06
    for k in range(SHADES):
        told = (left, left + 0.06, k / SHADES, (k + 1) / SHADES, (k + 0.5) / SHADES)
        for name, value in zip(NUMERIC, told):
            cells[name].append(value)
        said = picture.shown(float(np.interp(told[-1], picture.level(seen), seen))) if seen.size else "any"
        for name, text in zip(CELL[1:], (SCALE_PANEL, "any", "any", said)):
            cells[name].append(text)
        for name in more(picture):
            cells[name].append("any")
    said = [(left + 0.13, float(np.clip(picture.level(np.asarray(mark)), 0, 1)), f"{mark:g}") for mark in picture.marks]
    for x, y, text in [*said, (left + 0.05, 1.08, picture.value_label)]:
        for column, value in zip(texts, (x, y, text)):
            column.append(value)


def _middle(i: int, n: int) -> float:
    return (i + 0.5) / n


def _lines(picture: Picture, panel: Panel, law: np.ndarray | None) -> dict[str, Lines]:
    """The lines of a panel, from its own corner, by the part of the figure that they belong to."""
    expected = [] if law is None else _contours(picture.contours, law)
    return {
        "contours": _contours(picture.contours, panel.values) + _marks(picture.overtakes(panel), panel),
        "theory": expected + _placed(picture.theory(panel), panel) + _marks(picture.turns(panel), panel),
        "equal": _placed(picture.equal(panel), panel),
    }


def _contours(levels: Sequence[float], values: np.ndarray) -> Lines:
    if min(values.shape) < 2 or not levels:
        return []
    rows, cols = values.shape
    made = contour_generator(
        [_middle(i, cols) for i in range(cols)], [_middle(j, rows) for j in range(rows)], np.ma.masked_invalid(values)
    )
    return [(line[:, 0], line[:, 1]) for level in levels for line in made.lines(level)]


def _marks(first: list[int | None], panel: Panel) -> Lines:
    """Upright ones on the border before a column of a row, where no digit stands."""
    rows, cols = panel.values.shape
    return [([i / cols] * 2, [j / rows, (j + 1) / rows]) for j, i in enumerate(first) if i is not None]


def _placed(lines: Lines, panel: Panel) -> Lines:
    """Lines from values of the axes to places, cut to the cells' middles; through the height of a panel of one row."""
    places, (left, right), (low, high) = [], (panel.across[0], panel.across[-1]), (panel.up[0], panel.up[-1])
    for x, y in lines:
        x, y = (np.asarray(a, dtype=float) for a in (x, y))
        inside = (x >= left) & (x <= right) & (y >= low) & (y <= high)
        if len(panel.up) == 1 and inside.any():
            places.append((np.repeat(_place(x[inside][:1], panel.across), 2), [0, 1]))
        elif inside.sum() > 1:
            places.append((_place(x[inside], panel.across), _place(y[inside], panel.up)))
    return places


def _place(values: np.ndarray, stops: list) -> np.ndarray:
    """Where values stand between the middles of an axis' cells: in proportion, or by ratio where the stops go so."""
    told, at = values, np.asarray(stops, dtype=float)
    if (
        len(stops) > 1
        and at[0] > 0
        and np.ptp(np.diff(np.log(at))) / np.log(at[-1] / at[0]) < np.ptp(np.diff(at)) / (at[-1] - at[0])
    ):
        told, at = np.log(values), np.log(at)
    return np.interp(told, at, [_middle(i, len(stops)) for i in range(len(stops))])


def _texts(into: tuple[list, list, list], picture: Picture, p: int, panel: Panel, panels: int) -> None:
    rows, cols = panel.values.shape
    ticks = [picture.tick(value) for value in panel.across]
    told = [(0.5, 1.08, picture.heading(panel.value)), (0.5, -0.25, picture.across_label)]
    told += [(_middle(i, cols), -0.09, ticks[i]) for i in _untouching(ticks, panels)]
    if picture.aside_label:
        told.append((1 + (STEP - 1) / 2, 1.08, picture.aside_label))
        told += [(1 + (STEP - 1) / 2, _middle(j, rows), text) for j, text in enumerate(picture.aside(panel))]
    if picture.written:
        shown = zip(*np.nonzero(np.isfinite(panel.values)))
        told += [(_middle(i, cols), _middle(j, rows), picture.shown(float(panel.values[j, i]))) for j, i in shown]
    for x, y, text in told:
        for column, value in zip(into, (p * STEP + x, y, text)):
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
