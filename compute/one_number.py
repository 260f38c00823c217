"""What a map makes of one number: its features drawn as curves.

Source: Tsai et al. 2019, arXiv:1908.11775, for attention as a kernel, and e^(xy) as the kernel of all powers.
"""

from __future__ import annotations

from dataclasses import replace

from compute.arrays import Array, admit, leave
from compute.feature_maps.base import FeatureMap
from compute.feature_maps.polynomial import Dpfp
from compute.scalars import made, whole


def number_features(phi: FeatureMap | None, x: Array, m: int = 4) -> Array:
    """The features of single numbers, each a vector of width one: [*] → [*, features], without temperature.

    phi None is softmax: e^(xy) = Σ (xʲ/√j!)(yʲ/√j!) needs one for every j, of which the first m are given.  A random
    map is drawn with m directions.  DPFP multiplies entries with each other, so its number stands beside a 1; what is
    zero for every number is left out.  ValueError naming phi, x or m.
    """
    told, m = admit(x=x), whole("m", m, 1)
    (x,) = told.arrays
    if phi is None:
        return leave(told, _powers(told.xp, x, m))
    phi = made("phi", phi, FeatureMap)
    if isinstance(phi, Dpfp):
        return leave(told, Dpfp(nu=1).features(told.xp.stack([x, told.xp.ones_like(x)], axis=-1))[..., 1:3])
    if phi.random:
        phi = replace(phi, m=m)
    phi.d_phi(1)
    return leave(told, phi.features(x[..., None]))


def _powers(xp, x: Array, m: int) -> Array:
    """xʲ/√j! for j = 0 … m − 1."""
    rows = [xp.ones_like(x)]
    for j in range(1, m):
        rows.append(rows[-1] * x / j**0.5)
    return xp.stack(rows, axis=-1)


def score_kernel(phi: FeatureMap | None, scores: Array) -> Array:
    """φ(x)·φ(y) for x = (1, 2) and y = s·x/5, whose score x·y is s; e^s for phi None: [*] → [*].

    Where a map's kernel depends on the score alone (`of_score`), this is its value at every pair of that score.
    ValueError naming phi or scores.
    """
    told = admit(scores=scores)
    (s,) = told.arrays
    if phi is None:
        return leave(told, told.xp.exp(s))
    phi = made("phi", phi, FeatureMap)
    x = told.xp.stack([told.xp.ones_like(s), 2 * told.xp.ones_like(s)], axis=-1)
    return leave(told, told.xp.sum(phi.features(x) * phi.features(s[..., None] * x / 5), axis=-1))
