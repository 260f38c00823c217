"""What a feature map φ is: the base classes of the family.

Every map works on the last axis, `[*, d_k] → [*, d_φ]`, applies no temperature and adds no ε.  Besides its features a
map knows three things that a product of features loses to rounding or to a limit: its kernel, the kernel's rows up to
a positive factor per query (all that normalised weights need), and the rows' limit for an ever longer query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from array_api_compat import is_numpy_array

from compute.arrays import Array, admit, leave, namespace
from compute.families import Member
from compute.scalars import whole

SEEDS = 2**63
"""Seeds run from 0 to SEEDS − 1."""


@dataclass(frozen=True)
class FeatureMap(Member):
    """A feature map φ.  Subclasses say `features` and, where a product of features is not good enough, more."""

    label: ClassVar[str]
    positivity: ClassVar[str]
    """"yes": features > 0.  "nonnegative": ≥ 0, may all vanish.  "kernel": only the kernel is > 0.  "no": signed."""
    homogeneity: ClassVar[int | None] = None
    """n if φ(cx) = cⁿφ(x) for c > 0; such a map's weights do not change with the length of the query."""
    approximates: ClassVar[str] = "no"
    """How φ(q)·φ(k) relates to e^(q·k)."""
    of_score: ClassVar[bool] = False
    """Whether φ(q)·φ(k) depends on the score q·k alone."""
    random: ClassVar[bool] = False
    """Whether the map is one draw of many; if so it has a `seed`, and `redraw`."""
    latex: ClassVar[str]
    kernel_latex: ClassVar[str | None] = None
    width_latex: ClassVar[str] = "d_k"
    used_by: ClassVar[str]
    source: ClassVar[str]

    def __call__(self, x: Array) -> Array:
        """φ(x): [*, d_k] → [*, d_φ], of x's kind, device and dtype.  NaN passes through.  ValueError naming x."""
        x = admit(x=x, finite=False)
        self.d_phi(x.arrays[0].shape[-1])
        return leave(x, self.features(x.arrays[0]))

    def d_phi(self, d_k: int) -> int:
        """Number of features of a vector of width d_k.  ValueError naming d_k, or a knob that does not fit d_k."""
        return whole("d_k", d_k, 1)

    def rank_bound(self, d_k: int) -> int:
        """Largest rank that a kernel matrix of this map can have: the number of distinct features."""
        return self.d_phi(d_k)

    def merged(self) -> FeatureMap:
        """A map with the same kernel and as many features as `rank_bound` says."""
        return self

    def features(self, x: Array) -> Array:
        """φ(x) for a floating array that was let in already."""
        raise NotImplementedError

    def kernel(self, Q: Array, K: Array) -> Array:
        """φ(q)·φ(k) for all pairs of admitted arrays: [*, T_q, d_k], [*, T_k, d_k] → [*, T_q, T_k]."""
        return self.kernel_from(Q)(K)

    def kernel_from(self, Q: Array) -> Callable[[Array], Array]:
        """The kernel of these queries with any keys, [*, T_k, d_k] → [*, T_q, T_k]: where keys come in pieces the
        queries are mapped once."""
        phi_q = self.features(Q)
        return lambda K: products(phi_q, self.features(K))

    def rows(self, Q: Array, K: Array) -> Array:
        """The kernel up to one positive factor per query: enough for weights, and finite where the kernel is not."""
        return self.scaled_rows(Q, K)[0]

    def scaled_rows(self, Q: Array, K: Array) -> tuple[Array, Array]:
        """The rows [*, T_q, T_k], and the log of the factor per query [*, T_q, 1] that makes them the kernel."""
        rows = self.kernel(Q, K)
        return rows, namespace(rows).zeros_like(rows[..., :1])

    def scaled_rows_along(self, q: Array, c: Array, K: Array) -> tuple[Array, Array]:
        """The `scaled_rows` of c·q for one query q [d_k] and factors c [C], of keys [T_k, d_k]."""
        return self.scaled_rows(c[:, None] * q, K)

    def limit_rows(self, Q: Array, K: Array) -> Array:
        """What the rows for c·Q tend to as c → ∞, up to one positive factor per query; NaN where there is no limit."""
        return self.rows(Q, K) if self.homogeneity is not None else products(Q, K) * float("nan")

    def redraw(self, i: int) -> FeatureMap:
        """The i-th further draw of a random map (0 is the map itself); any other map is its own redraw."""
        return replace(self, seed=(self.seed + i) % SEEDS) if self.random else self


@dataclass(frozen=True)
class LogFeatureMap(FeatureMap):
    """A positive map that is known by the logarithm of its features."""

    positivity = "yes"

    def log_features(self, x: Array) -> Array:
        """log φ(x)."""
        raise NotImplementedError

    def log_leading(self, q: Array) -> Array:
        """log of the features of c·q as c → ∞, up to one factor per row; −inf for those that fall behind."""
        raise NotImplementedError

    def features(self, x: Array) -> Array:
        return namespace(x).exp(self.log_features(x))

    def scaled_rows(self, Q: Array, K: Array) -> tuple[Array, Array]:
        return balanced(self.log_features, Q, self.log_features(K))

    def log_features_along(self, q: Array) -> Callable[[Array], Array]:
        """log φ(c·q) [C, d_φ] of factors c [C, 1], for one query q [d_k]."""
        return lambda c: self.log_features(c * q)

    def scaled_rows_along(self, q: Array, c: Array, K: Array) -> tuple[Array, Array]:
        return balanced(self.log_features_along(q), c[:, None], self.log_features(K))

    def limit_rows(self, Q: Array, K: Array) -> Array:
        return balanced(self.log_leading, Q, self.log_features(K))[0]


def products(a: Array, b: Array) -> Array:
    """a·b for all pairs of rows, let in already: [*, n, d], [*, m, d] → [*, n, m]."""
    return a @ namespace(a).matrix_transpose(b)


def balanced(log_of: Callable[[Array], Array], Q: Array, log_k: Array) -> tuple[Array, Array]:
    """exp(log_of(Q))·exp(log_k) up to one positive factor per row, and the log of that factor, let in already.

    Each feature is shifted by its largest key, which cancels in the product, then each row by its largest term.
    All exponents are then ≤ 0 and every row holds a term e⁰, so no row over- or underflows, whatever the norms.
    """
    xp, T_q = namespace(Q), Q.shape[-2]
    shift = xp.max(log_k, axis=-2, keepdims=True)
    keys = xp.exp(log_k - shift)

    def of(some: Array) -> tuple[Array, Array]:
        log_q = log_of(some) + shift
        largest = xp.max(log_q, axis=-1, keepdims=True)
        less = np.subtract(log_q, largest, out=log_q) if is_numpy_array(log_q) else log_q - largest
        return products(np.exp(less, out=less) if is_numpy_array(less) else xp.exp(less), keys), largest

    step = max(1, PIECE * log_k.shape[-2] // max(1, log_k.size)) if is_numpy_array(Q) else T_q
    if T_q <= step:
        return of(Q)
    pieces = [of(Q[..., i : i + step, :]) for i in range(0, T_q, step)]
    return tuple(xp.concat(column, axis=-2) for column in zip(*pieces))


PIECE = 1 << 16
"""Features of NumPy arrays taken at once: more would leave the processor's cache, and memory beyond 2 MB comes from the
kernel anew each time."""


def where_largest(x: Array, value: Array | float, otherwise: float) -> Array:
    """`value` at the largest entries of each row (all of them, if tied), `otherwise` elsewhere."""
    xp = namespace(x)
    return xp.where(x == xp.max(x, axis=-1, keepdims=True), value + xp.zeros_like(x), otherwise)
