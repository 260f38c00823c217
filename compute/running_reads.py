"""Reads of a memory that is being filled, as running sums a block of pairs at a time; behind `compute.crosstalk`.

With the corrected values u of `compute.filling`, the inner product of the read of pair j with vⱼ and the read's squared
length obey scalar recursions in n: a few matrix products and running sums per block of pairs give all n and j.
Everything here takes what `compute.filling.enter` has let in already.
Source: the correction of values, Yang et al. 2024, arXiv:2406.06484.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from array_api_compat import device

from compute.arrays import Array, namespace
from compute.filling import Block, blocks
from compute.memory import squares_of
from compute.write_rules import WriteRule

SPAN = 32
"""Writes that a running sum takes at once."""


class Sums(NamedTuple):
    """One block's reads of all pairs up to its end, `[*, b, stop]`, in units of their values `[*, b]` its own.

    gram: products of the block's keys with all keys; dots: of every read with its value; lengths: the reads' squared
    lengths.  A row is after one write; of pairs not stored yet dots and lengths say nothing."""

    block: Block
    unit: Array
    gram: Array
    dots: Array
    lengths: Array


def sums_of_reads(xp: Any, K: Array, V: Array, rule: WriteRule, alpha: Array, beta: Array, size: int) -> Iterator[Sums]:
    """Fill the memory, stopping after each block of `size` pairs; arrays are let in already."""
    lengths_of = xp.sqrt(squares_of(xp, V))
    # Every pair is read in units of its own value, a number per pair here instead of a division per read.
    K_rel, V_rel = K / lengths_of[..., None], V / lengths_of[..., None]
    dot = length = xp.zeros((*K.shape[:-2], 0), dtype=K.dtype, device=device(K))
    for part in blocks(xp, K, V, rule, alpha, beta, size):
        a, b, U, decay, kept = part.start, part.stop, part.U, part.decay, part.kept
        new, unit = K[..., a:b, :], lengths_of[..., a:b]
        both = xp.concat([new, growth(xp, new, U, U @ part.S.mT, decay, kept)], axis=-2) @ K_rel[..., :b, :].mT
        gram, steps = both[..., : b - a, :], both[..., b - a :, :]
        # Each sum is carried on from the block before; new pairs start from what S reads.
        first = part.reads / unit[..., None]
        dot = xp.concat([dot, xp.sum(first * V_rel[..., a:b, :], axis=-1)], axis=-1)
        dots = running(decay, kept, dot, gram, U @ V_rel[..., :b, :].mT)
        length = xp.concat([length, xp.sum(first * first, axis=-1)], axis=-1)
        lengths = running(decay * decay, kept * kept, length, gram, steps)
        dot, length = dots[..., -1, :], lengths[..., -1, :]
        yield Sums(part, unit, gram, dots, lengths)


def growth(xp: Any, new: Array, U: Array, met: Array, decay: Array, kept: Array) -> Array:
    """growthₙ of each write of a block, `[*, b, d]`; met is U Sᵀ with the memory before the block; let in already.

    rₙ = αₙrₙ₋₁ + (kₙ·kⱼ)uₙ for every j, hence ‖rₙ‖² = αₙ²‖rₙ₋₁‖² + (kₙ·kⱼ)(2αₙrₙ₋₁ + (kₙ·kⱼ)uₙ)·uₙ, where the last
    product is kⱼ·growthₙ: like the Gram matrix, one product with all keys."""
    inner = xp.tril(decay * (U @ U.mT))
    inner += xp.tril(inner, k=-1)
    return inner @ new + 2 * kept[..., None] * met


def running(decay: Array, kept: Array, before: Array, gram: Array, steps: Array) -> Array:
    """xₙ = αₙxₙ₋₁ + gramₙ·stepsₙ from x = before, for every n of a block, `[*, b, j]`; takes the place of steps, which
    are let in already."""
    steps *= gram
    for a in range(0, steps.shape[-2], SPAN):
        span = slice(a, a + SPAN)
        rows = steps[..., span, :]
        # What came before decays like the first step.
        rows[..., 0, :] += (decay[..., a : a + 1, a - 1] if a else kept[..., :1]) * before
        rows[...] = decay[..., span, span] @ rows
        before = rows[..., -1, :]
    return steps


def named(xp: Any, new: Array, names: Array, block: Block, unit: Array) -> tuple[Array, Array]:
    """A block's pairs written into a memory of names: the value of each says only which pair it is, in units of `unit`
    `[*, b]`.  Keys `new` `[*, b, d]` and `names` `[*, d, start]` are let in already.

    Returned are the corrected names U `[*, b, stop]`, of which those of earlier pairs hold only the echo that is
    corrected away, and the memory after the block `[*, d, stop]`.  A read of it is the weight of every pair."""
    echo = -((block.solve * block.kept[..., None, :]) @ new) @ names
    U = xp.concat([echo, block.solve * unit[..., None, :]], axis=-1)
    after = (block.decay[..., -1, :, None] * new).mT @ U
    after[..., : block.start] += block.kept[..., -1, None, None] * names
    return U, after


def own_shares(xp: Any, into: Array, own: Array, block: Block, gram: Array, U: Array | None, unit: Array) -> Array:
    """Write what every read holds of its own value after each write of a block into `[*, b, stop]`; out: the last row.

    own: the shares before the block.  U: corrected names, None where no rule corrects.  All are let in already."""
    a, decay, kept = block.start, block.decay, block.kept
    if U is None:
        into[..., :a] = kept[..., None] * own[..., None, :]
        into[..., a:] = decay * (unit * xp.linalg.diagonal(gram[..., a:]))[..., None, :]
    else:
        into[..., :a] = running(decay, kept, own, gram[..., :a], U[..., :a])
        into[..., a:] = running(decay, kept, 0 * unit, gram[..., a:], U[..., a:])
    own = into[..., -1, :]
    into[..., a:] += unstored(into)
    return own


def cosines(xp: Any, sums: Sums) -> Array:
    """Of a block's reads with their values, NaN where the pair is not stored yet; takes the dots, let in already."""
    dots = sums.dots
    dots[..., sums.block.start :] += unstored(dots)
    shortest = xp.zeros((), dtype=dots.dtype, device=device(dots)) + (64 * xp.finfo(dots.dtype).eps) ** 2
    return dots / xp.sqrt(xp.maximum(sums.lengths, shortest))


def unstored(rows: Array) -> Array:
    """NaN where the pairs of a block `[*, b, stop]`, let in already, are not stored yet, else 0: `[b, b]`."""
    xp, b = namespace(rows), rows.shape[-2]
    later = xp.triu(xp.ones((b, b), dtype=rows.dtype, device=device(rows)), k=1)
    return xp.where(later > 0, xp.nan, 0.0)
