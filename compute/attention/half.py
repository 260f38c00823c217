"""The chunkwise form for bfloat16 on a CUDA device: operands stay 16 bits wide, sums are 32 bits wide.

The same form as in `compute.attention.causal`, which copies 16-bit inputs to float32 and so moves twice the bytes
past idle matrix units.  Here every product multiplies bfloat16 and adds in float32, and the memory is summed over
chunks in float32.  Rounded to bfloat16 are the features, the scores of a chunk, the memory that enters it and the
output: where flash-linear-attention rounds too, and with the same miss, 2.3e-3 of the output's norm (1.7e-3 of it
is the output's own rounding).

Nothing here knows gates or gradients: where `fits` or `admit` says no, the written form stands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from compute.arrays import Array, dtype_name, refuse_unless_finite
from compute.attention.decay import after_each, in_chunks, pad_tokens
from compute.attention.doors import FeatureMapLike, Features, State, admit_features, admit_qkv
from compute.attention.replay import Replayed, recorded_now
from compute.feature_maps.base import FeatureMap
from compute.feature_maps.pointwise import Identity

if TYPE_CHECKING:
    from torch import Tensor

ALONE, GROUP = 2**16, 32
"""One product sums the memories of N chunks as long as N² times the sequences is no more than this; else chunks are
summed in groups, side by side."""

SQUARE = 2**24
"""Tokens squared times the sequences up to which all tokens are one chunk: an H200 waits for launches there, and four
take less time than nine."""

REPLAYED = 2**26
"""Numbers in all, a quarter of a gigabyte, up to which the products are recorded: 2¹⁶ tokens of a head of 128.  With
more, an H200 no longer waits for launches."""

ONES = 8
"""Columns of ones beside the values: their sums are the denominators.  One would do, but products like multiples."""


def fits(*arrays: Array) -> bool:
    """Whether these are bfloat16 tensors on a CUDA device, and torch can give a product in float32 (2.8 or newer)."""
    if not all(getattr(a, "is_cuda", False) and dtype_name(a.dtype) == "bfloat16" for a in arrays):
        return False
    import torch

    return hasattr(torch.ops.aten.bmm, "dtype")


def admit(
    Q: Tensor, K: Tensor, V: Tensor, phi: FeatureMapLike, *, mask: Tensor | None, state: State | None
) -> Features | None:
    """The tensors as they are, not yet searched for NaN and Inf; S and z None without a state.

    A feature map computes in float32 and rounds once; a plain function is given float32 to do the same.
    None where a gradient is asked for.
    """
    if isinstance(phi, Identity):
        phi = phi.features
    elif callable(phi) and not isinstance(phi, FeatureMap):
        phi = partial(_in_float32, phi)
    f = admit_features(admit_qkv(Q, K, V, causal=True, narrow=True), phi, mask=mask, state=state, zeros=False)
    parts = (f.phi_q, f.phi_k, f.V, f.S, f.z)
    return None if any(part is not None and part.requires_grad for part in parts) else f


def _in_float32(phi: FeatureMapLike, x: Tensor) -> Tensor:
    return phi(x.float())


def refuse(f: Features, O: Tensor) -> None:
    """ValueError for NaN and Inf in Q, K or V, looked for last: by then all work is on its way and one wait is left."""
    Q, K, V = f.admitted.arrays
    # Row t holds q_t, k_t and v_t, for every token reads itself; only a feature map or a mask could hide something.
    if f.phi_q is Q and f.phi_k is K and isfinite(float(O.sum())):
        return
    refuse_unless_finite(f.xp, {"Q": Q, "K": K, "V": V})


def sums(f: Features, chunk: int, *, denominators: bool, states: bool) -> tuple[Any, ...]:
    """Numerators, denominators, S and z as in `causal.Sums`, None what is not asked for.

    Numerators alone come in bfloat16; with denominators both come in float32, for the quotient to be rounded once.
    """
    *lead, T, d_phi = f.phi_k.shape
    d_v, B = f.V.shape[-1], prod(lead)
    C = T if B * T * T <= SQUARE else min(chunk, T)
    numbers = B * T * (d_phi + d_v + C) + B * (T // C) * d_phi * d_v
    work = _replayed if f.V.is_cuda and numbers <= REPLAYED else _products
    state = () if f.S is None else (f.S, f.z)
    out, S = work(f.phi_q, f.phi_k, f.V, *state, chunk=C, denominators=denominators, states=states)
    return (
        out if out.shape[-1] == d_v else out[..., :d_v],
        out[..., d_v] if denominators else None,
        S[..., :d_v] if states else None,
        S[..., d_v] if states else None,
    )


def _products(
    phi_q: Tensor, phi_k: Tensor, V: Tensor, *state: Tensor, chunk: int, denominators: bool, states: bool
) -> tuple[Tensor, Tensor | None]:
    """Numerators [*lead, T, d_v] and the state [*lead, d_phi, d_v], with columns of sums behind those of the values
    where denominators or states are asked for."""
    import torch

    *lead, T, d_phi = phi_k.shape
    d_v, B = V.shape[-1], prod(lead)
    V = torch.nn.functional.pad(V, (0, ONES), value=1.0) if denominators or states else V
    d = V.shape[-1]
    q, k, v = (_chunks(x, chunk) for x in (phi_q, phi_k, V))
    if not state and chunk >= T:
        left, right = _cut(torch.bmm(q, k.mT)), v
        S = _wide(k.mT, v) if states else None
    else:
        S = None
        if state:
            S, z = state
            S = torch.cat([S, z[..., None].expand(*z.shape, d - d_v)], dim=-1).reshape(B, d_phi * d)
        S_in, S = _entering(S, _wide(k.mT, v).view(B, -1, d_phi * d), states)
        # One product for what the chunk and what the memory answer: added in float32, rounded once.
        left, right = _causal_beside(q, k), torch.cat([v, S_in.reshape(-1, d_phi, d)], dim=-2)
    out = _wide(left, right) if denominators else torch.bmm(left, right)
    out = out.view(*lead, -1, d)
    out = out if out.shape[-2] == T else out[..., :T, :]
    return out, S.reshape(*lead, d_phi, d) if states else None


_replayed = Replayed(_products)


def _chunks(x: Tensor, C: int) -> Tensor:
    """[*, T, d] as [n, C, d], the last chunk of each sequence filled up with zero tokens."""
    return pad_tokens(x, -(-x.shape[-2] // C) * C).reshape(-1, C, x.shape[-1])


def _causal_beside(q: Tensor, k: Tensor) -> Tensor:
    """[the scores of each chunk on and below the diagonal | q], [n, C, C + d_phi]: every number moved once.

    Four numbers at a time: torch's own tril and cat of 16 bits take twice as long on an H200.
    """
    import torch

    n, C, d_phi = q.shape
    out = q.new_empty(n, C, C + d_phi)
    torch.bmm(q, k.mT, out=out[..., :C])
    _cut(out[..., :C])
    _copy(out[..., C:], q)
    return out


def _by_four(x: Tensor) -> Tensor | None:
    """The same memory, four numbers to a word; None where a row of x does not begin and end with a word."""
    import torch

    odd = x.shape[-1] % 4 or x.stride(-1) != 1 or any(step % 4 for step in (x.storage_offset(), *x.stride()[:-1]))
    return None if odd else x.view(torch.int64)


def _copy(to: Tensor, x: Tensor) -> None:
    words, told = _by_four(to), _by_four(x)
    if words is None or told is None:
        to.copy_(x)
    else:
        words.copy_(told)


def _cut(scores: Tensor) -> Tensor:
    """Zeros above the diagonal, in place."""
    words = _by_four(scores)
    if words is None:
        return scores.tril_()
    words.bitwise_and_(_lower_bits(scores.shape[-1], scores))
    return scores


def _constant(make: Callable[[int, Any], Tensor]) -> Callable[[int, Tensor], Tensor]:
    """A matrix by its size, on the device of another tensor: remembered, save in a recording, which makes its own."""
    remembered = lru_cache(maxsize=16)(make)

    def constant(n: int, beside: Tensor) -> Tensor:
        return (make if recorded_now(beside) else remembered)(n, beside.device)

    return constant


@_constant
def _lower_bits(C: int, where: Any) -> Tensor:
    """All bits of four numbers to a word, on and below the diagonal: [C, C / 4]."""
    import torch

    return torch.full((C, C), -1, dtype=torch.int16, device=where).tril_().view(torch.int64)


@_constant
def _earlier(n: int, where: Any) -> Tensor:
    """Ones [n, n] below the diagonal: times a column of terms it is what came before each."""
    import torch

    return torch.ones(n, n, device=where).tril_(-1)


def _entering(S: Tensor | None, writes: Tensor, states: bool) -> tuple[Tensor, Tensor | None]:
    """What enters each chunk in bfloat16, [B, N, D], and the state after the last, [B, D], if `states`.

    S: [B, D], the state before the first, None for nothing.  writes: [B, N, D] in float32, consumed.
    """
    import torch

    B, N, D = writes.shape
    if S is None and B * N * N <= ALONE:
        return _before_each(writes).bfloat16(), writes.sum(-2) if states else None
    groups = in_chunks(writes, GROUP)
    S = writes.new_zeros(B, D) if S is None else S
    ends = after_each(S, groups.sum(-2))
    before = torch.cat([S[:, None], ends[:, :-1]], dim=-2)
    groups[..., 0, :] += before
    entering = _before_each(groups.view(-1, *groups.shape[-2:])).bfloat16().view(groups.shape)
    entering[..., 0, :] = before
    return entering.reshape(B, -1, D)[:, :N], ends[:, -1]


def _before_each(terms: Tensor) -> Tensor:
    """The sum of the terms before each, [n, G, D]."""
    import torch

    n, G, _ = terms.shape
    return torch.bmm(_earlier(G, terms).expand(n, G, G), terms)


def _wide(a: Tensor, b: Tensor) -> Tensor:
    """a @ b of bfloat16 matrices [n, *, *], in float32."""
    import torch

    return torch.bmm(a, b, out_dtype=torch.float32) if a.is_cuda else a.float() @ b.float()
