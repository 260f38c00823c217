"""Sweep (i): what every stored pair reads back after every write, over widths and write rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compute.arrays import Array
from compute.families import knob
from compute.filling import BLOCK, states
from compute.memory import unit
from compute.sweeps.base import Arrays, Question, Sweep, Work, several
from compute.sweeps.quantiles import AT, quantiles
from compute.sweeps.workbench import Bench
from compute.write_rules import WRITE_RULES

RULES = {word: word for word in WRITE_RULES} | {"delta_full": "delta"}
"""Word of a row, and the rule it means: `delta_full` is the delta rule at full strength, β = 1."""

PARTS = 4
"""Stops of n, and ages of pairs, in quarters of the width."""

LOT = 8
"""Trials that share a seed."""

TOGETHER, WIDE = 8, 256
"""Stops that are read at once: fewer steps, for reading a few pairs that are not stored yet.  Half as many on a CPU, in
whose cache the reads should stay, and of memories as wide as that, where arithmetic takes longer than steps."""


@dataclass(frozen=True)
class CrosstalkQuestion(Question):
    widths: tuple = several((16, 32, 64, 128, 256, 512), 4, 512, "widths d of the memory")
    rules: tuple = several(
        ("additive", "decay", "delta", "delta_full", "gated_delta"), doc="write rules", among=tuple(RULES)
    )
    load: int = knob(8, 1, 8, "pairs written, in widths of the memory")
    d_v: int = knob(64, 2, 256, "width of the values")
    alpha: float = knob(0.98, 0.5, 1.0, "fraction that a decaying memory keeps per write")
    beta: float = knob(0.5, 0.0, 1.0, "write strength of the delta rules")
    trials: int = knob(1000, 8, 4000, "memories filled, each with keys and values of its own")

    def beta_of(self, rule: str) -> float:
        return 1.0 if rule == "delta_full" else self.beta


class CrosstalkMap(Sweep):
    """Random unit keys and normal values.  Per trial: means over all pairs that are stored."""

    word = "crosstalk"
    title = "Crosstalk, by load and width"
    says = (
        "Cosine between what a pair reads back and its value: mean over pairs, and of the newest pair; and the miss, "
        "the squared length of read minus value over that of the value; each as quantiles over trials.  `pair` is "
        "the mean cosine by quarter-width of pairs, in the order they were written."
    )
    question = CrosstalkQuestion
    quick = CrosstalkQuestion(widths=(8, 16, 32), trials=48)
    dims: ClassVar = {
        "cosine": ("load", "quantile"), "newest": ("load", "quantile"), "miss": ("load", "quantile"),
        "pair": ("load", "written"),
    }  # fmt: skip

    def grid(self, question):
        return {"rule": question.rules, "d": question.widths}

    def axes(self, question):
        loads = tuple((i + 1) / PARTS for i in range(question.load * PARTS))
        return {"load": loads, "quantile": AT, "written": loads}

    def work(self, question, point):
        _, d = point
        N, d_v, stops = question.load * d, question.d_v, question.load * PARTS
        return Work(
            flops=question.trials * (2.0 * N * d * d_v * (stops / 2 + 4) + 8.0 * N * BLOCK * (d + d_v + BLOCK)),
            bytes=question.trials * 4.0 * N * (stops / 2 * (d + 8 * d_v) + 20 * (d + d_v)),
            steps=30.0 * N / 128 + 30.0 * stops / TOGETHER,
            numbers=float(question.trials * N * (d + d_v)),
        )

    def at(self, question, point, bench):
        rule, d = point
        N, stops = question.load * d, [(i + 1) * d // PARTS for i in range(question.load * PARTS)]
        together = TOGETHER // 2 if bench.place.kind == "cpu" or d >= WIDE else TOGETHER

        def work(first: int, last: int) -> dict[str, Array]:
            K, V = keys_and_values(bench, first, last, N, d, question.d_v)
            memories = states(
                K, V, RULES[rule], stops, alpha=question.alpha, beta=question.beta_of(rule), block=block_of(bench, d)
            )  # fmt: skip
            told = [
                _read(bench, K, V, memories[:, i : i + together], i, len(stops))
                for i in range(0, len(stops), together)
            ]  # fmt: skip
            return {name: bench.xp.concat([t[name] for t in told], axis=1) for name in told[0]}

        each = 4.0 * (6 * N * d + (6 + 4 * TOGETHER) * N * question.d_v + 3 * len(stops) * d * question.d_v)
        told = bench.over(question.trials, LOT, each, work)
        return {
            "cosine": bench.numpy(quantiles(told["cosine"])),
            "newest": bench.numpy(quantiles(told["newest"])),
            "miss": bench.numpy(quantiles(told["miss"])),
            "pair": bench.numpy(bench.xp.mean(told["pair"], axis=0)),
        }


def block_of(bench: Bench, d: int) -> int:
    """Pairs per block: a GPU waits for every dependent step, and has room for the work inside long ones."""
    return BLOCK if bench.place.kind == "cpu" else min(128, max(BLOCK, d))


def _read(bench: Bench, K: Array, V: Array, S: Array, first: int, quarters: int) -> dict[str, Array]:
    """What all pairs read from memories after the stops first, first + 1, …, S [trials, stops, d, d_v].

    Means over quarters of a width; those that are not stored yet are left out, and NaN in `pair`.
    """
    xp, (trials, stops, d, d_v) = bench.xp, S.shape
    last = first + stops
    quarter = d // PARTS
    K, V = K[:, : last * quarter], V[:, : last * quarter, None]
    # One product for all stops: their memories side by side.
    side_by_side = xp.reshape(xp.moveaxis(S, 1, 2), (trials, d, stops * d_v))
    reads = xp.reshape(K @ side_by_side, (trials, last * quarter, stops, d_v))
    inner, square, length = xp.vecdot(reads, V).mT, _squares(bench, reads).mT, _squares(bench, V).mT
    # What is gone reads 0, not the direction of the noise.
    shortest = (64 * float(xp.finfo(K.dtype).eps)) ** 2
    cosine = inner / xp.sqrt(length * xp.maximum(square, shortest * length))
    cosine, miss = (
        xp.reshape(a, (trials, stops, last, quarter)) for a in (cosine, (square - 2 * inner + length) / length)
    )
    stop, part = bench.array(np.arange(first, last)[:, None]), bench.array(np.arange(last))
    stored, nothing = part <= stop, xp.zeros_like(cosine[..., 0])
    pair, missed = (xp.where(stored, xp.mean(a, axis=-1), nothing) for a in (cosine, miss))
    absent = xp.full((trials, stops, quarters - last), xp.nan, dtype=K.dtype, device=bench.device)
    return {
        "cosine": xp.sum(pair, axis=-1) / (stop[:, 0] + 1),
        "newest": xp.sum(xp.where(part == stop, cosine[..., -1], nothing), axis=-1),
        "miss": xp.sum(missed, axis=-1) / (stop[:, 0] + 1),
        "pair": xp.concat([xp.where(stored, pair, nothing + xp.nan), absent], axis=-1),
    }


def _squares(bench: Bench, x: Array) -> Array:
    """Squared lengths.  Neither way makes an array of squares, as large as x, in between."""
    if bench.place.library == "torch":
        return bench.xp.linalg.vector_norm(x, axis=-1) ** 2
    return bench.xp.vecdot(x, x)


def keys_and_values(bench: Bench, first: int, last: int, n: int, d: int, d_v: int) -> tuple[Array, Array]:
    """Unit keys `[trials, n, d]` and normal values `[trials, n, d_v]` of trials first…last−1."""
    K = unit(bench.normal(first, last, LOT, (n, d), ("keys", n, d)))
    return K, bench.normal(first, last, LOT, (n, d_v), ("values", n, d_v))


def naive(question: CrosstalkQuestion, point: tuple, K: np.ndarray, V: np.ndarray) -> Arrays:
    """Cosines and misses of one trial the plain way, to compare with: write one pair, read all, for every n."""
    rule, d = point
    step = WRITE_RULES[RULES[rule]]()
    S, lengths = np.zeros((d, V.shape[-1]), dtype=K.dtype), np.linalg.norm(V, axis=-1)
    cosine, miss = (np.full((len(K), len(K)), np.nan, dtype=K.dtype) for _ in range(2))
    for n in range(len(K)):
        S = step(S, K[n], V[n], alpha=question.alpha, beta=question.beta_of(rule))
        reads, values, size = K[: n + 1] @ S, V[: n + 1], lengths[: n + 1]
        cosine[n, : n + 1] = np.sum(reads * values, axis=-1) / (np.linalg.norm(reads, axis=-1) * size)
        miss[n, : n + 1] = np.sum(np.square(reads - values), axis=-1) / size**2
    return {"cosine": cosine, "miss": miss}
