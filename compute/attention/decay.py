"""The decay between two tokens, and what it does to scores, reads and carried states.

A state that keeps the fraction alpha_t at token t weighs the pair (t, s) by the product of
alpha_{s+1} ... alpha_t.  Every such product is formed as a sum of logarithms over exactly those
tokens and exponentiated once; nothing is ever divided out, so a gate that closes loses no digits
and a long sequence overflows nowhere (Dao & Gu 2024, arXiv:2405.21060, call it the segment sum).

Throughout, log_alpha is None (nothing decays), [*, C, 1] (one gate per token: RetNet
arXiv:2307.08621, Mamba-2 arXiv:2405.21060) or [*, C, d_phi] (one per channel: GLA arXiv:2312.06635).
"""

from __future__ import annotations

from typing import Any

from array_api_compat import device, is_numpy_array

from compute.arrays import Array, namespace

GROUP = 64
"""Chunks whose states are found side by side."""


def causal_scores(phi_q: Array, phi_k: Array, log_alpha: Array | None = None) -> Array:
    """Decayed scores [*, C, C] of one block: entry (t, s) for s <= t, zero above the diagonal.

    phi_q, phi_k: [*, C, d_phi].  Costs 2 C^2 d_phi FLOPs; the only place with two token axes.
    """
    xp = namespace(phi_q)
    if log_alpha is not None and log_alpha.shape[-1] > 1:
        return _scores_by_halves(xp, phi_q, phi_k, log_alpha)
    scores = phi_q @ phi_k.mT
    if log_alpha is not None:
        return scores * decay_between(log_alpha[..., 0])
    return xp.where(lower(scores), scores, 0.0)


def decay_between(log_alpha: Array) -> Array:
    """[*, C] -> [*, C, C]: alpha_{s+1} ... alpha_t for s <= t, zero above the diagonal."""
    xp = namespace(log_alpha)
    rows = xp.broadcast_to(log_alpha[..., None], (*log_alpha.shape, log_alpha.shape[-1]))
    after = lower(rows, strictly=True)
    sums = sums_so_far(xp.where(after, rows, 0.0))
    return xp.where(lower(sums), xp.exp(sums), 0.0)


def lower(square: Array, *, strictly: bool = False) -> Array:
    """Booleans [C, C]: column s at or (strictly) before row t."""
    xp = namespace(square)
    t = xp.arange(square.shape[-1], device=device(square))
    return t[:, None] > t[None, :] if strictly else t[:, None] >= t[None, :]


def since_start(log_alpha: Array) -> Array:
    """[*, C, d]: log of what token t still sees of a state that entered the block; t's own gate included."""
    return sums_so_far(log_alpha)


def until_end(log_alpha: Array) -> Array:
    """[*, C, d]: log of what is left at the block's end of a write at token s; s's own gate excluded."""
    xp = namespace(log_alpha)
    later = xp.concat([log_alpha[..., 1:, :], xp.zeros_like(log_alpha[..., :1, :])], axis=-2)
    return xp.flip(sums_so_far(xp.flip(later, axis=-2)), axis=-2)


def kept(x: Array, log_kept: Array | None) -> Array:
    """x times exp(log_kept); x itself where nothing decays."""
    return x if log_kept is None else x * namespace(x).exp(log_kept)


def after_each(S: Array, writes: Array, gates: Array | None = None) -> Array:
    """S_n = exp(gates_n) S_{n-1} + writes_n for n = 1 ... N: [*, N, d].

    S: [*, d], the state before.  writes: [*, N, d], consumed.  gates: None or [*, N, 1].
    In groups, so that a long sequence is one of short ones side by side: first what each group adds up to,
    then the states between the groups by the same function, then every group from the state that enters it.
    """
    xp, N = namespace(writes), writes.shape[-2]
    if N > GROUP:
        groups, inner = in_chunks(writes, GROUP), None if gates is None else in_chunks(gates, GROUP)
        totals = xp.sum(kept(groups, None if inner is None else until_end(inner)), axis=-2)
        ends = after_each(S, totals, None if inner is None else xp.sum(inner, axis=-2))
        entering = xp.concat([S[..., None, :], ends[..., :-1, :]], axis=-2)
        return in_tokens(after_each(entering, groups, inner), N)
    if gates is None:
        writes[..., 0, :] += S
        return sums_so_far(writes)
    first = writes[..., :1, :] + kept(S[..., None, :], gates[..., :1, :])
    return decay_between(gates[..., 0]) @ xp.concat([first, writes[..., 1:, :]], axis=-2)


def sums_so_far(x: Array) -> Array:
    """Cumulative sums along the token axis: [*, C, d] -> [*, C, d]."""
    xp = namespace(x)
    if not is_numpy_array(x):
        return xp.cumulative_sum(x, axis=-2)
    # NumPy's own walks down one column after another: many times slower than adding rows.
    total, sums = x[..., 0, :], [x[..., 0, :]]
    for t in range(1, x.shape[-2]):
        total = total + x[..., t, :]
        sums.append(total)
    return xp.stack(sums, axis=-2)


def _scores_by_halves(xp: Any, phi_q: Array, phi_k: Array, log_alpha: Array) -> Array:
    """Scores under per-channel gates, without a [C, C, d_phi] array and without a growing exponential.

    For s in the left half of a block and t in the right one the decay splits at the middle into two
    factors, both at most one, so the lower-left quarter is one matrix product.  Blocks double in size
    from single tokens to the whole.
    """
    C = phi_q.shape[-2]
    size = 1 << (C - 1).bit_length()
    q, k, gates = (pad_tokens(a, size) for a in (phi_q, phi_k, log_alpha))
    blocks = xp.sum(q * k, axis=-1)[..., None, None]
    half = 1
    while half < size:
        pairs = (*q.shape[:-2], size // (2 * half), 2, half)
        left_k, right_q = (xp.reshape(a, (*pairs, -1))[..., i, :, :] for i, a in ((0, k), (1, q)))
        gate = xp.reshape(gates, (*pairs, -1))
        corner = kept(right_q, since_start(gate[..., 1, :, :])) @ kept(left_k, until_end(gate[..., 0, :, :])).mT
        blocks = xp.reshape(blocks, (*pairs, half))
        top = xp.concat([blocks[..., 0, :, :], xp.zeros_like(corner)], axis=-1)
        bottom = xp.concat([corner, blocks[..., 1, :, :]], axis=-1)
        blocks = xp.concat([top, bottom], axis=-2)
        half *= 2
    return blocks[..., 0, :C, :C]


def pad_tokens(x: Array, length: int) -> Array:
    """[*, C, d] with zero tokens appended up to `length`: no key, no value, no decay."""
    missing = length - x.shape[-2]
    if not missing:
        return x
    xp = namespace(x)
    zeros = xp.zeros((*x.shape[:-2], missing, x.shape[-1]), dtype=x.dtype, device=device(x))
    return xp.concat([x, zeros], axis=-2)


def in_chunks(x: Array, chunk: int) -> Array:
    """[*, T, d] -> [*, N, C, d] with C = min(chunk, T), the last chunk filled up with zero tokens."""
    T, d = x.shape[-2:]
    C = min(chunk, T)
    N = -(-T // C)
    return namespace(x).reshape(pad_tokens(x, N * C), (*x.shape[:-2], N, C, d))


def in_tokens(x: Array, T: int) -> Array:
    """[*, N, C, d] -> [*, T, d]: `in_chunks` undone."""
    flat = namespace(x).reshape(x, (*x.shape[:-3], x.shape[-3] * x.shape[-2], x.shape[-1]))
    return flat[..., :T, :]
