"""The outer-product memory: write pairs, read them back, and how much the pairs disturb one another.

S = Σ k̂ₛvₛᵀ stores pairs under keys of unit length k̂.  Reading with k̂ⱼ returns vⱼ plus crosstalk,
every other value weighted by the cosine between its key and k̂ⱼ.  The rules by which modern layers
write live in `compute.write_rules` and are offered here as well.
Source: Schlag, Irie, Schmidhuber 2021, arXiv:2102.11174.
"""

from __future__ import annotations

from typing import Any

from compute.arrays import Admitted, Array, admit, leave
from compute.write_rules import WRITE_RULES, Additive, Decay, Delta, GatedDelta, WriteRule, find_rule, recall

__all__ = [
    "WRITE_RULES",
    "Additive",
    "Decay",
    "Delta",
    "GatedDelta",
    "WriteRule",
    "admit_pairs",
    "crosstalk_energy",
    "find_rule",
    "read",
    "recall",
    "recognised",
    "squares_of",
    "unit",
    "write",
]


def unit(X: Array, name: str = "X") -> Array:
    """Rows of X `[*, d]` at length one.  ValueError that begins with `name`, also if a row has length zero."""
    admitted = admit(**{name: X})
    xp, _, (X,) = admitted
    # The largest entry goes first, so that squares neither overflow nor vanish.
    largest = xp.max(xp.abs(X), axis=-1, keepdims=True)
    if bool(xp.any(largest == 0)):
        raise ValueError(f"{name} must not hold a vector of length zero, it has no direction")
    X = X / largest
    return leave(admitted, X / xp.linalg.vector_norm(X, axis=-1, keepdims=True))


def squares_of(xp: Any, V: Array) -> Array:
    """‖v‖² of values `[*, d_v]` let in already; ValueError, beginning with V, if one is 0."""
    squares = xp.sum(V * V, axis=-1)
    if not bool(xp.all(squares > 0)):
        raise ValueError("V must not hold a value of length zero, nothing can be measured against it")
    return squares


def admit_pairs(K: Array, V: Array) -> Admitted:
    """Keys `[*lead, n, d]` and values `[*lead, n, d_v]` let in together; ValueError if they are not pairs."""
    admitted = admit(ndim=2, K=K, V=V)
    K, V = admitted.arrays
    if tuple(V.shape[:-1]) != tuple(K.shape[:-1]):
        raise ValueError(f"V must have one row per key and K's lead axes, got {tuple(V.shape)} for {tuple(K.shape)}")
    return admitted


def write(K: Array, V: Array) -> Array:
    """The memory after all pairs, S = Σ k̂ₛvₛᵀ `[*lead, d_k, d_v]`, from K `[*lead, n, d_k]` and V `[*lead, n, d_v]`.

    Keys are brought to unit length, values stay as they are.  Up to d_k pairs with orthogonal keys read
    back exactly; no memory of this shape reads back more than d_k generic pairs.
    ValueError naming K (a key of length zero among them) or V.
    """
    admitted = admit_pairs(K, V)
    K, V = admitted.arrays
    return leave(admitted, unit(K, "K").mT @ V)


def read(S: Array, q: Array) -> Array:
    """Sᵀq̂ for q `[*lead, d_k]` → `[*lead, d_v]`, or for a stack of queries `[*lead, T, d_k]` → `[*lead, T, d_v]`.

    S `[*lead, d_k, d_v]`.  The query is brought to unit length.  ValueError naming S, or q (also of length zero).
    """
    admitted = admit(S=S, q=q)
    S, q = admitted.arrays
    if S.ndim < 2:
        raise ValueError(f"S must have at least 2 axes, got shape {tuple(S.shape)}")
    stack = q.ndim == S.ndim
    if tuple(q.shape[: -1 - stack]) != tuple(S.shape[:-2]) or q.shape[-1] != S.shape[-2]:
        raise ValueError(f"q must fit S {tuple(S.shape)}: its lead axes, then {S.shape[-2]}, got {tuple(q.shape)}")
    q = unit(q, "q")
    return leave(admitted, q @ S if stack else recall(S, q))


def recognised(O: Array, V: Array) -> Array:
    """Share of the reads that can be told apart: reads O and values V, both `[*lead, n, d_v]`, give `[*lead]`, 0 to 1.

    Read j is recognised when no stored value is nearer to it than its own, V j (Euclid's distance; a tie counts).
    Among values of one length that is the one with the largest inner product.  ValueError naming O or V.
    """
    admitted = admit(ndim=2, O=O, V=V)
    xp, (O, V) = admitted.xp, admitted.arrays
    if tuple(O.shape) != tuple(V.shape):
        raise ValueError(f"O must have the shape of V, one read per value, {tuple(V.shape)}, got {tuple(O.shape)}")
    # ‖o − v‖² less the ‖o‖² that all values share, halved and turned round.
    closeness = O @ V.mT - xp.sum(V * V, axis=-1)[..., None, :] / 2
    own = xp.linalg.diagonal(closeness)
    return leave(admitted, xp.mean(xp.astype(own >= xp.max(closeness, axis=-1), O.dtype), axis=-1))


def crosstalk_energy(K: Array) -> Array:
    """Mean over j of Σ_{s≠j} (k̂ₛ·k̂ⱼ)², `[*lead]`, from keys K `[*lead, n, d_k]`.

    It is the expected squared length of the crosstalk over that of the value, for independent values of
    mean zero and equal size.  Random keys: about (n−1)/d_k (`compute.memory_laws`).
    ValueError naming K, also for a key of length zero.
    """
    admitted = admit(ndim=2, K=K)
    xp = admitted.xp
    K = unit(admitted.arrays[0], "K")
    n, d = K.shape[-2:]
    # The Gram matrix of rows or of columns, whichever is smaller: same sum of squares.
    # Past n = d the sum is far above n, so nothing is lost in taking the n ones of the diagonal away.
    if n > d:
        energy = xp.sum((K.mT @ K) ** 2, axis=(-2, -1)) / n - 1
    else:
        gram = K @ K.mT
        energy = xp.sum((gram - xp.tril(xp.triu(gram))) ** 2, axis=(-2, -1)) / n
    return leave(admitted, energy)
