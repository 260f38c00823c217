"""Sweep (ii): how far estimates of e^(q·k) from random features spread, over lengths and numbers of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compute.arrays import Array
from compute.families import knob
from compute.feature_error import ratios
from compute.sweeps.base import Question, Sweep, Work, several
from compute.sweeps.quantiles import AT, quantiles
from compute.sweeps.workbench import Bench

LENGTHS = tuple(round(0.25 * 2 ** (i / 16), 3) for i in range(81))
WIDTHS = tuple(round(16 * 2 ** (i / 2)) // 2 * 2 for i in range(17))
"""d_φ in half octaves, even: trigonometric features come in pairs."""

ORTHOGONAL = {f"orthogonal_{d_k}": d_k for d_k in (4, 16, 64, 256)}
"""Directions orthogonal in blocks of d_k."""

KINDS = ("positive", "trig", *ORTHOGONAL)

LOT = 250


@dataclass(frozen=True)
class FeatureQuestion(Question):
    kinds: tuple = several(KINDS, doc="features, and how their directions are drawn", among=KINDS)
    lengths: tuple = several(LENGTHS, 0.0, 12.0, "‖q+k‖, for trigonometric features ‖q−k‖")
    widths: tuple = several(WIDTHS, 2, 16384, "numbers of features d_φ")
    draws: int = knob(10_000, 100, 100_000, "independent sets of directions")

    def __post_init__(self):
        super().__post_init__()
        if any(m % 2 for m in self.widths) or list(self.widths) != sorted(self.widths):
            raise ValueError("widths must be even numbers in ascending order")


class FeatureSurface(Sweep):
    """Only the projections of the directions on one fixed direction are drawn.  All lengths share them, and all
    widths are their prefixes, so one draw serves the whole surface; independent ones do not depend on d_k."""

    word = "random-features"
    title = "Estimate over true value, random features"
    says = (
        "Of estimate ÷ true value: quantiles over draws; the share of draws below the true value, for trigonometric "
        "features below zero; and the mean of |ratio − 1|, taken as twice the mean of what ratios lack to 1, which is "
        "the same since their mean is 1, and does not depend on rare huge draws."
    )
    question = FeatureQuestion
    quick = FeatureQuestion(
        kinds=("positive", "trig", "orthogonal_16"), lengths=(0.5, 1.0, 1.5, 2.0, 2.828, 4.0),
        widths=(16, 64, 256, 1024), draws=2000,
    )  # fmt: skip
    dims: ClassVar = {"quantiles": ("r", "d_phi", "quantile"), "share": ("r", "d_phi"), "error": ("r", "d_phi")}

    def grid(self, question):
        return {"kind": question.kinds}

    def axes(self, question):
        return {"r": question.lengths, "d_phi": question.widths, "quantile": AT}

    def work(self, question, point):
        size = float(question.draws * max(directions(point[0], question)))
        return Work(
            bytes=24 * size * len(question.lengths),
            numbers=size * (len(question.lengths) + (1 if point[0] in ("positive", "trig") else 4)),
            steps=question.draws / LOT
            + 4 * len(question.lengths) * len(question.widths) * max(1, size * 12 / (8 << 30)),
        )

    def at(self, question, point, bench):
        (kind,) = point
        many = directions(kind, question)

        def work(first: int, last: int) -> dict[str, Array]:
            g = projections(bench, first, last, many[-1], ORTHOGONAL.get(kind))
            shape = "trig" if kind == "trig" else "positive"
            return {"ratios": bench.xp.stack([ratios(g, r, many, shape) for r in question.lengths], axis=1)}

        ratio = bench.over(question.draws, LOT, 12.0 * many[-1], work)["ratios"]
        xp, limit = bench.xp, 0.0 if kind == "trig" else 1.0
        lacking = xp.where(ratio < 1, 1 - ratio, xp.zeros_like(ratio))
        return {
            "quantiles": bench.numpy(quantiles(ratio)),
            "share": bench.numpy(xp.mean(xp.astype(ratio < limit, ratio.dtype), axis=0)),
            "error": bench.numpy(2 * xp.mean(lacking, axis=0)),
        }


def directions(kind: str, question: FeatureQuestion) -> list[int]:
    """Directions behind each width: a trigonometric pair of features has one."""
    return [m // 2 if kind == "trig" else m for m in question.widths]


def projections(bench: Bench, first: int, last: int, m: int, d_k: int | None) -> Array:
    """[draws, m]: ω·u for a fixed unit u.  In blocks of d_k: coordinates of a random unit vector, times χ(d_k)."""
    if d_k is None:
        return bench.normal(first, last, LOT, (m,), ("directions", m))
    xp, blocks = bench.xp, -(-m // d_k)
    g = bench.normal(first, last, LOT, (blocks, d_k), ("blocks", m, d_k))
    square = 2 * bench.gamma(first, last, LOT, (blocks, d_k), ("lengths", m, d_k), d_k / 2)
    g = g / xp.linalg.vector_norm(g, axis=-1, keepdims=True) * xp.sqrt(square)
    return xp.reshape(g, (last - first, -1))[:, :m]
