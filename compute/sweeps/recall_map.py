"""Sweep (v): how many pairs a memory still tells apart, against its bytes: no training, only the write rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compute.arrays import Array
from compute.families import knob
from compute.filling import states
from compute.memory import unit
from compute.sweeps.base import Question, Sweep, Work, several
from compute.sweeps.crosstalk_map import RULES, block_of
from compute.sweeps.quantiles import quantiles
from compute.sweeps.workbench import Bench

PAIRS = tuple(sorted({round(2 ** (i / 2)) for i in range(4, 21)}))
SPREAD = (0.05, 0.5, 0.95)
LOT = 8


@dataclass(frozen=True)
class RecallQuestion(Question):
    rules: tuple = several(
        ("additive", "decay", "delta", "delta_full", "gated_delta"), doc="write rules", among=tuple(RULES)
    )
    widths: tuple = several((8, 16, 32, 64, 128, 256), 2, 512, "widths d_φ of the keys")
    values: tuple = several((8, 16, 32, 64, 128), 2, 256, "widths d_v of the values")
    pairs: tuple = several(PAIRS, 2, 1024, "pairs n, in ascending order")
    alpha: float = knob(0.98, 0.5, 1.0, "fraction that a decaying memory keeps per write")
    beta: float = knob(0.5, 0.0, 1.0, "write strength of the delta rules")
    trials: int = knob(200, 8, 2000, "memories filled")

    def __post_init__(self):
        super().__post_init__()
        if list(self.pairs) != sorted(self.pairs):
            raise ValueError("pairs must be in ascending order")


class RecallMap(Sweep):
    """Random unit keys and unit values.  A pair is recalled when its read is nearest, in angle, to its own value."""

    word = "recall"
    title = "Recall against bytes of state"
    says = "Share of n pairs whose nearest stored value is the right one: mean over trials, and quantiles over trials."
    question = RecallQuestion
    quick = RecallQuestion(widths=(8, 16, 32), values=(16, 32), pairs=(4, 8, 16, 32, 64, 128), trials=24)
    dims: ClassVar = {"recall": ("n",), "spread": ("n", "quantile")}

    def grid(self, question):
        return {"rule": question.rules, "d_phi": question.widths, "d_v": question.values}

    def axes(self, question):
        return {"n": question.pairs, "quantile": SPREAD}

    def work(self, question, point):
        _, d_phi, d_v = point
        n, trials = max(question.pairs), question.trials
        pairs = sum(n * n for n in question.pairs)
        return Work(
            flops=trials * (2.0 * pairs * d_v + 2.0 * sum(question.pairs) * d_phi * d_v + 8.0 * n * 32 * (d_phi + d_v)),
            bytes=trials * pairs * 10.0,
            numbers=float(trials * n * (d_phi + d_v)),
            steps=30.0 * n / 32 + 8 * len(question.pairs),
        )

    def at(self, question, point, bench):
        rule, d_phi, d_v = point
        most = max(question.pairs)
        beta = 1.0 if rule == "delta_full" else question.beta

        def work(first: int, last: int) -> dict[str, Array]:
            K = unit(bench.normal(first, last, LOT, (most, d_phi), ("keys", most, d_phi)))
            V = unit(bench.normal(first, last, LOT, (most, d_v), ("values", most, d_v)))
            memories = states(
                K, V, RULES[rule], question.pairs, alpha=question.alpha, beta=beta, block=block_of(bench, most)
            )  # fmt: skip
            shares = [
                recalled(bench, K[:, :n], V[:, :n], memories[:, i]) for i, n in enumerate(question.pairs)
            ]  # fmt: skip
            return {"share": bench.xp.stack(shares, axis=-1)}

        share = bench.over(question.trials, LOT, 4.0 * most * (3 * most + d_phi + d_v), work)["share"]
        return {"recall": bench.numpy(bench.xp.mean(share, axis=0)), "spread": bench.numpy(quantiles(share, SPREAD))}


def recalled(bench: Bench, K: Array, V: Array, S: Array) -> Array:
    """Share of the pairs whose read has its largest inner product with the value it should be, `[trials]`."""
    xp = bench.xp
    found = xp.argmax((K @ S) @ V.mT, axis=-1)
    right = found == xp.asarray(np.arange(K.shape[-2]), device=bench.device)
    return xp.mean(xp.astype(right, K.dtype), axis=-1)


def state_numbers(d_phi: int, d_v: int) -> int:
    """Numbers that a memory with its normaliser keeps: d_φ rows of d_v, and one more column."""
    return d_phi * (d_v + 1)
