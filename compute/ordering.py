"""Whether weights rise with the score: rank correlation."""

from __future__ import annotations

from compute.arrays import Array, admit, leave, refuse_unless_broadcast


def rank_correlation(a: Array, b: Array) -> Array:
    """Spearman's correlation of the order of a `[*, n]` with that of b `[*, n]` or `[n]`: 1 where both rise together.

    Equal values share the mean of their places.  NaN where a holds NaN, or where either is constant.  ValueError
    naming a or b.  Source: Spearman 1904, The proof and measurement of association between two things.
    """
    x = admit(a=a, b=b, finite=False)
    if x.arrays[0].shape[-1] != x.arrays[1].shape[-1]:
        raise ValueError(f"b must be as long as a, {x.arrays[0].shape[-1]}, got {x.arrays[1].shape[-1]}")
    refuse_unless_broadcast("b", x.arrays[1], x.arrays[0])
    xp = x.xp
    u, v = (_centred_places(xp, values) for values in x.arrays)
    size = xp.sqrt(xp.sum(u * u, axis=-1) * xp.sum(v * v, axis=-1))
    told = xp.sum(u * v, axis=-1) / xp.where(size == 0, xp.nan, size)
    return leave(x, xp.where(xp.any(xp.isnan(x.arrays[0]), axis=-1), xp.nan, told))


def _centred_places(xp, values: Array) -> Array:
    """How many entries are smaller less how many are larger, which is twice the centred mean place."""
    left, right = values[..., :, None], values[..., None, :]
    return xp.sum(xp.astype(right < left, values.dtype) - xp.astype(right > left, values.dtype), axis=-1)
