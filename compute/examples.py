"""Two examples for the forms of causal linear attention: three tokens to follow by hand, and random ones.

By hand elu+1 of whole numbers is whole, so every step is a fraction, exactly; with ε = 0, or the outputs are no
longer these fractions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from compute.arrays import admit, of_kind
from compute.feature_maps import FEATURE_MAPS
from compute.pitfalls import Steps, recurrent_steps
from compute.scalars import whole
from compute.toys import LONGEST, queries_and_keys

HAND_Q = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
HAND_K = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
HAND_V = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
HAND_PHI = FEATURE_MAPS["elu"]()

HAND_EPS = Fraction(1, 10**6)
"""The ε of the mistake that puts one inside the map; nothing else by hand has any."""

for _given in (HAND_Q, HAND_K, HAND_V):
    _given.setflags(write=False)


def exact(x: np.ndarray) -> np.ndarray:
    """The same numbers as Fractions, [*] as x [*], in an object array: what a float is, not what it was meant to be.

    ValueError, beginning with x, on NaN, Inf, or what NumPy does not take for real numbers.
    """
    (x,) = admit(ndim=0, x=of_kind("x", x, np.empty(0))).arrays
    return np.vectorize(Fraction, otypes=[object])(x)


def exact_steps(pitfall: str = "none") -> Steps:
    """`recurrent_steps` of the three tokens in Fractions, an undefined output NaN; ValueError on another pitfall."""
    eps = HAND_EPS if isinstance(pitfall, str) and pitfall == "eps_inside" else 0
    return recurrent_steps(exact(HAND_PHI(HAND_Q)), exact(HAND_PHI(HAND_K)), exact(HAND_V), eps, pitfall)


def exact_kernel() -> np.ndarray:
    """φ(Q)φ(K)ᵀ of the three tokens, [3, 3] Fractions, not masked."""
    return exact(HAND_PHI(HAND_Q)) @ exact(HAND_PHI(HAND_K)).mT


def random_example(T: int, d_k: int, d_v: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Toy Q, K [T, d_k], each already times d_k^(−1/4), softmax's temperature on both sides, and normal V [T, d_v].

    ValueError, beginning with the argument's name, on sizes that are no whole numbers of at least 1, a seed below 0 or
    a longer T than the toys have.
    """
    T, d_k, d_v = whole("T", T, 1, LONGEST), whole("d_k", d_k, 1), whole("d_v", d_v, 1)
    Q, K = (x[:T] * d_k**-0.25 for x in queries_and_keys(d_k, seed))
    return Q, K, np.random.default_rng([seed, 1]).standard_normal((T, d_v))
