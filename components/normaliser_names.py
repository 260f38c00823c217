"""Names in the normaliser's figures that stand where there is room: clear of the lines, whatever they do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.normaliser_numbers import Numbers, T
from components.normaliser_places import FRAMES, TOKENS_END
from components.placing import Box, clearest, share, text_box
from components.reel import Columns
from compute.sharpness import UNDEFINED_BELOW

RIGHT_AT, EDGE = 3_500.0, 6_000.0
"""On the axis of tokens: where names end inside a figure, and where the lowest figure ends."""

FAR = 10.0**9
"""A name that is not shown stands here, above every axis."""

LAW_AT = (120.0, 60.0, 240.0, 480.0, 1_000.0, RIGHT_AT)
"""Where the name of the law may end, the best first: up to the last ones the corner is left to the number there."""

OVER = (0.1, 0.16, 0.23, 0.3)
"""And how far over the law, as shares of the frame."""

WIDE = ((780.0, 98.0), (840.0, 98.0))
"""Sizes of the lowest figure's frame, px."""

LEFT = (-1.1, 1.14)
"""Ends of its axis."""

REMARKS_AT = tuple((x, y) for y in (-0.5, -0.82, 0.5, 0.8, -0.3, 0.3) for x in (220.0, 60.0, 16.0, 4.0, 1.5))
"""Where its remarks may begin, the best first."""

MOST = "identity: 32 of 32 draws are below zero"
"""The longest that the remark about the question's answer gets."""


def sum_names(found: Numbers, ends: tuple[float, float]) -> Columns:
    """Names above the law and below the end of the sum in few digits."""
    short = np.isfinite(found.short[-1])
    x, y = _over_the_law(found, ends)
    return {
        "x": np.array([x, RIGHT_AT]),
        "y": np.array([y, found.short[-1] * 0.05 if short else FAR]),
        "align": ["right"] * 2,
        "text": [law_name(found), "in bfloat16" if short else ""],
    }


def _over_the_law(found: Numbers, ends: tuple[float, float]) -> tuple[float, float]:
    across, name = share(T, 1, TOKENS_END, log=True), law_name(found)
    heights = [share(of, *ends, log=True) for of in (np.abs(found.net), found.law, found.short)]
    places = [(x, over) for over in OVER for x in LAW_AT]
    at = share(np.array([x for x, _ in places]), 1, TOKENS_END, log=True)
    up = np.interp(at, across, heights[1]) + [over for _, over in places]
    best = clearest(FRAMES, at, up, name, "right", [(across, y) for y in heights])
    low, high = np.log(ends)
    return places[best][0], float(np.exp(low + up[best] * (high - low)))


def law_name(found: Numbers) -> str:
    """Signs alone make a random walk; a map that leans to one side, as SiLU does, drifts away from zero in the end."""
    if found.positive:
        return "t × mean κ, all draws"
    return "a walk that drifts" if T[-1] * abs(found.mean) > 0.85 * found.law[-1] else "a random walk"


def remarks(lines: Sequence[np.ndarray]) -> dict[str, Columns]:
    """Places of what is said in the lowest figure, where its lines leave room."""
    across = share(T, 1, EDGE, log=True)
    x = share(np.array([x for x, _ in REMARKS_AT]), 1, EDGE, log=True)
    y = share(np.array([y for _, y in REMARKS_AT]), *LEFT)
    drawn, taken = [(across, share(line, *LEFT)) for line in lines], list[Box]()
    said = f"within ±{UNDEFINED_BELOW:g}: too little is left to divide by"
    told = {}
    for name, text in (("zero_name", said), ("most_negative", MOST)):
        best = clearest(WIDE, x, y, text, "left", drawn, taken)
        taken.append(text_box(x[[best]], y[[best]], [text], "left"))
        told[f"normaliser.{name}"] = {axis: np.array([at]) for axis, at in zip("xy", REMARKS_AT[best])}
    told["normaliser.zero_name"]["text"] = [said]
    return told
