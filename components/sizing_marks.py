"""What is marked on sizing's lines: crossings and the native context, each with words where there is room for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from components.placing import Box, dot_box, placed, rule_box, share, text_box
from components.sizing_asked import twin_rates
from components.sizing_lines import EDGE, LINES, NOWHERE, T
from components.sizing_said import LAST
from components.words import WORDS
from compute.sizing import ModelShape, Options, model_crossings
from compute.sizing.sums import sums
from compute.sizing.twins import twin_name

CARD = "card_"
Source = dict[str, np.ndarray | list[str]]
Places = Sequence[tuple[str, float, float]]

FRAMES = {CARD: ((227, 132), (427, 132)), "": ((726, 304), (772, 304))}
"""Frames in which words must stand clear, px, in windows of 1024 and 1440, by what the columns of their places begin
with: a place that is clear in all four is far from its point, so the overview's card has its own."""

FOOT: Places = tuple((align, dx, dy) for dy in range(-8, -121, -7) for align, dx in (("left", 5), ("right", -5)))
"""Places of the native context's name beside its rule, from its foot upwards."""

ENDS = (("right", 1), ("left", -1), ("right", -1), ("left", 1))
"""Ends of a text that stand at a crossing, and on which side of it that end is moved."""


def _beyond(sign: int, first: Places) -> Places:
    """Places of the two lines of words at a crossing, the best first, all of them on one side: two crossings can be so
    close that words on the other would be read as the other's."""
    sides = (("right", -8), ("left", 8), ("center", 0), *((a, s * dx) for dx in (14, 28, 42, 56) for a, s in ENDS))
    return tuple(dict.fromkeys((*first, *((a, dx, sign * dy) for dy in range(20, 65, 3) for a, dx in sides))))


MEETS = _beyond(1, (("left", 7, 20), ("right", -8, 20), ("center", 0, 26), ("left", 7, 17)))
BEATS = _beyond(-1, (("right", -8, -20), ("right", 14, -27), ("center", -8, -27), ("left", 8, -20)))
"""Right below a crossing, and left above it, if the frame has room there."""

ALONE = (*MEETS, *BEATS)
"""Of a crossing that is the only one: above it, too, where the flat line of a convolution passes near under it."""

APART = np.unique(T, return_index=True)[1]
"""Stops that differ from those before: the shortest lengths round to the same tokens."""

LETTER, HIGH, STEP = 5.6, 30.0, 16.5
"""Width of a letter of a crossing's words, px, the height of their two lines, and from one line to the next."""

SMALL, LOW = 5.4, 10.0
"""Width of a letter of the native context's name, px, and its height."""


def marks(
    shape: ModelShape, options: Options, lines: Mapping[str, np.ndarray], low: float, high: float
) -> dict[str, Source]:
    """Sources of the marks, for axes that run from low to high bytes."""
    xs = share(T[APART], 1, EDGE, log=True)
    curves = [(xs, share(lines[name][APART], low, high, log=True)) for name in LINES if np.isfinite(lines[name]).any()]
    found = _crossings(shape, options)
    native = shape.native_context or NOWHERE
    rule = {
        "x": np.array([float(native)]),
        "y": np.array([low]),
        "text": [f"native {native:,}" if shape.native_context else ""],
    }
    told = {**{f"sizing.{word}": dict(source) for word, (source, _) in found.items()}, "sizing.native": rule}
    for begins, frames in FRAMES.items():
        taken = [dot_box(*_at(source, low, high)) for source, _ in found.values()]
        taken.append(rule_box(share([WORDS["T"].default], 1, EDGE, log=True)))  # where a visitor finds the finger
        for word, (source, around) in found.items():
            place, box = _place(frames, source, low, high, curves, taken, around, LETTER, HIGH)
            told[f"sizing.{word}"] |= {begins + column: at for column, at in place.items()}
            taken.append(box)
        place, _ = _place(frames, rule, low, high, curves, taken, FOOT, SMALL, LOW)
        rule |= {begins + column: at for column, at in place.items()}
    return told


def _place(
    frames: Sequence[tuple[int, int]], source: Source, low: float, high: float, curves: list, taken: list[Box],
    around: Places, letter: float, height: float,
) -> tuple[Source, Box]:  # fmt: skip
    """Where a mark's words stand, and what they take."""
    x, y = _at(source, low, high)
    widest = [max(text.split("\n"), key=len) for text in source["text"]]
    place = placed(frames, x, y, widest, curves, taken, letter, around, height)
    box = text_box(x, y, widest, place["align"], place["dx"], place["dy"], letter)
    return place, box._replace(top=place["dy"] - height / 2, bottom=place["dy"] + height / 2)


def _at(source: Source, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    return share(source["x"], 1, EDGE, log=True), share(source["y"], low, high, log=True)


@lru_cache(maxsize=64)
def _crossings(shape: ModelShape, options: Options) -> dict[str, tuple[Source, Places]]:
    """Where the cache meets the state, and where the model begins to be cheaper than its all-softmax twin."""
    own, twin, name = sums(shape, options), twin_rates(shape, options), twin_name(shape, options.mla)
    meet, cheaper = model_crossings(shape, options), f"beats {name.line}\nfrom {{:,}}" if name else ""
    return {
        "meet": (meeting(meet.state, own.state_bytes, "cache = state\nat {:,}"), MEETS if meet.twin else ALONE),
        "beat": (meeting(meet.twin, twin.total_bytes(meet.twin or 0) if twin else 0, cheaper), BEATS),
    }


def meeting(at: int | None, height: int, text: str) -> Source:
    """A crossing with its words; one that does not exist on this axis stands nowhere."""
    if not at or at > LAST:
        return {"x": np.array([NOWHERE]), "y": np.array([NOWHERE]), "text": [""]}
    return {"x": np.array([float(at)]), "y": np.array([float(height)]), "text": [text.format(at)]}
