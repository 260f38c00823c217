"""The denominator z_t . phi(q_t): how it grows, what share it leaves a token, what it does to gradients.

A weight is p_ts = kappa_ts / sum_r kappa_tr with kappa_ts = phi(q_t) . phi(k_s).  Two derivatives are told
apart throughout: of a weight by a kernel value (linear attention), and of a weight by a score (softmax).
Functions of kappa raise ValueError, beginning with it, on an empty array, NaN or Inf.
Source: Qin et al. 2022, arXiv:2210.10340, section 3.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import device

from compute.arrays import Admitted, Array, admit, leave, namespace
from compute.attention.decay import causal_scores, lower, sums_so_far
from compute.attention.doors import FeatureMapLike, admit_mask, admit_qkv, divide, features
from compute.scalars import whole


def denominators(Q: Array, K: Array, phi: FeatureMapLike, *, mask: Array | None = None) -> Array:
    """z_t . phi(q_t), the sum of the kernel over the keys so far: [*lead, T].

    Q, K: [*lead, T, d_k].  mask: [*lead, T], True = kept.  No epsilon.  T d_phi numbers; no T x T matrix.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN or Inf.
    """
    admitted, phi_q, phi_k = _features(Q, K, phi, mask)
    return leave(admitted, _so_far(phi_q, phi_k))


def newest_share(Q: Array, K: Array, phi: FeatureMapLike, *, mask: Array | None = None) -> Array:
    """Share of the newest token in its own row, kappa_tt over the denominator: [*lead, T], about 1/t.

    Arguments and errors as in `denominators`; NaN where the denominator is 0, and for a masked token 0.
    """
    admitted, phi_q, phi_k = _features(Q, K, phi, mask)
    mask = admit_mask(mask, like=phi_k)
    own = admitted.xp.sum(phi_q * phi_k, axis=-1)
    share = divide(own[..., None], _so_far(phi_q, phi_k), None if mask is None else ~mask)
    return leave(admitted, share[..., 0])


def causal_weights(Q: Array, K: Array, phi: FeatureMapLike) -> Array:
    """The weights p_ts, lower triangular: [*lead, T, T].  Rows sum to one; NaN where a denominator is 0.

    Arguments and errors as in `denominators`.
    """
    admitted, phi_q, phi_k = _features(Q, K, phi, None)
    kappa = causal_scores(phi_q, phi_k)
    return leave(admitted, divide(kappa, admitted.xp.sum(kappa, axis=-1)))


def cancellation(kappa: Array) -> Array:
    """|sum of kappa| over the sum of |kappa|, along the last axis: [*, n] -> [*].

    1 for a positive kernel; near 0 the denominator of a signed one is a small difference of large numbers.
    NaN where every kernel value is 0.  ValueError on an empty array, NaN or Inf, as in all functions of kappa here.
    """
    admitted = admit(kappa=kappa)
    xp, _, (kappa,) = admitted
    net, gross = xp.abs(xp.sum(kappa, axis=-1)), xp.sum(xp.abs(kappa), axis=-1)
    return leave(admitted, divide(net[..., None], gross)[..., 0])


def kernel_derivative(kappa: Array) -> Array:
    """Derivatives of weights by kernel values, (delta_sr - p_s) / sum of kappa: [*, n] -> [*, n (s), n (r)].

    NaN where the sum is 0.  ValueError on an empty array, NaN or Inf.
    """
    admitted = admit(kappa=kappa)
    xp, _, (kappa,) = admitted
    total = xp.sum(kappa, axis=-1)
    p = divide(kappa, total)
    return leave(admitted, divide(_eye(p) - p[..., :, None], total[..., None] + xp.zeros_like(kappa)))


def largest_kernel_derivative(kappa: Array) -> Array:
    """Largest |dp_s / dkappa_r| along the last axis of kappa, without forming the matrix: [*, n] -> [*].

    For a nonnegative kernel at most `kernel_derivative_bound`; nothing bounds that from above.
    """
    admitted = admit(kappa=kappa)
    xp, _, (kappa,) = admitted
    low, high = xp.min(kappa, axis=-1), xp.max(kappa, axis=-1)
    return leave(admitted, kernel_derivative_of(xp.sum(kappa, axis=-1), low, high, single=kappa.shape[-1] == 1))


def kernel_derivative_of(total: Array, low: Array, high: Array, *, single: Any = False) -> Array:
    """The same from the sum of the kernel values, the lowest and the highest, [*] each: (δ_sr − p_s)/Σκ is largest at
    one of the two.  single: where there is but one value, [*] or a bool, and so no other weight to be moved.

    NaN where the sum is 0.  Arrays that were let in already.
    """
    xp = namespace(total)
    p = divide(xp.stack([low, high], axis=-1), total)
    own, others = xp.max(xp.abs(1 - p), axis=-1), xp.max(xp.abs(p), axis=-1)
    size = xp.where(xp.asarray(single, device=device(total)), own, xp.maximum(own, others))
    return divide(size[..., None], xp.abs(total))[..., 0]


def kernel_derivative_bound(kappa: Array) -> Array:
    """1 / |sum of kappa| along the last axis: [*, n] -> [*].  NaN where the sum is 0."""
    admitted = admit(kappa=kappa)
    xp, _, (kappa,) = admitted
    total = xp.abs(xp.sum(kappa, axis=-1))
    return leave(admitted, divide(xp.ones_like(total)[..., None], total)[..., 0])


def score_derivative(p: Array) -> Array:
    """Derivatives of softmax weights by scores, p_s (delta_sr - p_r): [*, n] -> [*, n (s), n (r)].

    p: nonnegative weights that sum to one.  No entry exceeds `SCORE_DERIVATIVE_BOUND`.  ValueError on an empty array,
    NaN or Inf.
    """
    admitted = admit(p=p)
    (p,) = admitted.arrays
    return leave(admitted, p[..., :, None] * (_eye(p) - p[..., None, :]))


SCORE_DERIVATIVE_BOUND = 0.25
"""p (1 - p) is largest at 1/2."""


def nearby_share(weights: Array, m: int) -> Array:
    """Weight on the m newest tokens of each causal row: [*lead, T, T] -> [*lead, T].

    Flat weights give min(m, t) / t: attention diluted over everything instead of what is near.
    ValueError where the last two axes differ, or m < 1; a row of NaN (0/0) stays NaN.
    """
    m = whole("m", m, 1)
    admitted = admit(ndim=2, weights=weights, finite=False)
    xp, _, (weights,) = admitted
    T = weights.shape[-1]
    if weights.shape[-2] != T:
        raise ValueError(f"weights must have two axes of T, got shape {tuple(weights.shape)}")
    t = xp.arange(T, device=device(weights))
    near = lower(weights) & (t[None, :] > t[:, None] - m)
    return leave(admitted, xp.sum(xp.where(near, weights, 0.0), axis=-1))


def _features(Q: Array, K: Array, phi: FeatureMapLike, mask: Array | None) -> tuple[Admitted, Array, Array]:
    admitted = admit_qkv(Q, K, K, causal=True)
    Q, K, _ = admitted.arrays
    phi_q, phi_k = features(phi, Q, K)
    if (mask := admit_mask(mask, like=K)) is not None:
        phi_k = admitted.xp.where(mask[..., None], phi_k, 0.0)
    return admitted, phi_q, phi_k


def _so_far(phi_q: Array, phi_k: Array) -> Array:
    """z_t . phi(q_t) from features [*lead, T, d_phi]: [*lead, T]."""
    return namespace(phi_q).sum(phi_q * sums_so_far(phi_k), axis=-1)


def _eye(p: Array) -> Array:
    """The identity [n, n] that fits p [*, n]."""
    xp = namespace(p)
    return xp.eye(p.shape[-1], dtype=p.dtype, device=device(p))
