"""What the recall view says: how much of what was stored a state of so many bytes still tells apart."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from components import ledger_said
from components.cases import checked, reported
from components.formula import mathml, under_finger, with_values
from components.lesson import Question
from components.plots import spread
from components.recall_cases import CASES, REPORTS
from components.recall_found import NINE, cache_bytes, found, least, name_of, nearest, rules, state_bytes
from components.reel import Answer
from components.says import decimals, percent
from components.sweep_shown import said
from components.view import props, texts
from compute.sizing.units import human_bytes
from compute.sweeps.crosstalk_map import RULES
from compute.sweeps.recall_map import PAIRS

ASKED = 64
"""Pairs of the view's question, which asks for twice as many."""

SLOTS = {"delta_full": "delta"}
"""Rules that wear another one's colour, dashed."""

BYTES, PAIRS_END = (200.0, 2.0**20), 1_600.0
"""Ends of the axis of bytes, and where that of pairs ends."""

AWAY, SWATCH = 1.55, 2.2
"""Beside a line's end, as multiples of its bytes: where the swatch of its name begins and ends."""

OVER_BYTES, OVER_PAIRS = (0.075, 0.84), (0.1, 1.02)
"""Distance and greatest height of names: over bytes they stay below the mark at nine in ten, and so below the cache."""

FLUSH = "C139"
FLUSHED = ("16 wide,\nflushed", "64 wide,\nall kept")
"""Two memories that read the newest eight of 520 pairs, as the checks of that claim fill them."""


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
    first = [least(by_bytes[chosen][:, k]) for k in last]
    at = [min(i, len(widths) - 1) for i in first]  # where none keeps them, the headline gives the largest
    kept = [float(by_bytes[chosen][i, k]) if i < len(widths) else None for i, k in zip(first, last)]
    return {
        "recall.reel": {
            "pairs": np.asarray(PAIRS, dtype=float),
            **{rule: np.asarray([values[:, k] for k in last]) for rule, values in by_bytes.items()},
            "cache": np.asarray([float(cache_bytes(int(pairs[k]), width, d_v)) for k in last]),
            "cache_said": [
                f"a cache of all pairs, {human_bytes(cache_bytes(int(pairs[k]), width, d_v))}" for k in last
            ],
            "cache_align": [_aligned(cache_bytes(int(pairs[k]), width, d_v)) for k in last],
            "ends": np.asarray([[by_bytes[rule][-1, k] for rule in rules()] for k in last]),
            "names": np.asarray([_apart([by_bytes[rule][-1, k] for rule in rules()], *OVER_BYTES) for k in last]),
            "least": size[at].astype(float),
            "least_share": np.asarray(kept, dtype=float),
            "title": [_title(d_v, share) for share in kept],
            "least_width": [f"{widths[i]}" for i in at],
            "least_bytes": [f"{size[i]:,}" for i in at],
            "headline": [row[0] for row in told],
            "sentence": [row[1] for row in told],
        },
        "recall.cache": {"y": np.ones(1)},
        "recall.flushed_bars": _flushed(),
        "recall.by_bytes": {"bytes": size.astype(float)},
        "recall.by_pairs": {"n": pairs.astype(float), **by_pairs},
        "recall.names": {
            "from": np.full(len(rules()), float(size[-1])),
            "tick": np.full(len(rules()), size[-1] * AWAY),
            "x": np.full(len(rules()), size[-1] * SWATCH),
            **_called(),
        },
        "recall.pair_names": {
            "from": np.full(len(rules()), float(pairs[-1])),
            "tick": np.full(len(rules()), np.sqrt(pairs[-1] * PAIRS_END)),
            "x": np.full(len(rules()), PAIRS_END),
            "end": np.asarray([by_pairs[rule][-1] for rule in rules()]),
            "y": np.asarray(_apart([by_pairs[rule][-1] for rule in rules()], *OVER_PAIRS)),
            **_called(),
        },
        **_predicted(),
        "recall.meaning": {
            "x": np.asarray([float(pairs[0])]),
            "y": np.asarray([1.08]),
            "text": ["the right value is nearest"],
        },
        "recall.cache_name": {"y": np.asarray([1.06])},
        "recall.texts": texts(
            [
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
                ("recall.values", mathml(_with_numbers(d_v))),
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
def _called() -> dict[str, list[str]]:
    """How the lines are drawn and called, in the order of the rules."""
    return {
        "rule": list(rules()),
        "dash": ["dashed" if rule in SLOTS else "solid" for rule in rules()],
        "text": [name_of(rule) for rule in rules()],
    }


@cache
def _predicted() -> Answer:
    """The answer to the view's question: the smallest states that keep nine in ten of some pairs and of twice as many,
    on their lines, by the rule and with the values of the defaults."""
    r, j = rules().index(Question().rule), nearest("d_v", Question().d_v)
    asked, widths = (ASKED, 2 * ASKED), found().axes["d_phi"]
    shares = [found().arrays["recall"][r, :, j, PAIRS.index(n)] for n in asked]
    sizes = state_bytes(widths, int(found().axes["d_v"][j])).astype(float)
    first = [least(row) for row in shares]
    once, twice = (human_bytes(int(sizes[i])) for i in first)
    return {
        "recall.predicted": {
            "x": sizes[first], "y": np.asarray([row[i] for row, i in zip(shares, first)]),
        },
        "recall.predicted_said": {
            "x": np.asarray(BYTES[1:]), "y": np.asarray([0.95]),
            "text": [f"{ASKED} pairs: {once}, {2 * ASKED}: {twice}"],
        },
        "recall.predicted_lines": {"bytes": sizes, "once": shares[0], "twice": shares[1]},
    }  # fmt: skip


def _with_numbers(d_v: int) -> str:
    """Bytes of the headline's state, under the finger."""
    total, width = (
        under_finger(symbol, "pairs", f"recall.reel.{column}")
        for symbol, column in ((r"\text{bytes}", "least_bytes"), (r"d_\phi", "least_width"))
    )
    return rf"{total} = 4\, {width} ({with_values([('d_v', str(d_v))])} + 1)"


def _aligned(size: int) -> str:
    """How the name of the cache lies over its circle: where the axis begins and ends it would be cut."""
    share = np.log(size / BYTES[0]) / np.log(BYTES[1] / BYTES[0])
    return "left" if share < 0.25 else "right" if share > 0.75 else "center"


def _title(d_v: int, share: float | None) -> str:
    ring = "no state computed" if share is None else "ring: the smallest computed that"
    kept = "" if share is None else f" ({percent(share)})"
    return f"recall against bytes of state, d_v = {d_v}; {ring} keeps nine in ten{kept}"


def _told(by_bytes, by_pairs, pairs, k, size, width, d_v, chosen) -> tuple[str, str]:
    """Headline and sentence at stop k."""
    n, most = int(pairs[k]), human_bytes(int(size[-1]))
    first = least(by_bytes[chosen][:, k])  # between two computed widths the line has no say
    need = f"at most {human_bytes(int(size[first]))}" if first < len(size) else f"more than {most}"
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


def _apart(heights: list[float], gap: float, high: float) -> list[float]:
    """Names beside the ends of the lines, none on another."""
    return spread(heights, gap, 0.0, high)


def answer(question: Question) -> Answer:
    return answer_of(question.d_k, question.d_v, question.rule)
