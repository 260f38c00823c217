"""Filling a memory with pairs, a block at a time.

A delta rule is an additive memory of corrected values u.  Inside a block of pairs u solves a small triangular
system, and of everything before the block it needs only S (Yang et al. 2024, arXiv:2406.06484), so all four
rules become a few matrix products per block instead of one step per pair.

Keys K `[*lead, N, d]` and values V `[*lead, N, d_v]` are taken as they come.  alpha and beta are a number,
`[N]` or `[*lead, N]`, one per write; an alpha per row of S has no such short cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from array_api_compat import device

from compute.arrays import Admitted, Array, leave, whole
from compute.memory import admit_pairs
from compute.triangular import inverse_unit_lower
from compute.write_rules import WriteRule, find_rule, gate

BLOCK = 64
"""Pairs per block.  A longer one means more work inside it and fewer, larger products."""


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
    """S after n writes for each n of the ascending `stops`, `[*lead, len(stops), d, d_v]`; n = 0 is all zeros."""
    admitted, rule, alpha, beta = enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    N = K.shape[-2]
    stops = [whole("stops", n, 0, N) for n in stops]
    if not stops or stops != sorted(stops):
        raise ValueError(f"stops must be at least one number, in ascending order, got {stops}")
    frames = [xp.zeros((*K.shape[:-2], K.shape[-1], V.shape[-1]), dtype=K.dtype, device=device(K))] * stops.count(0)
    waiting = stops[len(frames) :]
    for part in blocks(xp, K[..., : stops[-1], :], V[..., : stops[-1], :], rule, alpha, beta, block):
        while waiting and waiting[0] <= part.stop:
            frames.append(part.after(K, waiting.pop(0) - part.start))
    return leave(admitted, xp.stack(frames, axis=-3))


class Block(NamedTuple):
    """Pairs start…stop−1: the memory before them, their corrected values, and the decay between them.

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

    def after(self, K: Array, n: int) -> Array:
        """The memory after the first n ≥ 1 pairs of the block."""
        new = K[..., self.start : self.start + n, :]
        weighted = self.decay[..., n - 1, :n, None] * self.U[..., :n, :]
        return self.kept[..., n - 1, None, None] * self.S + new.mT @ weighted


def blocks(
    xp: Any, K: Array, V: Array, rule: WriteRule, alpha: Array, beta: Array, size: int = BLOCK
) -> Iterator[Block]:
    """Fill the memory, stopping before each block.  Takes what `enter` has checked."""
    size = whole("block", size, 1)
    *lead, N, d = K.shape
    S = xp.zeros((*lead, d, V.shape[-1]), dtype=K.dtype, device=device(K))
    for a in range(0, N, size):
        b = min(a + size, N)
        new, U, solve = K[..., a:b, :], V[..., a:b, :], None
        reads = new @ S
        keep = alpha[..., a:b]
        # Products of alpha, never quotients of running products: those overflow, and an alpha may be 0.
        below = xp.tril(xp.ones((b - a, b - a), dtype=xp.bool, device=device(K)), k=-1)
        steps = xp.where(below, keep[..., :, None], xp.ones_like(keep[..., None, :]))
        decay = xp.tril(xp.cumulative_prod(steps, axis=-2))
        kept = decay[..., :, 0] * keep[..., :1]
        if rule.corrects:
            strength = beta[..., a:b]
            solve = inverse_unit_lower(strength[..., :, None] * decay * (new @ new.mT)) * strength[..., None, :]
            U = solve @ (U - kept[..., None] * reads)
        block = Block(a, b, S, reads, U, decay, kept, solve)
        yield block
        S = block.after(K, b - a)


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
        value = gate(name, value, K, {(N,): 0, (*lead, N): 0}) if name in rule.uses else 1.0
        value = xp.zeros((N,), dtype=K.dtype, device=device(K)) + value
        if not bool(xp.all(xp.isfinite(value))):
            raise ValueError(f"{name} must be finite, got NaN or Inf")
        gates.append(value)
    return admitted, rule, *gates
