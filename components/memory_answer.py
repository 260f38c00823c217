"""What the memory says: every read after every write, the state, one read taken apart, and a rival rule beside it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.cases import checked
from components.formula import mathml
from components.lesson import Question
from components.memory_cases import CASES
from components.memory_formulas import values
from components.memory_law import law
from components.memory_load import far, load
from components.memory_names import END, HAND_END, NOWHERE, TICKS, beside, energy_names, names, room_at, sided
from components.memory_run import (
    CELLS,
    FRAME_AT,
    NS,
    PAIRS,
    WIDTH,
    Rule,
    Stream,
    energies,
    filled,
    rule_of,
    shares_named,
    split,
    stream_of,
)
from components.memory_said import (
    TOPICS,
    headlines,
    named,
    overlaps,
    phrases,
    sentences,
    shape,
    subject,
    taken_apart,
    wider,
)
from components.reel import Answer, together
from components.says import decimals
from components.sizing_answer import shape_of
from components.view import props, texts
from compute import memory_laws as laws
from compute.memory import WRITE_RULES
from compute.pair_streams import TOPIC


def answer(question: Question) -> Answer:
    return _loaded(question, _answer(*_asked(question)))


def small_answer(question: Question) -> Answer:
    """The answer for the overview, without what only the page of the memory shows."""
    told = _small(*_asked(question))
    spoken = dict(zip(*told["memory.texts"].values(), strict=True))
    spoken["memory.subject"] = spoken["memory.subject"] or wider(question)
    return _loaded(question, {**told, "memory.texts": texts([*spoken.items()])})


FEW = np.flatnonzero(np.isin(FRAME_AT, [0, 1, 2, 4, 8, 16, 32, 64, 128, 192, 256]))
"""Of the states that the page shows: those that the small picture of the overview does."""


@lru_cache(maxsize=64)
def _small(asked: Stream, rule: Rule, against: Rule | None, pair: int) -> Answer:
    """With fewer pictures of the state, each of which costs a kilobyte, and no name for dots, which the small picture
    does without."""
    told = _filling(asked, rule, against, pair)
    names = told["memory.names"]
    told = {**told, "memory.names": {**names, "text": [*names["text"][:2], ""]}}
    states, frame = told["memory.states"], told["memory.reel"]["frame"]
    few = FEW[len(states["title"]) > FEW]
    fewer = {"state": states["state"][few], "title": [states["title"][i] for i in few]}
    at = (np.searchsorted(few, frame, side="right") - 1).astype(frame.dtype)
    places = beside(told, HAND_END if asked.stream == "hand" else END, card=True)
    return {**told, "memory.states": fewer, "memory.reel": {**told["memory.reel"], "frame": at, **places}}


def _asked(question: Question) -> tuple[Stream, Rule, Rule | None, int]:
    """The words that matter, those without effect at a fixed value."""
    duel = question.duel if question.duel != question.rule else "none"
    rival = None if duel == "none" else rule_of(question, duel)
    return (stream_of(question), rule_of(question, question.rule), rival, question.pair)


def _question(asked: Stream, rule: Rule, against: Rule | None, pair: int) -> Question:
    duel = against.word if against else "none"
    return Question(**asked._asdict(), rule=rule.word, alpha=rule.alpha, beta=rule.beta, duel=duel, pair=pair)


def _loaded(question: Question, told: Answer) -> Answer:
    said = load(*shape_of(question))
    return {**told, "memory.load": {"load": [""] * len(said) if question.stream == "hand" else said}}


@lru_cache(maxsize=64)
def _answer(asked: Stream, rule: Rule, against: Rule | None, pair: int) -> Answer:
    told = together(_filling(asked, rule, against, pair), _looked_into(asked, rule, against, pair))
    return together(told, {"memory.reel": beside(told, HAND_END if asked.stream == "hand" else END)})


def _looked_into(asked: Stream, rule: Rule, against: Rule | None, pair: int) -> Answer:
    """What only the page of the memory shows: one read taken apart, energies, and how many reads name their value."""
    question = _question(asked, rule, against, pair)
    told, apart, theory, energy = filled(asked, rule), split(asked, rule, pair), law(asked, rule), energies(asked, rule)
    signal = np.where(pair <= np.minimum(NS, told["most"]), apart["own"][apart["frame"]], np.nan)
    return {
        "memory.splits": {"weight": apart["weights"]},
        "memory.splits_said": {"title": taken_apart(pair, apart)},
        "memory.states": {"named": named(shares_named(asked, rule))},
        "memory.reel": {
            **{f"split_{name}": apart[name] for name in ("frame", "start", "stop")},
            "signal": _f32(signal),
            "sentence": sentences(question, told, energy),
        },
        "memory.energies": {
            "n": NS[1:],
            **_single({"energy": energy.crosstalk[1:], "law": theory.energy[1:], "least": _drawn(theory.least[1:])}),
        },
        "memory.energy_names": energy_names(question, told, energy.crosstalk, theory),
    }


@lru_cache(maxsize=64)
def _filling(asked: Stream, rule: Rule, against: Rule | None, pair: int) -> Answer:
    question = _question(asked, rule, against, pair)
    told, theory = filled(asked, rule), law(asked, rule)
    rival = filled(asked, against) if against else None
    curve, width, most = told["curve"], told["width"], told["most"]
    last = np.minimum(NS, most)
    here = np.where(last > 0, curve["mean"][last], np.nan)
    nothing = np.zeros(PAIRS + 1, dtype=np.int32)
    hand = asked.stream == "hand"
    return {
        "memory.reads": {"cosine": told["reads"]},
        "memory.rivals": {"rival": told["reads"][:0] if rival is None else rival["reads"]},
        "memory.states": {
            "state": told["states"],
            "title": [_frame_title(n) for n in FRAME_AT[: len(told["states"])]],
            "entries": told["entries"],
        },
        "memory.phrases": phrases(question, told, rival),
        "memory.reel": {
            "n": last.astype(np.int16),
            **{name: told[name] for name in ("start", "stop", "frame")},
            "rival_stop": nothing if rival is None else told["stop"],
            "rival_start": nothing if rival is None else told["start"],
            "since": (told["since"] + 0.5).astype(np.float32),
            "ends_x": np.stack([np.minimum(told["since"] + 1, last), last], axis=1).astype(np.int16),
            "ends_y": np.stack([curve["oldest"][last], curve["newest"][last]], axis=1).astype(np.float32),
            "here": here.astype(np.float32),
            "here_text": ["", *(told["said"]["mean"][n] for n in last[1:].tolist())],
            "headline": headlines(question, told, rival),
        },
        "memory.entries": {"x": CELLS * np.array([0.25, 0.75] * 2), "y": CELLS * np.repeat([0.25, 0.75], 2)},
        "memory.topics": {"x": np.arange(TOPIC, PAIRS, TOPIC) * (1.0 if asked.stream in TOPICS else np.nan)},
        "memory.state": {
            **dict.fromkeys(("dw", "dh"), np.array([float(CELLS)])),
            "end": np.array([most if hand else PAIRS], dtype=np.int32),
        },
        "memory.pairs": {"pair": np.arange(1, PAIRS + 1)},
        "memory.split": {"pair": np.arange(1, PAIRS + 1)},
        "memory.signal": {"pair": np.array([float(pair)])},
        "memory.asked": {"x": np.array([float(pair)]), "y": np.array([-0.28]), "text": [f"place of pair {pair}"],
                         **sided(pair)},
        "memory.predicted": _predicted(),
        "memory.stale": {"left": np.array([0.5])},
        "memory.curve": {
            "n": NS,
            **_single({"mean": curve["mean"], "newest": curve["newest"], "law": theory.cosine, "best": theory.best}),
            "rival": np.full(PAIRS + 1, np.nan, dtype=np.float32) if rival is None else _f32(rival["curve"]["mean"]),
        },
        **names(question, told, rival, theory),
        "memory.props": props(
            [
                ("memory.room", "location", room_at(question, width)),
                ("memory.written", "location", pair if pair <= most else NOWHERE),
                ("memory.axis", "end", HAND_END if hand else END),
                ("memory.ticks", "ticks", [*range(4)] if hand else TICKS),
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
