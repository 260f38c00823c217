"""The memory between the chunks of a delta rule, in the WY form.

A chunk makes of the state S that enters it the corrected values U = from_v − from_S S, and the state
keep S + out_keys U that enters the next one.  `walk` goes through the chunks one after another.  `leap` uses that
what a chunk does to S is an affine map and that affine maps compose: two neighbours become one, half as many
are left, and so on, which is twice the products in 2 log₂ N steps instead of N.  That is for accelerators,
where every step waits about as long, whatever its size.

Source: Yang et al. 2024, arXiv:2406.06484 (the form); Blelloch 1990, Prefix sums and their applications.
"""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import device

from compute.arrays import Array, namespace


class Chunks(NamedTuple):
    """N chunks of C tokens.  from_v: [*, N, C, d_v], from_S: [*, N, C, d_k], out_keys: [*, N, d_k, C].

    keep: None, or the fraction of the state that a chunk keeps, [*, N, 1, 1] or [*, N, d_k, 1].
    """

    from_v: Array
    from_S: Array
    out_keys: Array
    keep: Array | None

    def at(self, n: int) -> Chunks:
        """Chunk n alone, without the axis N."""
        return Chunks(*(None if part is None else part[..., n, :, :] for part in self))

    def values(self, S: Array) -> Array:
        """The corrected values U of each chunk, from the states before them."""
        return self.from_v - self.from_S @ S

    def after(self, S: Array, U: Array) -> Array:
        """The states after each chunk, from those before them and the corrected values."""
        return (S if self.keep is None else self.keep * S) + self.out_keys @ U


def walk(S: Array, chunks: Chunks) -> tuple[Array, Array, Array]:
    """From S before the first chunk: S after the last, S before each [*, N, d_k, d_v], and all U."""
    xp, states, values = namespace(S), [], []
    for n in range(chunks.from_v.shape[-3]):
        chunk = chunks.at(n)
        states.append(S)
        values.append(chunk.values(S))
        S = chunk.after(S, values[-1])
    return S, xp.stack(states, axis=-3), xp.stack(values, axis=-3)


def leap(S: Array, chunks: Chunks) -> tuple[Array, Array, Array]:
    """The same as `walk`, in steps that double."""
    xp, d_k = namespace(S), S.shape[-2]
    # Applied to [I | 0], with values only on the right, a chunk shows its map: S becomes A S + B.
    both = chunks._replace(from_v=xp.concat([xp.zeros_like(chunks.from_S), chunks.from_v], axis=-1))
    eye = xp.eye(d_k, d_k + S.shape[-1], dtype=S.dtype, device=device(S))
    maps = both.after(eye, both.values(eye))
    states, S = _before_each(S, maps)
    return S, states, chunks.values(states)


def _before_each(S: Array, maps: Array) -> tuple[Array, Array]:
    """The states before each of N maps [A | B], [*, N, d_k, d_v], and the one after the last."""
    xp, N, d_k = namespace(S), maps.shape[-3], S.shape[-2]
    if N == 1:
        return S[..., None, :, :], _applied(maps[..., 0, :, :], S)
    if N % 2:
        states, S = _before_each(S, maps[..., :-1, :, :])
        return xp.concat([states, S[..., None, :, :]], axis=-3), _applied(maps[..., -1, :, :], S)
    first, second = maps[..., ::2, :, :], maps[..., 1::2, :, :]
    pairs = second[..., :d_k] @ first
    pairs[..., d_k:] += second[..., d_k:]
    before, S = _before_each(S, pairs)
    both = xp.stack([before, _applied(first, before)], axis=-3)
    return xp.reshape(both, (*both.shape[:-4], N, *both.shape[-2:])), S


def _applied(maps: Array, S: Array) -> Array:
    d_k = S.shape[-2]
    return maps[..., :d_k] @ S + maps[..., d_k:]
