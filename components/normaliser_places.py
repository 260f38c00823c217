"""Where the numbers beside the normaliser's dots stand: clear of the curves, the names, the frame, and each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from components.normaliser_numbers import NEARBY, Numbers, T
from components.placing import BOLD, Box, dot_box, placed, rule_box, share, text_box
from components.reel import Columns
from compute.normaliser import SCORE_DERIVATIVE_BOUND

FRAMES = ((220.0, 159.0), (254.0, 159.0))
"""Sizes of the three figures' frames, px, in a narrow and in a wide window; one below another they have more room."""

TOKENS_END = 4800.0
"""Where their axis of tokens ends."""

FAR = 1e4
"""More px than any figure is wide or high."""

SHARES = (3e-5, 5.0)
"""Ends of the axis of weights: above all of the weight there is room for a number."""


def beside(
    found: Numbers, dots: Mapping[str, np.ndarray | list], ranges: Mapping[str, tuple], named: Mapping[str, Columns]
) -> dict[str, np.ndarray | list]:
    """Columns align, dx and dy of the numbers beside the dots of the three figures, one row a stop."""
    x, bands, told = _across(T), found.bands, {}
    sums = [np.abs(found.net), found.law, found.short]
    shares = [bands["share"][1], bands["near"][1], 1 / T, np.minimum(NEARBY / T, 1)]
    for name, dot, ends, lines, names in (
        ("rise", "den", ranges["denominator"], sums, named["sum"]),
        ("fall", "share", SHARES, shares, named["share"]),
    ):
        y = share(dots[dot], *ends, log=True)
        boxes = [*_named(names, ends), dot_box(x, y), rule_box(x)]
        place = placed(FRAMES, x, y, dots[f"{dot}_text"], _lines(lines, ends), boxes, BOLD)
        told |= {f"{name}_{column}": values for column, values in place.items()}
    return told | _moves(found, dots, ranges["derivative"], named["derivative"])


def _moves(found: Numbers, dots: Mapping, ends: tuple[float, float], names: Columns) -> dict[str, np.ndarray | list]:
    """Two dots over each other: between them runs a line that neither number crosses, so each is taken for its own."""
    x = _across(T)
    quarter = np.full(len(T), SCORE_DERIVATIVE_BOUND)
    lines = _lines([found.bands["kernel"][1], found.bands["score"][1], found.bound, quarter], ends)
    heights = share(dots["moves"], *ends, log=True)
    order, stops = np.argsort(-np.nan_to_num(heights, nan=-1), axis=1), np.arange(len(T))
    boxes, places = [*_named(names, ends), rule_box(x), *(dot_box(x, y) for y in heights.T)], []
    for i, (top, bottom) in zip(order.T, ((0, FAR), (-FAR, 0))):
        y, texts = heights[stops, i], [pair[k] for pair, k in zip(dots["moves_text"], i)]
        others = Box(x, heights.mean(axis=1), -FAR, FAR, top, bottom)
        places.append(placed(FRAMES, x, y, texts, lines, [*boxes, others], BOLD))
        boxes.append(text_box(x, y, texts, *places[-1].values(), letter=BOLD))
    back = np.argsort(order, axis=1)
    aligned = [[pair[k] for k in to] for pair, to in zip(zip(*(place["align"] for place in places)), back)]
    offsets = {c: np.stack([place[c] for place in places], axis=1) for c in ("dx", "dy")}
    moved = {f"moves_{c}": np.take_along_axis(values, back, axis=1) for c, values in offsets.items()}
    return {"moves_align": aligned, **moved}


def _across(tokens: np.ndarray) -> np.ndarray:
    return share(tokens, 1, TOKENS_END, log=True)


def _lines(curves: Sequence[np.ndarray], ends: tuple[float, float]) -> list[tuple[np.ndarray, np.ndarray]]:
    x = _across(T)
    return [(x, share(curve, *ends, log=True)) for curve in curves]


def _named(names: Columns, ends: tuple[float, float]) -> list[Box]:
    """What the names of the lines take."""
    points = zip(names["x"], names["y"], names["text"], names["align"])
    return [
        text_box(_across(np.array([x])), share(np.array([y]), *ends, log=True), [text], align)
        for x, y, text, align in points
    ]
