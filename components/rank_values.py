"""Singular values of the blocks of the first N queries and keys, computed here and now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from components.axes import AXES
from compute.feature_maps import FeatureMap
from compute.rank import kernel_matrix, spectra, spectrum
from compute.toys import queries_and_keys

STOPS = AXES["N"].stops
LARGEST = STOPS[-1]
TOLERANCES = 10.0 ** -np.array(AXES["rtol"].stops)


def computed(
    phi: FeatureMap | None,
    d_k: int,
    seed: int,
    precision: str = "float64",
    mask: str = "none",
    stops: Sequence[int] = STOPS,
) -> np.ndarray:
    """Singular values [stops, largest stop] of the first N queries and keys, relative to the largest; NaN behind the
    N-th.

    In float64 the features themselves are decomposed.  In float32 the matrix is formed, so that its roundoff shows,
    and under the causal mask, which leaves no features.
    """
    Q, K = (a[: stops[-1]] for a in queries_and_keys(d_k, seed))
    if mask == "causal":
        return relative(formed(np.tril(matrix(Q, K, phi, precision)), precision, stops))
    if precision == "float64" and not (is_wide(phi, d_k) and stops[-1] == LARGEST):
        return relative(spectra(Q, K, phi and phi.merged(), stops))
    M = wide(phi, d_k, seed) if precision == "float64" else matrix(Q, K, phi, precision)
    return relative(formed(M, precision, stops))


def is_wide(phi: FeatureMap | None, d_k: int) -> bool:
    """Whether the distinct features are as many as the tokens, so that nothing is gained by decomposing them."""
    return phi is not None and phi.rank_bound(d_k) >= LARGEST


@lru_cache(maxsize=4)
def wide(phi: FeatureMap, d_k: int, seed: int) -> np.ndarray:
    """A wide map's kernel matrix, [256, 256], half a megabyte; its features may be thirty."""
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    return phi.kernel(Q, K)


def matrix(Q: np.ndarray, K: np.ndarray, phi: FeatureMap | None, precision: str) -> np.ndarray:
    """The kernel matrix up to a factor, multiplied out in the given precision.

    Features are brought to size one before they are rounded: some maps leave float32's range at wide keys, and a
    factor does not change a rank.
    """
    if phi is None or precision == "float64":
        return kernel_matrix(Q, K, phi and phi.merged(), dtype=precision)
    left, right = ((x / np.max(np.abs(x))).astype(precision) for x in (phi.merged()(Q), phi.merged()(K)))
    return left @ right.T


def formed(M: np.ndarray, precision: str, stops: Sequence[int] = STOPS) -> np.ndarray:
    """The same of a matrix that is multiplied out, not divided by the largest."""
    rows = np.full((len(stops), stops[-1]), np.nan)
    for row, N in zip(rows, stops):
        row[:N] = spectrum(M[:N, :N], dtype=precision)
    return rows


def relative(values: np.ndarray) -> np.ndarray:
    return values / values[:, :1]
