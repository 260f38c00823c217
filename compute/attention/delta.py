"""The delta rule as attention: write only what the memory does not already say, plain or gated.

    S_t = A_t S_{t-1} + beta_t k_t (v_t - (A_t S_{t-1})^T k_t)^T,   o_t = S_t^T q_t,

A_t the decay (the identity without gates).  The error is read from the decayed state.  Keys and
queries come as they are: pass phi(K) for a feature map, and unit keys if beta in [0, 1] is to
contract, since a write scales the error along its key by 1 - beta ||k||^2.

Sources: Schlag et al. 2021, arXiv:2102.11174 (the rule); Yang et al. 2024, arXiv:2406.06484 (chunks by
the WY form); Yang et al. 2024, arXiv:2412.06464 (with a gate per token); Kimi Team 2025,
arXiv:2510.26692 (with a gate per channel).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from array_api_compat import device

from compute.arrays import Admitted, Array, admit_like, leave
from compute.attention.causal import CHUNK
from compute.attention.decay import causal_scores, in_chunks, in_tokens, kept, since_start, until_end
from compute.attention.doors import admit_log_alpha, admit_mask, admit_qkv, admit_state, shown
from compute.attention.wy import Chunks, leap, walk
from compute.scalars import whole
from compute.triangular import inverse_unit_lower
from compute.write_rules import Delta, GatedDelta, recall


class Writes(NamedTuple):
    """A checked call: arrays in the dtype they are computed in, masked tokens made neutral.

    beta: [*lead, T, 1].  log_alpha: None, [*lead, T, 1] or [*lead, T, d_k].  S: [*lead, d_k, d_v].
    """

    admitted: Admitted
    Q: Array
    K: Array
    V: Array
    beta: Array
    log_alpha: Array | None
    S: Array


def delta_attention_recurrent(
    Q: Array,
    K: Array,
    V: Array,
    beta: Array | float = 1.0,
    *,
    log_alpha: Array | None = None,
    state: Array | None = None,
    return_state: bool = False,
    mask: Array | None = None,
) -> Array | tuple[Array, Array]:
    """The delta rule as a loop over tokens: O [*lead, T, d_v].

    Q, K: [*lead, T, d_k], V: [*lead, T, d_v].  beta: write strength, a number or [*lead, T].
    log_alpha: logarithm (<= 0) of the fraction kept before each write, [*lead, T] (gated delta rule)
    or [*lead, T, d_k] (a gate per channel); None never forgets.
    state: S [*lead, d_k, d_v] to resume from; return_state: give (O, S).
    mask: [*lead, T], True = kept; a masked token neither writes nor decays.

    Cost: 6 T d_k d_v FLOPs in T dependent steps; memory d_k d_v numbers besides the output.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN or Inf.
    """
    w = _admit(Q, K, V, beta, log_alpha, state, mask)
    rule = Delta() if log_alpha is None else GatedDelta()
    xp, S, out = w.admitted.xp, w.S, []
    for t in range(w.K.shape[-2]):
        alpha = 1.0 if w.log_alpha is None else xp.exp(w.log_alpha[..., t, :, None])
        S = rule.step(S, w.K[..., t, :], w.V[..., t, :], alpha, w.beta[..., t, :])
        out.append(recall(S, w.Q[..., t, :]))
    return _leave(w, xp.stack(out, axis=-2), S, return_state)


def delta_attention_chunkwise(
    Q: Array,
    K: Array,
    V: Array,
    beta: Array | float = 1.0,
    chunk: int = CHUNK,
    *,
    log_alpha: Array | None = None,
    state: Array | None = None,
    return_state: bool = False,
    mask: Array | None = None,
) -> Array | tuple[Array, Array]:
    """The delta rule in chunks by the WY form: O [*lead, T, d_v].

    Inside a chunk the rule is an additive memory of corrected values U: with L the strictly lower part
    of diag(beta) K K^T (decayed), (I + L) U = diag(beta) (V - K S), S the state that enters.  One inverse
    per chunk, all at once, gives both what V and what S contribute, before S is known.

    chunk: tokens per chunk, at least 1; it need not divide T.  Other arguments, result and errors as in
    `delta_attention_recurrent`.
    Cost: one triangular inverse of `chunk` rows and a handful of products per chunk; T / chunk dependent steps,
    on an accelerator 2 log2(T / chunk), for twice the products.
    """
    chunk = whole("chunk", chunk, 1)
    w = _admit(Q, K, V, beta, log_alpha, state, mask)
    xp, T, d_v = w.admitted.xp, w.K.shape[-2], w.V.shape[-1]
    q, k, v, beta = (in_chunks(a, chunk) for a in (w.Q, w.K, w.V, w.beta))
    gates = None if w.log_alpha is None else in_chunks(w.log_alpha, chunk)
    entering, leaving = (None, None) if gates is None else (since_start(gates), until_end(gates))
    solve = inverse_unit_lower(beta * causal_scores(k, k, gates))
    corrected = solve @ (beta * xp.concat([v, kept(k, entering)], axis=-1))
    keep = None if entering is None else xp.exp(entering[..., -1, :])[..., None]
    chunks = Chunks(corrected[..., :d_v], corrected[..., d_v:], kept(k, leaving).mT, keep)
    S, S_in, U = (walk if str(device(w.K)) == "cpu" else leap)(w.S, chunks)
    O = kept(q, entering) @ S_in + causal_scores(q, k, gates) @ U
    return _leave(w, in_tokens(O, T), S, return_state)


DELTA_FORMS = {"recurrent": delta_attention_recurrent, "chunkwise": delta_attention_chunkwise}
"""The two orders of the delta rule."""


def _admit(Q: Array, K: Array, V: Array, beta: Any, log_alpha: Any, state: Any, mask: Any) -> Writes:
    admitted = admit_qkv(Q, K, V, causal=True)
    xp, _, (Q, K, V) = admitted
    tokens = tuple(K.shape[:-1])
    beta = admit_like("beta", beta, like=K)
    if tuple(beta.shape) not in ((), tokens):
        raise ValueError(f"beta must be a number or have shape {shown(tokens)}, got {shown(beta.shape)}")
    beta = xp.broadcast_to(beta, tokens)
    log_alpha = admit_log_alpha(log_alpha, like=K)
    mask = admit_mask(mask, like=K)
    shape = (*tokens[:-1], K.shape[-1], V.shape[-1])
    (S,) = admit_state(None if state is None else (state,), like=K, shapes=(shape,))
    if mask is not None:
        K = xp.where(mask[..., None], K, 0.0)
        log_alpha = None if log_alpha is None else xp.where(mask[..., None], log_alpha, 0.0)
    return Writes(admitted, Q, K, V, beta[..., None], log_alpha, S)


def _leave(w: Writes, O: Array, S: Array, return_state: bool) -> Any:
    return (leave(w.admitted, O), S) if return_state else leave(w.admitted, O)
