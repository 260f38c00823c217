"""What the memory says: every read after every write, the state, one read taken apart, and a rival rule beside it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.cases import checked
from components.formula import mathml
from components.lesson import Question
from components.memory_cases import CASES
from components.memory_run import (
    CELLS,
    FRAME_AT,
    NS,
    PAIRS,
    WIDTH,
    Law,
    Rule,
    Stream,
    filled,
    law,
    rule_of,
    split,
    stream_of,
)  # fmt: skip
from components.memory_said import (
    FAR,
    far,
    load,
    named,
    overlaps,
    phrases,
    room,
    rule_name,
    said,
    shape,
    subject,
    taken_apart,
    values,
)  # fmt: skip
from components.plots import spread
from components.reel import Answer
from components.says import decimals
from components.sizing_answer import shape_of
from components.view import props, texts
from components.words import SOFTMAX
from compute import memory_laws as laws
from compute.feature_maps import read_member
from compute.memory import WRITE_RULES

LAW_AT = 176
"""Where the law's name stands, in pairs."""

NEWEST_AT = 96
"""Where the dots of the newest pair are named, in pairs."""

NOWHERE = -1e6
"""A mark that is not drawn stands here, left of every axis."""

END, HAND_END = PAIRS + 6.0, 8.4
"""Where the axis of pairs ends, and where it does for three pairs by hand."""

LATE = 190
"""From so many pairs on a text stands left of its place."""

LETTER = 4.1
"""Width of a letter of a label, in pairs, on the narrowest axis."""

TICKS = [*range(0, PAIRS + 1, 64)]


def answer(question: Question) -> Answer:
    duel = question.duel if question.duel != question.rule else "none"
    rival = None if duel == "none" else rule_of(question, duel)
    told = _answer(stream_of(question), rule_of(question, question.rule), rival, question.pair)
    model, name = shape_of(question)
    return {**told, "memory.load": {"load": load(model, name)}}


@lru_cache(maxsize=64)
def _answer(asked: Stream, rule: Rule, against: Rule | None, pair: int) -> Answer:
    duel = against.word if against else "none"
    question = Question(**asked._asdict(), rule=rule.word, alpha=rule.alpha, beta=rule.beta, duel=duel, pair=pair)
    told, apart, theory = filled(asked, rule), split(asked, rule, pair), law(asked, rule)
    rival = filled(asked, against) if against else None
    curve, width, most = told["curve"], told["width"], told["most"]
    last = np.minimum(NS, most)
    here = np.where(last > 0, curve["mean"][last], np.nan)
    nothing = np.zeros(PAIRS + 1, dtype=np.int32)
    hand = asked.stream == "hand"
    return {
        "memory.reads": {"cosine": told["reads"]},
        "memory.rivals": {"rival": told["reads"][:0] if rival is None else rival["reads"]},
        "memory.splits": {"weight": apart["weights"]},
        "memory.splits_said": {"title": taken_apart(pair, apart)},
        "memory.states": {
            "state": told["states"],
            "title": [_frame_title(n) for n in FRAME_AT[: len(told["states"])]],
            "named": named(told["named"]),
        },
        "memory.phrases": phrases(question, told, rival),
        "memory.reel": {
            "n": last.astype(np.int16),
            **{name: told[name] for name in ("start", "stop", "frame")},
            "rival_stop": nothing if rival is None else told["stop"],
            "rival_start": nothing if rival is None else told["start"],
            **{f"split_{name}": apart[name] for name in ("frame", "start", "stop")},
            "signal": np.where(pair <= last, apart["own"][apart["frame"]], np.nan).astype(np.float32),
            "since": (told["since"] + 0.5).astype(np.float32),
            "ends_x": np.stack([np.minimum(told["since"] + 1, last), last], axis=1).astype(np.int16),
            "ends_y": np.stack([curve["oldest"][last], curve["newest"][last]], axis=1).astype(np.float32),
            "here": here.astype(np.float32),
            "here_text": ["" if n == 0 else decimals(c) for n, c in zip(NS, here)],
            **_sided("here", last),
            **said(question, told, rival),
        },
        "memory.state": {"dw": np.array([float(CELLS)]), "dh": np.array([float(CELLS)])},
        "memory.pairs": {"pair": np.arange(1, PAIRS + 1)},
        "memory.split": {"pair": np.arange(1, PAIRS + 1)},
        "memory.signal": {"pair": np.array([float(pair)])},
        "memory.asked": {"x": np.array([float(pair)]), "y": np.array([-0.28]), "text": [f"pair {pair}, written here"],
                         **{c: v[:1] for c, v in _sided("asked", np.array([pair])).items()}},
        "memory.predicted": _predicted(),
        "memory.stale": {"left": np.array([0.5])},
        "memory.curve": {
            "n": NS,
            **_single({"mean": curve["mean"], "newest": curve["newest"], "law": theory.cosine, "best": theory.best}),
            "rival": np.full(PAIRS + 1, np.nan, dtype=np.float32) if rival is None else _f32(rival["curve"]["mean"]),
        },
        "memory.energies": {
            "n": NS[1:],
            **_single({"energy": curve["energy"][1:], "law": theory.energy[1:], "least": _drawn(theory.least[1:])}),
        },
        **_names(question, told, rival, theory),
        "memory.props": props(
            [
                ("memory.room", "location", _room_at(question, width)),
                ("memory.written", "location", pair if pair <= most else NOWHERE),
                ("memory.axis", "end", HAND_END if hand else END),
                ("memory.ticks", "ticks", [*range(9)] if hand else TICKS),
                *((f"memory.{name}", prop, f"slot:{rule.word}") for name, prop in (
                    ("mean", "line_color"), ("bar", "fill_color"), ("dot", "fill_color"), ("own", "fill_color"),
                )),
                *((f"memory.{name}", "line_color", f"slot:{against.word if against else 'muted'}")
                  for name in ("rival", "gap")),
            ]
        ),
        "memory.texts": texts(
            [
                ("memory.subject", subject(question, told)),
                ("memory.shape", shape(told)),
                ("memory.scale", f"±{decimals(told['scale'])}"),
                ("memory.far", far()),
                ("memory.overlap", overlaps(asked)),
                *checked("memory", CASES),
                ("memory.used", WRITE_RULES[rule.word].used_by),
                ("memory.objective", WRITE_RULES[rule.word].objective),
            ]
        ),
        "memory.math": texts(
            [
                ("memory.formula", mathml(WRITE_RULES[rule.word].latex)),
                ("memory.values", values(question, [rule, against] if against else [rule], width)),
            ]
        ),
    }  # fmt: skip


def _frame_title(n: int) -> str:
    return f"state S after {n} pairs"


def _sided(name: str, at: np.ndarray) -> dict:
    """On which side of a place a text stands, so that the figure's edge cuts none, nor the name of a line there."""
    left = at > LATE
    sides = {
        "align": ["right" if x else "left" for x in left],
        "dx": np.where(left, -8 if name == "asked" else -50, 8).astype(np.float32),
    }
    return {f"{name}_{c}" if name == "here" else c: told for c, told in sides.items()}


def _rows(question: Question, width: int) -> int:
    """Pairs for which there is exact room: the rows of the memory that are not copies of others."""
    own = question.keys == "phi" and question.phi != SOFTMAX
    return read_member(question.phi).rank_bound(question.d_k) if own else width


def _room_at(question: Question, width: int) -> float:
    rows = _rows(question, width)
    return float(rows) if rows <= PAIRS else NOWHERE


def _beside(height: float, factor: float) -> float:
    """Height of a name above or below the end of a line on a log axis; nowhere without the line."""
    return float(height * factor) if np.isfinite(height) and height > 0 else np.nan


def _names(question: Question, told: dict, rival: dict | None, theory: Law) -> Answer:
    """Names beside lines: room and law; both rules of a duel; and a load far off the axis, where its law holds."""
    at, rows = _room_at(question, told["width"]), _rows(question, told["width"])
    ends = "" if question.stream == "hand" else room(question, told["width"], rows)
    law_y, newest = theory.cosine[LAW_AT], np.mean(told["curve"]["newest"][NEWEST_AT - 8 : NEWEST_AT + 48])
    plain = question.rule == "additive" and question.stream == "plain" and question.keys == "random"
    end = 3 if question.stream == "hand" else min(PAIRS, told["most"])
    means = [told["curve"]["mean"][end], np.nan if rival is None else rival["curve"]["mean"][end]]
    heights = [np.nan] * 2 if rival is None else spread([min(m, 1.0) for m in means], 0.11, 0.08, 1.08)
    return {
        "memory.names": {
            "x": np.array([min(at + 3.0, END - LETTER * len(ends)) if at != NOWHERE else 3.0, LAW_AT, NEWEST_AT]),
            "y": np.array([0.06, 0.0 if not np.isfinite(law_y) else law_y + 0.13, newest - 0.09]),
            "text": [
                ends,
                theory.name if np.isfinite(law_y) else "",
                "the newest pair" if question.rule != "additive" and np.isfinite(newest) else "",
            ],
        },
        "memory.best_name": {
            "x": np.array([36.0]),
            "y": np.array([1.06]),
            "text": ["best any memory could" if np.isfinite(theory.best[-1]) else ""],
        },
        "memory.energy_names": {
            "x": np.full(2, float(END)),
            "y": np.array([_beside(theory.energy[-1], 2.2), _beside(theory.least[-1], 0.45)]),
            "text": ["law", "best any memory could"],
        },
        "memory.duel": {
            "x": np.full(2, end + (0.3 if question.stream == "hand" else 2.0)),
            "y": np.array(heights) + 0.06,
            "text": ["", ""] if rival is None else [rule_name(question.rule), rule_name(question.duel)],
        },
        "memory.far": {
            "x": np.array([PAIRS if plain else NOWHERE], dtype=float),
            "y": np.array([1.11]),
            "text": [f"{FAR.tokens:,} pairs in {FAR.width} rows: {decimals(FAR.cosine, 3)} →"],
        },
    }  # fmt: skip


@lru_cache(maxsize=1)
def _predicted() -> dict:
    """The answer to the view's question: a memory of random pairs that is exactly full."""
    cosine = laws.mean_cosine(WIDTH, 1 / WIDTH, d_v=WIDTH)
    return {"x": np.array([float(WIDTH)]), "y": np.array([cosine]), "text": [f"full: {decimals(float(cosine))}"]}


def _drawn(energy: np.ndarray) -> np.ndarray:
    """Energies of zero have no place on a logarithmic axis."""
    return np.where(energy > 0, energy, np.nan)


def _f32(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32)


def _single(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: _f32(values) for name, values in columns.items()}


__all__ = ["WIDTH", "answer"]
