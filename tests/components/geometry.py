"""Labels as rectangles of px, for the tests that ask whether one lies upon something."""

from __future__ import annotations

from functools import cache

import numpy as np
from fontTools.ttLib import TTFont

from components.fonts import FONTS
from components.plots import LABEL

BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}
HIGH = 10
"""Height of the capitals and figures of a label with what hangs below them, px: what is seen of it."""


def rectangle(x, y, text, align, dx, dy, letter):
    """left, right, top, bottom of a text beside a point, px from the frame's top left corner."""
    left = x + dx - BEFORE[align] * letter * len(text)
    return left, left + letter * len(text), y + dy - HIGH / 2, y + dy + HIGH / 2


@cache
def advances() -> dict[str, float]:
    """Width of each character of a label, px."""
    font = TTFont(FONTS / "inter.woff2")
    px = float(LABEL.removesuffix("px")) / font["head"].unitsPerEm
    return {chr(code): font["hmtx"][name][0] * px for code, name in font.getBestCmap().items()}


def letter_of(text: str) -> float:
    """Width of a letter of this label, on average."""
    return sum(advances()[letter] for letter in text) / max(len(text), 1)


def meets(one, other) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def crossed(box, xs, ys) -> bool:
    """Whether the polyline through (xs, ys), px, passes through the rectangle: looked at px by px."""
    at = np.arange(max(box[0], xs[0]), min(box[1], xs[-1]), 1.0)
    heights = np.interp(at, xs, ys)
    heights = heights[np.isfinite(heights)]
    return len(heights) > 0 and heights.min() < box[3] and heights.max() > box[2]


def inside(box, width, height) -> bool:
    return box[0] >= 0 and box[1] <= width and box[2] >= 0 and box[3] <= height
