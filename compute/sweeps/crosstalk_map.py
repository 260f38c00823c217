"""Sweep (i): what every stored pair reads back after every write, over widths and write rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compute.arrays import Array
from compute.crosstalk import every_read
from compute.families import knob
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
        "Cosine between what a pair reads back and its value: mean over pairs, and of the newest pair; crosstalk "
        "energy relative to the value; each as quantiles over trials.  `pair` is the mean cosine by quarter-width of "
        "pairs, in the order they were written."
    )
    question = CrosstalkQuestion
    quick = CrosstalkQuestion(widths=(8, 16, 32), trials=48)
    dims: ClassVar = {
        "cosine": ("load", "quantile"), "newest": ("load", "quantile"), "energy": ("load", "quantile"),
        "pair": ("load", "written"),
    }  # fmt: skip

    def grid(self, question):
        return {"rule": question.rules, "d": question.widths}

    def axes(self, question):
        loads = tuple((i + 1) / PARTS for i in range(question.load * PARTS))
        return {"load": loads, "quantile": AT, "written": loads}

    def work(self, question, point):
        rule, d = point
        N, block = question.load * d, _block(d)
        corrects = WRITE_RULES[RULES[rule]].corrects
        per_pair = (4 * d + question.d_v + 3 * block) if corrects else (2 * d + question.d_v + 2 * block)
        return Work(
            flops=2.0 * question.trials * N * N * per_pair,
            bytes=question.trials * N * N * 4.0 * (26 if corrects else 20),
            steps=40.0 * N / block * max(1, question.trials * _room(N, d) / (8 << 30)),
            numbers=float(question.trials * N * (d + question.d_v)),
        )

    def at(self, question, point, bench):
        rule, d = point
        N = question.load * d

        def work(first: int, last: int) -> dict[str, Array]:
            K, V = keys_and_values(bench, first, last, N, d, question.d_v)
            reads = every_read(
                K, V, RULES[rule], alpha=question.alpha, beta=question.beta_of(rule), block=_block(d)
            )  # fmt: skip
            stops = slice(d // PARTS - 1, None, d // PARTS)
            return {
                "pair": _by_quarter(bench, reads.cosine[:, stops, :], d),
                "energy_of": _by_quarter(bench, reads.energy[:, stops, :], d),
                "newest": reads.newest[:, stops],
            }

        told = bench.over(question.trials, LOT, _room(N, d), work)
        pairs = told["pair"]
        return {
            "cosine": bench.numpy(quantiles(_mean_stored(bench, pairs))),
            "newest": bench.numpy(quantiles(told["newest"])),
            "energy": bench.numpy(quantiles(_mean_stored(bench, told["energy_of"]))),
            "pair": bench.numpy(bench.xp.mean(pairs, axis=0)),
        }


def keys_and_values(bench: Bench, first: int, last: int, n: int, d: int, d_v: int) -> tuple[Array, Array]:
    """Unit keys `[trials, n, d]` and normal values `[trials, n, d_v]` of trials first…last−1."""
    K = unit(bench.normal(first, last, LOT, (n, d), ("keys", n, d)))
    return K, bench.normal(first, last, LOT, (n, d_v), ("values", n, d_v))


def _block(d: int) -> int:
    """Pairs per block: long ones mean fewer dependent steps, short ones less work inside."""
    return max(16, min(128, d // 2))


def _room(N: int, d: int) -> float:
    """Bytes that one trial takes."""
    return 4.0 * N * (5 * N + 4 * d + 12 * _block(d))


def _by_quarter(bench: Bench, rows: Array, d: int) -> Array:
    """Means over pairs written in the same quarter of a width: [trials, stops, N] → [trials, stops, stops]."""
    trials, stops, N = rows.shape
    return bench.xp.mean(bench.xp.reshape(rows, (trials, stops, stops, N // stops)), axis=-1)


def _mean_stored(bench: Bench, by_quarter: Array) -> Array:
    """Mean over all pairs stored so far; what is not stored yet is NaN and does not count."""
    xp, stops = bench.xp, by_quarter.shape[-1]
    counts = bench.array(np.arange(1, stops + 1))
    return xp.sum(xp.tril(by_quarter), axis=-1) / counts


def naive(question: CrosstalkQuestion, point: tuple, K: np.ndarray, V: np.ndarray) -> Arrays:
    """The same reads the plain way: write one pair, read all, for every n.  For one trial, to compare with."""
    rule, d = point
    step = WRITE_RULES[RULES[rule]]()
    N = len(K)
    S, cosine = np.zeros((d, V.shape[-1]), dtype=K.dtype), np.full((N, N), np.nan, dtype=K.dtype)
    lengths = np.linalg.norm(V, axis=-1)
    for n in range(N):
        S = step(S, K[n], V[n], alpha=question.alpha, beta=question.beta_of(rule))
        reads = K[: n + 1] @ S
        inner = np.sum(reads * V[: n + 1], axis=-1)
        cosine[n, : n + 1] = inner / (np.linalg.norm(reads, axis=-1) * lengths[: n + 1])
    return {"cosine": cosine}
