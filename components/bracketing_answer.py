"""What bracketing says: costs of both orders at every length, rectangles to scale, and a machine's own times."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from components.bracketing_orders import lists, same
from components.bracketing_said import STOPS, aside, formula, mode_texts, phrases, said, subject, values, width
from components.bracketing_times import machine, measured_times
from components.formula import mathml
from components.lesson import Question
from components.plots import spread
from components.powers import times
from components.reel import Answer
from components.says import short_tokens
from components.view import props, texts
from components.words import SOFTMAX
from compute.cost import attention_flops, crossover_T, decode_flops, saving, softmax_decode_flops

LAST, TICK_AT, EDGE = STOPS[-1], 1.25e7, 2.4e7
"""On the axis of T: where lines end, where the swatches of their names begin, where the axis ends."""

LAWS = ("left order\n2T²(d_φ + d_v)", "right order\n4T·d_φ·d_v")
NEXT = ("next token, cache\n4T·d", "next token, state\n4d_φ·d_v")
"""Names of lines: of a whole context by both orders, and of the next token, over a cache and from the state."""

NAME = 0.19
"""Height of a name, as a share of the axis: nearer to each other they are moved apart."""

LONG = 13
"""Letters of a size that fit beside the next rectangle's on a phone, or beside A; longer ones take two lines."""

NOWHERE = 1e-3
"""A mark that is not drawn stands here, left of every axis."""

PLACES = (0.62, 1.97, 3.45, 4.83)
"""Centres of four rectangles, in units of the longest side."""

AROUND = (0.06, 5.4)
"""Where brackets stand before the first rectangle and behind the last."""

HAIRLINE = 0.025
"""Shortest side drawn, in the same units: about two pixels."""

GAP_FROM = 100
"""From this ratio on there is room between the two lines for its number."""

GAP_LEFT_FROM = 2**17
"""Beyond this length the number stands left of the finger: on its right are the lines' names."""


def answer(question: Question) -> Answer:
    return _answer(question.phi, question.head)


@lru_cache(maxsize=256)
def _answer(phi: str, head: int) -> Answer:
    d_phi, wrong = width(phi, head)
    blocked = phi == SOFTMAX
    flops = {order: [attention_flops(T, d_phi, head, order) for T in STOPS] for order in ("left", "right")}
    left, right = (np.array(flops[order], dtype=float) for order in ("left", "right"))
    if blocked:
        right = np.full(len(STOPS), np.nan)
    cache = np.array([softmax_decode_flops(T, head, head) for T in STOPS], dtype=float)
    state = np.full(len(STOPS), np.nan if blocked else float(decode_flops(d_phi, head)))
    equal = crossover_T(d_phi, head)
    low, high = np.nanmin([left, right, cache]) / 3, np.nanmax(left) * 12
    shown = np.asarray(STOPS, dtype=float)
    return {
        "bracketing.curves": {"T": shown, "left": left, "right": right, "cache": cache, "state": state},
        "bracketing.reel": {
            "T": shown,
            "dots_x": np.repeat(shown[:, None], 2, axis=1),
            "dots_y": np.nan_to_num(np.stack([left, right], axis=1), nan=NOWHERE),
            "gap_y": np.sqrt(left * (NOWHERE if blocked else right)),
            "gap_text": ["" if blocked else _gap(T, d_phi, head) for T in STOPS],
            "gap_align": ["right" if T > GAP_LEFT_FROM else "left" for T in STOPS],
            "gap_dx": np.where(shown > GAP_LEFT_FROM, -8.0, 8.0),
            "gap_dy": np.where(shown > GAP_LEFT_FROM, 5.0, 0.0),
            "ratio": ["" if blocked else _ratio(saving(T, d_phi, head)) for T in STOPS],
            **_rectangles(d_phi, head, blocked),
            **said(flops, d_phi, head, blocked),
        },
        "bracketing.phrases": phrases(phi, d_phi, head),
        **_names(d_phi, head, blocked),
        "bracketing.ends": {
            "order": ["left", "right"] * 2,
            "tick": np.full(4, TICK_AT),
            "x": np.full(4, EDGE),
            "dash": ["solid"] * 2 + ["dashed"] * 2,
            "y": _apart(np.array([left[-1], right[-1], cache[-1], state[-1]]), low, high),
            "text": ["softmax\n2T²(d + d)", "", NEXT[0], ""] if blocked else [*LAWS, *NEXT],
        },
        "bracketing.cross": {
            "x": np.array([NOWHERE if blocked else float(equal)]),
            "y": np.array([NOWHERE if blocked else float(attention_flops(equal, d_phi, head, "right"))]),
            "text": ["" if blocked else f"fewer FLOPs\nfrom {equal:,} tokens"],
        },
        **measured_times(),
        "bracketing.props": props(
            [
                ("bracketing.y", "start", float(low)),
                ("bracketing.y", "end", float(high)),
                ("bracketing.star", "location", NOWHERE if blocked else float(equal)),
            ]
        ),
        "bracketing.texts": texts(
            [
                ("bracketing.subject", subject(phi, head)),
                ("bracketing.aside", wrong or aside(d_phi, head, blocked)),
                *mode_texts(),
                *lists(),
                ("bracketing.same", same(phi)),
                ("bracketing.machine", machine()),
            ]
        ),
        "bracketing.math": texts(
            [("bracketing.formula", mathml(formula(blocked))), ("bracketing.values", values(d_phi, head, blocked))]
        ),
    }  # fmt: skip


def _apart(heights: np.ndarray, low: float, high: float) -> np.ndarray:
    """Where names stand beside the ends of lines at these heights, on an axis from low to high; NaN is nowhere."""
    there = np.isfinite(heights)
    bottom, top = np.log10([low, high])
    gap = NAME * (top - bottom)
    placed = np.full(len(heights), NOWHERE)
    placed[there] = 10 ** np.array(spread(np.log10(heights[there]), gap, bottom + gap / 2, top - gap / 2))
    return placed


def _gap(T: int, d_phi: int, head: int) -> str:
    ratio = float(saving(T, d_phi, head))
    return times(ratio) if ratio >= GAP_FROM else ""


def _ratio(saved: Fraction) -> str:
    """`8,192`, `2.84`, `1/128`, `0.126`: left over right, as it stands in a formula."""
    return f"1/{saved.denominator:,}" if saved.numerator == 1 < saved.denominator else times(float(saved))[:-1]


def _rectangles(d_phi: int, head: int, blocked: bool) -> dict[str, np.ndarray | list]:
    """Sides of four matrices a panel and stop, the longest of all being 1, and their sizes in words."""
    T, one = np.asarray(STOPS, dtype=float), np.ones(len(STOPS))
    longest = np.maximum(T, max(d_phi, head))
    d, v = d_phi * one, head * one
    seen = np.nan if blocked else 1.0
    sides = {
        "left_w": [d, T, T, v],
        "left_h": [T, d, T, T],
        "right_w": [d * seen, v * seen, T * seen, v * seen],
        "right_h": [T * seen, d * seen, d * seen, T * seen],
    }
    said = {"left_size": [], "right_size": []}
    for t in STOPS:
        q, k, v = _size(t, d_phi), _size(d_phi, t), _size(t, head)
        said["left_size"].append([q, k, _size(t, t), v])
        said["right_size"].append([""] * 4 if blocked else [q, _size(d_phi, head), k, v])
    return {
        **{
            name: np.maximum(np.stack(part, axis=1) / longest[:, None], HAIRLINE).astype(np.float32)
            for name, part in sides.items()
        },
        **said,
    }


def _size(rows: int, columns: int) -> str:
    """As the axis of T says it, `1M × 128`; a length that is not round takes two lines."""
    said = f"{short_tokens(rows)} × {short_tokens(columns)}"
    return said if len(said) <= LONG else said.replace("× ", "×\n")


def _names(d_phi: int, head: int, blocked: bool) -> Answer:
    """What stands under and between the rectangles."""
    places = np.array(PLACES)
    between = np.append((places[:-1] + places[1:]) / 2, AROUND)
    q, k = ("Q", "Kᵀ") if blocked else ("φ(Q)", "φ(K)ᵀ")
    names = {
        "left": [q, k, "softmax" if blocked else "A", "V"],
        "right": [""] * 4 if blocked else [q, "S", k, "V"],
    }
    signs = {
        "left": ["·", "→" if blocked else "=", "] ·", "[", ""],
        "right": [""] * 5 if blocked else ["· [", "=", "·", "", "]"],
    }
    note = "exp and row sums need all T × T scores\nbefore V comes in: there is no right order"
    return {
        **{
            f"bracketing.{side}_names": {"x": places, "y": np.full(4, -0.64), "text": text}
            for side, text in names.items()
        },
        **{
            f"bracketing.{side}_signs": {"x": between, "y": np.zeros(5), "text": text}
            for side, text in signs.items()
        },
        **{
            f"bracketing.{side}_parts": {
                "x": places, "y": np.zeros(4),
                "kind": ["given", "given", "made", "given"] if side == "left" else ["given", "made", "given", "given"],
            }
            for side in names
        },
        **{f"bracketing.{side}_sizes": {"x": places, "y": np.full(4, -0.74)} for side in names},
        "bracketing.right_note": {"x": np.array([2.72]), "y": np.array([0.0]), "text": [note if blocked else ""]},
    }  # fmt: skip
