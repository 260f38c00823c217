"""Every read after every write, from one pass over the pairs.

With the corrected values u of `compute.filling` known, the inner product of the read of pair j with vⱼ and the
read's squared length obey scalar recursions in n.  So no read is ever formed: a few matrix products and decayed
running sums per block of pairs give all n and j.

Conventions: keys K `[*lead, N, d]` and values V `[*lead, N, d_v]` as they come (bring keys to unit length
with `compute.memory.unit`), row n−1 of a result is the memory after n writes, column j is pair j
counted from 0.  alpha and beta: a number, `[N]`, or `[*lead, N]`, one per write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from array_api_compat import device

from compute.arrays import Array, admit, leave, namespace, whole
from compute.filling import BLOCK, Block, blocks, enter, states
from compute.memory import admit_pairs
from compute.write_rules import WriteRule, recall

__all__ = ["Reads", "SplitRead", "best_reads", "every_read", "expected_energy", "split_read", "states"]


@dataclass(frozen=True)
class Reads:
    """What every stored pair reads back after every write; `[*lead, N, N]`, NaN where the pair is not stored yet.

    cosine: between the read of pair j and vⱼ.  A read shorter than 64 roundoffs of ‖vⱼ‖ counts as that long,
    so a pair that is gone reads 0 and not the direction of the noise.
    own: the signal, the weight with which vⱼ itself enters its read.  With unit keys 1 for additive, αⁿ⁻ʲ under
    decay, and for a correcting rule what later writes left of βⱼ.
    energy: the crosstalk, ‖read − own·vⱼ‖² / ‖vⱼ‖².  For additive memories its mean over random values of equal length
    is Σ_{s≠j}(kₛ·kⱼ)²; values of uneven length raise it, for Gaussian ones by d_v/(d_v − 2).
    Where own falls too, compare energy with own²: a rule may lower both and read worse.
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
        return mean_stored(self.energy)

    @property
    def mean_own(self) -> Array:
        return mean_stored(self.own)

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


def every_read(
    K: Array, V: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0, block: int = BLOCK
) -> Reads:
    """All N² reads of a memory filled pair by pair.  ValueError for shapes that do not fit or a value of length zero.

    Cost about N²(2d + d_v + 2·block) FLOPs, with a correcting rule N²(4d + d_v + 3·block); memory 3N² numbers.
    """
    admitted, rule, alpha, beta = enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    squares = _squares(xp, V)
    V_rel = V / squares[..., None]
    *lead, N, d = K.shape
    empty = {"dtype": K.dtype, "device": device(K)}
    cosine, energy, share = (xp.empty((*lead, N, N), **empty) for _ in range(3))
    nothing = xp.zeros((), **empty)
    shortest = nothing + (64 * xp.finfo(K.dtype).eps) ** 2
    names = xp.zeros((*lead, d, N), **empty) if rule.corrects else None
    dot = length = own = xp.zeros((*lead, 0), **empty)
    for part in blocks(xp, K, V, rule, alpha, beta, block):
        a, b, S, U, decay, kept = part.start, part.stop, part.S, part.U, part.decay, part.kept[..., None]
        new, past = K[..., a:b, :], K[..., :b, :]
        # rₙ = αₙrₙ₋₁ + (kₙ·kⱼ)uₙ for every j, hence ‖rₙ‖² = αₙ²‖rₙ₋₁‖² + (kₙ·kⱼ)(2αₙrₙ₋₁ + (kₙ·kⱼ)uₙ)·uₙ,
        # where the last product is kⱼ·growthₙ: like the Gram matrix, one product with all keys.
        inner = decay * (U @ U.mT)
        growth = (xp.tril(inner) + xp.tril(inner, k=-1)) @ new + 2 * kept * (U @ S.mT)
        both = xp.concat([new, growth], axis=-2) @ past.mT
        gram, steps = both[..., : b - a, :], both[..., b - a :, :]
        # Three running sums over n, each carried on from the block before; new pairs start from what S reads.
        first = new @ S
        dot = xp.concat([dot, _dot(xp, first, V_rel[..., a:b, :])], axis=-1)
        dots = decay @ (gram * (U @ V_rel[..., :b, :].mT))
        dots += kept * dot[..., None, :]
        length = xp.concat([length, _dot(xp, first, first)], axis=-1)
        lengths = (decay * decay) @ (gram * steps)
        lengths += kept * kept * length[..., None, :]
        own = xp.concat([own, xp.zeros((*lead, b - a), **empty)], axis=-1)
        owns = kept * own[..., None, :]
        if rule.corrects:
            owns += decay @ (gram * _write_names(xp, part, new, names))
        else:
            owns[..., a:b] += decay * xp.linalg.diagonal(gram[..., a:])[..., None, :]
        dot, length, own = dots[..., -1, :], lengths[..., -1, :], owns[..., -1, :]
        lengths = lengths / squares[..., None, :b]
        later = xp.where(xp.triu(xp.ones((b - a, b - a), **empty), k=1) > 0, xp.nan, 0.0)
        for out, values in (
            (cosine, dots / xp.sqrt(xp.maximum(lengths, shortest))),
            (energy, xp.maximum(lengths + owns * (owns - 2 * dots), nothing)),
            (share, owns),
        ):
            values[..., a:] += later
            out[..., a:b, :b] = values
            out[..., a:b, b:] = xp.nan
    return Reads(*(leave(admitted, x) for x in (cosine, energy, share)))


def expected_energy(K: Array, rule: WriteRule | str, *, alpha: Any = 1.0, beta: Any = 1.0) -> Array:
    """Mean of `Reads.energy` over independent values of mean zero and equal size, `[*lead, N, N]`; no values needed.

    Reads are linear in V, so storing each pair's name (a row of the identity) gives every weight, and the
    energy is the sum of the squared weights of the others.
    """
    (K,) = admit(ndim=2, K=K).arrays
    return every_read(K, names_of(K), rule, alpha=alpha, beta=beta).energy


def split_read(
    K: Array, V: Array, rule: WriteRule | str, n: int, j: int, *, alpha: Any = 1.0, beta: Any = 1.0
) -> SplitRead:
    """The read of pair j (from 0, below n) after n writes, as every stored value's share in it."""
    admitted, rule, alpha, beta = enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    n = whole("n", n, 1, K.shape[-2])
    j = whole("j", j, 0, n - 1)
    K, V = K[..., :n, :], V[..., :n, :]
    memory = states(K, names_of(K), rule, [n], alpha=alpha[..., :n], beta=beta[..., :n])[..., 0, :, :]
    weights = recall(memory, K[..., j, :])
    parts = weights[..., None] * V
    value = V[..., j : j + 1, :]
    along = _dot(xp, parts, value) / _squares(xp, value)
    return SplitRead(j, *(leave(admitted, x) for x in (weights, parts, along)))


def best_reads(K: Array, V: Array, stops: Sequence[int]) -> tuple[Array, Array]:
    """Mean cosine and mean energy at each stop of the best memory there could be, each `[*lead, len(stops)]`.

    Best is least squares over the first n pairs, with all of them at hand at once.  Its energy is the whole
    miss, ‖read − vⱼ‖² / ‖vⱼ‖², for a best memory owes nothing to a rule.  Zero up to n = d for independent keys.
    """
    admitted = admit_pairs(K, V)
    xp, (K, V) = admitted.xp, admitted.arrays
    cosines, energies = [], []
    for n in (whole("stops", n, 1, K.shape[-2]) for n in stops):
        keys, values = K[..., :n, :], V[..., :n, :]
        reads = keys @ (xp.linalg.pinv(keys) @ values)
        squares = _squares(xp, values)
        cosines.append(xp.mean(_dot(xp, reads, values) / xp.sqrt(squares * _dot(xp, reads, reads)), axis=-1))
        energies.append(xp.mean(_dot(xp, reads - values, reads - values) / squares, axis=-1))
    return leave(admitted, xp.stack(cosines, axis=-1)), leave(admitted, xp.stack(energies, axis=-1))


def names_of(K: Array) -> Array:
    """One value per key that says only which pair it is: the rows of the identity."""
    xp, N = namespace(K), K.shape[-2]
    return xp.broadcast_to(xp.eye(N, dtype=K.dtype, device=device(K)), (*K.shape[:-2], N, N))


def _write_names(xp: Any, block: Block, new: Array, names: Array) -> Array:
    """Write the names of a block's pairs into the memory `names`, in place; their corrected values `[*, b, stop]`.

    Reads of that memory are the weights of `SplitRead`; the entry of a pair's own name is its own share.
    """
    a, b = block.start, block.stop
    # The names of earlier pairs are not among the values of this block: only their echo is corrected away.
    earlier = -(block.solve * block.kept[..., None, :]) @ (new @ names[..., :a])
    U = xp.concat([earlier, xp.broadcast_to(block.solve, (*new.shape[:-2], b - a, b - a))], axis=-1)
    names[..., :b] *= block.kept[..., -1, None, None]
    names[..., :b] += (block.decay[..., -1, :, None] * new).mT @ U
    return U


def _squares(xp: Any, V: Array) -> Array:
    squares = _dot(xp, V, V)
    if not bool(xp.all(squares > 0)):
        raise ValueError("V must not hold a value of length zero, nothing can be measured against it")
    return squares


def _dot(xp: Any, x: Array, y: Array) -> Array:
    return xp.sum(x * y, axis=-1)


def mean_stored(x: Array) -> Array:
    """Mean over the pairs stored so far, `[*lead, N, N]` → `[*lead, N]`."""
    xp = namespace(x)
    N = x.shape[-1]
    return xp.sum(xp.tril(x), axis=-1) / xp.arange(1, N + 1, dtype=x.dtype, device=device(x))
