"""Where the keys of a memory come from: three kinds, all of unit length.

`maker(n, d, rng, rho=0.5)` → keys `[n, d]`, NumPy float64; rng is a NumPy Generator.  The first n keys do
not depend on how many are drawn, so a memory can be filled pair by pair from one draw.
Source: Vershynin 2018, High-Dimensional Probability, section 3.3 (the sphere); Mezzadri 2007, arXiv:math-ph/0609050
(frames that are uniform).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compute.memory import unit
from compute.scalars import made, real, whole


@dataclass(frozen=True)
class KeyMaker:
    """One kind of keys.  `most(d)` is how many there can be at width d, None if there is no limit."""

    word: ClassVar[str]
    label: ClassVar[str]
    latex: ClassVar[str]
    uses: ClassVar[tuple[str, ...]] = ()
    narrowest: ClassVar[int] = 1

    def __call__(self, n: int, d: int, rng: np.random.Generator, rho: float = 0.5) -> np.ndarray:
        """Keys `[n, d]`; ValueError that begins with the argument: n, d or rho out of range, an rng that is none."""
        d = whole("d", d, self.narrowest)
        n = whole("n", n, 1, self.most(d))
        return self.draw(n, d, made("rng", rng, np.random.Generator), real("rho", rho, 0, 1))

    def most(self, d: int) -> int | None:
        """The largest n at width d, None where there is no limit."""
        return None

    def overlap(self, d: int, rho: float = 0.5) -> float:
        """Mean of (kₛ·kⱼ)² over two different keys; the crosstalk laws are multiples of it."""
        raise NotImplementedError

    def draw(self, n: int, d: int, rng: np.random.Generator, rho: float) -> np.ndarray:
        """Keys `[n, d]` for arguments let in already."""
        raise NotImplementedError


class Orthonormal(KeyMaker):
    """Perpendicular keys: no crosstalk at all, but there are only d of them.  A Haar-random frame."""

    word = "orthonormal"
    label = "orthonormal"
    latex = r"k_s^\top k_j = [s = j]"

    def most(self, d):
        return d

    def overlap(self, d, rho=0.5):
        return 0.0

    def draw(self, n, d, rng, rho):
        # A QR factor as LAPACK leaves it has fixed signs and is not Haar; the signs of R's diagonal repair that.
        frame, R = np.linalg.qr(rng.standard_normal((d, d)).T)
        return np.ascontiguousarray((frame * np.sign(np.diag(R))).T[:n])


class Random(KeyMaker):
    """Independent and uniform on the sphere: squared cosine 1/d on average for every pair."""

    word = "random"
    label = "random"
    latex = r"k_s \sim \mathrm{Unif}(\mathbb{S}^{d-1})"

    def overlap(self, d, rho=0.5):
        return 1 / d

    def draw(self, n, d, rng, rho):
        return unit(rng.standard_normal((n, d)))


class Correlated(KeyMaker):
    """All keys lean towards one shared direction u: k = √ρ·u + √(1−ρ)·w with w a random unit vector ⟂ u."""

    word = "correlated"
    label = "correlated ρ"
    latex = r"k_s = \sqrt{\rho}\,u + \sqrt{1-\rho}\,w_s,\quad w_s \perp u"
    uses = ("rho",)
    narrowest = 2

    def overlap(self, d, rho=0.5):
        return rho**2 + (1 - rho) ** 2 / (d - 1)

    def draw(self, n, d, rng, rho):
        u = unit(rng.standard_normal(d))
        W = rng.standard_normal((n, d))
        # Row by row: a matrix product rounds a row differently in different company.
        w = unit(W - np.sum(W * u, axis=-1, keepdims=True) * u)
        return unit(np.sqrt(rho) * u + np.sqrt(1 - rho) * w)


KEY_MAKERS: dict[str, KeyMaker] = {maker.word: maker() for maker in (Orthonormal, Random, Correlated)}
