"""How sharp can weights be?  Normalised weights of every map, their limit for long queries, and their summary.

The setting of the view: one query c·q against keys, c the sharpness, both sides tempered by d_k^(−1/4), so that with
phi None the weights are softmax attention's, exp(c q·k/√d_k); else phi is a feature map, or any function
[*, d_k] → [*, d_phi] where its limit is not asked for.
Source: Zhang et al. 2024, arXiv:2402.04347, for sharp weights as what softmax has and maps lose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from compute.arrays import Array, admit, admit_beside, leave, namespace, refuse_unless_broadcast
from compute.attention.doors import features
from compute.feature_maps.base import FeatureMap, products, where_largest
from compute.scalars import made, real, reals, whole

Phi = FeatureMap | Callable[[Array], Array] | None
"""A feature map, any function [*, d_k] → [*, d_φ], or None for softmax."""

UNDEFINED_BELOW = 0.1
"""Share of the kernel left after its signs cancel, below which a weight counts as undefined."""

FEWEST_SEEDS = 20
"""Draws that `spread_over_seeds` makes even of the widest random map."""


class Weights(NamedTuple):
    """Weights w [*, T_q, T_k], rows summing to one (NaN where the denominator is zero), and what is left of the
    denominator after signs cancel: cancellation [*, T_q] = |Σκ|/Σ|κ|, 1 for positive maps, 0 for 0/0."""

    w: Array
    cancellation: Array


class Kernel(NamedTuple):
    """Kernel values κ = sign·e^log, each [*, T_q, T_k]: finite where κ itself is not; log is −inf where κ is 0."""

    log: Array
    sign: Array


class Summary(NamedTuple):
    """Shape of rows of weights, each [*]: entropy in nats, effective number of keys e^entropy, the largest weight."""

    entropy: Array
    effective: Array
    top: Array


class Spread(NamedTuple):
    """Weight on the matching key over draws: quantiles [3, C] at 5, 50, 95 % of the defined draws, the share of
    undefined draws [C], and how many draws were made."""

    quantiles: np.ndarray
    undefined: np.ndarray
    seeds: int


def weights(phi: Phi, Q: Array, K: Array) -> Weights:
    """Attention weights of queries [*, T_q, d_k] on keys [*, T_k, d_k], inputs as given (no temperature, no mask).

    Formed so that no positive row over- or underflows, whatever the norms.  Raises ValueError naming Q, K or a knob.
    """
    x = admit(ndim=2, Q=Q, K=K)
    Q, K = x.arrays
    if K.shape[-1] != Q.shape[-1] or K.shape[:-2] != Q.shape[:-2]:
        raise ValueError(f"K must have the width and lead axes of Q {tuple(Q.shape)}, got {tuple(K.shape)}")
    return Weights(*(leave(x, a) for a in _normalised(_scaled_rows(phi, Q, K)[0])))


def match_weights(phi: Phi, q: Array, K: Array, stops: Array, *, draws: int = 10) -> Weights:
    """Weights of one query c·q [d_k] on keys [T_k, d_k] for each sharpness c in stops [C]: [C, T_k].

    Tempered by d_k^(−1/4) on both sides.  A random map gives [draws, C, T_k], for its own seed and those after it.
    Raises ValueError naming q, K, stops or draws.
    """
    x, q, K = _tempered(q, K)
    c = admit_beside("stops", stops, q)
    told = _over_draws(phi, draws, lambda member: _normalised(_scaled_rows(member, q, K, c)[0]))
    return Weights(*(leave(x, a) for a in told))


def match_kernel(phi: Phi, q: Array, K: Array, stops: Array, *, draws: int = 10) -> tuple[Weights, Kernel]:
    """`match_weights`, and the kernel values of which they are shares.  ValueError naming q, K, stops or draws."""
    x, q, K = _tempered(q, K)
    c = admit_beside("stops", stops, q)

    def both(member: Phi) -> tuple[Array, ...]:
        rows, log_scale = _scaled_rows(member, q, K, c)
        xp = namespace(rows)
        log = xp.log(xp.where(rows == 0, xp.ones_like(rows), xp.abs(rows))) + log_scale
        return (*_normalised(rows), xp.where(rows == 0, -float("inf"), log), xp.sign(rows))

    told = [leave(x, a) for a in _over_draws(phi, draws, both)]
    return Weights(*told[:2]), Kernel(*told[2:])


def limit_weights(phi: Phi, q: Array, K: Array, *, draws: int = 10) -> Array:
    """What `match_weights` tends to as c → ∞: [T_k], or [draws, T_k] for a random map; NaN where there is no limit.

    Softmax picks the best key.  Homogeneous maps stay where they are.  elu+1 and SiLU end at relu(q)·φ(k), Taylor at
    s², positive random features at the one direction that the query follows most, Hedgehog at its largest feature.
    ValueError naming phi (a plain function: its limit is not known), q, K or draws.
    """
    x, q, K = _tempered(q, K)

    def limit(member: Phi) -> tuple[Array]:
        if member is None:
            rows = where_largest(products(q[None, :], K), 1.0, otherwise=0.0)
        elif isinstance(member, FeatureMap):
            member.d_phi(q.shape[-1])
            rows = member.limit_rows(q[None, :], K)
        else:
            raise ValueError("phi must be a FeatureMap or None: the limit of a plain function is not known")
        return (_normalised(rows).w[0, :],)

    return leave(x, _over_draws(phi, draws, limit)[0])


def summary(w: Array) -> Summary:
    """Entropy, effective number and largest of each row of weights [*, T_k].  A row with negative weights has no
    entropy: NaN.  Raises ValueError naming w."""
    x = admit(w=w, finite=False)
    (w,) = x.arrays
    log = x.xp.log(x.xp.where(w > 0, w, x.xp.ones_like(w)))
    signed = x.xp.any(w < 0, axis=-1)
    entropy = x.xp.where(signed, float("nan"), -x.xp.sum(w * log, axis=-1))
    return Summary(*(leave(x, a) for a in (entropy, x.xp.exp(entropy), x.xp.max(w, axis=-1))))


def misplaced(p: Array, q: Array) -> Array:
    """Share of the weight that lies on the wrong keys: total variation ½Σ|p − q| of two rows, [*, T_k] → [*].

    p and q [*, T_k] broadcast; NaN stays NaN.  ValueError naming p or q.
    """
    x = admit(p=p, q=q, finite=False)
    if x.arrays[1].shape[-1] != x.arrays[0].shape[-1]:
        raise ValueError(f"q must have weights for the {x.arrays[0].shape[-1]} keys of p, got {x.arrays[1].shape[-1]}")
    refuse_unless_broadcast("q", x.arrays[1], x.arrays[0])
    return leave(x, x.xp.sum(x.xp.abs(x.arrays[0] - x.arrays[1]), axis=-1) / 2)


def matching_query(key: Array, noise: Array, rho: float) -> Array:
    """A query that matches the key as strongly as rho says: ρk + √(1−ρ²)·noise, `[*, d_k]` as key and noise.

    ValueError naming key, noise (another shape), or rho (not from 0 to 1).
    """
    x, rho = admit(key=key, noise=noise), real("rho", rho, 0, 1)
    key, noise = x.arrays
    if noise.shape != key.shape:
        raise ValueError(f"noise must have the shape of key, {tuple(key.shape)}, got {tuple(noise.shape)}")
    return leave(x, rho * key + (1 - rho * rho) ** 0.5 * noise)


def spread_over_seeds(
    phi: FeatureMap | None, d_k: int, stops: np.ndarray, rho: float = 1.0, seeds: int = 200, keys: int = 32
) -> Spread:
    """Weight on the matching key, over independent draws of query and keys, for each sharpness in stops [C].

    Keys are standard normal, the query matches the first (`matching_query`), both are tempered.  A random map is
    redrawn with each draw, and a wide one gets fewer draws.  Draws whose signs leave less than UNDEFINED_BELOW of
    the denominator count as undefined.  Raises ValueError naming d_k, stops, rho, seeds or keys.
    """
    d_k, seeds, keys = whole("d_k", d_k, 1), whole("seeds", seeds, 1), whole("keys", keys, 1)
    stops, rho = reals("stops", stops), real("rho", rho, 0, 1)
    if stops.ndim != 1:
        raise ValueError(f"stops must be a row of numbers, got shape {stops.shape}")
    is_random = phi is not None and made("phi", phi, FeatureMap).random
    if is_random:
        seeds = min(seeds, max(FEWEST_SEEDS, seeds * 256 // phi.d_phi(d_k)))
    normals = _normals(seeds, keys + 1, d_k)
    _, q, K = _tempered(matching_query(normals[:, 1, :], normals[:, 0, :], rho), normals[:, 1:, :], lead=1)
    # A homogeneous map's rows do not depend on c: one stop stands for all.
    c = stops[:1] if phi is not None and phi.homogeneity is not None else stops
    Q = c[:, None] * q[:, None, :]
    if is_random:
        draws = [_normalised(phi.redraw(i).rows(Q[i], K[i])) for i in range(seeds)]
        w, cancellation = (np.stack(a) for a in zip(*draws))
    else:
        w, cancellation = _normalised(_scaled_rows(phi, Q, K)[0])
    match = np.where(cancellation < UNDEFINED_BELOW, np.nan, w[..., 0])
    match = np.broadcast_to(match, (seeds, len(stops)))
    return Spread(_quantiles(match, (0.05, 0.5, 0.95)), np.mean(np.isnan(match), axis=0), seeds)


def _scaled_rows(phi: Phi, Q: Array, K: Array, c: Array | None = None) -> tuple[Array, Array]:
    """Kernel values up to one positive factor per query, and the log of that factor; of c·Q [C, d_k], if c [C] is given
    and Q is one query."""
    if c is not None and isinstance(phi, FeatureMap):
        phi.d_phi(Q.shape[-1])
        return phi.scaled_rows_along(Q, c, K)
    Q = Q if c is None else c[:, None] * Q
    if phi is None:
        scores = products(Q, K)
        xp = namespace(Q)
        largest = xp.max(scores, axis=-1, keepdims=True)
        return xp.exp(scores - largest), largest
    if not isinstance(phi, FeatureMap):
        rows = products(*features(phi, Q, K))
        return rows, 0 * rows[..., :1]
    phi.d_phi(Q.shape[-1])
    return phi.scaled_rows(Q, K)


def _normalised(rows: Array) -> Weights:
    xp = namespace(rows)
    total = xp.sum(rows, axis=-1, keepdims=True)
    size = xp.sum(xp.abs(rows), axis=-1)
    one, nan = xp.ones_like(total), float("nan")
    w = xp.where(total == 0, nan, rows / xp.where(total == 0, one, total))
    cancellation = xp.abs(total[..., 0]) / xp.where(size == 0, one[..., 0], size)
    return Weights(w, cancellation)


def _over_draws(phi: Phi, draws: int, of: Callable[[Phi], tuple[Array, ...]]) -> tuple[Array, ...]:
    """What `of` gives for phi, or for each of its draws, stacked, if phi is random."""
    draws = whole("draws", draws, 1)
    if not (isinstance(phi, FeatureMap) and phi.random):
        return of(phi)
    results = [of(phi.redraw(i)) for i in range(draws)]
    return tuple(namespace(*column).stack(column) for column in zip(*results))


def _tempered(q: Array, K: Array, lead: int = 0) -> tuple[Any, Array, Array]:
    """Query and keys let in and multiplied by d_k^(−1/4) each."""
    x = admit(ndim=1, q=q, K=K)
    q, K = x.arrays
    if q.ndim != lead + 1 or K.ndim != lead + 2 or K.shape[-1] != q.shape[-1]:
        raise ValueError(f"K must be rows as wide as the one query q, got {tuple(K.shape)} and {tuple(q.shape)}")
    temper = q.shape[-1] ** -0.25
    return x, temper * q, temper * K


@lru_cache(maxsize=4)
def _normals(seeds: int, rows: int, d_k: int) -> np.ndarray:
    """[seeds, rows, d_k] standard normals, read-only: what all maps are compared on."""
    normals = np.random.default_rng(0).standard_normal((seeds, rows, d_k))
    normals.setflags(write=False)
    return normals


def _quantiles(samples: np.ndarray, at: tuple[float, ...]) -> np.ndarray:
    """Linear quantiles along the first axis, NaN left out; NaN where nothing is left.  [n, C] → [len(at), C]."""
    ordered = np.sort(samples, axis=0)  # NaN sort last
    last = np.sum(~np.isnan(samples), axis=0) - 1
    place = np.asarray(at)[:, None] * np.maximum(last, 0)
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, np.maximum(last, 0))
    below, above = (np.take_along_axis(ordered, i, axis=0) for i in (low, high))
    return below + (place - low) * (above - below)
