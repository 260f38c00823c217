"""One token at a time: the recurrence itself, and the decode step that applies it once."""

from __future__ import annotations

from compute.arrays import Array, admit, leave
from compute.attention.doors import FeatureMapLike, admit_log_alpha, divide, feature, shown
from compute.scalars import real
from compute.write_rules import Additive, Decay, recall


def advance(
    S: Array, z: Array, phi_q: Array, phi_k: Array, v: Array, alpha: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Decay, write, read: (num, den, S, z) after one token.

    S [*lead, d_phi, d_v], z, phi_q, phi_k [*lead, d_phi], v [*lead, d_v], alpha [*lead, 1 or d_phi].
    """
    if alpha is None:
        S, z = Additive().step(S, phi_k, v), z + phi_k
    else:
        S, z = Decay().step(S, phi_k, v, alpha[..., None]), alpha * z + phi_k
    return recall(S, phi_q), recall(z[..., None], phi_q)[..., 0], S, z


def linear_attention_step(
    S: Array,
    z: Array,
    q: Array,
    k: Array,
    v: Array,
    phi: FeatureMapLike,
    eps: float = 1e-6,
    *,
    normalise: bool = True,
    log_alpha: Array | None = None,
) -> tuple[Array, Array, Array]:
    """One decode step of causal linear attention: (o, S, z) after reading the token (q, k, v).

    S: [*lead, d_phi, d_v], z: [*lead, d_phi], the state before the token; new arrays come back, the
    given ones are untouched.  q, k: [*lead, d_k], v: [*lead, d_v].  o: [*lead, d_v].
    log_alpha: logarithm of the fraction of the state kept, [*lead] or [*lead, d_phi].
    normalise: divide the read by z . phi(q) + eps; eps = 0 makes an undefined output NaN.

    o has the dtype of q, k, v; S and z keep their own, whatever is lost by that: a bfloat16 state
    is computed in float32 and rounded once per step.  Values are not searched for NaN or Inf.
    Costs 4 d_phi d_v FLOPs.  Raises ValueError on shapes that do not fit or a negative eps.
    Source: Katharopoulos et al. 2020, arXiv:2006.16236.
    """
    eps = real("eps", eps, 0)
    xp, _, (S_work, z_work, q_work, k_work, v_work) = admit(finite=False, S=S, z=z, q=q, k=k, v=v)
    token = admit(finite=False, q=q, k=k, v=v)
    lead = tuple(q_work.shape[:-1])
    phi_q, phi_k = feature(phi, q_work), feature(phi, k_work)
    fits = {
        "k": (k_work, tuple(q_work.shape)),
        "v": (v_work, (*lead, v_work.shape[-1])),
        "S": (S_work, (*lead, phi_k.shape[-1], v_work.shape[-1])),
        "z": (z_work, (*lead, phi_k.shape[-1])),
    }
    for name, (a, shape) in fits.items():
        if tuple(a.shape) != shape:
            raise ValueError(f"{name} must have shape {shown(shape)}, got {shown(a.shape)}")
    log_alpha = admit_log_alpha(log_alpha, like=phi_k, finite=False)
    alpha = None if log_alpha is None else xp.exp(log_alpha)
    num, den, S_work, z_work = advance(S_work, z_work, phi_q, phi_k, v_work, alpha)
    o = divide(num, den + eps) if normalise else num
    return leave(token, o), leave(admit(finite=False, S=S), S_work), leave(admit(finite=False, z=z), z_work)
