"""What bracketing says: costs of both orders at every length, rectangles to scale, and a machine's own times."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.bracketing_orders import by_hand, doubled, lists, next_token, one_product, same, softmax_rank
from components.bracketing_times import machine, measured_times
from components.formula import mathml
from components.lesson import Question
from components.powers import powers, times
from components.reel import Answer
from components.sharpness_answer import name_of
from components.view import props, texts
from components.words import SOFTMAX
from compute.cost import (
    attention_flops,
    crossover_T,
    intermediate_bytes,
    normaliser_flops,
    prefix_comparisons,
    saving,
)
from compute.cost_tables import modes
from compute.feature_maps import read_member
from compute.sizing import human_bytes

STOPS = AXES["T"].stops
LAST, TICK_AT, EDGE = STOPS[-1], 1.25e7, 2.4e7
"""On the axis of T: where lines end, where the swatches of their names begin, where the axis ends."""

LAWS = ("left order, 2T²(d_φ + d_v)", "right order, 4T·d_φ·d_v")

NOWHERE = 1e-3
"""A mark that is not drawn stands here, left of every axis."""

PLACES = (0.62, 1.97, 3.45, 4.83)
"""Centres of four rectangles, in units of the longest side."""

AROUND = (0.06, 5.4)
"""Where brackets stand before the first rectangle and behind the last."""

MODES, CHUNK = 3, 64
"""Rows of the table of modes, and tokens a chunk in its chunkwise one."""

HAIRLINE = 0.025
"""Shortest side drawn, in the same units: about two pixels."""

GAP_FROM = 100
"""From this ratio on there is room between the two lines for its number."""


def width(phi: str, head: int) -> tuple[int, str]:
    """d_φ of a map at a head's width, and what must be said about it.  Softmax's scores are d_k wide."""
    if phi == SOFTMAX:
        return head, ""
    try:
        return read_member(phi).d_phi(head), ""
    except ValueError:
        word = phi.partition("~")[0]
        return read_member(word).d_phi(head), f"{phi} does not exist at head width {head}; {name_of(word)} is counted."


def equal_cost(d_phi: int, head: int) -> Fraction:
    """T*, exactly: the saving grows in proportion to T, so it is one over the saving at a single token."""
    return 1 / saving(1, d_phi, head)


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
    equal = crossover_T(d_phi, head)
    low, high = np.nanmin([left, right]) / 3, np.nanmax(left) * 12
    shown = np.asarray(STOPS, dtype=float)
    return {
        "bracketing.curves": {"T": shown, "left": left, "right": right},
        "bracketing.reel": {
            "T": shown,
            "dots_x": np.repeat(shown[:, None], 2, axis=1),
            "dots_y": np.nan_to_num(np.stack([left, right], axis=1), nan=NOWHERE),
            "gap_y": np.sqrt(left * (NOWHERE if blocked else right)),
            "gap_text": ["" if blocked else _gap(T, d_phi, head) for T in STOPS],
            **_rectangles(d_phi, head, blocked),
            **_said(flops, d_phi, head, blocked),
        },
        "bracketing.phrases": _phrases(phi, d_phi, head),
        **_names(d_phi, head, blocked),
        "bracketing.ends": {
            "order": ["left", "right"],
            "tick": np.full(2, TICK_AT),
            "x": np.full(2, EDGE),
            "dash": ["solid", "solid"],
            "y": np.nan_to_num(np.array([left[-1], right[-1]]), nan=NOWHERE),
            "text": ["softmax, 2T²(d + d)", ""] if blocked else list(LAWS),
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
                ("bracketing.subject", _subject(phi, head)),
                ("bracketing.aside", wrong or _aside(d_phi, head, blocked)),
                *_mode_texts(),
                *lists(),
                ("bracketing.same", same(phi)),
                ("bracketing.machine", machine()),
            ]
        ),
        "bracketing.math": texts(
            [("bracketing.formula", mathml(_formula(blocked))), ("bracketing.values", _values(d_phi, head, blocked))]
        ),
    }  # fmt: skip


def _gap(T: int, d_phi: int, head: int) -> str:
    ratio = float(saving(T, d_phi, head))
    return times(ratio) if ratio >= GAP_FROM else ""


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
        said["left_size"].append([f"{t:,} × {d_phi:,}", f"{d_phi:,} × {t:,}", f"{t:,} × {t:,}", f"{t:,} × {head}"])
        sizes = [f"{t:,} × {d_phi:,}", f"{d_phi:,} × {head}", f"{d_phi:,} × {t:,}", f"{t:,} × {head}"]
        said["right_size"].append([""] * 4 if blocked else sizes)
    return {
        **{
            name: np.maximum(np.stack(part, axis=1) / longest[:, None], HAIRLINE).astype(np.float32)
            for name, part in sides.items()
        },
        **said,
    }


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
        **{f"bracketing.{side}_sizes": {"x": places, "y": np.full(4, -0.83)} for side in names},
        "bracketing.right_note": {"x": np.array([2.72]), "y": np.array([0.0]), "text": [note if blocked else ""]},
    }  # fmt: skip


def _said(flops: dict[str, list[int]], d_phi: int, head: int, blocked: bool) -> dict[str, list]:
    """Every string of the view, one a stop."""
    said: dict[str, list] = {
        name: []
        for name in ("headline", "sentence", "left_flops", "right_flops", "between", "sums", "decoding",
                     "product", "doubled", "next",
                     "left_title", "right_title", *_rows("bytes"), *_rows("arithmetic"))
    }  # fmt: skip
    for i, T in enumerate(STOPS):
        left, right = flops["left"][i], flops["right"][i]
        held = [human_bytes(intermediate_bytes(T, d_phi, head, order), 3) for order in ("left", "right")]
        sums = [f"{normaliser_flops(T, d_phi, order):,}" for order in ("left", "right")]
        said["headline"].append(_headline(T, left, right, blocked))
        said["sentence"].append(held[:1] if blocked else held)
        said["left_flops"].append(f"{left:,}")
        said["right_flops"].append("not possible" if blocked else f"{right:,}")
        said["between"].append(held[0] if blocked else f"{held[0]} or {held[1]}")
        said["sums"].append(sums[0] if blocked else f"{sums[0]} or {sums[1]}")
        said["decoding"].append(f"{prefix_comparisons(T):,}")
        said["product"].append("not possible" if blocked else one_product(T, d_phi, head))
        said["doubled"].append(doubled(T, d_phi, head, blocked))
        said["next"].append(next_token(T, d_phi, head, blocked))
        for row, mode in enumerate(modes(T, d_phi, head, CHUNK)):
            possible = not blocked or mode.word == "parallel"
            told = (
                f"{_counted(mode.steps, 'step')} in a row, {_counted(mode.numbers, 'number')} kept; for {mode.used_for}"
            )
            said[f"bytes_{row}"].append(f"{mode.flops:,} FLOPs" if possible else "not possible")
            said[f"arithmetic_{row}"].append(told if possible else "")
        said["left_title"].append(f"left order: {held[0]} between the two products")
        said["right_title"].append(
            "right order: not possible" if blocked else f"right order: {held[1]} between the two products"
        )
    return said


def _rows(part: str) -> tuple[str, ...]:
    return tuple(f"{part}_{i}" for i in range(MODES))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _mode_texts() -> list[tuple[str, str]]:
    """The three ways to run a layer with its causal mask."""
    told = []
    for i, mode in enumerate(modes(1, 1, 1, CHUNK)):
        name = f"{mode.word}, {CHUNK} a chunk" if mode.word == "chunkwise" else mode.word
        told += [(f"bracketing.row.{i}.kind", name), (f"bracketing.row.{i}.keys", "")]
    return told


def _headline(T: int, left: int, right: int, blocked: bool) -> str:
    at = f"At {T:,} token{'s' if T > 1 else ''}"
    if blocked:
        return f"{at} softmax takes {powers(left)} FLOPs, and leaves no choice of order."
    if left == right:
        return f"{at} both orders take {powers(left)} FLOPs."
    cheap = "right" if right < left else "left"
    few, many = min(left, right), max(left, right)
    ratio = times(many / few).removesuffix("×")
    return f"{at} the {cheap} order takes {ratio} times fewer FLOPs: {powers(few)}, not {powers(many)}."


def _phrases(phi: str, d_phi: int, head: int) -> dict[str, list[str]]:
    if phi == SOFTMAX:
        return {"sentence": ["The T × T matrix of one head takes {} in float32."]}
    hand = f" {by_hand()}" if phi.partition("~")[0] == "taylor" else ""
    told = f"In float32 the T × T matrix of one head takes {{}}, the {d_phi:,} × {head} summary {{}}.{hand}"
    return {"sentence": [told]}


def _aside(d_phi: int, head: int, blocked: bool) -> str:
    if blocked:
        return f"Only the left order is possible. {softmax_rank()}"
    star, first = equal_cost(d_phi, head), crossover_T(d_phi, head)
    if star.denominator == 1:
        return f"Equal at T* = {star.numerator:,} exactly, so strictly fewer from {first:,}."
    return f"Strictly fewer from {first:,} tokens."


def _subject(phi: str, head: int) -> str:
    name = name_of(phi.partition("~")[0])
    return f" · {name}, head width {head}"


def _formula(blocked: bool) -> str:
    if blocked:
        return r"\mathrm{softmax}(Q K^\top / \sqrt{d})\, V"
    return r"(\phi(Q)\, \phi(K)^\top)\, V = \phi(Q)\, (\phi(K)^\top V)"


def _values(d_phi: int, head: int, blocked: bool) -> str:
    if blocked:
        return mathml(r"\mathrm{softmax}(Q K^\top)\, V \ne Q\, f(K, V)", "block")
    equal = equal_cost(d_phi, head)
    star = (f"{equal.numerator:,}" if equal.denominator == 1 else f"{float(equal):,.2f}").replace(",", "{,}")
    phi, v = rf"\underset{{{d_phi:,}}}{{d_\phi}}".replace(",", "{,}"), rf"\underset{{{head}}}{{d_v}}"
    return mathml(rf"T^* = \frac{{2\, {phi}\, {v}}}{{d_\phi + d_v}} = {star}", "block")
