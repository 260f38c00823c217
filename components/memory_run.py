"""One memory being filled: every read after every write, in the form in which it is sent."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from components.lesson import Question
from components.says import each_decimals
from components.words import SOFTMAX
from compute.crosstalk import every_cosine, expected_read, mean_stored
from compute.feature_maps import read_member
from compute.filling import states
from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES, crosstalk_energy
from compute.pair_streams import STREAMS, Pairs, mean_wanted
from compute.read_weights import named_right, read_weights
from compute.toys import queries_and_keys

WIDTH = 32
"""Width of raw keys.  φ(k) has its map's width; values are as wide as is chosen."""

PAIRS = 256
NS = np.arange(PAIRS + 1)
FRAME_AT = np.array([*range(9), *range(16, PAIRS + 1, 16)])
"""The state is sent write by write at first, then seldom: one choice stays under 100 kB."""

SPLIT_AT = np.array([*range(41), *range(44, 129, 4), *range(136, PAIRS + 1, 8)])
"""Where one read is taken apart."""

RECENT = WIDTH
"""How many of the newest reads are averaged by themselves: as many as there are rows."""

CELLS = 32
"""Rows and columns of the picture of S."""

STEP = 1 / 127
"""Cosines and weights of single reads travel as whole 127ths."""


class Stream(NamedTuple):
    """The words on which keys and values depend, those without effect at a fixed value."""

    keys: str
    rho: float
    phi: str
    d_k: int
    seed: int
    stream: str
    d_v: int


class Rule(NamedTuple):
    word: str
    alpha: float
    beta: float


def stream_of(question: Question) -> Stream:
    own = question.keys == "phi"
    hand = question.stream == "hand"
    return Stream(
        "random" if hand else question.keys, question.rho if question.keys == "correlated" else 0.5,
        question.phi if own else SOFTMAX, question.d_k if own else WIDTH, 0 if hand else question.seed,
        question.stream, 2 if hand else question.d_v,
    )  # fmt: skip


def rule_of(question: Question, word: str) -> Rule:
    uses = WRITE_RULES[word].uses
    return Rule(word, question.alpha if "alpha" in uses else 1.0, question.beta if "beta" in uses else 1.0)


def mapped(asked: Stream) -> bool:
    """Whether what is stored are features φ(k)."""
    return asked.keys == "phi" and asked.phi != SOFTMAX


@lru_cache(maxsize=128)
def pairs(asked: Stream) -> Pairs:
    """Unit keys [n, d] and Gaussian values [n, d_v]; n is 256, or fewer where no more such pairs exist."""
    rng = np.random.default_rng(asked.seed)
    if mapped(asked):
        K = _unit_or_nothing(read_member(asked.phi)(queries_and_keys(asked.d_k, asked.seed)[1][:PAIRS]))
    else:
        maker = KEY_MAKERS["random" if asked.keys == "phi" else asked.keys]
        K = maker(min(PAIRS, maker.most(WIDTH) or PAIRS), WIDTH, rng, asked.rho)
    most = len(K) if asked.stream == "plain" else PAIRS
    return STREAMS[asked.stream](K, np.random.default_rng([asked.seed, 1]).standard_normal((most, asked.d_v)))


def _unit_or_nothing(features: np.ndarray) -> np.ndarray:
    """Rows of unit length; a key without any feature (ReLU on a negative key) stays zero and stores nothing."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return features / np.where(lengths == 0, 1, lengths)


@lru_cache(maxsize=2)
def _frames(asked: Stream, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """Writes at which the state is drawn, and the states [frames, d, d_v]: the page asks twice."""
    K, V, keep, _ = pairs(asked)
    at = FRAME_AT[len(K) >= FRAME_AT]
    return at, states(K, V, rule.word, at, alpha=rule.alpha * keep, beta=rule.beta)


@lru_cache(maxsize=128)
def filled(asked: Stream, rule: Rule) -> dict:
    """Everything drawn of one memory."""
    K, V, keep, since = pairs(asked)
    (most, width), d_v = K.shape, V.shape[1]
    cosine = every_cosine(K, V, rule.word, alpha=rule.alpha * keep, beta=rule.beta)
    at, frames = _frames(asked, rule)
    columns = {
        "mean": mean_wanted(cosine, since),
        "newest": np.diagonal(cosine),
        "oldest": cosine[np.arange(most), since[1:]],
        "recent": _recent(cosine),
    }
    curve = {name: _from_the_first(values) for name, values in columns.items()}
    last = np.minimum(NS, most)
    return {
        "most": most,
        "empty": int(np.sum(~K.any(axis=1))),
        "width": width,
        "curve": curve,
        "said": {name: each_decimals(curve[name]) for name in ("mean", "recent")},
        "since": since[last],
        "reads": _stacked(cosine, NS[1 : most + 1]),
        "start": (last * (last - 1) // 2).astype(np.int32),
        "stop": (last * (last + 1) // 2).astype(np.int32),
        "states": _pictures(frames),
        "entries": _printed(frames),
        "frame": (np.searchsorted(at, last, side="right") - 1).astype(np.int32),
        "scale": np.abs(frames).max(),
        "d_v": d_v,
    }


def _from_the_first(values: np.ndarray) -> np.ndarray:
    """What is known after each write, at every n of NS: NaN before the first and where there are no pairs any more."""
    return np.concatenate([[np.nan], values, np.full(PAIRS - len(values), np.nan)])


class Energies(NamedTuple):
    """Means over the reads that are wanted, at every n of NS: what they hold of their own value, and what energy
    crosstalk is expected to have."""

    own: np.ndarray
    crosstalk: np.ndarray


@lru_cache(maxsize=128)
def energies(asked: Stream, rule: Rule) -> Energies:
    K, _, keep, since = pairs(asked)
    told = expected_read(K, rule.word, alpha=rule.alpha * keep, beta=rule.beta)
    return Energies(*(_from_the_first(mean_wanted(x, since)) for x in told))


@lru_cache(maxsize=128)
def shares_named(asked: Stream, rule: Rule) -> list[float]:
    """Share of the wanted reads that name the right value, a frame of the state each; NaN before the first write."""
    K, V, _, since = pairs(asked)
    at, frames = _frames(asked, rule)
    return [float("nan") if n == 0 else float(named_right(S, K[since[n] : n], V[:n])) for n, S in zip(at, frames)]


def _recent(cosine: np.ndarray) -> np.ndarray:
    """Mean read of the newest RECENT pairs, or of all while they are fewer, after every write."""
    first = mean_stored(cosine[: RECENT - 1, : RECENT - 1])
    if len(cosine) < RECENT:
        return first
    newest = sliding_window_view(cosine[RECENT - 1 :], RECENT, axis=1)  # [writes, first of the newest, newest]
    return np.append(first, np.diagonal(newest).mean(axis=0))


def _pictures(frames: np.ndarray) -> np.ndarray:
    """States [F, d, d_v] as [F, 32, 32] uint8, centred on zero: evenly chosen rows and columns, small ones repeated."""
    rows, columns = (np.arange(CELLS) * size // CELLS for size in frames.shape[1:])
    shown = frames[:, rows[:, None], columns]
    return np.rint(127.5 + 127.5 * shown / (np.abs(frames).max() or 1)).astype(np.uint8)


def _printed(frames: np.ndarray) -> list[list[str]]:
    """The four numbers of each state of two by two, to stand in its cells; nothing for a larger one."""
    return [
        [f"{round(float(x), 2) + 0.0:g}".replace("-", "−") for x in S.flat] if S.size == 4 else [""] * 4 for S in frames
    ]


def _stacked(rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The first n entries of row n − 1, for each n of `at`, one after the other, as whole steps."""
    return np.rint(rows[at - 1][np.arange(rows.shape[1]) < at[:, None]] / STEP).astype(np.int8)


@lru_cache(maxsize=128)
def split(asked: Stream, rule: Rule, pair: int) -> dict:
    """The read of a pair (counted from 1) taken apart at every number of writes in SPLIT_AT.

    weights: the shares, stacked; own and rest: the pair's own share, and the energy of all others, per frame; frame,
    start, stop: where a number of writes finds its frame.
    """
    K, _, keep, _ = pairs(asked)
    most = len(K)
    at = SPLIT_AT[most >= SPLIT_AT]
    last = np.minimum(NS, most)
    frame = np.searchsorted(at, last, side="right") - 1
    stops = np.cumsum(at)
    if pair > most:
        nothing = np.zeros(len(at))
        weights, own, rest = np.zeros(stops[-1], dtype=np.int8), nothing, nothing
    else:
        rows = read_weights(K, rule.word, pair - 1, alpha=rule.alpha * keep, beta=rule.beta)
        weights = _stacked(rows, at[1:])
        own = np.append(0.0, rows[at[1:] - 1, pair - 1])
        rest = np.append(0.0, np.sum(rows[at[1:] - 1] ** 2, axis=1)) - own**2
    return {
        "at": at,
        "weights": weights,
        "own": own,
        "rest": np.maximum(rest, 0.0),
        "frame": frame.astype(np.int32),
        "start": (stops - at)[frame].astype(np.int32),
        "stop": stops[frame].astype(np.int32),
    }


@lru_cache(maxsize=128)
def overlap(asked: Stream) -> float:
    """Mean squared cosine of two different keys, as drawn; keys without features are left out."""
    K = pairs(asked if asked.stream == "hand" else asked._replace(stream="plain")).K
    K = K[K.any(axis=1)]
    return float(crosstalk_energy(K)) / (len(K) - 1)
