"""The toy vectors every view draws from: one draw per (d_k, seed), and prefixes of it.

Sharpness' keys are the first rows of rank's K, so the two views speak of the same vectors.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from compute.scalars import whole

LONGEST = 1024
"""Rows of a draw; every view takes a prefix."""


def queries_and_keys(d_k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent standard-normal Q and K, each [LONGEST, d_k] float64, read-only.

    A prefix of n rows does not depend on how many rows are asked for later.  ValueError naming d_k or seed.
    """
    return _drawn(whole("d_k", d_k, 1), whole("seed", seed, 0))


@lru_cache(maxsize=16)
def _drawn(d_k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    Q, K = rng.standard_normal((2, LONGEST, d_k))
    for a in (Q, K):
        a.setflags(write=False)
    return Q, K
