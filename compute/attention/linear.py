"""Linear attention without a causal mask: one summary of all keys and values, read by every query."""

from __future__ import annotations

from compute.arrays import Array, leave
from compute.attention.doors import FeatureMapLike, admit_mask, admit_qkv, divide, features
from compute.scalars import real


def linear_attention(
    Q: Array,
    K: Array,
    V: Array,
    phi: FeatureMapLike,
    eps: float = 1e-6,
    *,
    normalise: bool = True,
    mask: Array | None = None,
) -> Array:
    """phi(Q) (phi(K)^T V), each row over phi(q) . sum phi(k) + eps: O [*lead, T_q, d_v].

    Q: [*lead, T_q, d_k], K: [*lead, T, d_k], V: [*lead, T, d_v]; T_q and T may differ.
    phi: [*, d_k] -> [*, d_phi].  eps: added to the denominator once; at 0 an undefined row is NaN.
    normalise: False leaves the denominator out.  mask: [*lead, T], True = kept; with no key kept the
    rows are 0.

    Cost: 2 (T + T_q) d_phi d_v FLOPs; the summary holds d_phi d_v + d_phi numbers.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN, Inf or a negative eps.
    Source: Katharopoulos et al. 2020, arXiv:2006.16236.
    """
    eps = real("eps", eps, 0)
    admitted = admit_qkv(Q, K, V, causal=False)
    xp, _, (Q, K, V) = admitted
    phi_q, phi_k = features(phi, Q, K)
    mask, empty = admit_mask(mask, like=K), None
    if mask is not None:
        phi_k = xp.where(mask[..., None], phi_k, 0.0)
        empty = ~xp.any(mask, axis=-1, keepdims=True)
    num = phi_q @ (phi_k.mT @ V)
    if not normalise:
        return leave(admitted, num)
    den = (phi_q @ xp.sum(phi_k, axis=-2)[..., None])[..., 0] + eps
    return leave(admitted, divide(num, den, empty))
