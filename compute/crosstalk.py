"""Every read after every write, from one pass over the pairs.

The recursions behind them stand in `compute.running_reads`.

Conventions: keys K `[*lead, N, d]` and values V `[*lead, N, d_v]` as they come (bring keys to unit length
with `compute.memory.unit`), row n−1 of a result is the memory after n writes, column j is pair j counted from 0.
alpha and beta: a number, `[N]`, or `[*lead, N]`, one per write.
Source: the correction of values, Yang et al. 2024, arXiv:2406.06484.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from array_api_compat import device

from compute.arrays import Array, admit, leave, namespace
from compute.filling import BLOCK, blocks, enter, names_of
from compute.memory import admit_pairs, squares_of
from compute.running_reads import cosines, growth, named, own_shares, running, sums_of_reads
from compute.scalars import wholes
from compute.write_rules import WriteRule


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
    *lead, N, d = K.shape
    like_K = {"dtype": K.dtype, "device": device(K)}
    told = xp.full((3, *lead, N, N), xp.nan, **like_K)  # in one piece, which costs fewer page faults
    cosine, energy, share = told[0, ...], told[1, ...], told[2, ...]
    names, own, nothing = xp.zeros((*lead, d, 0), **like_K), xp.zeros((*lead, 0), **like_K), xp.zeros((), **like_K)
    for sums in sums_of_reads(xp, K, V, rule, alpha, beta, block):
        part, unit, gram, dots, lengths = sums
        a, b, U = part.start, part.stop, None
        owns = share[..., a:b, :b]
        if rule.corrects:
            U, names = named(xp, K[..., a:b, :], names, part, unit)
        own = own_shares(xp, owns, own, part, gram, U, unit)
        cosine[..., a:b, :b] = cosines(xp, sums)
        miss = owns - 2 * dots
        miss *= owns
        miss += lengths
        energy[..., a:b, :b] = xp.maximum(miss, nothing)
    return Reads(*(leave(admitted, x) for x in (cosine, energy, share)))


def every_cosine(
    K: Array, V: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0, block: int = BLOCK
) -> Array:
    """`every_read(...).cosine` alone, `[*lead, N, N]`, at two thirds of its cost.  Arguments and errors as there."""
    admitted, rule, alpha, beta = enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    *lead, N, _ = K.shape
    told = xp.full((*lead, N, N), xp.nan, dtype=K.dtype, device=device(K))
    for sums in sums_of_reads(xp, K, V, rule, alpha, beta, block):
        told[..., sums.block.start : sums.block.stop, : sums.block.stop] = cosines(xp, sums)
    return leave(admitted, told)


class Expected(NamedTuple):
    """What every read holds of its own value, as in `Reads`, and the mean of `Reads.energy` over independent values of
    mean zero and equal size; `[*lead, N, N]`, NaN where the pair is not stored yet."""

    own: Array
    energy: Array


def expected_read(K: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0) -> Expected:
    """Signal and mean crosstalk of all reads, for which no values are needed.

    Reads are linear in V: the energy of a read is the sum of the squared weights of the other values in it.  Without
    corrections a weight is the inner product of two keys times what decay left of it; else storing each pair's name
    (a row of the identity) gives the weights.  K `[*lead, N, d]`.
    ValueError naming K, rule, alpha or beta.
    """
    admitted = admit(ndim=2, K=K)
    (K,) = admitted.arrays
    entered, rule, alpha, beta = enter(K, names_of(K), rule, alpha, beta)
    xp, (K, names) = entered.xp, entered.arrays
    told = xp.full((2, *names.shape), xp.nan, dtype=K.dtype, device=device(K))
    gram, nothing = K @ K.mT, xp.zeros((), dtype=K.dtype, device=device(K))
    unit, own = nothing * K[..., 0] + 1, K[..., :0, 0]
    squares, before = gram**2 * (1 - names), nothing * gram[..., :1, :]
    names, length = K.mT[..., :0], own
    for part in blocks(xp, K, K[..., :1], rule, alpha, beta):
        a, b, decay, kept = part.start, part.stop, part.decay, part.kept
        new, owns = K[..., a:b, :], told[0, ..., a:b, :b]
        if rule.corrects:
            U, after = named(xp, new, names, part, unit[..., a:b])
            reads = new @ names
            length = xp.concat([length, xp.sum(reads * reads, axis=-1)], axis=-1)
            steps = growth(xp, new, U, U[..., :a] @ names.mT, decay, kept) @ K[..., :b, :].mT
            lengths = running(decay * decay, kept * kept, length, gram[..., a:b, :b], steps)
            own = own_shares(xp, owns, own, part, gram[..., a:b, :b], U, unit[..., a:b])
            names, length, energy = after, lengths[..., -1, :], lengths - owns * owns
        else:
            own = own_shares(xp, owns, own, part, gram[..., a:b, :b], None, unit[..., a:b])
            # Eₙ = αₙ²Eₙ₋₁ + (kₙ·kⱼ)² for every j
            rows = decay**2 @ squares[..., a:b, :] + kept[..., None] ** 2 * before
            before, energy = rows[..., -1:, :], rows[..., :b] + nothing * owns
        told[1, ..., a:b, :b] = xp.maximum(energy, nothing)
    return Expected(leave(admitted, told[0, ...]), leave(admitted, told[1, ...]))


def expected_energy(K: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0) -> Array:
    """`expected_read(...).energy`, `[*lead, N, N]`.  Arguments and errors as there."""
    return expected_read(K, rule, alpha=alpha, beta=beta).energy


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
