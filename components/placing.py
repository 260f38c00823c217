"""Where the number beside a moving dot stands: clear of lines, of names and of the frame, as far as there is room.

A figure is as wide as its window, so places are tried in frames of several sizes and must do in all of them.  Shares
of a frame count from its left and from its bottom; px count from a point, right and down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

AROUND = tuple(
    dict.fromkeys(
        (align, dx, dy)
        for near in (8, 2, 24, 56)
        for dy in (-11, 12, -24, 25, -38, 39, -54, 55)
        for align, dx in (("left", near), ("right", -near), ("center", 0))
        if abs(dy) > 12 or (near != 2 and align != "center")
    )
)
"""Places of a text about its dot, (align, dx, dy), the nearest first."""

BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}
"""What of a text lies before its point."""

NEAR = 4
"""How many of them touch the dot."""

LETTER, BOLD = 6.6, 7.4
"""Width of a letter of a label, px, the widest that fonts have on average."""

HEIGHT, DOT = 12.0, 5.0
"""Height of a label and half of a dot's, px."""

SAMPLES = np.linspace(0, 1, 24)


class Box(NamedTuple):
    """A piece of the figure that is taken: px about a point (shares of the frame), each one number or one a stop."""

    x: np.ndarray
    y: np.ndarray
    left: np.ndarray | float
    right: np.ndarray | float
    top: np.ndarray | float
    bottom: np.ndarray | float


def share(values: np.ndarray, low: float, high: float, log: bool = False) -> np.ndarray:
    """Values as shares of an axis; NaN where a log axis has no place for them."""
    values = np.asarray(values, dtype=float)
    if log:
        values = np.log(np.where(values > 0, values, np.nan))
        low, high = np.log(low), np.log(high)
    return (values - low) / (high - low)


def text_box(
    x: np.ndarray,
    y: np.ndarray,
    texts: Sequence[str],
    align: str | Sequence[str],
    dx: np.ndarray | float = 0.0,
    dy: np.ndarray | float = 0.0,
    letter: float = LETTER,
) -> Box:
    """What texts take that stand at points."""
    wide = letter * np.array([len(text) for text in texts], dtype=float)
    left = dx - np.array([BEFORE[a] for a in ([align] if isinstance(align, str) else align)]) * wide
    return Box(x, y, left, left + wide, dy - HEIGHT / 2, dy + HEIGHT / 2)


def dot_box(x: np.ndarray, y: np.ndarray) -> Box:
    return Box(x, y, -DOT, DOT, -DOT, DOT)


def rule_box(x: np.ndarray) -> Box:
    """The rule under the finger, from the bottom to the top of the figure."""
    return Box(x, np.array([0.5]), -1.0, 1.0, -1e4, 1e4)


def placed(
    frames: Sequence[tuple[float, float]],
    x: np.ndarray,
    y: np.ndarray,
    texts: Sequence[str],
    lines: Sequence[tuple[np.ndarray, np.ndarray]],
    boxes: Sequence[Box] = (),
    letter: float = LETTER,
    around: Sequence[tuple[str, float, float]] = AROUND,
    height: float = HEIGHT,
) -> dict[str, np.ndarray | list[str]]:
    """A place for each stop's text about its dot at (x, y): columns align, dx, dy.

    frames: (width, height) px.  lines: (x ascending, y) of curves; boxes: what else is taken.  around: the places that
    a text may have, the best first.  A text stays on its side from stop to stop for as long as it is clear there.
    """
    wide = letter * np.array([len(text) for text in texts], dtype=float)
    costs, taken = np.full((len(around), len(x)), np.inf), _stacked(boxes, len(x))
    costs[:NEAR] = _costs(around[:NEAR], frames, x, y, wide, lines, taken, height)
    full = costs[:NEAR].min(axis=0) > 0  # only here the places farther off are looked at
    if full.any() and len(around) > NEAR:
        rest = x[full], y[full], wide[full], lines, taken[..., full]
        costs[NEAR:, full] = _costs(around[NEAR:], frames, *rest, height)
    best, clear, chosen, last = np.argmin(costs, axis=0), costs == 0, np.zeros(len(x), dtype=int), 0
    for i in range(len(x)):
        last = last if clear[last, i] else int(best[i])
        chosen[i] = last
    return {
        "align": [around[k][0] for k in chosen],
        "dx": np.array([around[k][1] for k in chosen], dtype=np.float32),
        "dy": np.array([around[k][2] for k in chosen], dtype=np.float32),
    }


def clearest(
    frames: Sequence[tuple[float, float]],
    x: np.ndarray,
    y: np.ndarray,
    text: str,
    align: str,
    lines: Sequence[tuple[np.ndarray, np.ndarray]],
    boxes: Sequence[Box] = (),
) -> int:
    """At which of the points (x, y), the best first, a text that stays lies least upon what is taken."""
    wide = np.full(len(x), LETTER * len(text))
    taken = _stacked(boxes, len(x))
    return int(np.argmin(_costs(((align, 0.0, 0.0),), frames, x, y, wide, lines, taken, HEIGHT)[0]))


def _costs(
    places: Sequence[tuple[str, float, float]],
    frames: Sequence[tuple[float, float]],
    x: np.ndarray,
    y: np.ndarray,
    wide: np.ndarray,
    lines: Sequence[tuple[np.ndarray, np.ndarray]],
    taken: np.ndarray,
    height: float,
) -> np.ndarray:
    """[places, stops] px of overlap with lines and with boxes, `_stacked`; px beyond the frame weigh more, for they
    cannot be read."""
    W, H = np.array(frames).T[:, :, None, None, None]  # [frames, sides, heights, stops] from here on
    before, dx, dy, at = _grid(tuple(places))
    left = x * W + dx - before * wide
    top = (1 - y) * H + dy - height / 2
    right, bottom = left + wide, top + height
    beyond = np.maximum(0, -left) + np.maximum(0, right - W) + np.maximum(0, -top) + np.maximum(0, bottom - H)
    costs = 100 * np.where(np.isnan(beyond), 0.0, beyond)
    samples = (left + wide * SAMPLES[:, None, None, None, None]) / W
    for low, high in _spans(samples, lines):
        for under in _overlap((1 - high) * H - 1, (1 - low) * H + 1, top, bottom):
            costs += under
    px, py, *ends = taken
    px, py = px * W, (1 - py) * H
    across = _overlap(px + ends[0], px + ends[1], left, right)
    for under in across * (_overlap(py + ends[2], py + ends[3], top, bottom) > 0):
        costs += under
    return np.where(wide > 0, costs.sum(axis=0), 0.0)[at]


@lru_cache(maxsize=16)
def _grid(places: Sequence[tuple[str, float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[list, list]]:
    """What lies before the point and dx of every side of places, [sides, 1, 1], dy of their heights, [heights, 1], and
    where each place is among them: few of both make many places."""
    sides = list(dict.fromkeys((BEFORE[align], dx) for align, dx, _ in places))
    heights = list(dict.fromkeys(dy for *_, dy in places))
    before, dx = np.array(sides).T[:, :, None, None]
    at = [sides.index((BEFORE[align], dx)) for align, dx, _ in places], [heights.index(dy) for *_, dy in places]
    return before, dx, np.array(heights, dtype=float)[:, None], at


def _stacked(boxes: Sequence[Box], stops: int) -> np.ndarray:
    """Parts of boxes, each one number or one a stop, as [6, boxes, 1, 1, 1, stops]."""
    told = np.empty((len(Box._fields), len(boxes), 1, 1, 1, stops))
    for b, box in enumerate(boxes):
        for part, values in zip(told, box):
            part[b] = values
    return told


def _spans(at: np.ndarray, lines: Sequence[tuple[np.ndarray, np.ndarray]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Lowest and highest share of each line at points [samples, *], [lines, *] for lines over the same x, which are
    looked up at once; NaN where there is none.  As `numpy.interp` has it."""
    for _, group in groupby(lines, lambda line: id(line[0])):
        (xs, *_), ys = zip(*group)
        piece = np.searchsorted(xs, at, side="right")
        piece -= 1
        beside = at - np.take(xs, piece, mode="clip")
        np.copyto(beside, np.nan, where=(at < xs[0]) | (at > xs[-1]))
        ys = np.array(ys)
        heights = np.take(np.diff(ys) / np.diff(xs), piece, axis=1, mode="clip")
        heights *= beside
        heights += np.take(ys, piece, axis=1, mode="clip")
        yield np.fmin.reduce(heights, axis=1), np.fmax.reduce(heights, axis=1)


def _overlap(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Length that two spans have in common, none where an end is NaN."""
    return np.fmax(0.0, np.minimum(b, d) - np.maximum(a, c))
