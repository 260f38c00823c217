"""What modern layers put in the denominator's place: a floor of one, or a norm of the output.

All are causal linear attention up to the read.  The floor keeps the division (mLSTM, RetNet); the norm
drops it (TransNormer, lightning attention), and a norm after a floor cancels the floor, since it does
not see the scale of a row.  None of them needs a positive feature map.

Shapes as in `causal`: Q, K [*lead, T, d_k], V [*lead, T, d_v], O [*lead, T, d_v].  Every function takes
`chunk`, `mask`, `state`, `return_state` and, where gates make sense, `log_alpha`, with the meaning they
have in `causal_linear_attention_recurrent`, and refuses the same values.  norm_eps is added to the mean
square under an output norm's root: at 0 a row of zeros is NaN, below it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compute.arrays import (
    Admitted,
    Array,
    admit,
    admit_beside,
    admit_like,
    leave,
    namespace,
    refuse_unless_broadcast,
)
from compute.attention.causal import CHUNK, Sums, chunkwise_sums
from compute.attention.doors import (
    FeatureMapLike,
    Features,
    State,
    admit_features,
    admit_qkv,
    divide,
    shown,
)
from compute.feature_maps import FEATURE_MAPS
from compute.scalars import real, whole

IDENTITY, SILU = FEATURE_MAPS["identity"](), FEATURE_MAPS["silu"]()

NORM_EPS = 1e-6
"""Added to the mean square under an output norm's root; not the epsilon of a denominator."""


def mlstm_attention(
    Q: Array,
    K: Array,
    V: Array,
    *,
    log_alpha: Array | None = None,
    write: Array | float = 1.0,
    chunk: int = CHUNK,
    mask: Array | None = None,
    state: State | None = None,
    return_state: bool = False,
) -> Array | tuple[Array, State]:
    """The matrix LSTM's read: numerators over max(|z . q|, 1), identity features.

    log_alpha: log of the forget gate f_t.  write: the input gate i_t, a number or [*lead, T].
    With f = i = 1 this is causal linear attention on the identity map apart from the floor.
    The output gate is the caller's; so is the stabiliser that lets i_t be an exponential.
    Source: Beck et al. 2024, arXiv:2405.04517 (its C_t is the transpose of S_t).
    """
    admitted = admit_qkv(Q, K, V, causal=True)
    xp, _, (Q, K, V) = admitted
    write = admit_like("write", write, like=K)
    if tuple(write.shape) not in ((), tuple(K.shape[:-1])):
        raise ValueError(f"write must be a number or have shape {shown(K.shape[:-1])}, got {shown(write.shape)}")
    written = K * xp.broadcast_to(write, tuple(K.shape[:-1]))[..., None]
    admitted = admitted._replace(arrays=(Q, written, V))
    f, sums = _read(admitted, IDENTITY, chunk, log_alpha=log_alpha, mask=mask, state=state)
    return _leave(f, floored(sums.num, sums.den), sums, return_state)


def retnet_attention(
    Q: Array,
    K: Array,
    V: Array,
    log_alpha: Array,
    *,
    norm_eps: float = NORM_EPS,
    chunk: int = CHUNK,
    mask: Array | None = None,
    state: State | None = None,
    return_state: bool = False,
) -> Array | tuple[Array, State]:
    """Retention: decayed scores, rows over max(|row sum|, 1), then an RMS norm per head.

    log_alpha: [*lead, T]; `per_head(retnet_log_alpha(H), Q)` for the fixed decays of the paper.
    The clamp serves precision only: at norm_eps = 0 the norm gives the same with or without it.
    Rotations of q and k and the gate after the norm are the caller's.
    Source: Sun et al. 2023, arXiv:2307.08621.
    """
    f, sums = _read(admit_qkv(Q, K, V, causal=True), IDENTITY, chunk, log_alpha=log_alpha, mask=mask, state=state)
    return _leave(f, _rms(floored(sums.num, sums.den), norm_eps, f.empty), sums, return_state)


def transnormer_attention(
    Q: Array,
    K: Array,
    V: Array,
    phi: FeatureMapLike,
    *,
    gain: Array | None = None,
    norm_eps: float = NORM_EPS,
    chunk: int = CHUNK,
    log_alpha: Array | None = None,
    mask: Array | None = None,
    state: State | None = None,
    return_state: bool = False,
) -> Array | tuple[Array, State]:
    """No denominator: the RMS norm of phi(q) S_t, times a gain that broadcasts against O.

    phi: [*, d_k] -> [*, d_phi], of any sign.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN, Inf or a negative norm_eps.
    Source: Qin et al. 2022, arXiv:2210.10340.
    """
    f, sums = _read(admit_qkv(Q, K, V, causal=True), phi, chunk, log_alpha=log_alpha, mask=mask, state=state)
    return _leave(f, _gained(_rms(sums.num, norm_eps, f.empty), gain), sums, return_state)


def lightning_attention(
    Q: Array,
    K: Array,
    V: Array,
    gate: Array,
    log_alpha: Array,
    *,
    gain: Array | None = None,
    norm_eps: float = NORM_EPS,
    chunk: int = CHUNK,
    mask: Array | None = None,
    state: State | None = None,
    return_state: bool = False,
) -> Array | tuple[Array, State]:
    """MiniMax-01's layer between its projections: SiLU on q, k and v, decay, RMS norm, sigmoid gate.

    Q, K, V: [*lead, H, T, d], heads before tokens: the norm runs over all heads of a token together.
    gate: the gate before its sigmoid, shaped like the output.  log_alpha: [*lead, H, T];
    `per_head(lightning_log_alpha(H, layer, n_layers), Q)` for the released decays.
    gain: of the norm, broadcasts against O.
    Source: MiniMax 2025, arXiv:2501.08313; Qin et al. 2024, arXiv:2401.04658.
    """
    admitted = admit_qkv(Q, K, V, causal=True)
    V = admitted.arrays[2]
    if V.ndim < 3:
        raise ValueError(f"V must have shape [*lead, H, T, d_v], got {shown(V.shape)}")
    gate = admit_like("gate", gate, like=V)
    if tuple(gate.shape) != tuple(V.shape):
        raise ValueError(f"gate must have the shape of V, {shown(V.shape)}, got {shown(gate.shape)}")
    admitted = admitted._replace(arrays=tuple(SILU(a) for a in admitted.arrays))
    f, sums = _read(admitted, IDENTITY, chunk, log_alpha=log_alpha, mask=mask, state=state)
    O = _gained(_rms(sums.num, norm_eps, f.empty, over_heads=True), gain) * sigmoid(gate)
    return _leave(f, O, sums, return_state)


def rms_norm(x: Array, gain: Array | None = None, norm_eps: float = NORM_EPS) -> Array:
    """x [*, d] over the root of its mean square along the last axis, times the gain.

    norm_eps: added to the mean square; at 0 a zero row is NaN.  ValueError naming x, gain or norm_eps.
    Source: Qin et al. 2022, arXiv:2210.10340, for its place in linear attention.
    """
    admitted = admit(x=x)
    return leave(admitted, _gained(_rms(admitted.arrays[0], norm_eps), gain))


def floored(num: Array, den: Array) -> Array:
    """num [*, d_v] over max(|den|, 1), den [*]: the denominator of mLSTM and RetNet."""
    return divide(num, at_least_one(den))


def at_least_one(den: Array) -> Array:
    """max(|den|, 1) of every entry: what mLSTM and RetNet divide by."""
    xp = namespace(den)
    size = xp.abs(den)
    return xp.where(size < 1, 1.0, size)


def retnet_log_alpha(n_heads: int) -> np.ndarray:
    """RetNet's fixed decays [n_heads]: log(1 - 2^(-5-h)), h = 0, 1, ...  (arXiv:2307.08621).

    ValueError naming n_heads where it is no whole number of at least 1.
    """
    return np.log1p(-(2.0 ** (-5.0 - np.arange(whole("n_heads", n_heads, 1)))))


def lightning_log_alpha(n_heads: int, layer: int = 0, n_layers: int = 2) -> np.ndarray:
    """MiniMax-01's fixed decays [n_heads]: -2^(-8h/n_heads), h = 1, 2, ..., weaker in later layers.

    layer: from 0 to n_layers - 1; its factor falls linearly from 1 to almost 0, so the last layer
    nearly never forgets.  The two 1e-5 are the released code's.  (arXiv:2501.08313)
    """
    n_heads, n_layers = whole("n_heads", n_heads, 1), whole("n_layers", n_layers, 1)
    layer = whole("layer", layer, 0, n_layers - 1)
    slopes = 2.0 ** (-8.0 * np.arange(1, n_heads + 1) / n_heads)
    return -slopes * (1 - layer / (n_layers - 1 + 1e-5) + 1e-5)


def per_head(log_alpha: Array, Q: Array) -> Array:
    """Fixed decays [H] as the [*lead, H, T] that queries Q [*lead, H, T, d] ask for, in Q's kind.

    log_alpha: NumPy or of Q's kind.  ValueError naming Q, or log_alpha unless it holds one number per head.
    """
    admitted = admit(ndim=3, Q=Q)
    (Q,) = admitted.arrays
    gates = admit_beside("log_alpha", log_alpha, Q)
    if tuple(gates.shape) != (Q.shape[-3],):
        raise ValueError(f"log_alpha must hold one number per head, {shown(Q.shape[-3:-2])}, got {shown(gates.shape)}")
    return leave(admitted, namespace(Q).broadcast_to(gates[:, None], tuple(Q.shape[:-1])))


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^(-x)), without overflow."""
    return 0.5 * (1.0 + namespace(x).tanh(0.5 * x))


def _read(admitted: Admitted, phi: FeatureMapLike, chunk: int, **options: Any) -> tuple[Features, Sums]:
    f = admit_features(admitted, phi, **options)
    return f, chunkwise_sums(f, whole("chunk", chunk, 1))


def _leave(f: Features, O: Array, sums: Sums, return_state: bool) -> Any:
    O = leave(f.admitted, O)
    return (O, (sums.S, sums.z)) if return_state else O


def _rms(x: Array, norm_eps: float, empty: Array | None = None, *, over_heads: bool = False) -> Array:
    """x over its root mean square; a row of zeros is NaN at norm_eps = 0, and 0 where it is `empty`."""
    xp, axes = namespace(x), ((-3, -1) if over_heads else (-1,))
    mean_square = xp.mean(x * x, axis=axes, keepdims=True) + real("norm_eps", norm_eps, 0)
    mean_square = xp.where(mean_square == 0, xp.nan, mean_square)
    if empty is not None:
        empty = xp.all(empty, axis=-2, keepdims=True) if over_heads else empty
        mean_square = xp.where(empty[..., None], 1.0, mean_square)
    return x / xp.sqrt(mean_square)


def _gained(x: Array, gain: Array | None) -> Array:
    if gain is None:
        return x
    gain = admit_like("gain", gain, like=x)
    refuse_unless_broadcast("gain", gain, x)
    return x * gain
