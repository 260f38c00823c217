"""Sentences of bracketing: FLOPs, bytes and modes in words, at every length."""

from __future__ import annotations

from fractions import Fraction

from components.axes import AXES
from components.bracketing_orders import by_hand, doubled, next_token, one_product, softmax_rank
from components.formula import at_finger, mathml, under_finger
from components.powers import powers, times
from components.says import counted_tokens
from components.sharpness_answer import name_of
from components.words import SOFTMAX
from compute.cost import crossover_T, intermediate_bytes, normaliser_flops, prefix_comparisons, saving
from compute.cost_tables import modes
from compute.feature_maps import read_member
from compute.sizing import human_bytes

STOPS = AXES["T"].stops

MODES, CHUNK = 3, 64
"""Rows of the table of modes, and tokens a chunk in its chunkwise one."""

RATIO = "bracketing.reel.ratio"
"""The column of what the formula comes to."""


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


def said(flops: dict[str, list[int]], d_phi: int, head: int, blocked: bool) -> dict[str, list]:
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


def mode_texts() -> list[tuple[str, str]]:
    """The three ways to run a layer with its causal mask."""
    told = []
    for i, mode in enumerate(modes(1, 1, 1, CHUNK)):
        name = f"{mode.word}, {CHUNK} a chunk" if mode.word == "chunkwise" else mode.word
        told += [(f"bracketing.row.{i}.kind", name), (f"bracketing.row.{i}.keys", "")]
    return told


def _headline(T: int, left: int, right: int, blocked: bool) -> str:
    at = f"At {counted_tokens(T)}"
    if blocked:
        return f"{at} softmax takes {powers(left)} FLOPs, and leaves no choice of order."
    if left == right:
        return f"{at} both orders take {powers(left)} FLOPs."
    cheap = "right" if right < left else "left"
    few, many = min(left, right), max(left, right)
    ratio = times(many / few).removesuffix("×")
    return f"{at} the {cheap} order takes {ratio} times fewer FLOPs: {powers(few)}, not {powers(many)}."


def phrases(phi: str, d_phi: int, head: int) -> dict[str, list[str]]:
    if phi == SOFTMAX:
        return {"sentence": ["The T × T matrix of one head takes {} in float32."]}
    hand = f" {by_hand()}" if phi.partition("~")[0] == "taylor" else ""
    told = f"In float32 the T × T matrix of one head takes {{}}, the {d_phi:,} × {head} summary {{}}.{hand}"
    return {"sentence": [told]}


def aside(d_phi: int, head: int, blocked: bool) -> str:
    if blocked:
        return f"Only the left order is possible. {softmax_rank()}"
    star, first = equal_cost(d_phi, head), crossover_T(d_phi, head)
    if star.denominator == 1:
        return f"Equal at T* = {star.numerator:,} exactly, so strictly fewer from {first:,}."
    return f"Strictly fewer from {first:,} tokens."


def subject(phi: str, head: int) -> str:
    name = name_of(phi.partition("~")[0])
    return f" · {name}, head width {head}"


def formula(blocked: bool) -> str:
    if blocked:
        return r"\mathrm{softmax}(Q K^\top / \sqrt{d})\, V"
    return r"(\phi(Q)\, \phi(K)^\top)\, V = \phi(Q)\, (\phi(K)^\top V)"


def values(d_phi: int, head: int, blocked: bool) -> str:
    if blocked:
        flops = rf"\text{{FLOPs}} = 2\, {under_finger('T', 'T')}^2\, (\underset{{{head}}}{{d}} + d)"
        return mathml(r"\mathrm{softmax}(Q K^\top)\, V \ne Q\, f(K, V)", "block") + mathml(flops, "block")
    equal = equal_cost(d_phi, head)
    star = (f"{equal.numerator:,}" if equal.denominator == 1 else f"{float(equal):,.2f}").replace(",", "{,}")
    phi, v = rf"\underset{{{d_phi:,}}}{{d_\phi}}".replace(",", "{,}"), rf"\underset{{{head}}}{{d_v}}"
    tokens = under_finger("T", "T")
    ratio = rf"\frac{{\text{{left}}}}{{\text{{right}}}} = \frac{{{tokens}}}{{\underset{{{star}}}{{T^*}}}} = "
    ratio += at_finger("T", RATIO)
    return mathml(rf"T^* = \frac{{2\, {phi}\, {v}}}{{d_\phi + d_v}} = {star}", "block") + mathml(ratio, "block")
