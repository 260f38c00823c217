"""What the recall view says: how much of what was stored a state of so many bytes still tells apart.

The numbers are those of the sweep that comes with the program; nothing is computed here but bytes.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from components import ledger_said
from components.cases import checked, reported
from components.formula import mathml, with_values
from components.lesson import Question
from components.plots import spread
from components.recall_cases import CASES, REPORTS
from components.reel import Answer
from components.says import decimals, percent
from components.sweep_shown import said
from components.view import props, texts
from compute.sizing.units import human_bytes
from compute.sweeps.base import Result
from compute.sweeps.crosstalk_map import RULES
from compute.sweeps.recall_map import PAIRS, state_numbers
from compute.sweeps.shipped import shipped

FLOAT32 = 4
ASKED = 64
"""Pairs of the view's question, which asks for twice as many."""

SLOTS = {"delta_full": "delta"}
"""Rules that wear another one's colour, dashed."""

BYTES_END, PAIRS_END = 2.0**20, 1_400.0
PLACES = {"tick": BYTES_END * 0.68, "x": BYTES_END, "tick_n": PAIRS_END * 0.8, "n": PAIRS_END}
"""On both axes: where the swatches of the names begin, and where the axis ends."""

NINE = 0.9
"""The share that a headline asks for: nine pairs in ten."""

FLUSH = "C139"
FLUSHED = ("16 wide,\nflushed", "64 wide,\nall kept")
"""Two memories that read the newest eight of 520 pairs, as the checks of that claim fill them."""


@cache
def found() -> Result:
    return shipped("recall")


def rules() -> tuple[str, ...]:
    return tuple(found().axes["rule"])


def name_of(rule: str) -> str:
    """`delta (β = 1)` for the rule at full strength."""
    return f"{RULES[rule]} (β = 1)" if rule not in RULES.values() else rule.replace("_", " ")


def nearest(axis: str, value: float) -> int:
    """Place on an axis of the sweep, nearest by ratio."""
    return int(np.argmin(np.abs(np.log(found().axes[axis] / value))))


def state_bytes(d_phi: np.ndarray, d_v: int) -> np.ndarray:
    """Bytes of a state with its normaliser, in float32."""
    return state_numbers(d_phi, d_v) * FLOAT32


def cache_bytes(n: int, d_k: int, d_v: int) -> int:
    """Bytes of n pairs kept whole, in float32 like the state: what a number buys, whatever its dtype."""
    return n * (d_k + d_v) * FLOAT32


@lru_cache(maxsize=64)
def answer_of(d_k: int, d_v: int, chosen: str) -> Answer:
    result = found()
    i, j = nearest("d_phi", d_k), nearest("d_v", d_v)
    widths, d_v = result.axes["d_phi"], int(result.axes["d_v"][j])
    width, pairs = int(widths[i]), np.asarray([n for n in PAIRS if n <= result.axes["n"][-1]])
    by_bytes = {rule: result.arrays["recall"][r, :, j, : len(pairs)] for r, rule in enumerate(rules())}
    by_pairs = {rule: result.arrays["recall"][r, i, j, : len(pairs)] for r, rule in enumerate(rules())}
    size = state_bytes(widths, d_v)
    last = [min(k, len(pairs) - 1) for k in range(len(PAIRS))]  # a shorter sweep stands still at its end
    told = [_told(by_bytes, by_pairs, pairs, k, size, width, d_v, chosen) for k in last]
    return {
        "recall.reel": {
            "pairs": np.asarray(PAIRS, dtype=float),
            **{rule: np.asarray([values[:, k] for k in last]) for rule, values in by_bytes.items()},
            "cache": np.asarray([float(cache_bytes(int(pairs[k]), width, d_v)) for k in last]),
            "cache_said": [
                f"a cache of all pairs, {human_bytes(cache_bytes(int(pairs[k]), width, d_v))}" for k in last
            ],
            "ends": np.asarray([_apart([by_bytes[rule][-1, k] for rule in rules()]) for k in last]),
            "headline": [row[0] for row in told],
            "sentence": [row[1] for row in told],
        },
        "recall.cache": {"y": np.ones(1)},
        "recall.flushed_bars": _flushed(),
        "recall.by_bytes": {"bytes": size.astype(float)},
        "recall.by_pairs": {"n": pairs.astype(float), **by_pairs},
        "recall.names": {
            **{column: np.full(len(rules()), at) for column, at in PLACES.items()},
            "rule": list(rules()),
            "dash": ["dashed" if rule in SLOTS else "solid" for rule in rules()],
            "text": [name_of(rule) for rule in rules()],
        },
        "recall.predicted": _predicted(),
        "recall.meaning": {
            "x": np.asarray([float(pairs[0])]),
            "y": np.asarray([1.08]),
            "text": ["the right value is nearest"],
        },
        "recall.cache_name": {"y": np.asarray([1.06])},
        "recall.texts": texts(
            [
                ("recall.bytes_title", f"recall against bytes of state, d_v = {d_v}"),
                ("recall.flushed_title", "one case: 8 new pairs after 512 old"),
                ("recall.pairs_title", f"recall against pairs, d_φ = {width}, d_v = {d_v}"),
                ("recall.width", f"{width}" if width == d_k else f"{width}, the nearest that was computed"),
                ("recall.value_width", f"{d_v}"),
                ("recall.state", human_bytes(int(size[i]))),
                ("recall.from", said(result)),
                *checked("recall", CASES),
                *reported("recall", REPORTS),
                ("recall.subject", ""),
                ("recall.aside", ""),
            ]
        ),
        "recall.math": texts(
            [
                ("recall.formula", mathml(r"\text{bytes} = 4\, d_\phi (d_v + 1)")),
                ("recall.values", mathml(_with_numbers(width, d_v, int(size[i])))),
            ]
        ),
        "recall.props": props(
            [
                (f"recall.{where}_{rule}", "line_width", 3.2 if RULES[rule] == chosen else 1.6)
                for rule in rules()
                for where in ("by_bytes", "by_pairs")
            ]
        ),
    }  # fmt: skip


@cache
def _predicted() -> dict[str, Any]:
    """The answer to the view's question: states that keep nine in ten of some pairs and of twice as many, by the rule
    and with the values of the defaults."""
    r, j = rules().index(Question().rule), nearest("d_v", Question().d_v)
    widths, n = found().axes["d_phi"], PAIRS.index(ASKED)
    shares = found().arrays["recall"][r, :, j]
    sizes = state_bytes(widths, int(found().axes["d_v"][j]))
    need = [int(sizes[np.argmax(shares[:, k] >= NINE)]) for k in (n, PAIRS.index(2 * ASKED))]
    text = f"{ASKED} pairs: {human_bytes(need[0])}, {2 * ASKED}: {human_bytes(need[1])}"
    return {"x": np.asarray(need, dtype=float), "y": np.full(2, NINE), "text": ["", text]}


def _with_numbers(width: int, d_v: int, size: int) -> str:
    d_phi, values = with_values([(r"d_\phi", str(width))]), with_values([("d_v", str(d_v))])
    return rf"4 \cdot {d_phi} \cdot ({values} + 1) = {size}"


def _told(by_bytes, by_pairs, pairs, k, size, width, d_v, chosen) -> tuple[str, str]:
    """Headline and sentence at stop k."""
    n, most = int(pairs[k]), human_bytes(int(size[-1]))
    sizes = [int(bytes_) for bytes_, share in zip(size, by_bytes[chosen][:, k]) if share >= NINE]
    need = human_bytes(min(sizes)) if sizes else f"more than {most}"
    kept = human_bytes(cache_bytes(n, width, d_v))
    head = f"Nine in ten of {n:,} pairs: {need} of state with the {name_of(chosen)} rule; a cache of all, {kept}."
    here = ", ".join(f"{name_of(rule)} {percent(values[k])}" for rule, values in by_pairs.items())
    return head, f"At d_φ = {width}: {here}. {_pays(by_pairs[chosen], pairs, width, d_v)} Both in float32."


def _pays(shares: np.ndarray, pairs: np.ndarray, width: int, d_v: int) -> str:
    """Between which numbers of pairs a state of this width is the smaller one and still keeps nine in ten."""
    kept = pairs[np.maximum.accumulate(shares < NINE) == 0]
    smaller = int(state_bytes(np.asarray(width), d_v)) // cache_bytes(1, width, d_v) + 1
    reach = f"keeps nine in ten up to {kept[-1]:,}" if len(kept) else "keeps nine in ten of none"
    return f"Such a state is smaller than the cache from {smaller:,} pairs on, and {reach}."


def _flushed() -> dict:
    cosines = np.asarray(ledger_said.found()[FLUSH], dtype=float)
    return {"x": np.asarray([1.0, 2.0]), "y": cosines, "cosine": cosines, "text": [decimals(c) for c in cosines]}


def _apart(heights: list[float]) -> list[float]:
    """Labels beside the ends of the lines, none on another."""
    return spread(heights, 0.1, 0.0, 1.02)


def answer(question: Question) -> Answer:
    return answer_of(question.d_k, question.d_v, question.rule)
