"""Where the number beside a moving dot stands: clear of lines, of names and of the frame, as far as there is room.

A figure is as wide as its window, so places are tried in frames of several sizes and must do in all of them.  Shares
of a frame count from its left and from its bottom; px count from a point, right and down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

AROUND = tuple(
    (align, dx, dy)
    for near in (8, 2, 24, 56)
    for dy in (-11, 12, -24, 25, -38, 39, -54, 55)
    for align, dx in (("left", near), ("right", -near), ("center", 0))
    if abs(dy) > 12 or (near != 2 and align != "center")
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
    costs = np.full((len(around), len(x)), np.inf)
    costs[:NEAR] = _costs(around[:NEAR], frames, x, y, wide, lines, boxes, height)
    full = costs[:NEAR].min(axis=0) > 0  # only here the places farther off are looked at
    if full.any() and len(around) > NEAR:
        fewer = [Box(*(part[full] if np.size(part) == len(x) > 1 else part for part in box)) for box in boxes]
        costs[NEAR:, full] = _costs(around[NEAR:], frames, x[full], y[full], wide[full], lines, fewer, height)
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
    return int(np.argmin(_costs(((align, 0.0, 0.0),), frames, x, y, wide, lines, boxes, HEIGHT)[0]))


def _costs(
    places: Sequence[tuple[str, float, float]],
    frames: Sequence[tuple[float, float]],
    x: np.ndarray,
    y: np.ndarray,
    wide: np.ndarray,
    lines: Sequence[tuple[np.ndarray, np.ndarray]],
    boxes: Sequence[Box],
    height: float,
) -> np.ndarray:
    """[places, stops] px of overlap with what is taken; px beyond the frame weigh more, for they cannot be read."""
    W, H = np.array(frames).T[:, :, None, None]  # [frames, places, stops] from here on
    sides = list(dict.fromkeys((BEFORE[align], dx) for align, dx, _ in places))  # few: places differ mostly in height
    at = [sides.index((BEFORE[align], dx)) for align, dx, _ in places]
    before, dx = np.array(sides).T[:, :, None]
    lefts = x * W + dx - before * wide
    left = lefts[:, at]
    top = (1 - y) * H + np.array([dy for *_, dy in places], dtype=float)[:, None] - height / 2
    right, bottom = left + wide, top + height
    beyond = sum(np.maximum(0, by) for by in (-left, right - W, -top, bottom - H))
    costs = 100 * np.where(np.isnan(beyond), 0.0, beyond)
    samples = (lefts + wide * SAMPLES[:, None, None, None]) / W
    for low, high in _spans(samples, lines):
        costs += _overlap(((1 - high) * H - 1)[:, at], ((1 - low) * H + 1)[:, at], top, bottom)
    for box in boxes:
        px, py = box.x * W, (1 - box.y) * H
        across = _overlap(px + box.left, px + box.right, left, right)
        costs += across * (_overlap(py + box.top, py + box.bottom, top, bottom) > 0)
    return np.where(wide > 0, costs.sum(axis=0), 0.0)


def _spans(at: np.ndarray, lines: Sequence[tuple[np.ndarray, np.ndarray]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Lowest and highest share of each line at points [samples, *], NaN where there is none.  As `numpy.interp` has it,
    but lines over the same x are looked up at once."""
    seen, slope, heights = None, np.empty_like(at), np.empty_like(at)
    for xs, ys in lines:
        if xs is not seen:
            seen, piece = xs, np.searchsorted(xs, at, side="right")
            piece -= 1
            beside = at - np.take(xs, piece, mode="clip")
            np.copyto(beside, np.nan, where=(at < xs[0]) | (at > xs[-1]))
        np.take(np.diff(ys) / np.diff(xs), piece, out=slope, mode="clip")
        np.take(ys, piece, out=heights, mode="clip")
        slope *= beside
        heights += slope
        yield np.fmin.reduce(heights, axis=0), np.fmax.reduce(heights, axis=0)


def _overlap(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Length that two spans have in common, none where an end is NaN."""
    return np.fmax(0.0, np.minimum(b, d) - np.maximum(a, c))
