"""Attention that keeps every key: softmax, any kernel, and softmax through a sliding window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat import device

from compute.arrays import Array, leave, namespace
from compute.attention.decay import in_chunks, in_tokens
from compute.attention.doors import admit_mask, admit_qkv, divide, shown
from compute.scalars import real, whole

Kernel = Callable[[Array, Array], Array]
"""`kernel(Q, K)`: similarities [*lead, T_q, T_k], nonnegative if the result is to be an average."""

ROWS = 256
"""Queries taken at once on a CPU, so that their scores stay in its cache and those above the diagonal are left out."""


def softmax_attention(
    Q: Array,
    K: Array,
    V: Array,
    causal: bool = True,
    scale: float | None = None,
    *,
    mask: Array | None = None,
) -> Array:
    """softmax(scale Q K^T) V: O [*lead, T_q, d_v].

    Q: [*lead, T_q, d_k], K: [*lead, T, d_k], V: [*lead, T, d_v]; T_q = T where causal.
    scale: factor on q . k, None for d_k^(-1/2).  mask: [*lead, T], True = kept; a row with no key is 0.

    Cost: 2 T_q T (d_k + d_v) FLOPs, on a CPU half of it where causal; T_q T numbers, on a CPU 256 T.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN or Inf.
    Source: Vaswani et al. 2017, arXiv:1706.03762.
    """
    admitted = admit_qkv(Q, K, V, causal=bool(causal))
    xp, _, (Q, K, V) = admitted
    scale, mask = scale_or_default(scale, Q.shape[-1]), admit_mask(mask, like=K)
    T_q, T = Q.shape[-2], K.shape[-2]
    rows = ROWS if str(device(Q)) == "cpu" else T_q
    parts = []
    for start in range(0, T_q, rows):
        q = scale * Q[..., start : start + rows, :]
        seen = min(start + rows, T) if causal else T
        scores = q @ K[..., :seen, :].mT
        allowed = _allowed(scores, start if causal else None, mask)
        parts.append(_softmax_average(xp, scores, allowed, V[..., :seen, :]))
    return leave(admitted, xp.concat(parts, axis=-2) if len(parts) > 1 else parts[0])


def kernel_attention(
    Q: Array,
    K: Array,
    V: Array,
    kernel: Kernel,
    causal: bool = True,
    *,
    mask: Array | None = None,
) -> Array:
    """The average of the values weighted by kernel(q, k): O [*lead, T_q, d_v].

    Q: [*lead, T_q, d_k], K: [*lead, T, d_k], V: [*lead, T, d_v]; T_q = T where causal.
    kernel: (Q, K) -> [*lead, T_q, T].  Nothing is added to the denominator: a row whose weights sum
    to 0 is NaN.  mask: [*lead, T], True = kept; a row with no key is 0.

    Cost: the kernel's, plus 2 T_q T d_v FLOPs and T_q T numbers.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN or Inf.
    Source: Nadaraya 1964 and Watson 1964; as attention, Tsai et al. 2019, arXiv:1908.11775.
    """
    admitted = admit_qkv(Q, K, V, causal=bool(causal))
    xp, _, (Q, K, V) = admitted
    if not callable(kernel):
        raise ValueError(f"kernel must be a callable of (Q, K), got {type(kernel).__name__}")
    weights = kernel(Q, K)
    shape = (*Q.shape[:-1], K.shape[-2])
    if tuple(getattr(weights, "shape", ())) != shape:
        raise ValueError(f"kernel must return shape {shown(shape)}, got {shown(getattr(weights, 'shape', ()))}")
    weights = xp.astype(weights, V.dtype, copy=False)
    allowed = _allowed(weights, 0 if causal else None, admit_mask(mask, like=K))
    empty = None
    if allowed is not None:
        weights = xp.where(allowed, weights, 0.0)
        empty = ~xp.any(xp.broadcast_to(allowed, shape), axis=-1)
    return leave(admitted, divide(weights @ V, xp.sum(weights, axis=-1), empty))


def sliding_window_attention(
    Q: Array,
    K: Array,
    V: Array,
    window: int,
    scale: float | None = None,
    *,
    mask: Array | None = None,
) -> Array:
    """Causal softmax over the last `window` tokens, the query's own included: O [*lead, T, d_v].

    Shapes, scale and mask as in `softmax_attention`; window >= 1.
    Computed in blocks of `window` queries against their own and the previous block of keys:
    4 T window (d_k + d_v) FLOPs and 2 T window numbers, linear in T.

    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN, Inf or window < 1.
    Source: the exact half of Based, Arora et al. 2024, arXiv:2402.18668.
    """
    window = whole("window", window, 1)
    admitted = admit_qkv(Q, K, V, causal=True)
    xp, _, (Q, K, V) = admitted
    mask = admit_mask(mask, like=K)
    T = Q.shape[-2]
    present = xp.ones((*Q.shape[:-1], 1), dtype=Q.dtype, device=device(Q))
    if mask is not None:
        present = xp.where(mask[..., None], present, 0.0)
    q, k, v, present = (in_chunks(a, window) for a in (Q, K, V, present))
    k, v, present = _with_previous(xp, k), _with_previous(xp, v), _with_previous(xp, present)
    scores = scale_or_default(scale, Q.shape[-1]) * (q @ k.mT)
    C = q.shape[-2]
    s = xp.arange(2 * C, device=device(Q))
    t = C + s[:C, None]
    near = (s <= t) & (s > t - window)
    return leave(admitted, in_tokens(_softmax_average(xp, scores, near & (present.mT > 0), v), T))


def scale_or_default(scale: float | None, d_k: int) -> float:
    """The factor on q . k: `scale`, or d_k^(-1/2) where it is None."""
    return d_k**-0.5 if scale is None else real("scale", scale)


def _allowed(scores: Array, first: int | None, mask: Array | None) -> Array | None:
    """Booleans that broadcast to scores [*lead, rows, columns], or None where every pair is allowed.

    first: the token of the first row if causal, else None.  mask: [*lead, T], its first columns are meant.
    """
    rows, columns = scores.shape[-2:]
    kept = None if mask is None else mask[..., None, :columns]
    if first is None:
        return kept
    s = namespace(scores).arange(columns, device=device(scores))
    past = s[None, :] <= first + s[:rows, None]
    return past if kept is None else past & kept


def _softmax_average(xp: Any, scores: Array, allowed: Array | None, V: Array) -> Array:
    """The values averaged by softmax over the allowed scores of each row; a row with none is all zero."""
    if allowed is not None:
        scores = xp.where(allowed, scores, -xp.inf)
    top = xp.max(scores, axis=-1, keepdims=True)
    weights = xp.exp(scores - xp.where(top == -xp.inf, 0.0, top))
    total = xp.sum(weights, axis=-1, keepdims=True)
    return (weights @ V) / xp.where(total == 0, 1.0, total)


def _with_previous(xp: Any, blocks: Array) -> Array:
    """[*, N, C, d] -> [*, N, 2C, d]: each block preceded by the one before it, the first by zeros."""
    before = xp.concat([xp.zeros_like(blocks[..., :1, :, :]), blocks[..., :-1, :, :]], axis=-3)
    return xp.concat([before, blocks], axis=-2)
