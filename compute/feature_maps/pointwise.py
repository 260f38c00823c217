"""Maps that treat every entry of a vector alone: d_φ = d_k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.arrays import Array, admit, namespace
from compute.feature_maps.base import FeatureMap, LogFeatureMap, products, where_largest


@dataclass(frozen=True)
class Identity(FeatureMap):
    """The vectors as they are.

    Width d_k.  Signed, so it goes without a denominator and with an output norm.
    """

    word = "identity"
    label = "identity"
    positivity = "no"
    homogeneity = 1
    of_score = True
    latex = r"\phi(x) = x"
    kernel_latex = r"q^\top k"
    used_by = "RetNet, without a denominator"
    source = "Sun et al. 2023, arXiv:2307.08621"

    def __call__(self, x: Array) -> Array:
        # Not by way of float32: 16-bit vectors would be copied twice to come out as they are.
        (x,) = admit(x=x, finite=False, narrow=True).arrays
        return x

    def features(self, x: Array) -> Array:
        return x


@dataclass(frozen=True)
class EluPlusOne(LogFeatureMap):
    """x + 1 for x ≥ 0 and eˣ below: the simplest map that is positive everywhere.

    Width d_k.  Price: the + 1 puts a floor under every key, so weights stay close to uniform.
    """

    word = "elu"
    label = "elu+1"
    latex = r"\phi(x)_i = \begin{cases} x_i + 1 & x_i \ge 0 \\ e^{x_i} & x_i < 0 \end{cases}"
    used_by = "Linear Transformer"
    source = "Katharopoulos et al. 2020, arXiv:2006.16236"

    def features(self, x: Array) -> Array:
        xp = namespace(x)
        # The larger of the two: eˣ lies above its tangent.  Less than half the time of a choice by sign.
        return xp.maximum(xp.exp(xp.clip(x, max=0)), x + 1)

    def log_features(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.where(x < 0, x, xp.log1p(xp.clip(x, min=0)))

    def log_leading(self, q: Array) -> Array:
        xp = namespace(q)
        if_negative = where_largest(q, 0.0, otherwise=-np.inf)
        linear = xp.where(q > 0, xp.log(xp.where(q > 0, q, xp.ones_like(q))), -np.inf)
        return xp.where(xp.max(q, axis=-1, keepdims=True) > 0, linear, if_negative)


@dataclass(frozen=True)
class Relu(FeatureMap):
    """The positive part of each entry.

    Width d_k.  Price: no gradient below zero, and a vector without positive entries has no features at all (0/0).
    """

    word = "relu"
    label = "ReLU"
    positivity = "nonnegative"
    homogeneity = 1
    latex = r"\phi(x)_i = \max(x_i, 0)"
    used_by = "early linear attentions"
    source = "Choromanski et al. 2020, arXiv:2009.14794 (generalised attention)"

    def features(self, x: Array) -> Array:
        return namespace(x).clip(x, min=0)


@dataclass(frozen=True)
class Silu(FeatureMap):
    """x·σ(x), the swish: nearly ReLU, but smooth and negative between −∞ and 0.

    Width d_k.  Signed (down to −0.278), so it goes without a denominator.
    """

    word = "silu"
    label = "SiLU"
    positivity = "no"
    latex = r"\phi(x)_i = \frac{x_i}{1 + e^{-x_i}}"
    used_by = "MiniMax-01, Mamba-2; without a denominator"
    source = "MiniMax 2025, arXiv:2501.08313"

    def features(self, x: Array) -> Array:
        xp = namespace(x)
        # Above and below the bar multiplied by e^(−|x|) where x < 0: neither overflows.
        return x * xp.exp(xp.clip(x, max=0)) / (1 + xp.exp(-xp.abs(x)))

    def limit_rows(self, Q: Array, K: Array) -> Array:
        xp = namespace(Q)
        below = xp.where(Q < 0, Q, -np.inf)
        last = xp.where((below == xp.max(below, axis=-1, keepdims=True)) & (Q < 0), -xp.ones_like(Q), 0.0)
        some_positive = xp.max(Q, axis=-1, keepdims=True) > 0
        return products(xp.where(some_positive, xp.clip(Q, min=0), last), self.features(K))
