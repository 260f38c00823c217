"""Quantiles over draws, on whatever device the draws are."""

from __future__ import annotations

from compute.arrays import Array, namespace

AT = (0.05, 0.25, 0.5, 0.75, 0.95)


def quantiles(draws: Array, at: tuple[float, ...] = AT) -> Array:
    """`[*, len(at)]` from draws `[n, *]`, between neighbours in proportion, as NumPy does by default."""
    xp, n = namespace(draws), draws.shape[0]
    ordered = xp.sort(draws, axis=0)
    found = []
    for share in at:
        place = share * (n - 1)
        low = min(int(place), n - 1)
        high = min(low + 1, n - 1)
        found.append(ordered[low] + (ordered[high] - ordered[low]) * (place - low))
    return xp.stack(found, axis=-1)
