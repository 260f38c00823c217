"""What enters attention, and how a quotient leaves it: the checks every form shares.

Each check raises ValueError that begins with the name of the offending argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device, is_array_api_obj

from compute.arrays import HALF, Admitted, Array, admit, admit_like, dtype_name, is_real, leave, namespace, of_kind
from compute.scalars import brief

FeatureMapLike = Callable[[Array], Array]
"""A feature map or any callable `[*, d_k] -> [*, d_phi]`."""

State = tuple[Array, Array]
"""(S, z): the memory `[*lead, d_phi, d_v]` and the running sum of key features `[*lead, d_phi]`."""


class Features(NamedTuple):
    """Everything a causal form needs, checked and in the dtype it computes in.

    phi_q, phi_k: [*lead, T, d_phi], masked keys already zero.  V: [*lead, T, d_v].
    log_alpha: None, [*lead, T, 1] or [*lead, T, d_phi].  S, z: the state before the first token.
    empty: None, or [*lead, T], True where a row has no kept key and no state to read.
    """

    admitted: Admitted
    phi_q: Array
    phi_k: Array
    V: Array
    log_alpha: Array | None
    S: Array
    z: Array
    empty: Array | None

    @property
    def xp(self) -> Any:
        """The namespace of the arrays."""
        return self.admitted.xp


def admit_qkv(
    Q: Array,
    K: Array,
    V: Array,
    *,
    causal: bool,
    names: tuple[str, str, str] = ("Q", "K", "V"),
    narrow: bool = False,
) -> Admitted:
    """Q [*lead, T_q, d_k], K [*lead, T, d_k], V [*lead, T, d_v]; T_q = T where causal.  names: in complaints.

    narrow: 16-bit arrays stay as they are, and NaN and Inf are for the caller to find.
    """
    q, k, v = names
    admitted = admit(ndim=2, finite=not narrow, narrow=narrow, **{q: Q, k: K, v: V})
    Q, K, V = admitted.arrays
    for name, a in ((k, K), (v, V)):
        if a.shape[:-2] != Q.shape[:-2]:
            raise ValueError(
                f"{name} must have the leading axes of {q}, {shown(Q.shape[:-2])}, got {shown(a.shape[:-2])}"
            )
    if K.shape[-1] != Q.shape[-1]:
        raise ValueError(f"{k} must be as wide as {q}, {Q.shape[-1]}, got {K.shape[-1]}")
    if V.shape[-2] != K.shape[-2]:
        raise ValueError(f"{v} must hold one value per key, T = {K.shape[-2]}, got {V.shape[-2]}")
    if causal and Q.shape[-2] != K.shape[-2]:
        raise ValueError(f"{q} must hold one query per key where causal, T = {K.shape[-2]}, got {Q.shape[-2]}")
    return admitted


def admit_features(
    admitted: Admitted,
    phi: FeatureMapLike,
    *,
    mask: Array | None = None,
    log_alpha: Array | None = None,
    state: State | None = None,
    zeros: bool = True,
) -> Features:
    """The causal door for the Q, K, V that `admit_qkv` let in: phi applied, masked tokens made neutral.

    zeros: without a state S and z are zeros, else None.
    """
    xp, _, (Q, K, V) = admitted
    phi_q, phi_k = features(phi, Q, K)
    d_phi, tokens = phi_k.shape[-1], phi_k.shape[:-1]
    log_alpha = admit_log_alpha(log_alpha, like=phi_k)
    mask = admit_mask(mask, like=K)
    shapes = ((*tokens[:-1], d_phi, V.shape[-1]), (*tokens[:-1], d_phi))
    absent = state is None and not zeros
    S, z = (None, None) if absent else admit_state(state, like=phi_k, shapes=shapes)
    empty = None
    if mask is not None:
        phi_k = xp.where(mask[..., None], phi_k, 0.0)
        if log_alpha is not None:
            log_alpha = xp.where(mask[..., None], log_alpha, 0.0)
        empty = xp.cumulative_sum(xp.astype(mask, xp.int64), axis=-1) == 0
        if state is not None:
            holds = xp.any(S != 0, axis=(-2, -1)) | xp.any(z != 0, axis=-1)
            empty = empty & ~holds[..., None]
    return Features(admitted, phi_q, phi_k, V, log_alpha, S, z, empty)


def feature(phi: FeatureMapLike, x: Array) -> Array:
    """phi(x) in x's dtype, its kind and shape checked: all axes of x but the last, then d_phi >= 1."""
    if not callable(phi):
        raise ValueError(f"phi must be a feature map or a callable, got {type(phi).__name__}")
    if (out := phi(x)) is x:
        return x
    try:
        xp = namespace(x, out if is_array_api_obj(out) else object())
    except ValueError:
        raise ValueError(f"phi must return an array of the kind of its input, got {brief(out)}") from None
    shape = tuple(out.shape)
    if shape[:-1] != tuple(x.shape[:-1]) or len(shape) != x.ndim or shape[-1] < 1:
        wanted = f"{shown(x.shape[:-1])} and d_phi >= 1 features"
        raise ValueError(f"phi must map {shown(x.shape)} to {wanted}, got {shown(shape)}")
    if not is_real(xp, out.dtype):
        raise ValueError(f"phi must return real numbers, got {dtype_name(out.dtype)}")
    return xp.astype(out, x.dtype, copy=False)


def features(phi: FeatureMapLike, Q: Array, K: Array) -> tuple[Array, Array]:
    """phi(Q) and phi(K), which must be equally wide."""
    phi_q, phi_k = feature(phi, Q), feature(phi, K)
    if phi_q.shape[-1] != phi_k.shape[-1]:
        raise ValueError(f"phi must give queries and keys one width, got {phi_q.shape[-1]} and {phi_k.shape[-1]}")
    return phi_q, phi_k


def admit_mask(mask: Array | None, *, like: Array) -> Array | None:
    """None, or booleans [*lead, T], True = kept, for keys `like` [*lead, T, d]."""
    if mask is None:
        return None
    mask = of_kind("mask", mask, like)
    if dtype_name(mask.dtype) != "bool":
        raise ValueError(f"mask must hold booleans, True = kept, got {dtype_name(mask.dtype)}")
    if tuple(mask.shape) != tuple(like.shape[:-1]):
        raise ValueError(f"mask must have shape {shown(like.shape[:-1])}, got {shown(mask.shape)}")
    return mask


def admit_log_alpha(log_alpha: Array | None, *, like: Array, finite: bool = True) -> Array | None:
    """None, or log decays <= 0, one per token [*lead, T] or one per channel [*lead, T, d_phi].

    A per-token decay leaves as [*lead, T, 1], so that both broadcast against features.
    """
    if log_alpha is None:
        return None
    xp = namespace(like)
    log_alpha = admit_like("log_alpha", log_alpha, like=like, finite=finite)
    if tuple(log_alpha.shape) == tuple(like.shape[:-1]):
        log_alpha = log_alpha[..., None]
    elif tuple(log_alpha.shape) != tuple(like.shape):
        per_token, per_channel = shown(like.shape[:-1]), shown(like.shape)
        raise ValueError(f"log_alpha must have shape {per_token} or {per_channel}, got {shown(log_alpha.shape)}")
    if finite and bool(xp.any(log_alpha > 0)):
        raise ValueError("log_alpha must be at most 0: it is the logarithm of the fraction kept")
    return log_alpha


def admit_state(state: State | None, *, like: Array, shapes: tuple[tuple[int, ...], ...]) -> tuple[Array, ...]:
    """The parts of a state in `like`'s dtype, never fewer than 32 bits; zeros where there is none."""
    xp = namespace(like)
    dtype = xp.float32 if dtype_name(like.dtype) in HALF else like.dtype
    if state is None:
        return tuple(xp.zeros(shape, dtype=dtype, device=device(like)) for shape in shapes)
    if not isinstance(state, (tuple, list)) or len(state) != len(shapes):
        raise ValueError(f"state must be a tuple of {len(shapes)} arrays, got {type(state).__name__}")
    parts = []
    for i, (part, shape) in enumerate(zip(state, shapes)):
        parts.append(admit_like(f"state[{i}]", part, like=like, dtype=dtype))
        if tuple(parts[-1].shape) != tuple(shape):
            raise ValueError(f"state[{i}] must have shape {shown(shape)}, got {shown(parts[-1].shape)}")
    return tuple(parts)


def divide(num: Array, den: Array, empty: Array | None = None) -> Array:
    """num [*, d_v] over den [*]: NaN rows where den is exactly 0, zero rows where `empty`, silently."""
    with np.errstate(over="ignore"):
        return num / denominators(den, empty)[..., None]


def denominators(den: Array, empty: Array | None = None) -> Array:
    """What `divide` divides by: NaN where den is exactly 0, 1 where `empty`."""
    xp = namespace(den)
    den = xp.where(den == 0, xp.nan, den)
    # A one, not a patch on the quotient: a NaN behind `where` would still poison torch's gradient.
    return den if empty is None else xp.where(empty, 1.0, den)


def finish(f: Features, num: Array, den: Array, *, eps: float, normalise: bool) -> Array:
    """Outputs in the caller's dtype: the numerator itself, or the numerator over den + eps."""
    return leave(f.admitted, divide(num, den + eps, f.empty) if normalise else num)


def shown(shape: tuple[int, ...]) -> str:
    """`[2, 37, 4]`: a shape the way the docstrings write it."""
    return str([int(n) for n in shape])
