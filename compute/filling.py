"""Filling a memory with pairs, a block at a time.

A delta rule is an additive memory of corrected values u.  Inside a block of pairs u solves a small triangular
system, and of everything before the block it needs only S (Yang et al. 2024, arXiv:2406.06484), so all four
rules become a few matrix products per block instead of one step per pair.

Keys K `[*lead, N, d]` and values V `[*lead, N, d_v]` are taken as they come.  alpha and beta are a number,
`[N]` or `[*lead, N]`, one per write; an alpha per row of S has no such short cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from array_api_compat import device

from compute.arrays import Admitted, Array, leave, namespace
from compute.memory import admit_pairs
from compute.scalars import brief, whole, wholes
from compute.triangular import inverse_unit_lower
from compute.write_rules import WriteRule, find_rule, gate

BLOCK = 64
"""Pairs per block.  A longer one means more work inside it and fewer, larger products."""

AHEAD = 1 << 18
"""Numbers of triangular systems that a CPU undoes at once, so that they stay in its cache; an accelerator takes all."""


def states(
    K: Array,
    V: Array,
    rule: WriteRule | str,
    stops: Sequence[int],
    *,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    block: int = BLOCK,
) -> Array:
    """S after n writes for each n of the ascending `stops`, `[*lead, len(stops), d, d_v]`; n = 0 is all zeros.

    block: pairs taken at once, which changes the cost only.  ValueError naming K, V, rule, stops, alpha, beta or block.
    """
    admitted, rule, alpha, beta = enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    N = K.shape[-2]
    stops = wholes("stops", stops, 0, N)
    if stops != sorted(stops):
        raise ValueError(f"stops must be in ascending order, got {brief(stops)}")
    frames = [xp.zeros((*K.shape[:-2], K.shape[-1], V.shape[-1]), dtype=K.dtype, device=device(K))] * stops.count(0)
    waiting = stops[len(frames) :]
    for part in blocks(xp, K[..., : stops[-1], :], V[..., : stops[-1], :], rule, alpha, beta, block):
        while waiting and waiting[0] <= part.stop:
            n = waiting.pop(0)
            frames.append(part.end if n == part.stop else part.after(K, n - part.start))
    # Side by side in storage: one product with all of them then needs no copy.
    return xp.moveaxis(leave(admitted, xp.stack(frames, axis=-2)), -2, -3)


class Block(NamedTuple):
    """Pairs start…stop−1: the memory before them and after them, their corrected values, and the decay between them.

    reads `[*, b, d_v]`: what its keys read from S.  decay `[*, b, b]` is lower triangular, entry (n, t) the
    product of alpha over the writes after t up to n; kept `[*, b]` is the product up to n, what is left of S.
    solve `[*, b, b]` turns errors into U.
    """

    start: int
    stop: int
    S: Array
    reads: Array
    U: Array
    decay: Array
    kept: Array
    solve: Array | None
    end: Array

    def after(self, K: Array, n: int) -> Array:
        """The memory after the first n ≥ 1 pairs of the block."""
        return _after(K[..., self.start : self.start + n, :], self.S, self.U, self.decay, self.kept)


def _after(new: Array, S: Array, U: Array, decay: Array, kept: Array) -> Array:
    n = new.shape[-2]
    weighted = decay[..., n - 1, :n, None] * U[..., :n, :]
    return kept[..., n - 1, None, None] * S + new.mT @ weighted


def blocks(
    xp: Any, K: Array, V: Array, rule: WriteRule, alpha: Array, beta: Array, size: int = BLOCK
) -> Iterator[Block]:
    """Fill the memory, stopping after each block; takes what `enter` has let in already.

    K `[*lead, N, d]`, V `[*lead, N, d_v]`, alpha and beta with N at the end.  size: pairs per block.
    """
    size = whole("block", size, 1)
    S = xp.zeros((*K.shape[:-2], K.shape[-1], V.shape[-1]), dtype=K.dtype, device=device(K))
    for a, b, decay, kept, solve in _between(xp, K, rule, alpha, beta, size):
        new, U = K[..., a:b, :], V[..., a:b, :]
        reads = new @ S
        if solve is not None:
            U = solve @ (U - kept[..., None] * reads)
        end = _after(new, S, U, decay, kept)
        yield Block(a, b, S, reads, U, decay, kept, solve, end)
        S = end


def _between(
    xp: Any, K: Array, rule: WriteRule, alpha: Array, beta: Array, size: int
) -> Iterator[tuple[int, int, Array, Array, Array | None]]:
    """Start, stop, decay, kept and solve of every block: what does not depend on the memory, for several at once."""
    *lead, N, d = K.shape
    most = max(1, AHEAD // (math.prod(lead) * size**2)) if str(device(K)) == "cpu" else N
    stops = [*range(0, N - N % size, size * most), N - N % size, N]
    for first, last in pairwise(stops):
        if last == first:
            continue
        b = min(size, last - first)
        keep, strength = (xp.reshape(x[..., first:last], (*x.shape[:-1], -1, b)) for x in (alpha, beta))
        # Products of alpha, never quotients of running products: those overflow, and an alpha may be 0.
        below = xp.tril(xp.ones((b, b), dtype=xp.bool, device=device(K)), k=-1)
        steps = xp.where(below, keep[..., :, None], xp.ones_like(keep[..., None, :]))
        decay = xp.tril(xp.cumulative_prod(steps, axis=-2))
        kept = decay[..., :, 0] * keep[..., :1]
        solve = None
        if rule.corrects:
            new = xp.reshape(K[..., first:last, :], (*lead, -1, b, d))
            solve = inverse_unit_lower(strength[..., :, None] * decay * (new @ new.mT)) * strength[..., None, :]
        for i in range((last - first) // b):
            a = first + i * b
            yield a, a + b, decay[..., i, :, :], kept[..., i, :], None if solve is None else solve[..., i, :, :]


def enter(K: Array, V: Array, rule: WriteRule | str, alpha: Any, beta: Any) -> tuple[Admitted, WriteRule, Array, Array]:
    """Check the pairs, find the rule, and bring both gates to one number per write; gates it does not use become 1.

    Raises ValueError that begins with the argument's name.
    """
    admitted = admit_pairs(K, V)
    xp, (K, _) = admitted.xp, admitted.arrays
    rule = find_rule(rule)
    *lead, N, _ = K.shape
    gates = []
    for name, value in (("alpha", alpha), ("beta", beta)):
        value = gate(name, value, like=K, shapes={(N,): 0, (*lead, N): 0}) if name in rule.uses else 1.0
        value = xp.zeros((N,), dtype=K.dtype, device=device(K)) + value
        if not bool(xp.all(xp.isfinite(value))):
            raise ValueError(f"{name} must be finite, got NaN or Inf")
        gates.append(value)
    return admitted, rule, *gates


def names_of(K: Array) -> Array:
    """One value per key that says only which pair it is, the rows of the identity `[*lead, N, N]`; K let in already."""
    xp, N = namespace(K), K.shape[-2]
    return xp.broadcast_to(xp.eye(N, dtype=K.dtype, device=device(K)), (*K.shape[:-2], N, N))
