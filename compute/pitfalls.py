"""Mistakes on purpose: the recurrent form kept step by step, and six ways in which implementations break it.

A pitfall is the recurrence with one line changed.  Numbers may be floats, or Fractions in an object array: then every
step is exact.  Source of the right form: Katharopoulos et al. 2020, arXiv:2006.16236.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from numbers import Rational
from typing import Any, ClassVar, NamedTuple

import numpy as np

from compute.arrays import Array, admit
from compute.attention.doors import divide, shown
from compute.attention.step import advance
from compute.rounding import round_to
from compute.scalars import brief, one_of, real
from compute.write_rules import Additive, recall


class Steps(NamedTuple):
    """Everything the recurrence holds after each token: S [T, d_phi, d_v], z [T, d_phi], num, O [T, d_v], den [T]."""

    S: np.ndarray
    z: np.ndarray
    num: np.ndarray
    den: np.ndarray
    O: np.ndarray


@dataclass(frozen=True)
class Recurrence:
    """The right form, in the parts that a mistake can change.  No pitfall."""

    word: ClassVar[str] = "none"
    label: ClassVar[str] = "none"
    state: ClassVar[str] = r"S_t^\top"
    total: ClassVar[str] = r"z_t^\top"
    query: ClassVar[str] = r"\phi(q_t)"
    """Formulas of what a read multiplies: the state and the sum, each with the features of the query."""
    why: ClassVar[str] = ""
    caught_by: ClassVar[str] = ""
    eps_in_denominator: ClassVar[bool] = True

    @property
    def latex(self) -> str:
        """The line that a mistake changes."""
        return rf"o_t = {self.state} {self.query} \,/\, {self.total} {self.query}"

    def features(self, phi: Array, eps: Any) -> Array:
        """What is taken for the features."""
        return phi

    def read(self, S: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each token reads, of the states [T, d_phi, d_v] and sums [T, d_phi] that the tokens leave behind."""
        return S, z

    def start(self, phi_k: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """S and z before the first token."""
        return np.zeros((phi_k.shape[1], V.shape[1]), dtype=V.dtype), np.zeros(phi_k.shape[1], dtype=V.dtype)

    def advance(self, S: Array, z: Array, phi_q: Array, phi_k: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """(num, den, S, z) after one token."""
        return advance(S, z, phi_q, phi_k, v)


class OneSummary(Recurrence):
    """Every query reads the summary of all tokens, as it may without a mask."""

    word = "one_summary"
    label = "one summary for all"
    state, total = r"S_T^\top", r"z_T^\top"
    why = (
        "One summary of all tokens serves every query where each may see all of them. "
        "Under the causal mask every token needs a sum of its own: read from the last one, it sees what comes after it."
    )
    caught_by = "Change the last token: no earlier output may move."

    def start(self, phi_k, V):
        return writes(phi_k, V).sum(0), phi_k.sum(0)

    def advance(self, S, z, phi_q, phi_k, v):
        return recall(S, phi_q), recall(z[:, None], phi_q)[0], S, z


class ReadFirst(Recurrence):
    """The read comes before the write."""

    word = "read_first"
    label = "read before write"
    state, total = r"S_{t-1}^\top", r"z_{t-1}^\top"
    why = (
        "A read that comes before the write leaves each token out of its own output, "
        "and the first one finds nothing: 0/0."
    )
    caught_by = "A single token must return its own value."

    def advance(self, S, z, phi_q, phi_k, v):
        num, den = recall(S, phi_q), recall(z[:, None], phi_q)[0]
        return num, den, *advance(S, z, phi_q, phi_k, v)[2:]

    def read(self, S, z):
        empty = S[:1] * 0, z[:1] * 0
        return tuple(np.concatenate([start, left[:-1]]) for start, left in zip(empty, (S, z)))


class Transposed(Recurrence):
    """The state is stored as values by features and read as if it were features by values."""

    word = "transposed"
    label = "transposed S"
    state = r"S_t\,"
    why = (
        "Some papers store the transpose. Read the wrong way round, S fits only where d_φ = d_v, "
        "and then answers with other numbers."
    )
    caught_by = "Try widths d_φ and d_v that differ."

    def advance(self, S, z, phi_q, phi_k, v):
        if S.shape[0] != S.shape[1]:
            raise ValueError(
                f"V must be as wide as the features, {S.shape[0]}, to be read from a transposed state, got {S.shape[1]}"
            )
        _, den, S, z = advance(S, z, phi_q, phi_k, v)
        return recall(S.mT, phi_q), den, S, z


class FeatureSum(Recurrence):
    """The denominator sums along the feature axis of the query, not along the keys."""

    word = "feature_sum"
    label = "sum over features"
    total = r"\mathbf{1}^\top"
    why = (
        "The denominator sums the features of the query instead of the kernel values of the keys, "
        "so it does not grow as keys come in."
    )
    caught_by = "Constant values must come back as that constant."

    def advance(self, S, z, phi_q, phi_k, v):
        num, _, S, z = advance(S, z, phi_q, phi_k, v)
        return num, phi_q.sum(), S, z


class EpsInside(Recurrence):
    """Every feature is raised by eps, and the denominator is left bare."""

    word = "eps_inside"
    label = "ε inside φ"
    query = r"(\phi(q_t) + \varepsilon)"
    latex = r"\phi(x) \to \phi(x) + \varepsilon"
    why = (
        "An ε on every feature is a different kernel: "
        "keys and queries without features get a small weight instead of none."
    )
    caught_by = "Compare with ε in the denominator on a map that has zeros, ReLU."
    eps_in_denominator = False

    def features(self, phi, eps):
        return phi + eps


class BFloat16(Recurrence):
    """S and z are rounded to bfloat16 after every write."""

    word = "bf16"
    label = "bf16 state"
    latex = r"S_t = \text{bf16}(S_{t-1} + \phi(k_t)\, v_t^\top)"
    why = "A bfloat16 number has 8 binary digits: what a write adds below half the gap of a large sum is rounded away."
    caught_by = "Add many small numbers and compare with the exact sum; constant values do not show it."

    def advance(self, S, z, phi_q, phi_k, v):
        S, z = _in_bfloat16(Additive().step(S, phi_k, v)), _in_bfloat16(z + phi_k)
        return recall(S, phi_q), recall(z[:, None], phi_q)[0], S, z


PITFALLS: dict[str, Recurrence] = {
    kind.word: kind() for kind in (Recurrence, OneSummary, ReadFirst, Transposed, FeatureSum, EpsInside, BFloat16)
}
"""The right form and its mistakes, in teaching order."""


def recurrent_steps(phi_q: np.ndarray, phi_k: np.ndarray, V: np.ndarray, eps: Any = 0, pitfall: str = "none") -> Steps:
    """The recurrent form on features, every step of it kept, right or with one mistake.

    phi_q, phi_k: [T, d_phi], V: [T, d_v], NumPy, of floats or of Fractions.  eps: where the pitfall puts it, otherwise
    in the denominator once; a row whose denominator is 0 is NaN.  pitfall: a key of PITFALLS.
    Keeps T d_phi d_v numbers.  Raises ValueError, beginning with the argument's name, on another pitfall, shapes that
    do not fit, NaN, Inf, a negative eps; and, for a transposed state, on V whose width is not d_phi.
    """
    form = PITFALLS[one_of("pitfall", pitfall, PITFALLS)]
    phi_q, (phi_k, V) = _numbers("phi_q", phi_q), _tokens(phi_k, V)
    if phi_k.shape != phi_q.shape:
        raise ValueError(f"phi_k must have the shape of phi_q, {shown(phi_q.shape)}, got {shown(phi_k.shape)}")
    real("eps", eps, 0)
    phi_q, phi_k = form.features(phi_q, eps), form.features(phi_k, eps)
    S, z = form.start(phi_k, V)
    kept = []
    for q, k, v in zip(phi_q, phi_k, V, strict=True):
        num, den, S, z = form.advance(S, z, q, k, v)
        kept.append((S, z, num, den))
    S, z, num, den = (np.stack([np.asarray(step[i]) for step in kept]) for i in range(4))
    return Steps(S, z, num, den, divide(num, den + eps if form.eps_in_denominator else den))


def writes(phi_k: np.ndarray, V: np.ndarray) -> np.ndarray:
    """φ(k)vᵀ of every token, each of rank one: phi_k [T, d_phi], V [T, d_v] → [T, d_phi, d_v].

    NumPy, of floats or of Fractions.  ValueError naming phi_k or V.
    """
    return Additive().step(0, *_tokens(phi_k, V))


def _tokens(phi_k: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    phi_k, V = _numbers("phi_k", phi_k), _numbers("V", V)
    if len(V) != len(phi_k):
        raise ValueError(f"V must hold one value per key, [{len(phi_k)}, d_v], got {shown(V.shape)}")
    return phi_k, V


def _numbers(name: str, x: np.ndarray) -> np.ndarray:
    """[T, d] of finite floats, or of Fractions in an object array."""
    if isinstance(x, (list, tuple)):
        with suppress(ValueError):  # rows of different lengths stay the list that they are, and are refused as one
            x = np.asarray(x)
    if not isinstance(x, np.ndarray) or x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"{name} must be a NumPy array [T, d], got {brief(x)}")
    if x.dtype == object and all(isinstance(entry, Rational) for entry in x.flat):
        return x
    return admit(**{name: x}).arrays[0]


def _in_bfloat16(x: np.ndarray) -> np.ndarray:
    """Rounded, in the kind of number it came with."""
    rounded = round_to(x.astype(np.float64), "bfloat16")
    return (
        rounded.astype(x.dtype)
        if x.dtype != object
        else np.vectorize(type(x.flat[0]), otypes=[object])(rounded.astype(float))
    )
