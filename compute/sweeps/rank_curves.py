"""Sweep (iii): ranks of kernel matrices over length, width and feature map, as the tolerance moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compute.arrays import Array
from compute.families import knob
from compute.feature_maps import FEATURE_MAPS
from compute.rank import kernel_matrix, kernel_spectrum, rank_of, spectrum
from compute.sweeps.base import Question, Sweep, Work, several
from compute.sweeps.quantiles import quantiles
from compute.sweeps.workbench import Bench

TOLERANCES = tuple(round(-15 + i / 2, 1) for i in range(31))
"""Powers of ten, relative to the largest singular value."""

INDICES = tuple(sorted({round(2 ** (i / 4)) for i in range(45)}))
"""Which singular values are kept, counted from 1."""

SPREAD = (0.0, 0.5, 1.0)
"""Least, median and most over seeds."""

MAPS = {
    "softmax": None,
    **{word: FEATURE_MAPS[word]() for word in ("elu", "relu", "hedgehog", "dpfp")},
    "taylor": FEATURE_MAPS["taylor"](symmetric=True),
    "favor": FEATURE_MAPS["favor"](m=64),
}
"""Taylor with its duplicate monomials merged, which leaves the kernel what it is."""


def bound(word: str, d_k: int, N: int) -> int:
    """The largest rank that N queries and N keys can give: N, or as many features as a finite map has."""
    phi = MAPS[word]
    return N if phi is None else min(N, phi.rank_bound(d_k))


@dataclass(frozen=True)
class RankQuestion(Question):
    maps: tuple = several(tuple(MAPS), doc="feature maps", among=tuple(MAPS))
    widths: tuple = several((4, 8, 16), 2, 64, "widths d_k of queries and keys")
    lengths: tuple = several((8, 32, 128, 512, 2048), 8, 2048, "queries and keys N")
    draws: int = knob(64, 2, 256, "independent draws of queries and keys")


class RankCurves(Sweep):
    """Normal queries and keys, temperature d_k^(−1/2) in every kernel, float64 throughout."""

    word = "rank"
    title = "Rank of the kernel matrix, by tolerance"
    says = (
        "How many singular values exceed 10^tolerance times the largest: least, median and most over draws.  "
        "`spectrum` holds singular values relative to the largest, by index counted from 1."
    )
    question = RankQuestion
    quick = RankQuestion(lengths=(32, 64, 128, 256), widths=(4, 16), draws=6)
    needs_float64 = True
    dims: ClassVar = {"rank": ("tolerance", "spread"), "spectrum": ("index", "spread")}

    def grid(self, question):
        return {"map": question.maps, "d_k": question.widths, "N": question.lengths}

    def axes(self, question):
        return {"tolerance": TOLERANCES, "spread": SPREAD, "index": INDICES}

    def work(self, question, point):
        word, d_k, N = point
        d_phi = N if MAPS[word] is None else min(N, MAPS[word].d_phi(d_k))
        return Work(
            flops=question.draws * (12.0 * d_phi**3 + 8.0 * N * d_phi**2),
            bytes=question.draws * 400.0 * d_phi**2,
            # A GPU's eigensolver waits for column after column, in all of a matrix of 2N where there are no features.
            steps=question.draws * (3.0 * N if MAPS[word] is None else 0.7 * d_phi),
            numbers=2.0 * question.draws * N * d_k,
        )

    def at(self, question, point, bench):
        word, d_k, N = point

        def work(first: int, last: int) -> dict[str, Array]:
            Q, K = (bench.normal(first, last, 1, (max(question.lengths), d_k), (side, d_k), "float64")[:, :N]
                    for side in ("queries", "keys"))  # fmt: skip
            return {"values": singular_values(bench, Q, K, word, d_k**-0.5)}

        values = bench.over(question.draws, 1, 8.0 * N * N * 10, work)["values"]
        ranks = np.stack([rank_of(bench.numpy(values), 10.0**t) for t in TOLERANCES], axis=-1)
        relative = bench.numpy(values / values[:, :1])
        told = np.full((question.draws, len(INDICES)), np.nan)
        inside = [i for i, index in enumerate(INDICES) if index <= N]
        padded = np.concatenate([relative, np.zeros((question.draws, N - relative.shape[-1]))], axis=-1)
        told[:, inside] = padded[:, [INDICES[i] - 1 for i in inside]]
        return {"rank": quantiles(ranks.astype(np.float32), SPREAD), "spectrum": quantiles(told, SPREAD)}


def singular_values(bench: Bench, Q: Array, K: Array, word: str, scale: float) -> Array:
    """Singular values of the kernel matrices of Q and K `[draws, N, d_k]`, descending.

    On a GPU through the eigenvalues ±σ of [[0, M], [Mᵀ, 0]]: as exact as a decomposition into singular values, and
    several times faster there than one.
    """
    phi = MAPS[word]
    if bench.place.kind == "cpu":
        return kernel_spectrum(Q, K, phi, scale)
    xp = bench.xp
    if phi is None:
        M = kernel_matrix(Q, K, scale=scale)
    else:
        left, right = (phi(X * scale**0.5) for X in (Q, K))
        if left.shape[-1] < left.shape[-2]:
            import torch

            left, right = (torch.linalg.qr(x, mode="r")[1] for x in (left, right))
        M = left @ right.mT
    nothing = xp.zeros_like(M)
    both = xp.concat([xp.concat([nothing, M], axis=-1), xp.concat([M.mT, nothing], axis=-1)], axis=-2)
    return spectrum(both, symmetric=True)[..., ::2]
