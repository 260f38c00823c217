"""Where the memory's figures are written on: names beside lines, and how far their axis of pairs goes."""

from __future__ import annotations

import numpy as np

from components.lesson import Question
from components.memory_law import Law
from components.memory_load import FAR
from components.memory_run import PAIRS
from components.memory_said import TOPICS, room, rule_name
from components.placing import Box, dot_box, placed, share, text_box
from components.reel import Answer, Columns
from components.says import decimals
from components.words import SOFTMAX
from compute.feature_maps import read_member

LAW_AT = 150
"""Where the law's name stands, in pairs."""

NEWEST_AT = 127
"""Where the dots of the newest pair are named, in pairs: over the lines, so that none is taken for them."""

NOWHERE = -1e6
"""A mark that is not drawn stands here, left of every axis."""

END, HAND_END = PAIRS + 6.0, 3.9
"""Where the axis of pairs ends, and where it does for three pairs by hand."""

LETTER = 4.1
"""Width of a letter of a label, in pairs, on the narrowest axis."""

UNDER, CLEAR = 48, 0.08
"""How many pairs the name of a rule covers, and how far off its line it stands, in cosine."""

TICKS = [*range(0, PAIRS + 1, 64)]

TOP, HIGHEST = 1.22, 1.16
"""Where the axis of cosines ends, and the middle of a name that stands over the lines."""

PAGE_FRAMES, CARD_FRAMES = ((343.0, 177.0), (371.0, 177.0)), ((177.0, 111.0), (377.0, 111.0))
"""Sizes of the frame of the curves, px, in a narrow and in a wide window: on the page and on the overview."""

FIGURE = 6.3
"""Width of a figure of the number beside the dot, px, its point counted with."""

ABOVE, CLOSE = 2.2, 1.45
"""How far above its line a name stands on the log axis of energies, and how near it may come to one, as factors."""

CEILING = 280.0
"""Highest place of a name on the axis of energies that its figure does not cut."""

GAP = 4.0
"""px between a number and a name beside it."""

LATE = 190
"""From so many pairs on the name of a pair stands left of it."""


def sided(pair: int) -> Columns:
    """On which side of its mark a pair is named, so that the figure's edge does not cut the name."""
    left = pair > LATE
    return {"align": ["right" if left else "left"], "dx": np.array([-8.0 if left else 8.0], dtype=np.float32)}


def beside(told: Answer, end: float, card: bool = False) -> Columns:
    """Where the number beside the dot stands, a row a stop: clear of the curves, of their names and of the frame.

    told: the answer whose columns are drawn; end: of its axis of pairs.
    """
    x, y = share(told["memory.reel"]["n"], 0, end), share(told["memory.reel"]["here"], 0, TOP)
    curve = told["memory.curve"]
    n = share(curve["n"], 0, end)
    lines = [(n, share(curve[name], 0, TOP)) for name in ("mean", "law", *(() if card else ("best", "rival")))]
    lines = [(at, heights) for at, heights in lines if np.isfinite(heights).any()]
    boxes = [dot_box(x, y), *_taken(told["memory.names"], end)]
    if not card:
        boxes += [*_taken(told["memory.best_name"], end), *_taken(told["memory.duel"], end, "right", -2.0)]
        boxes += _taken(told["memory.far"], end, "right")
    frames, texts = CARD_FRAMES if card else PAGE_FRAMES, told["memory.reel"]["here_text"]
    place = placed(frames, x, y, texts, lines, boxes, FIGURE)
    return {f"here_{column}": values for column, values in place.items()}


def _taken(named: Columns, end: float, align: str = "left", dx: float = 0.0) -> list[Box]:
    """What names take, with a gap beside them."""
    boxes = [
        text_box(share(np.array([x]), 0, end), share(np.array([y]), 0, TOP), [text], align, dx)
        for x, y, text in zip(named["x"], named["y"], named["text"])
        if text
    ]
    return [box._replace(left=box.left - GAP, right=box.right + GAP) for box in boxes]


def _rows(question: Question, width: int) -> int:
    """Pairs for which there is exact room: the rows of the memory that are not copies of others."""
    own = question.keys == "phi" and question.phi != SOFTMAX
    return read_member(question.phi).rank_bound(question.d_k) if own else width


def room_at(question: Question, width: int) -> float:
    rows = _rows(question, width)
    return float(rows) if rows <= PAIRS else NOWHERE


def _beside(height: float, factor: float) -> float:
    """Height of a name above or below the end of a line on a log axis; nowhere without the line."""
    return float(height * factor) if np.isfinite(height) and height > 0 else np.nan


def _law_name(law: float, energy: float) -> float:
    """Height of the law's name: above its line; if the measured one is there, between both, or over it without room."""
    if law < energy < law * ABOVE**2:
        return float(np.sqrt(law * energy)) if energy > law * CLOSE**2 else _beside(energy, ABOVE)
    return _beside(law, ABOVE)


ROUNDOFF = 1e-9
"""Energy that sums of float64 leave where there is none."""


def energy_names(question: Question, told: dict, energies: np.ndarray, theory: Law) -> Columns:
    """The law and the least energy, which is named below its line where the law leaves room; in their place, that there
    is nothing to draw where nothing interferes, for a log axis has no zero."""
    x, texts = np.full(2, float(END)), [theory.name, "best any memory could"]
    if not np.nanmax(energies[1:]) > ROUNDOFF:
        return {"x": x, "y": np.array([1.0, np.nan]), "text": ["no crosstalk: 0 at every n", texts[1]]}
    law, least = _law_name(theory.energy[-1], energies[_last(question, told)]), _beside(theory.least[-1], 1 / ABOVE)
    if np.isfinite(law) and len(theory.name) > len("law"):  # longer than what is beside a line: over all of them
        law, texts[0] = min(float(np.nanmax([*energies, *theory.energy])) * ABOVE, CEILING), f"dashed: {theory.name}"
    heights = [law, _beside(theory.least[-1], ABOVE) if 1 / ABOVE < law / least < ABOVE else least]
    return {"x": x, "y": np.array(heights), "text": texts}


def _last(question: Question, told: dict) -> int:
    """Pairs with which the lines end."""
    return 3 if question.stream == "hand" else min(PAIRS, told["most"])


def _apart(own: np.ndarray, rival: np.ndarray) -> np.ndarray:
    """Heights of the names of two lines, given what of them lies under the names: above the upper, and above the lower
    too where there is room between them, else below it; where there is none either, both above, one over the other."""
    higher = float(np.mean(own)) >= float(np.mean(rival))
    upper, lower = (own, rival) if higher else (rival, own)
    above, beneath = upper.max() + CLEAR, lower.min() - CLEAR
    if upper.min() - lower.max() >= 2 * CLEAR:
        beneath = lower.max() + CLEAR
    elif beneath < CLEAR / 2:
        above, beneath = above + CLEAR, max(above, lower.max() + CLEAR)
    ends = [min(above, TOP - CLEAR / 2), beneath]
    return np.array(ends if higher else ends[::-1])


def names(question: Question, told: dict, rival: dict | None, theory: Law) -> Answer:
    """Names beside lines: room and law; both rules of a duel; and a load far off the axis, where its law holds."""
    at, rows = room_at(question, told["width"]), _rows(question, told["width"])
    ends = "" if question.stream == "hand" else room(question, told["width"], rows)
    ends += " · thin lines: a topic ends" * (question.stream in TOPICS)
    law_y = theory.cosine[LAW_AT]
    plain = question.rule == "additive" and question.stream == "plain" and question.keys == "random"
    end = _last(question, told)
    under = slice(max(1, end - (2 if question.stream == "hand" else UNDER)), end + 1)
    heights = np.full(2, np.nan)
    if rival is not None:
        heights = _apart(*(side["curve"]["mean"][under].astype(float) for side in (told, rival)))
    return {
        "memory.names": {
            "x": np.array([min(at + 3.0, END - LETTER * len(ends)) if at != NOWHERE else 3.0, LAW_AT, NEWEST_AT]),
            "y": np.array([0.06, 0.0 if not np.isfinite(law_y) else law_y + 0.13, HIGHEST]),
            "text": [
                ends,
                theory.name if np.isfinite(law_y) else "",
                "dots: the newest pair" if question.rule != "additive" and question.stream != "hand" else "",
            ],
        },
        "memory.best_name": {
            "x": np.array([36.0]),
            "y": np.array([1.07]),
            "text": ["best any memory could" if np.isfinite(theory.best[-1]) else ""],
        },
        "memory.duel": {
            "x": np.full(2, end + (0.3 if question.stream == "hand" else 2.0)),
            "y": heights,
            "text": ["", ""] if rival is None else [rule_name(question.rule), rule_name(question.duel)],
        },
        "memory.far": {
            "x": np.array([PAIRS if plain else NOWHERE], dtype=float),
            "y": np.array([HIGHEST]),
            "text": [f"{FAR.tokens:,} pairs in {FAR.width} rows: {decimals(FAR.cosine, 3)} →"],
        },
    }  # fmt: skip
