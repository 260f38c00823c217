"""Gradients of causal linear attention as cumulative sums: no state is stored on the way.

With G_t the gradient at the numerator, the gradients of phi(q), phi(k) and v are

    S_t G_t  (a sum forward in time),   R_t v_t,   R_t^T phi(k_t),   R_t = sum_{s >= t} phi(q_s) G_s^T

(sums backward in time).  Each is causal linear attention without denominator on permuted arguments, so
the chunkwise form computes all three in the memory of a few states.  Source: Katharopoulos et al. 2020,
arXiv:2006.16236, section 3.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from compute.arrays import Array, admit_like, namespace
from compute.attention.causal import CHUNK, causal_linear_attention_chunkwise, causal_linear_attention_parallel
from compute.attention.doors import admit_qkv, divide, shown
from compute.feature_maps import FEATURE_MAPS
from compute.scalars import real

IDENTITY = FEATURE_MAPS["identity"]()

Gradients = tuple[Array, Array, Array]
"""Gradients of phi(Q), phi(K) and V, each in the shape of its variable."""


def cumulative_sum_gradients(
    phi_q: Array,
    phi_k: Array,
    V: Array,
    G: Array,
    eps: float = 1e-6,
    *,
    normalise: bool = True,
    chunk: int = CHUNK,
) -> Gradients:
    """Gradients of sum(G * O) for O = causal linear attention on the features phi_q, phi_k and values V.

    phi_q, phi_k: [*lead, T, d_phi], V and G: [*lead, T, d_v].  eps, normalise, chunk: of the forward pass.
    Cost: three chunkwise passes (four with the denominator's), memory independent of T besides the results.
    Raises ValueError, beginning with the argument's name, on wrong shapes, NaN, Inf or a negative eps.
    Source: Katharopoulos et al. 2020, arXiv:2006.16236.
    """
    xp, dtype, (phi_q, phi_k, V), G = _admit(phi_q, phi_k, V, G)
    eps = real("eps", eps, 0)
    at_num, values = G, V
    if normalise:
        ones = xp.ones_like(V[..., :1])
        # The denominator is the numerator of a value that is always one.
        values = xp.concat([V, ones], axis=-1)
        sums = _forward(phi_q, phi_k, values, chunk)
        O, at_num = (divide(a, sums[..., -1] + eps) for a in (sums[..., :-1], G))
        at_num = xp.concat([at_num, -xp.sum(at_num * O, axis=-1, keepdims=True)], axis=-1)
    grads = (
        _forward(at_num, values, phi_k, chunk),
        _backward(values, at_num, phi_q, chunk),
        _backward(phi_k, phi_q, at_num[..., : V.shape[-1]], chunk),
    )
    return tuple(xp.astype(g, dtype, copy=False) for g in grads)


def autograd_gradients(
    phi_q: Array,
    phi_k: Array,
    V: Array,
    G: Array,
    eps: float = 1e-6,
    *,
    normalise: bool = True,
    form: Callable[..., Array] = causal_linear_attention_parallel,
) -> Gradients:
    """The same gradients by torch autograd through one of `FORMS`; NumPy in gives NumPy out.

    form: the one that is differentiated.  Other arguments, shapes and errors as in `cumulative_sum_gradients`; torch
    is imported only here.
    Memory is what autograd keeps: T^2 numbers for the parallel form, T d_phi d_v for the recurrent one.
    """
    import torch

    xp, dtype, given, G = _admit(phi_q, phi_k, V, G)
    leaves = [torch.as_tensor(a).detach().clone().requires_grad_() for a in given]
    O = form(*leaves, IDENTITY, eps, normalise=normalise)
    grads = torch.autograd.grad(O, leaves, torch.as_tensor(G).to(O))
    grads = (g.numpy() if isinstance(a, np.ndarray) else g for a, g in zip(given, grads))
    return tuple(xp.astype(g, dtype, copy=False) for g in grads)


def _admit(phi_q: Array, phi_k: Array, V: Array, G: Array) -> tuple[Any, Any, tuple[Array, ...], Array]:
    xp, dtype, given = admit_qkv(phi_q, phi_k, V, causal=True, names=("phi_q", "phi_k", "V"))
    G = admit_like("G", G, like=given[2])
    if tuple(G.shape) != tuple(given[2].shape):
        raise ValueError(f"G must have the shape of V, {shown(given[2].shape)}, got {shown(G.shape)}")
    return xp, dtype, given, G


def _forward(q: Array, k: Array, v: Array, chunk: int) -> Array:
    return causal_linear_attention_chunkwise(q, k, v, IDENTITY, chunk=chunk, normalise=False)


def _backward(q: Array, k: Array, v: Array, chunk: int) -> Array:
    """The same sums over s >= t: attention on the reversed sequence."""
    xp = namespace(q)
    return xp.flip(_forward(*(xp.flip(a, axis=-2) for a in (q, k, v)), chunk), axis=-2)
