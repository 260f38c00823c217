"""Maps made of random directions: each member is one draw, and its kernel an estimate of e^(q·k)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from array_api_compat import is_numpy_array

from compute.arrays import Array, like, namespace
from compute.families import knob
from compute.feature_maps.base import SEEDS, FeatureMap, LogFeatureMap, balanced, products, where_largest
from compute.random_features import (
    directions,
    directions_beside,
    half_square,
    log_positive_features,
    log_positive_features_along,
    mean_wave,
    mean_wave_from,
    waves,
)
from compute.scalars import whole


class Drawn:
    """What both have: directions Ω, a draw of m by `seed` and `orthogonal`."""

    def directions_for(self, x: Array) -> Array:
        """The directions of this draw, [m, d_k], beside x."""
        return like(x, directions(self.m, x.shape[-1], self.seed, self.orthogonal))

    def _directions(self, x: Array) -> Array:
        return directions_beside(x, self.m, self.seed, self.orthogonal)


@dataclass(frozen=True)
class PositiveRandom(Drawn, LogFeatureMap):
    """Positive random features (FAVOR+): an unbiased estimate of e^(q·k) from exponentials of random projections.

    Width m, chosen freely.  Price: relative variance (e^‖q+k‖² − 1)/m, exponential in the length of the vectors.
    Directions are orthogonal in blocks of d_k unless `orthogonal` is off.
    """

    m: int = knob(256, 1, 2**20, "number of random features", offered=(16, 4096))
    seed: int = knob(0, 0, SEEDS - 1, "which random draw", offered=(0, 9999))
    orthogonal: bool = knob(True, doc="directions orthogonal in blocks of d_k")

    word = "favor"
    label = "FAVOR+"
    approximates = "unbiased"
    random = True
    latex = r"\phi(x) = \frac{1}{\sqrt{m}} \exp\left(\Omega x - \frac{\|x\|^2}{2}\right)"
    kernel_latex = r"\approx e^{q^\top k}"
    width_latex = "m"
    used_by = "Performer"
    source = "Choromanski et al. 2020, arXiv:2009.14794"

    def d_phi(self, d_k: int) -> int:
        whole("d_k", d_k, 1)
        return self.m

    def log_features(self, x: Array) -> Array:
        return log_positive_features(x, self._directions(x))

    def features(self, x: Array) -> Array:
        told = self.log_features(x)
        return np.exp(told, out=told) if is_numpy_array(told) else namespace(told).exp(told)

    def log_features_along(self, q: Array) -> Callable[[Array], Array]:
        return log_positive_features_along(q, self._directions(q))

    def log_leading(self, q: Array) -> Array:
        return where_largest(products(q, self._directions(q)), 0.0, otherwise=-np.inf)

    def limit_rows(self, Q: Array, K: Array) -> Array:
        if not is_numpy_array(Q) or Q.shape[:-1] != (1,):
            return super().limit_rows(Q, K)
        # Of one query all features but the leading ones, mostly a single one, come to nothing: keys need no others.
        leading = self._directions(Q)[self.log_leading(Q)[0] == 0]
        return balanced(lambda q: np.zeros((1, len(leading)), q.dtype), Q, log_positive_features(K, leading))[0]


@dataclass(frozen=True)
class Trigonometric(Drawn, FeatureMap):
    """Random Fourier features with the factor e^(‖x‖²/2): an unbiased estimate of e^(q·k) from waves.

    Width 2m for m directions.  Price: estimates can be negative, and their error grows without bound relative to a
    small kernel value.  The plain Fourier features of a Gaussian kernel lack the factor.
    """

    m: int = knob(256, 1, 2**20, "number of random directions", offered=(16, 4096))
    seed: int = knob(0, 0, SEEDS - 1, "which random draw", offered=(0, 9999))
    orthogonal: bool = knob(False, doc="directions orthogonal in blocks of d_k")

    word = "trig"
    label = "trigonometric"
    positivity = "no"
    approximates = "unbiased"
    random = True
    latex = r"\phi(x) = \frac{e^{\|x\|^2/2}}{\sqrt{m}} \left(\cos \Omega x, \sin \Omega x\right)"
    kernel_latex = r"\approx e^{q^\top k}"
    width_latex = "2 m"
    used_by = "random-feature baselines"
    source = "Rahimi & Recht 2007, NeurIPS; Choromanski et al. 2020, arXiv:2009.14794"

    def d_phi(self, d_k: int) -> int:
        whole("d_k", d_k, 1)
        return 2 * self.m

    def features(self, x: Array) -> Array:
        growth, told = namespace(x).exp(half_square(x)), waves(x, self._directions(x))
        return np.multiply(growth, told, out=told) if is_numpy_array(told) else growth * told

    def kernel(self, Q: Array, K: Array) -> Array:
        xp = namespace(Q)
        growth_q, growth_k = (xp.exp(half_square(x)) for x in (Q, K))
        return growth_q * mean_wave(Q, K, self._directions(Q)) * xp.matrix_transpose(growth_k)

    def kernel_from(self, Q: Array) -> Callable[[Array], Array]:
        xp = namespace(Q)
        growth_q, wave = xp.exp(half_square(Q)), mean_wave_from(Q, self._directions(Q))
        return lambda K: growth_q * wave(K) * xp.matrix_transpose(xp.exp(half_square(K)))

    def scaled_rows(self, Q: Array, K: Array) -> tuple[Array, Array]:
        return self._grown(mean_wave(Q, K, self._directions(Q)), half_square(Q), K)

    def scaled_rows_along(self, q: Array, c: Array, K: Array) -> tuple[Array, Array]:
        return self._grown(mean_wave(q, K, self._directions(q), c), c[:, None] ** 2 * half_square(q), K)

    @staticmethod
    def _grown(wave: Array, growth_q: Array, K: Array) -> tuple[Array, Array]:
        """Rows and log factors of queries whose log growth is growth_q [*, T_q, 1]."""
        xp, growth = namespace(K), half_square(K)
        most = xp.max(growth, axis=-2, keepdims=True)
        return wave * xp.matrix_transpose(xp.exp(growth - most)), growth_q + most
