"""A long toy stream of tokens, read by several queries: draws of what a layer meets at one position after another.

Every draw is a query of its own and a starting point of its own in one long row of keys and values, so that few
tokens are independent between draws, and many keys need to be mapped only once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from compute.arrays import admit, leave, of_kind
from compute.feature_maps.base import FeatureMap
from compute.scalars import made, whole

TOKENS, DRAWS, D_V = 4096, 32, 8
STEP = TOKENS // DRAWS
"""Every draw meets its first key so many keys behind the one that the draw before it meets."""

FEATURES, BLOCK = 1 << 18, 16
"""Features computed at once, of as many keys as that makes, for more would leave the processor's cache; and the fewest
keys."""


class Stream(NamedTuple):
    """Q [DRAWS, d_k], K [TOKENS, d_k], V [TOKENS, D_V], gate [DRAWS, D_V]: standard normal, float32, read-only."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    gate: np.ndarray


def stream(d_k: int, seed: int) -> Stream:
    """The stream of one seed at one width, drawn once.  ValueError naming d_k or seed."""
    return _drawn(whole("d_k", d_k, 1), whole("seed", seed, 0))


@lru_cache(maxsize=16)
def _drawn(d_k: int, seed: int) -> Stream:
    rng = np.random.default_rng([seed, d_k])
    made = Stream(*(rng.standard_normal(s, dtype=np.float32) for s in (
        (DRAWS, d_k), (TOKENS, d_k), (TOKENS, D_V), (DRAWS, D_V),
    )))  # fmt: skip
    for a in made:
        a.setflags(write=False)
    return made


def as_met(values: np.ndarray, draws: int = DRAWS) -> np.ndarray:
    """What belongs to the keys, [TOKENS, *], in the order in which the first draws meet it: [draws, TOKENS, *].

    Read-only, for draws share it.  ValueError naming values or draws.
    """
    draws = whole("draws", draws, 1, DRAWS)
    admitted = admit(finite=False, values=of_kind("values", values, np.empty(0)))
    (values,) = admitted.arrays
    if len(values) != TOKENS:
        raise ValueError(f"values must have one row per key, {TOKENS:,}, got shape {values.shape}")
    # A view: the first draws begin at multiples of a step in two rounds of the keys.
    rounds = np.lib.stride_tricks.sliding_window_view(np.concatenate([values, values[:-1]]), TOKENS, axis=0)
    return leave(admitted, np.moveaxis(rounds[::STEP][:draws], -1, 1))


def kernel_values(
    phi: FeatureMap | None, d_k: int, seed: int, *, tempered: bool = True, draws: int = DRAWS
) -> np.ndarray:
    """κ(q, k) of the first draws with their keys, as each draw meets them: [draws, TOKENS], float32.

    phi None: exp(q·k/√d_k).  tempered: both sides times d_k^(−1/4) first.
    ValueError naming d_k, seed, draws, phi, or a knob that does not fit.
    """
    tokens, draws = stream(d_k, seed), whole("draws", draws, 1, DRAWS)
    temper = np.float32(d_k**-0.25 if tempered else 1.0)
    Q, K = temper * tokens.Q[:draws], temper * tokens.K
    if phi is None:
        kappa = np.exp(Q @ K.T)
    else:
        keys = max(BLOCK, FEATURES // made("phi", phi, FeatureMap).d_phi(d_k))
        kernel = phi.kernel_from(Q)
        pieces = [kernel(K[i : i + keys]) for i in range(0, TOKENS, keys)]
        kappa = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=-1)
    told = np.empty_like(kappa)
    for draw, (row, met) in enumerate(zip(kappa, told)):
        start = draw * STEP
        met[: TOKENS - start], met[TOKENS - start :] = row[start:], row[:start]
    return told
