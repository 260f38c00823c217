"""What is marked on sizing's lines: crossings and the native context, each with words where there is room for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from components.placing import HEIGHT, Box, dot_box, placed, rule_box, share, text_box
from components.sizing_asked import twin_rates
from components.sizing_lines import EDGE, LINES, NOWHERE, T
from components.sizing_said import LAST
from components.words import WORDS
from compute.sizing import ModelShape, Options, model_crossings
from compute.sizing.sums import sums
from compute.sizing.twins import twin_name

Source = dict[str, np.ndarray | list[str]]
Places = Sequence[tuple[str, float, float]]

FRAMES = ((227, 132), (427, 132), (726, 304), (772, 304))
"""Frames in which words must stand clear, px: the overview's card and the page, in windows of 1024 and 1440."""

FOOT: Places = tuple((align, dx, dy) for dy in (-8, -20) for align, dx in (("left", 5), ("right", -5)))
"""Places of the native context's name beside the foot of its rule."""

MEETS: Places = (("left", 7, 20), ("right", -8, 20), ("center", 0, 26))
BEATS: Places = (("right", -8, -20), ("right", 14, -27), ("center", -8, -27), ("left", 8, -20))
"""Places of the words at a crossing: right below it, and left above it, if the frame has room there."""

APART = np.unique(T, return_index=True)[1]
"""Stops that differ from those before: the shortest lengths round to the same tokens."""

LETTER, SMALL, LOW = 5.6, 5.4, 10.0
"""Width of a letter of a crossing's words and of the native context's name, px, and the height of that name."""


def marks(
    shape: ModelShape, options: Options, lines: Mapping[str, np.ndarray], low: float, high: float
) -> dict[str, Source]:
    """Sources of the marks, for axes that run from low to high bytes."""
    xs = share(T[APART], 1, EDGE, log=True)
    curves = [(xs, share(lines[name][APART], low, high, log=True)) for name in LINES if np.isfinite(lines[name]).any()]
    found = _crossings(shape, options)
    told, taken = {}, [dot_box(*_at(source, low, high)) for source, _ in found.values()]
    taken.append(rule_box(share([WORDS["T"].default], 1, EDGE, log=True)))  # where a visitor finds the finger
    for word, (source, around) in found.items():
        made, box = _named(source, low, high, curves, taken, around, LETTER, 2 * HEIGHT)
        told[f"sizing.{word}"] = made
        taken.append(box)
    native = shape.native_context or NOWHERE
    rule = {
        "x": np.array([float(native)]),
        "y": np.array([low]),
        "text": [f"native {native:,}" if shape.native_context else ""],
    }
    told["sizing.native"], _ = _named(rule, low, high, curves, taken, FOOT, SMALL, LOW)
    return told


def _named(
    source: Source, low: float, high: float, curves: list, taken: list[Box], around: Places,
    letter: float, height: float,
) -> tuple[Source, Box]:  # fmt: skip
    """A mark with the place of its words, and what they take."""
    x, y = _at(source, low, high)
    widest = [max(text.split("\n"), key=len) for text in source["text"]]
    place = placed(FRAMES, x, y, widest, curves, taken, letter, around, height)
    at = {"align": place["align"], "dx": place["dx"], "dy": place["dy"]}
    box = text_box(x, y, widest, at["align"], at["dx"], at["dy"], letter)
    return {**source, **at}, box._replace(top=at["dy"] - height / 2, bottom=at["dy"] + height / 2)


def _at(source: Source, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    return share(source["x"], 1, EDGE, log=True), share(source["y"], low, high, log=True)


@lru_cache(maxsize=64)
def _crossings(shape: ModelShape, options: Options) -> dict[str, tuple[Source, Places]]:
    """Where the cache meets the state, and where the model begins to be cheaper than its all-softmax twin."""
    own, twin, name = sums(shape, options), twin_rates(shape, options), twin_name(shape, options.mla)
    meet, cheaper = model_crossings(shape, options), f"beats {name.line}\nfrom {{:,}}" if name else ""
    return {
        "meet": (meeting(meet.state, own.state_bytes, "cache = state\nat {:,}"), MEETS),
        "beat": (meeting(meet.twin, twin.total_bytes(meet.twin or 0) if twin else 0, cheaper), BEATS),
    }


def meeting(at: int | None, height: int, text: str) -> Source:
    """A crossing with its words; one that does not exist on this axis stands nowhere."""
    if not at or at > LAST:
        return {"x": np.array([NOWHERE]), "y": np.array([NOWHERE]), "text": [""]}
    return {"x": np.array([float(at)]), "y": np.array([float(height)]), "text": [text.format(at)]}
