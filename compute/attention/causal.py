"""Causal linear attention in its three forms: recurrent, parallel, chunkwise.

One function computed in three orders.  Token t reads what tokens 1..t wrote,

    S_t = alpha_t S_{t-1} + phi(k_t) v_t^T,   z_t = alpha_t z_{t-1} + phi(k_t),
    o_t = S_t^T phi(q_t) / (z_t . phi(q_t) + eps),

as a loop over tokens, as one masked matrix, or as masked matrices of one chunk with the loop
between chunks.  All three take the same options and agree to rounding.

Sources: Katharopoulos et al. 2020, arXiv:2006.16236 (recurrent and parallel); Yang et al. 2023,
arXiv:2312.06635 (chunkwise, with gates); Sun et al. 2023, arXiv:2307.08621 (scalar decay).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from array_api_compat import device

from compute.arrays import Array, namespace
from compute.attention import half
from compute.attention.decay import after_each, causal_scores, in_chunks, in_tokens, kept, since_start, until_end
from compute.attention.doors import FeatureMapLike, Features, State, admit_features, admit_qkv, finish
from compute.attention.step import advance
from compute.scalars import real, whole

CHUNK = 64
"""Tokens per chunk unless the caller says otherwise."""

SPAN = 2048
"""Tokens times heads taken at once on a CPU, so that what passes between the products stays in its cache."""


class Sums(NamedTuple):
    """What a form adds up: num [*lead, T, d_v], den [*lead, T], and the state (S, z) after the last token."""

    num: Array
    den: Array
    S: Array
    z: Array


def recurrent_sums(f: Features) -> Sums:
    """T steps of the recurrence; never an array with two token axes."""
    xp, S, z = f.xp, f.S, f.z
    alpha = None if f.log_alpha is None else xp.exp(f.log_alpha)
    nums, dens = [], []
    for t in range(f.V.shape[-2]):
        now = None if alpha is None else alpha[..., t, :]
        num, den, S, z = advance(S, z, f.phi_q[..., t, :], f.phi_k[..., t, :], f.V[..., t, :], now)
        nums.append(num)
        dens.append(den)
    return Sums(xp.stack(nums, axis=-2), xp.stack(dens, axis=-1), S, z)


def parallel_sums(f: Features) -> Sums:
    """One block of T tokens: the masked T x T matrix of scores."""
    return _blocks(f, f.V.shape[-2])


def chunkwise_sums(f: Features, chunk: int) -> Sums:
    """Blocks of `chunk` tokens, masked inside; between blocks only the state is handed on.

    On a CPU a span of blocks at a time: the next span resumes from the state of the one before.
    """
    T = f.V.shape[-2]
    heads = math.prod(f.V.shape[:-2])
    span = chunk * max(1, SPAN // (chunk * heads)) if str(device(f.V)) == "cpu" else T
    parts, S, z = [], f.S, f.z
    for start in range(0, T, span):
        q, k, v, gates = (None if a is None else a[..., start : start + span, :] for a in f[1:5])
        parts.append(_blocks(f._replace(phi_q=q, phi_k=k, V=v, log_alpha=gates, S=S, z=z), chunk))
        S, z = parts[-1].S, parts[-1].z
    num, den = [p.num for p in parts], [p.den for p in parts]
    return Sums(f.xp.concat(num, axis=-2), f.xp.concat(den, axis=-1), S, z) if len(parts) > 1 else parts[0]


def _blocks(f: Features, chunk: int) -> Sums:
    xp, T = f.xp, f.V.shape[-2]
    q, k, v = (in_chunks(a, chunk) for a in (f.phi_q, f.phi_k, f.V))
    gates = None if f.log_alpha is None else in_chunks(f.log_alpha, chunk)
    entering, leaving = (None, None) if gates is None else (since_start(gates), until_end(gates))
    written, reads, scores = kept(k, leaving), kept(q, entering), causal_scores(q, k, gates)
    S = _states(f.S, written.mT @ v, entering)
    z = _states(f.z[..., None], xp.sum(written, axis=-2)[..., None], entering)
    num, den = scores @ v, xp.sum(scores, axis=-1)[..., None]
    for sums, first, later in ((num, f.S, S), (den, f.z[..., None], z)):
        # What entered a chunk is the state after the one before: added in place, the states are never copied.
        sums[..., 0, :, :] += reads[..., 0, :, :] @ first
        sums[..., 1:, :, :] += reads[..., 1:, :, :] @ later[..., :-1, :, :]
    return Sums(in_tokens(num, T), in_tokens(den, T)[..., 0], S[..., -1, :, :], z[..., -1, :, 0])


def _states(S: Array, writes: Array, entering: Array | None) -> Array:
    """States after each of N chunks, [*lead, N, d_phi, d], from the state before them and what each writes."""
    xp, gates = namespace(writes), None if entering is None else entering[..., -1, :]
    *lead, N, d_phi, d = writes.shape
    if gates is None or gates.shape[-1] == 1:
        after = after_each(xp.reshape(S, (*lead, d_phi * d)), xp.reshape(writes, (*lead, N, d_phi * d)), gates)
        return xp.reshape(after, (*lead, N, d_phi, d))
    # One row of the memory per channel: its gates are its own.
    return xp.moveaxis(after_each(S, xp.moveaxis(writes, -3, -2), gates.mT[..., None]), -2, -3)


def causal_linear_attention_recurrent(
    Q: Array,
    K: Array,
    V: Array,
    phi: FeatureMapLike,
    eps: float = 1e-6,
    *,
    state: State | None = None,
    return_state: bool = False,
    normalise: bool = True,
    mask: Array | None = None,
    log_alpha: Array | None = None,
) -> Array | tuple[Array, State]:
    """Causal linear attention as a loop over tokens: O [*lead, T, d_v].

    Q, K: [*lead, T, d_k], V: [*lead, T, d_v], phi: [*, d_k] -> [*, d_phi].
    eps: added to the denominator once; at 0 a row whose denominator is 0 is NaN.
    normalise: False returns the numerators, with no denominator.
    state: (S [*lead, d_phi, d_v], z [*lead, d_phi]) to resume from; return_state: give (O, (S, z)),
    the state in the dtype it was computed in (float32 for 16-bit inputs).
    mask: [*lead, T], True = kept.  A masked token is passed over, as if it were not in the sequence:
    it neither writes nor decays; its query still reads.  A row with nothing kept and no state is 0.
    log_alpha: logarithm (<= 0) of the fraction of the state kept before each write, one per token
    [*lead, T] (RetNet, Mamba-2) or one per channel [*lead, T, d_phi] (GLA).

    Cost: 4 T d_phi d_v FLOPs in T dependent steps; memory d_phi d_v + d_phi numbers besides the output.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN, Inf or a negative eps.
    Source: Katharopoulos et al. 2020, arXiv:2006.16236.
    """
    eps = real("eps", eps, 0)
    f = admit_features(admit_qkv(Q, K, V, causal=True), phi, mask=mask, log_alpha=log_alpha, state=state)
    return _outputs(f, recurrent_sums(f), eps, normalise, return_state)


def causal_linear_attention_parallel(
    Q: Array,
    K: Array,
    V: Array,
    phi: FeatureMapLike,
    eps: float = 1e-6,
    *,
    state: State | None = None,
    return_state: bool = False,
    normalise: bool = True,
    mask: Array | None = None,
    log_alpha: Array | None = None,
) -> Array | tuple[Array, State]:
    """Causal linear attention through the masked T x T matrix of scores: O [*lead, T, d_v].

    Arguments, result and errors as in `causal_linear_attention_recurrent`.
    Cost: 2 T^2 (d_phi + d_v) FLOPs in a fixed number of matrix products; memory T^2 numbers.
    Source: Katharopoulos et al. 2020, arXiv:2006.16236.
    """
    eps = real("eps", eps, 0)
    f = admit_features(admit_qkv(Q, K, V, causal=True), phi, mask=mask, log_alpha=log_alpha, state=state)
    return _outputs(f, parallel_sums(f), eps, normalise, return_state)


def causal_linear_attention_chunkwise(
    Q: Array,
    K: Array,
    V: Array,
    phi: FeatureMapLike,
    eps: float = 1e-6,
    chunk: int = CHUNK,
    *,
    state: State | None = None,
    return_state: bool = False,
    normalise: bool = True,
    mask: Array | None = None,
    log_alpha: Array | None = None,
) -> Array | tuple[Array, State]:
    """Causal linear attention, parallel inside chunks and recurrent between them: O [*lead, T, d_v].

    chunk: tokens per chunk, at least 1; it need not divide T.  Other arguments, result and errors as
    in `causal_linear_attention_recurrent`.  bfloat16 on a CUDA device is multiplied as it is and added in
    float32 (`compute.attention.half`, a few tokens as one chunk), unless there is a log_alpha or a gradient is asked
    for.
    Cost: about 2 T chunk (d_phi + d_v) + 4 T d_phi d_v FLOPs; memory T chunk + (T / chunk) d_phi d_v
    numbers; without decay three batched products and one prefix sum over chunks, with decay
    T / chunk dependent steps.
    Source: Yang et al. 2023, arXiv:2312.06635; Qin et al. 2024, arXiv:2401.04658.
    """
    chunk = whole("chunk", chunk, 1)
    eps = real("eps", eps, 0)
    if log_alpha is None and half.fits(Q, K, V) and (f := half.admit(Q, K, V, phi, mask=mask, state=state)):
        sums = Sums(*half.sums(f, chunk, denominators=normalise, states=return_state))
        O, end = _outputs(f, sums, eps, normalise, True)
        half.refuse(f, O)
        return (O, end) if return_state else O
    f = admit_features(admit_qkv(Q, K, V, causal=True), phi, mask=mask, log_alpha=log_alpha, state=state)
    return _outputs(f, chunkwise_sums(f, chunk), eps, normalise, return_state)


def _outputs(f: Features, sums: Sums, eps: float, normalise: bool, return_state: bool) -> Any:
    O = finish(f, sums.num, sums.den, eps=eps, normalise=normalise)
    return (O, (sums.S, sums.z)) if return_state else O


FORMS = {
    "recurrent": causal_linear_attention_recurrent,
    "parallel": causal_linear_attention_parallel,
    "chunkwise": causal_linear_attention_chunkwise,
}
"""The three orders of one computation, in teaching order."""
