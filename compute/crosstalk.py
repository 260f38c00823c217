"""Every read after every write, from one pass over the pairs.

A delta rule is an additive memory of corrected values u: u solves a triangular system inside a block of
pairs and needs only S from the blocks before (Yang et al. 2024, arXiv:2406.06484).  With u known, the
inner product of the read of pair j with vⱼ and the read's squared length obey scalar recursions in n,
so no read is ever formed: three matrix products and two decayed running sums per block give all n and j.

Conventions: keys K `[*lead, N, d]` and values V `[*lead, N, d_v]` as they come (bring keys to unit length
with `compute.memory.unit`), row n−1 of a result is the memory after n writes, column j is pair j
counted from 0.  alpha and beta: a number, `[N]`, or `[*lead, N]`, one per write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device, is_array_api_obj

from compute.arrays import Admitted, Array, admit, leave, namespace, whole
from compute.write_rules import WriteRule, find_rule, recall

BLOCK = 32
"""Pairs per block: the within-block work grows with it, the number of Python steps shrinks."""


@dataclass(frozen=True)
class Reads:
    """What every stored pair reads back after every write; `[*lead, N, N]`, NaN where the pair is not stored yet.

    cosine: between the read of pair j and vⱼ.  A read shorter than 64 roundoffs of ‖vⱼ‖ counts as that long,
    so a pair that is gone reads 0 and not the direction of the noise.
    energy: ‖read − own share‖² / ‖vⱼ‖².  The own share is the coefficient with which vⱼ itself enters the
    read: 1 for additive with unit keys, αⁿ⁻ʲ under decay (the signal fades with the crosstalk), and under a
    correcting rule what later writes left of βⱼvⱼ.  For additive memories its mean over random values is
    Σ_{s≠j}(kₛ·kⱼ)².
    """

    cosine: Array
    energy: Array

    @property
    def mean_cosine(self) -> Array:
        """Mean over the pairs stored so far, `[*lead, N]`."""
        return _mean_stored(self.cosine)

    @property
    def mean_energy(self) -> Array:
        return _mean_stored(self.energy)

    @property
    def newest(self) -> Array:
        """Cosine of the pair just written, `[*lead, N]`."""
        return namespace(self.cosine).linalg.diagonal(self.cosine)

    @property
    def oldest(self) -> Array:
        """Cosine of the first pair, `[*lead, N]`."""
        return self.cosine[..., :, 0]


@dataclass(frozen=True)
class SplitRead:
    """One read taken apart: the read is Σₛ weightₛ·vₛ.

    weights `[*lead, n]`: the coefficient of each value.  parts `[*lead, n, d_v]`: weightₛ·vₛ.
    along `[*lead, n]`: how far each part reaches along vⱼ, in lengths of vⱼ; the sum is 1 for a perfect read.
    """

    j: int
    weights: Array
    parts: Array
    along: Array

    @property
    def signal(self) -> Array:
        """The own share of the pair that was asked for, `[*lead, d_v]`."""
        return self.parts[..., self.j, :]

    @property
    def crosstalk(self) -> Array:
        """Everything else, `[*lead, d_v]`."""
        xp = namespace(self.parts)
        return xp.sum(self.parts[..., : self.j, :], axis=-2) + xp.sum(self.parts[..., self.j + 1 :, :], axis=-2)

    @property
    def read(self) -> Array:
        return self.signal + self.crosstalk


def every_read(K: Array, V: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0) -> Reads:
    """All N² reads of a memory filled pair by pair.  ValueError for shapes that do not fit or a value of length zero.

    Cost about 2N²(2d + d_v + BLOCK) FLOPs, a correcting rule twice that; memory 2N² numbers.
    """
    admitted, rule, alpha, beta = _enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    squares = _dot(xp, V, V)
    if not bool(xp.all(squares > 0)):
        raise ValueError("V must not hold a value of length zero, it has no cosine")
    V_rel = V / squares[..., None]
    *lead, N, d = K.shape
    empty = {"dtype": K.dtype, "device": device(K)}
    cosine, energy = (xp.empty((*lead, N, N), **empty) for _ in range(2))
    nothing = xp.zeros((), **empty)
    shortest = nothing + (64 * xp.finfo(K.dtype).eps) ** 2
    dot = length = own = xp.zeros((*lead, 0), **empty)
    names = xp.zeros((*lead, d, N), **empty) if rule.corrects else None
    """The memory that stores the name of each pair in place of its value: its reads are the weights of `SplitRead`."""
    for block in _blocks(xp, K, V, rule, alpha, beta):
        a, b, S, U, decay, kept = block.start, block.stop, block.S, block.U, block.decay, block.kept[..., None]
        new, past = K[..., a:b, :], K[..., :b, :]
        # rₙ = αₙrₙ₋₁ + (kₙ·kⱼ)uₙ for every j, hence ‖rₙ‖² = αₙ²‖rₙ₋₁‖² + (kₙ·kⱼ)(2αₙrₙ₋₁ + (kₙ·kⱼ)uₙ)·uₙ,
        # where the last product is kⱼ·growthₙ: like the Gram matrix, one product with all keys.
        inner = decay * (U @ U.mT)
        growth = (xp.tril(inner) + xp.tril(inner, k=-1)) @ new + 2 * kept * (U @ S.mT)
        both = xp.concat([new, growth], axis=-2) @ past.mT
        gram, dots, lengths = both[..., : b - a, :], U @ V_rel[..., :b, :].mT, both[..., b - a :, :]
        dots *= gram
        lengths *= gram
        # The running sums go on from the block before; pairs that are new here start from what S reads.
        first = new @ S
        dot = xp.concat([dot, _dot(xp, first, V_rel[..., a:b, :])], axis=-1)
        length = xp.concat([length, _dot(xp, first, first)], axis=-1)
        own = xp.concat([own, xp.zeros((*lead, b - a), **empty)], axis=-1)
        dots = decay @ dots
        dots += kept * dot[..., None, :]
        lengths = (decay * decay) @ lengths
        lengths += kept * kept * length[..., None, :]
        owns = kept * own[..., None, :]
        if rule.corrects:
            solve = xp.broadcast_to(block.solve, (*lead, b - a, b - a))
            u_names = xp.concat([-(solve * block.kept[..., None, :]) @ (new @ names[..., :a]), solve], axis=-1)
            names[..., :b] *= kept[..., -1:, :]
            names[..., :b] += (decay[..., -1, :, None] * new).mT @ u_names
            u_names *= gram
            owns += decay @ u_names
        else:
            owns[..., a:b] += decay * xp.linalg.diagonal(gram[..., a:])[..., None, :]
        dot, length, own = dots[..., -1, :], lengths[..., -1, :], owns[..., -1, :]
        relative = lengths / squares[..., None, :b]
        reads = (
            (cosine, dots / xp.sqrt(xp.maximum(relative, shortest))),
            (energy, xp.maximum(relative + owns * (owns - 2 * dots), nothing)),
        )
        later = xp.where(xp.triu(xp.ones((b - a, b - a), **empty), k=1) > 0, xp.nan, 0.0)
        for out, values in reads:
            values[..., a:] += later
            out[..., a:b, :b] = values
            out[..., a:b, b:] = xp.nan
    return Reads(leave(admitted, cosine), leave(admitted, energy))


def expected_energy(K: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0) -> Array:
    """Mean of `Reads.energy` over independent values of mean zero and equal size, `[*lead, N, N]`; no values needed.

    Reads are linear in V, so storing each pair's name (a row of the identity) gives every weight, and the
    energy is the sum of the squared weights of the others.
    """
    return every_read(K, _names(K), rule, alpha=alpha, beta=beta).energy


def states(
    K: Array, V: Array, rule: WriteRule | str, stops: Sequence[int], *, alpha: Any = 1.0, beta: Any = 1.0
) -> Array:
    """The memory after n writes for each n of the ascending `stops` (0 is the empty one), `[*lead, len(stops), d, d_v]`."""
    admitted, rule, alpha, beta = _enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    N = K.shape[-2]
    stops = [whole("stops", n, 0, N) for n in stops]
    if not stops or stops != sorted(stops):
        raise ValueError(f"stops must be at least one number, in ascending order, got {stops}")
    frames = [xp.zeros((*K.shape[:-2], K.shape[-1], V.shape[-1]), dtype=K.dtype, device=device(K))] * stops.count(0)
    waiting = stops[len(frames) :]
    for block in _blocks(xp, K[..., : stops[-1], :], V[..., : stops[-1], :], rule, alpha, beta):
        while waiting and waiting[0] <= block.stop:
            frames.append(block.after(K, waiting.pop(0) - block.start))
    return leave(admitted, xp.stack(frames, axis=-3))


def split_read(
    K: Array, V: Array, rule: WriteRule | str, n: int, j: int, *, alpha: Any = 1.0, beta: Any = 1.0
) -> SplitRead:
    """The read of pair j (from 0, below n) after n writes, as every stored value's share in it."""
    admitted, rule, alpha, beta = _enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    n = whole("n", n, 1, K.shape[-2])
    j = whole("j", j, 0, n - 1)
    K, V = K[..., :n, :], V[..., :n, :]
    memory = states(K, _names(K), rule, [n], alpha=alpha[..., :n], beta=beta[..., :n])[..., 0, :, :]
    weights = recall(memory, K[..., j, :])
    parts = weights[..., None] * V
    value = V[..., j : j + 1, :]
    along = _dot(xp, parts, value) / _dot(xp, value, value)
    return SplitRead(j, *(leave(admitted, x) for x in (weights, parts, along)))


def best_reads(K: Array, V: Array, stops: Sequence[int]) -> tuple[Array, Array]:
    """Mean cosine and mean energy at each stop of the best memory there could be, each `[*lead, len(stops)]`.

    Best is least squares over the first n pairs, with all of them at hand at once.  Its energy is the whole
    miss, ‖read − vⱼ‖² / ‖vⱼ‖², for a best memory owes nothing to a rule.  Zero up to n = d for independent keys.
    """
    admitted, *_ = _enter(K, V, "additive", 1.0, 1.0)
    xp, (K, V) = admitted.xp, admitted.arrays
    cosines, energies = [], []
    for n in (whole("stops", n, 1, K.shape[-2]) for n in stops):
        keys, values = K[..., :n, :], V[..., :n, :]
        reads = keys @ (xp.linalg.pinv(keys) @ values)
        squares = _dot(xp, values, values)
        cosines.append(xp.mean(_dot(xp, reads, values) / xp.sqrt(squares * _dot(xp, reads, reads)), axis=-1))
        energies.append(xp.mean(_dot(xp, reads - values, reads - values) / squares, axis=-1))
    return leave(admitted, xp.stack(cosines, axis=-1)), leave(admitted, xp.stack(energies, axis=-1))


class _Block(NamedTuple):
    """Pairs start…stop−1: the memory before them, their corrected values, and the decay between them.

    decay `[*, b, b]` is lower triangular, entry (n, t) the product of alpha over the writes after t up to n;
    kept `[*, b]` is the product up to n, what is left of S.  solve `[*, b, b]` turns errors into U.
    """

    start: int
    stop: int
    S: Array
    U: Array
    decay: Array
    kept: Array
    solve: Array | None

    def after(self, K: Array, n: int) -> Array:
        """The memory after the first n ≥ 1 pairs of the block."""
        new = K[..., self.start : self.start + n, :]
        weighted = self.decay[..., n - 1, :n, None] * self.U[..., :n, :]
        return self.kept[..., n - 1, None, None] * self.S + new.mT @ weighted


def _blocks(xp: Any, K: Array, V: Array, rule: WriteRule, alpha: Array, beta: Array) -> Iterator[_Block]:
    *lead, N, d = K.shape
    S = xp.zeros((*lead, d, V.shape[-1]), dtype=K.dtype, device=device(K))
    for a in range(0, N, BLOCK):
        b = min(a + BLOCK, N)
        new, U, solve = K[..., a:b, :], V[..., a:b, :], None
        gate = alpha[..., a:b]
        # Products of alpha, never quotients of running products: those overflow, and a gate may be 0.
        below = xp.tril(xp.ones((b - a, b - a), dtype=xp.bool, device=device(K)), k=-1)
        decay = xp.tril(
            xp.cumulative_prod(xp.where(below, gate[..., :, None], xp.ones_like(gate[..., None, :])), axis=-2)
        )
        kept = decay[..., :, 0] * gate[..., :1]
        if rule.corrects:
            strength = beta[..., a:b]
            system = xp.tril(strength[..., :, None] * decay * (new @ new.mT), k=-1)
            system = system + xp.eye(b - a, dtype=K.dtype, device=device(K))
            solve = xp.linalg.inv(system) * strength[..., None, :]
            U = solve @ (U - kept[..., None] * (new @ S))
        block = _Block(a, b, S, U, decay, kept, solve)
        yield block
        S = block.after(K, b - a)


def _enter(
    K: Array, V: Array, rule: WriteRule | str, alpha: Any, beta: Any
) -> tuple[Admitted, WriteRule, Array, Array]:
    """Check what every public function here takes; gates the rule does not use become 1."""
    admitted = admit(ndim=2, K=K, V=V)
    K, V = admitted.arrays
    if tuple(V.shape[:-1]) != tuple(K.shape[:-1]):
        raise ValueError(f"V must have one row per key and K's lead axes, got {tuple(V.shape)} for {tuple(K.shape)}")
    rule = find_rule(rule)
    gates = (_per_write(admitted.xp, name, g, K, name in rule.uses) for name, g in (("alpha", alpha), ("beta", beta)))
    return admitted, rule, *gates


def _per_write(xp: Any, name: str, gate: Any, K: Array, used: bool) -> Array:
    *lead, N, _ = K.shape
    if not used:
        gate = 1.0
    if is_array_api_obj(gate) and not isinstance(gate, np.generic):
        if tuple(gate.shape) not in ((), (N,), (*lead, N)):
            raise ValueError(f"{name} must be a number or one per write, got shape {tuple(gate.shape)}")
        namespace(K, gate)
        gate = xp.astype(gate, K.dtype, copy=False)
        return xp.broadcast_to(gate, (N,)) if gate.ndim == 0 else gate
    try:
        return xp.full((N,), float(gate), dtype=K.dtype, device=device(K))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or an array, got {type(gate).__name__}") from None


def _names(K: Array) -> Array:
    """One value per key that says only which pair it is: the rows of the identity."""
    xp, N = namespace(K), K.shape[-2]
    return xp.broadcast_to(xp.eye(N, dtype=K.dtype, device=device(K)), (*K.shape[:-2], N, N))


def _dot(xp: Any, x: Array, y: Array) -> Array:
    return xp.sum(x * y, axis=-1)


def _mean_stored(x: Array) -> Array:
    xp = namespace(x)
    N = x.shape[-1]
    return xp.sum(xp.tril(x), axis=-1) / xp.arange(1, N + 1, dtype=x.dtype, device=device(x))
