"""What sizing says: bytes of every part at every context length, crossings, the bill, and what fits where."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from components import fitting
from components.axes import AXES
from components.formula import mathml
from components.lesson import Question
from components.reel import Answer
from components.says import counted_tokens
from components.sizing_asked import counted, options_of, shape_of, twin_rates
from components.sizing_bill import keys_texts, row_sizes, row_texts
from components.sizing_laws import beside_state, laws, values
from components.sizing_lines import (
    MAPPED,
    NAMES,
    NOWHERE,
    STOPS,
    T,
    curves,
    mapped,
    others,
    placed,
    seen,
    span,
    whole,
)
from components.sizing_marks import marks, meeting
from components.sizing_said import (
    LAST,
    at_length,
    crossings,
    exactly,
    headline,
    loads,
    make_bill,
    parts,
    sentence,
    state_rows,
)
from components.sizing_small import small_cases
from components.view import props, texts
from components.words import WORDS
from compute.sizing import ModelShape, Options, human_bytes, model_crossings
from compute.sizing.sums import sums
from compute.sizing.twins import twin_name

WORDS_OF_STOPS = [counted_tokens(t) for t in STOPS]


ELSEWHERE = (
    *("seed", "row", "match", "single", "mask", "precision"),
    *("rule", "keys", "rho", "alpha", "beta", "stream", "duel", "d_v", "pair"),
)
"""Words that change nothing here: whatever they are, the answer is the same one."""


def answer(question: Question) -> Answer:
    return _told(replace(question, **{word: WORDS[word].default for word in ELSEWHERE}))


@lru_cache(maxsize=16)
def _told(question: Question) -> Answer:
    shape, name = shape_of(question)
    options, note = counted(shape, options_of(question))
    own = _answer(shape, name, options, note)
    widened = mapped(shape, question.phi, options)
    beside = others(question.compare, options_of(question))
    lines = {**own["sizing.curves"], "whole": whole(shape, options), "mapped": widened["curve"], **beside["curves"]}
    low, high = span(lines)
    at = marks(shape, options, lines, low, high)
    names = {**NAMES, "mapped": widened["name"], **beside["names"]}
    if twin := twin_name(shape, options.mla):
        names["twin"] = twin.line
    if question.own is None and question.compare:
        names["total"] = name  # as the others are called, whose totals are beside it
    return {
        **own,
        **_with_map(shape, name, options, note, widened["wider"], widened["law"]),
        "sizing.curves": lines,
        "sizing.names": placed(lines, names, low, high, widened["slot"]),
        **at,
        "sizing.predicted": _predicted(),
        "sizing.fit": _fit(question, shape, options),
        "sizing.props": props(
            [
                *((f"sizing.mapped_{slot}", "visible", slot == widened["slot"]) for slot in MAPPED),
                ("sizing.y", "start", low),
                ("sizing.y", "end", high),
                ("sizing.limit", "location", float(shape.native_context or NOWHERE)),
                ("sizing.below", "right", float(at["sizing.meet"]["x"][0])),
            ]
        ),
        "sizing.texts": texts(
            [
                *own["sizing.texts"],
                ("sizing.aside", widened["said"]),
                ("sizing.subject", f" · {name}"),
                ("sizing.exact", at_length(sums(shape, options), question.exact)),
                ("sizing.longest", fitting.context(shape, question, options)),
                ("sizing.room", fitting.room(question)),
            ]
        ),
    }


@lru_cache(maxsize=1)
def _predicted() -> dict:
    """The answer to the view's question: where the model of the defaults keeps as much cache as state,
    if its state is kept in sixteen bits."""
    shape, name = shape_of(Question())
    halved = Options(state_dtype="bfloat16")
    at, state = model_crossings(shape, halved).state, sums(shape, halved).state_bytes
    return meeting(at, state, f"{name}: {human_bytes(state)}\nin bfloat16 each\nat {{:,}}")


@lru_cache(maxsize=64)
def _answer(shape: ModelShape, name: str, options: Options, note: str) -> dict:
    own, twin, called = sums(shape, options), twin_rates(shape, options), twin_name(shape, options.mla)
    drawn, exact, growing = curves(own, twin)
    phrase, gaps = headline(name, own, twin, options, called.bytes if called else "")
    twins = [human_bytes(int(n), 3) for n in drawn["twin"]] if twin else [""] * len(STOPS)
    caches = [human_bytes(n, 3) for n in growing]
    bill = make_bill(shape, LAST, options)
    said, spelled = row_texts(bill, shape, options)
    native = shape.native_context or LAST
    careful = "; ".join(make_bill(shape, min(native, LAST), options).warnings)
    beyond = "; ".join(bill.warnings)
    load, basis = loads(shape, STOPS), sentence(shape, options, note)
    return {
        "sizing.curves": {"T": T.astype(float), **seen(drawn)},
        "sizing.phrases": {"headline": [phrase], "sentence": [basis]},
        "sizing.reel": {
            "T": T.astype(float),
            "dots_x": np.repeat(T[:, None], 3, axis=1).astype(float),
            "dots_y": np.stack([np.where(drawn[k] > 0, drawn[k], NOWHERE) for k in ("cache", "state", "twin")], axis=1),
            "headline": [list(gap) for gap in zip(*[WORDS_OF_STOPS, caches, twins][:gaps])],
            "sentence": [[f"{n} token{'s' * (n != '1')}"] for n in load] if state_rows(shape) else [basis] * len(STOPS),
            "load": load,
            "total": [exactly(n) for n in exact],
            "twin_said": [human_bytes(twin.total_bytes(t)) for t in STOPS] if twin else [""] * len(STOPS),
            "warned": [careful if t <= native else beyond.replace(f"{LAST:,}", f"{t:,}") for t in STOPS],
            **row_sizes(shape, options, STOPS),
            "beside_state": beside_state(shape, options, STOPS),
        },
        "sizing.texts": [
            *said,
            *keys_texts(bill),
            *small_cases(shape),
            *crossings(shape, options),
            *parts(own, options),
        ],
        "sizing.math": texts(
            [("sizing.formula", mathml(laws(shape, options))), ("sizing.values", values(shape, options)), *spelled]
        ),
    }


@lru_cache(maxsize=64)
def _with_map(shape: ModelShape, name: str, options: Options, note: str, wider: str, law: str) -> dict:
    """Headline and formula where a chosen map would keep other states than the model's own: they say how large."""
    own, told = _answer(shape, name, options, note), {}
    if wider:
        phrase, gaps = headline(name, sums(shape, options), twin_rates(shape, options), options, "", wider)
        rows = [row[:gaps] for row in own["sizing.reel"]["headline"]]
        told["sizing.phrases"] = {**own["sizing.phrases"], "headline": [phrase]}
        told["sizing.reel"] = {**own["sizing.reel"], "headline": rows}
    if law:
        node, text = (own["sizing.math"][column] for column in ("node", "text"))
        at = node.index("sizing.values")
        told["sizing.math"] = {"node": node, "text": [*text[:at], text[at] + law, *text[at + 1 :]]}
    return told


@lru_cache(maxsize=256)
def _fit(question: Question, shape: ModelShape, options: Options) -> dict[str, list[str]]:
    return {
        "fits": fitting.sequences(shape, question, options, STOPS),
        "traffic": [fitting.traffic(shape, options, t) for t in STOPS],
        "speed": [fitting.speed(shape, question, options, t) for t in STOPS],
        "both": fitting.both_ways(shape, options, STOPS),
        "fill": _fill(shape, question),
    }


def _fill(shape: ModelShape, question: Question) -> list[str]:
    """Pairs at which a memory of the chosen width is as full as the model's states; the most it takes, if fewer."""
    rows, most = state_rows(shape), AXES["n"].stops[-1]
    if not rows:
        return [""] * len(STOPS)
    width = question.map.d_phi(question.d_k) if question.map else question.d_k
    return [f"{min(max(1, round(t * width / rows)), most)}" for t in STOPS]
