"""What the memory says: every read after every write, in the form it is sent, and the sentences about it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.formula import mathml
from components.lesson import Question
from components.reel import Answer
from components.says import decimals, tokens
from components.sizing_answer import shape_of
from components.view import props, texts
from components.words import SOFTMAX
from compute import memory_laws as laws
from compute.crosstalk import every_read, expected_energy, mean_stored, states
from compute.feature_maps import read_member
from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES
from compute.sizing import ModelShape
from compute.toys import queries_and_keys

WIDTH = 32
"""Width of raw keys and of values.  φ(k) has its map's width."""

PAIRS = 256
NS = np.arange(PAIRS + 1)
FRAME_AT = np.array([*range(25), 28, 32, *range(64, PAIRS + 1, 32)])
"""The state is sent pair by pair while single writes show, then seldom: one choice stays under 100 kB."""

STEP = 1 / 127
"""Cosines of single reads travel as whole 127ths."""

LAW_AT = 176
"""Where the law's name stands, in pairs."""

READ_LATEX = r"\hat v_j = S^\top k_j = v_j + \sum_{s \ne j} (k_s^\top k_j)\, v_s"
"""What a plain additive memory reads: the value, and crosstalk."""

NOWHERE = -1e6
"""A mark that is not drawn stands here, left of every axis."""


@lru_cache(maxsize=128)
def pairs(keys: str, rho: float, phi: str, d_k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit keys [n, d] and Gaussian values [n, 32]; n is 256, or fewer where no more such keys exist."""
    rng = np.random.default_rng(seed)
    if keys == "phi" and phi != SOFTMAX:
        K = _unit_or_nothing(read_member(phi)(queries_and_keys(d_k, seed)[1][:PAIRS]))
    else:
        maker = KEY_MAKERS["random" if keys == "phi" else keys]
        K = maker(min(PAIRS, maker.most(WIDTH) or PAIRS), WIDTH, rng, rho)
    return K, np.random.default_rng([seed, 1]).standard_normal((len(K), WIDTH))


def _unit_or_nothing(features: np.ndarray) -> np.ndarray:
    """Rows of unit length; a key without any feature (ReLU on a negative key) stays zero and stores nothing."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return features / np.where(lengths == 0, 1, lengths)


@lru_cache(maxsize=128)
def filled(keys: str, rho: float, phi: str, d_k: int, seed: int, rule: str, alpha: float, beta: float) -> dict:
    """Everything drawn of one memory, in the form it is sent."""
    K, V = pairs(keys, rho, phi, d_k, seed)
    most, width = K.shape
    reads = every_read(K, V, rule, alpha=alpha, beta=beta)
    frames = states(K, V, rule, [n for n in FRAME_AT if n <= most], alpha=alpha, beta=beta)
    rows = np.arange(WIDTH) * width // WIDTH
    frames = frames[:, rows, :]
    scale = np.abs(frames).max()
    nothing = np.full(PAIRS + 1, np.nan)
    columns = {
        "mean": reads.mean_cosine,
        "newest": reads.newest,
        "oldest": reads.oldest,
        "energy": mean_stored(expected_energy(K, rule, alpha=alpha, beta=beta)),
        "own": reads.mean_own,
    }
    curve = {name: nothing.copy() for name in columns}
    for name, values in columns.items():
        curve[name][1 : most + 1] = values
    sent = np.rint(np.concatenate([reads.cosine[n, : n + 1] for n in range(most)]) / STEP).astype(np.int8)
    last = np.minimum(NS, most)
    frame = np.searchsorted(FRAME_AT[: len(frames)], last, side="right") - 1
    return {
        "most": most,
        "empty": int(np.sum(~K.any(axis=1))),
        "width": width,
        "curve": curve,
        "reads": sent,
        "start": (last * (last - 1) // 2).astype(np.int32),
        "stop": (last * (last + 1) // 2).astype(np.int32),
        "states": np.rint(127.5 + 127.5 * frames / (scale or 1)).astype(np.uint8),
        "frame": frame.astype(np.int32),
        "scale": scale,
    }


def law(question: Question, width: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Expected mean cosine and crosstalk energy at every n where a law holds, and what it is called."""
    cosine, energy = np.full((2, PAIRS + 1), np.nan)
    if WRITE_RULES[question.rule].corrects:
        return cosine, energy, ""
    own = question.keys == "phi" and question.phi != SOFTMAX
    maker = KEY_MAKERS["random" if question.keys == "phi" else question.keys]
    overlap, most = maker.overlap(width, question.rho), maker.most(width) or PAIRS
    n = NS[1 : most + 1]
    cosine[n] = laws.mean_cosine(n, overlap, alpha=question.alpha, d_v=WIDTH)
    energy[n] = laws.energy(n, overlap, alpha=question.alpha)
    return cosine, energy, "if φ(k) were uniform" if own else "law"


def answer(question: Question) -> Answer:
    uses = WRITE_RULES[question.rule].uses
    own = question.keys == "phi"
    told = _answer(
        question.keys, question.rho if question.keys == "correlated" else 0.5, question.phi if own else SOFTMAX,
        question.d_k if own else WIDTH, question.seed, question.rule,
        question.alpha if "alpha" in uses else 1.0, question.beta if "beta" in uses else 1.0,
    )  # fmt: skip
    shape, name = shape_of(question)
    return {**told, "memory.load": {"load": _load(shape, name)}}


@lru_cache(maxsize=64)
def _answer(keys: str, rho: float, phi: str, d_k: int, seed: int, rule: str, alpha: float, beta: float) -> Answer:
    question = Question(keys=keys, rho=rho, phi=phi, d_k=d_k, seed=seed, rule=rule, alpha=alpha, beta=beta)
    told = filled(keys, rho, phi, d_k, seed, rule, alpha, beta)
    curve, width, most = told["curve"], told["width"], told["most"]
    law_cosine, law_energy, law_name = law(question, width)
    last = np.minimum(NS, most)
    here = np.where(last > 0, curve["mean"][last], np.nan)
    own = keys == "phi" and phi != SOFTMAX
    mark_at = width if width <= PAIRS else NOWHERE
    return {
        "memory.reads": {"cosine": told["reads"]},
        "memory.states": {
            "state": told["states"],
            "title": [f"state S after {n} pairs" for n in FRAME_AT[: len(told["states"])]],
        },
        "memory.phrases": {
            "headline": [f"{{}} pairs in a memory {width:,} wide come back at cosine {{}}."],
            "sentence": ["A read holds {} of its value and {} its energy in crosstalk; newest {}, oldest {}."],
        },
        "memory.reel": {
            "n": last.astype(np.int16),
            **{name: told[name] for name in ("start", "stop", "frame")},
            "ends_x": np.stack([np.minimum(1, last), last], axis=1).astype(np.int16),
            "ends_y": np.stack([curve["oldest"][last], curve["newest"][last]], axis=1).astype(np.float32),
            "here": here.astype(np.float32),
            "here_text": ["" if n == 0 else decimals(c) for n, c in zip(NS, here)],
            **_said(question, told),
        },
        "memory.state": {"dw": np.array([float(WIDTH)]), "dh": np.array([float(WIDTH)])},
        "memory.pairs": {"pair": np.arange(1, PAIRS + 1)},
        "memory.curve": {"n": NS, **_single({"mean": curve["mean"], "newest": curve["newest"], "law": law_cosine})},
        "memory.energies": {"n": NS[1:], **_single({"energy": curve["energy"][1:], "law": law_energy[1:]})},
        "memory.names": {
            "x": np.array([mark_at + 3.0 if width <= PAIRS else 3.0, LAW_AT]),
            "y": np.array([0.06, 0.0 if not np.isfinite(law_cosine[LAW_AT]) else law_cosine[LAW_AT] + 0.13]),
            "text": [_room(width, "d_φ" if own else "d"), law_name if np.isfinite(law_cosine[LAW_AT]) else ""],
        },
        "memory.props": props(
            [
                ("memory.room", "location", mark_at),
                *((f"memory.{name}", prop, f"slot:{rule}") for name, prop in (
                    ("mean", "line_color"), ("bar", "fill_color"), ("dot", "fill_color"),
                )),
            ]
        ),
        "memory.texts": texts(
            [
                ("memory.subject", _subject(told)),
                ("memory.rows", f"all {width}" if width <= WIDTH else f"{WIDTH} of {width:,}"),
                ("memory.scale", f"±{decimals(told['scale'])}"),
                ("memory.objective", WRITE_RULES[rule].objective),
            ]
        ),
        "memory.math": texts(
            [
                ("memory.formula", mathml(WRITE_RULES[rule].latex)),
                ("memory.values", mathml(READ_LATEX if rule == "additive" else WRITE_RULES[rule].latex, "block")),
            ]
        ),
    }  # fmt: skip


def _times(energy: float, own: float) -> str:
    """Crosstalk in energies of what the read holds of its own value."""
    return f"{decimals(energy / own**2, 1)}×" if own > 1e-6 else "any multiple of"


def _subject(told: dict) -> str:
    if told["most"] < PAIRS:
        return f" · only {told['most']} orthonormal keys exist at width {WIDTH}"
    return f" · {told['empty']} of {PAIRS} keys have no features" if told["empty"] else ""


def _room(width: int, name: str) -> str:
    if width <= PAIRS:
        return f"n = {name} = {width}: exact room ends"
    return f"exact room for {name} = {width:,} pairs ends beyond this axis"


def _single(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: values.astype(np.float32) for name, values in columns.items()}


def _said(question: Question, told: dict) -> dict[str, list]:
    """Headline and sentence a stop: the numbers that go into the phrases, or a whole text."""
    curve, width, most = told["curve"], told["width"], told["most"]
    headlines: list = ["An empty memory: write the first pair."]
    sentences: list = [""]
    for n in NS[1:]:
        mean, newest, oldest, energy, own = (
            curve[name][min(n, most)] for name in ("mean", "newest", "oldest", "energy", "own")
        )
        if n > most:
            headlines.append(f"{n} orthonormal keys do not fit into {width} dimensions; {most} read back exactly.")
        elif n == 1:
            headlines.append(f"One pair in a memory {width:,} wide comes back at cosine {decimals(mean)}.")
        else:
            headlines.append([str(n), decimals(mean)])
        sentences.append([decimals(own), _times(energy, own), decimals(newest), decimals(oldest)])
    return {"headline": headlines, "sentence": sentences}


@lru_cache(maxsize=64)
def _load(shape: ModelShape, name: str) -> list[str]:
    """What the context of the chosen model would ask of each of its states."""
    states_of = {group.family.rows for group in shape.layers if group.family.rows}
    if not states_of:
        return [f"{name} has no state: its cache keeps every token apart." for _ in AXES["T"].stops]
    rows, said = max(states_of), []
    for T in AXES["T"].stops:
        load = laws.Load(int(T), rows)
        if rows > T:
            said.append(f"{tokens(T)} tokens leave each {rows}-wide state of {name} partly empty.")
        else:
            said.append(
                f"{tokens(T)} tokens are {tokens(load.tokens_per_row)} per row of each {rows}-wide {name} state: "
                f"plain adding would read at cosine {decimals(load.cosine, 3)}, hence decay and delta rules."
            )
    return said
