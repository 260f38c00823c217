"""Every read after every write, from one pass over the pairs.

With the corrected values u of `compute.filling`, the inner product of the read of pair j with vⱼ and the read's
squared length obey scalar recursions in n: a few matrix products and running sums per block of pairs give all n and j.

Conventions: keys K `[*lead, N, d]` and values V `[*lead, N, d_v]` as they come (bring keys to unit length
with `compute.memory.unit`), row n−1 of a result is the memory after n writes, column j is pair j counted from 0.
alpha and beta: a number, `[N]`, or `[*lead, N]`, one per write.
Source: the correction of values, Yang et al. 2024, arXiv:2406.06484.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from array_api_compat import device

from compute.arrays import Array, admit, leave, namespace
from compute.filling import BLOCK, Block, blocks, enter, names_of
from compute.memory import admit_pairs, squares_of
from compute.scalars import wholes
from compute.write_rules import WriteRule, find_rule

SPAN = 32
"""Writes that a running sum takes at once."""


@dataclass(frozen=True)
class Reads:
    """What every stored pair reads back after every write; `[*lead, N, N]`, NaN where the pair is not stored yet.

    cosine: between the read of pair j and vⱼ.  A read shorter than 64 roundoffs of ‖vⱼ‖ counts as that long,
    so a pair that is gone reads 0 and not the direction of the noise.
    own: the signal, the weight with which vⱼ itself enters its read.  With unit keys 1 for additive, αⁿ⁻ʲ under
    decay, and for a correcting rule what later writes left of βⱼ.
    energy: the crosstalk, ‖read − own·vⱼ‖² / ‖vⱼ‖².  For additive memories its mean over random values of equal length
    is Σ_{s≠j}(kₛ·kⱼ)²; values of uneven length raise it, for Gaussian ones by d_v/(d_v − 2).  Where own falls too,
    compare energy with own²: a rule may lower both and read worse.
    """

    cosine: Array
    energy: Array
    own: Array

    @property
    def mean_cosine(self) -> Array:
        """Mean over the pairs stored so far, `[*lead, N]`."""
        return mean_stored(self.cosine)

    @property
    def mean_energy(self) -> Array:
        """Mean crosstalk of the pairs stored so far, `[*lead, N]`."""
        return mean_stored(self.energy)

    @property
    def mean_own(self) -> Array:
        """Mean signal of the pairs stored so far, `[*lead, N]`."""
        return mean_stored(self.own)

    @property
    def newest(self) -> Array:
        """Cosine of the pair just written, `[*lead, N]`."""
        return namespace(self.cosine).linalg.diagonal(self.cosine)

    @property
    def oldest(self) -> Array:
        """Cosine of the first pair, `[*lead, N]`."""
        return self.cosine[..., :, 0]


def every_read(
    K: Array, V: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0, block: int = BLOCK
) -> Reads:
    """All N² reads of a memory filled pair by pair.

    K `[*lead, N, d]`, V `[*lead, N, d_v]`; alpha, beta: see above.  block: pairs taken at once, which changes the cost
    only.  ValueError naming K, V (a value of length zero among them), rule, alpha, beta or block.
    Cost about N²(2d + d_v + 2·SPAN) FLOPs, with a correcting rule N²(4d + d_v + 3·SPAN); memory 3N² numbers.
    """
    admitted, rule, alpha, beta = enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    size = xp.sqrt(squares_of(xp, V))
    # Every pair is read in units of its own value, a number per pair here instead of a division per read.
    K_rel, V_rel = K / size[..., None], V / size[..., None]
    *lead, N, d = K.shape
    like_K = {"dtype": K.dtype, "device": device(K)}
    told = xp.full((3, *lead, N, N), xp.nan, **like_K)  # in one piece, which costs fewer page faults
    cosine, energy, share = told[0, ...], told[1, ...], told[2, ...]
    nothing = xp.zeros((), **like_K)
    shortest = nothing + (64 * xp.finfo(K.dtype).eps) ** 2
    names = xp.zeros((*lead, d, N), **like_K) if rule.corrects else None
    dot = length = own = xp.zeros((*lead, 0), **like_K)
    for part in blocks(xp, K, V, rule, alpha, beta, block):
        a, b, U, decay, kept = part.start, part.stop, part.U, part.decay, part.kept
        new, unit = K[..., a:b, :], size[..., a:b]
        # rₙ = αₙrₙ₋₁ + (kₙ·kⱼ)uₙ for every j, hence ‖rₙ‖² = αₙ²‖rₙ₋₁‖² + (kₙ·kⱼ)(2αₙrₙ₋₁ + (kₙ·kⱼ)uₙ)·uₙ,
        # where the last product is kⱼ·growthₙ: like the Gram matrix, one product with all keys.
        inner = xp.tril(decay * (U @ U.mT))
        inner += xp.tril(inner, k=-1)
        growth = inner @ new + 2 * kept[..., None] * (U @ part.S.mT)
        both = xp.concat([new, growth], axis=-2) @ K_rel[..., :b, :].mT
        gram, steps = both[..., : b - a, :], both[..., b - a :, :]
        # Three running sums over n, each carried on from the block before; new pairs start from what S reads.
        first = part.reads / unit[..., None]
        dot = xp.concat([dot, _dot(xp, first, V_rel[..., a:b, :])], axis=-1)
        dots = _running(decay, kept, dot, gram, U @ V_rel[..., :b, :].mT)
        length = xp.concat([length, _dot(xp, first, first)], axis=-1)
        lengths = _running(decay * decay, kept * kept, length, gram, steps)
        owns = share[..., a:b, :b]
        if rule.corrects:
            echo, named = _name(part, new, names, unit)
            owns[..., :a] = _running(decay, kept, own, gram[..., :a], echo)
            owns[..., a:] = _running(decay, kept, nothing, gram[..., a:], named)
        else:
            owns[..., :a] = kept[..., None] * own[..., None, :]
            owns[..., a:] = decay * (unit * xp.linalg.diagonal(gram[..., a:]))[..., None, :]
        dot, length, own = dots[..., -1, :], lengths[..., -1, :], owns[..., -1, :]
        later = xp.where(xp.triu(xp.ones((b - a, b - a), **like_K), k=1) > 0, xp.nan, 0.0)
        dots[..., a:] += later
        owns[..., a:] += later
        miss = owns - 2 * dots
        miss *= owns
        miss += lengths
        energy[..., a:b, :b] = xp.maximum(miss, nothing)
        cosine[..., a:b, :b] = dots / xp.sqrt(xp.maximum(lengths, shortest))
    return Reads(*(leave(admitted, x) for x in (cosine, energy, share)))


def _running(decay: Array, kept: Array, before: Array, gram: Array, steps: Array) -> Array:
    """xₙ = αₙxₙ₋₁ + gramₙ·stepsₙ from x = before, for every n of a block, `[*, b, j]`; takes the place of steps."""
    steps *= gram
    for a in range(0, steps.shape[-2], SPAN):
        span = slice(a, a + SPAN)
        rows = steps[..., span, :]
        # What came before decays like the first step.
        rows[..., 0, :] += (decay[..., a : a + 1, a - 1] if a else kept[..., :1]) * before
        rows[...] = decay[..., span, span] @ rows
        before = rows[..., -1, :]
    return steps


def expected_energy(K: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0) -> Array:
    """Mean of `Reads.energy` over independent values of mean zero and equal size, `[*lead, N, N]`; no values needed.

    Reads are linear in V: the energy of a read is the sum of the squared weights of the other values in it.  Without
    corrections a weight is the inner product of two keys times what decay left of it; else storing each pair's name
    (a row of the identity) gives the weights.  K `[*lead, N, d]`.
    ValueError naming K, rule, alpha or beta.
    """
    admitted = admit(ndim=2, K=K)
    (K,) = admitted.arrays
    rule = find_rule(rule)
    if rule.corrects:
        return leave(admitted, every_read(K, names_of(K), rule, alpha=alpha, beta=beta).energy)
    entered, rule, alpha, beta = enter(K, names_of(K), rule, alpha, beta)
    xp, (K, names) = entered.xp, entered.arrays
    squares = (K @ K.mT) ** 2 * (1 - names)
    before, rows = squares[..., :1, :] * 0, []
    for part in blocks(xp, K, K, rule, alpha, beta):
        # Eₙ = αₙ²Eₙ₋₁ + (kₙ·kⱼ)² for every j
        energy = part.decay**2 @ squares[..., part.start : part.stop, :] + part.kept[..., None] ** 2 * before
        before = energy[..., -1:, :]
        rows.append(energy)
    stored = xp.tril(xp.ones(squares.shape[-2:], dtype=xp.bool, device=device(K)))
    return leave(admitted, xp.where(stored, xp.concat(rows, axis=-2), xp.nan))


def best_reads(K: Array, V: Array, stops: Sequence[int]) -> tuple[Array, Array]:
    """Mean cosine and mean energy at each stop of the best memory there could be, each `[*lead, len(stops)]`.

    Best is least squares over the first n pairs, with all of them at hand at once.  Its energy is the whole
    miss, ‖read − vⱼ‖² / ‖vⱼ‖², for a best memory owes nothing to a rule.  Zero up to n = d for independent keys.
    K `[*lead, N, d]`, V `[*lead, N, d_v]`.  ValueError naming K, V (a value of length zero among them) or stops.
    """
    admitted = admit_pairs(K, V)
    xp, (K, V) = admitted.xp, admitted.arrays
    cosines, energies = [], []
    for n in wholes("stops", stops, 1, K.shape[-2]):
        keys, values = K[..., :n, :], V[..., :n, :]
        reads = keys @ (xp.linalg.pinv(keys) @ values)
        squares = squares_of(xp, values)
        cosines.append(xp.mean(_dot(xp, reads, values) / xp.sqrt(squares * _dot(xp, reads, reads)), axis=-1))
        energies.append(xp.mean(_dot(xp, reads - values, reads - values) / squares, axis=-1))
    return leave(admitted, xp.stack(cosines, axis=-1)), leave(admitted, xp.stack(energies, axis=-1))


def _name(block: Block, new: Array, names: Array, unit: Array) -> tuple[Array, Array]:
    """Write the names of a block's pairs, in units of their values, into the memory `names`, in place.

    Returned are the corrected values of earlier pairs' names `[*, b, start]`, of which only the echo is corrected
    away, and of the block's own `[*, b, b]`.  In a read of that memory a pair's own name stands for its own share.
    """
    a, b = block.start, block.stop
    echo = -((block.solve * block.kept[..., None, :]) @ new) @ names[..., :a]
    named = block.solve * unit[..., None, :]
    into = (block.decay[..., -1, :, None] * new).mT
    names[..., :a] *= block.kept[..., -1, None, None]
    names[..., :a] += into @ echo
    names[..., a:b] = into @ named
    return echo, named


def _dot(xp: Any, x: Array, y: Array) -> Array:
    return xp.sum(x * y, axis=-1)


def mean_stored(x: Array) -> Array:
    """Mean over the pairs stored so far, `[*lead, N, N]` → `[*lead, N]`; what stands above the diagonal is not read.

    ValueError naming x where it is not square.
    """
    admitted = admit(ndim=2, finite=False, x=x)
    xp, _, (x,) = admitted
    N = x.shape[-1]
    if x.shape[-2] != N:
        raise ValueError(f"x must have a row per write and a column per pair, got shape {tuple(x.shape)}")
    return leave(admitted, xp.sum(xp.tril(x), axis=-1) / xp.arange(1, N + 1, dtype=x.dtype, device=device(x)))
