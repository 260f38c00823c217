"""Undoing a unit lower triangular matrix, for many small ones at once and in a fixed number of products.

What a block of a delta rule asks for: (I + L) U = V, L strictly lower.  Libraries solve it row after row, which
leaves an accelerator waiting; here blocks of the inverse double in size instead.
"""

from __future__ import annotations

from array_api_compat import device

from compute.arrays import Array, namespace

FIRST = 8
"""Size of the first blocks.  Their inverse is a sum of powers, whose terms stay small only while a block is."""


def inverse_unit_lower(L: Array) -> Array:
    """(I + the strictly lower part of L)⁻¹, [*, C, C], for L let in already; what stands elsewhere in it is not read.

    A block of two is undone by its halves: [[A, 0], [B, D]]⁻¹ = [[A⁻¹, 0], [−D⁻¹BA⁻¹, D⁻¹]].
    Costs about 2 C³/3 FLOPs.
    """
    xp, (*lead, C, _) = namespace(L), L.shape
    size = max(FIRST, 1 << (C - 1).bit_length())
    t = xp.arange(C, device=device(L))
    L = xp.where(t[:, None] > t[None, :], L, 0.0)
    if size > C:
        L = xp.concat([L, xp.zeros((*lead, C, size - C), dtype=L.dtype, device=device(L))], axis=-1)
        L = xp.concat([L, xp.zeros((*lead, size - C, size), dtype=L.dtype, device=device(L))], axis=-2)
    power = _diagonal_blocks(L, FIRST)
    inverse = xp.eye(FIRST, dtype=L.dtype, device=device(L)) - power
    for _ in range(2):  # (I − N)(I + N²)(I + N⁴): N⁸ is zero
        power = power @ power
        inverse = inverse + inverse @ power
    half = FIRST
    while half < size:
        pairs = xp.reshape(inverse, (*lead, size // (2 * half), 2, half, half))
        first, second = pairs[..., 0, :, :], pairs[..., 1, :, :]
        corner = -(second @ (_diagonal_blocks(L, 2 * half)[..., half:, :half] @ first))
        top = xp.concat([first, xp.zeros_like(corner)], axis=-1)
        inverse = xp.concat([top, xp.concat([corner, second], axis=-1)], axis=-2)
        half *= 2
    return inverse[..., 0, :C, :C]


def _diagonal_blocks(x: Array, size: int) -> Array:
    """[*, n·size, n·size] → the n blocks on its diagonal, [*, n, size, size]."""
    xp, (*lead, C, _) = namespace(x), x.shape
    tiles = xp.reshape(x, (*lead, C // size, size, C // size, size))
    return xp.moveaxis(xp.linalg.diagonal(xp.moveaxis(tiles, -2, -3).swapaxes(-4, -2).swapaxes(-3, -1)), -1, -3)
