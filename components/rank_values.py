"""What is asked of the first N queries and keys, computed here and now: singular values, the ranks of what passes the
mask, pictures of the kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from components.axes import AXES
from compute.feature_maps import FeatureMap
from compute.rank import feature_spectrum, kernel_matrix, past_to_future, rank_of, spectra, spectrum
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


CLEAR = 1e-11
"""Above it lies what roundoff does not reach in float64."""


def first(phi: FeatureMap | None, d_k: int) -> np.ndarray:
    """The spectrum of the first tokens of the first draw, [first stop], by which a map is known."""
    return computed(phi, d_k, 0, stops=STOPS[:1])[0]


def is_first(told: np.ndarray, phi: FeatureMap | None, d_k: int, near: float = 1e-4) -> bool:
    """Whether that spectrum, as it was kept to some share, is the map's."""
    return np.allclose(told, first(phi, d_k), rtol=near, atol=CLEAR)


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


@lru_cache(maxsize=256)
def counted(phi: FeatureMap | None, d_k: int, seed: int, precision: str) -> np.ndarray:
    """Ranks [stops, tolerances] of the block of later rows and earlier columns."""
    Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
    if phi is None or precision != "float64" or is_wide(phi, d_k):
        M = wide(phi, d_k, seed) if precision == "float64" and phi else matrix(Q, K, phi, precision)
        told = [spectrum(past_to_future(M[:N, :N]), dtype=precision) for N in STOPS]
    else:
        phi_q, phi_k = (phi.merged()(x) for x in (Q, K))
        told = [feature_spectrum(phi_q[N // 2 : N], phi_k[: N // 2]) for N in STOPS]
    rows = np.full((len(STOPS), LARGEST), np.nan)
    for row, values in zip(rows, told):
        row[: len(values)] = values
    return rank_of(rows, TOLERANCES)


CELLS = 64
"""Rows and columns of a picture of the kernel matrix."""

EXTENTS = (64, 128, 256)
"""Tokens that a picture spans: every one, every second or every fourth is drawn.  A stop shows a corner of one."""


def painted(
    phi: FeatureMap | None, d_k: int, seed: int, mask: str, cells: int = CELLS, M: np.ndarray | None = None
) -> np.ndarray:
    """Pictures of the kernel matrix [extents, cells, cells] uint8, rows relative to their largest entry.

    Only the rows that some picture draws are multiplied out, with 64 cells every second one: unless M, all of them,
    is there anyway."""
    drawn = [np.arange(0, extent, extent // cells) for extent in EXTENTS]
    rows = np.unique(np.concatenate(drawn))
    if M is None:
        Q, K = (a[:LARGEST] for a in queries_and_keys(d_k, seed))
        part = phi.kernel(Q[rows], K) if is_wide(phi, d_k) else kernel_matrix(Q[rows], K, phi and phi.merged())
    else:
        part = M[rows]
    size = np.abs(part)
    if mask == "causal":
        size = np.where(np.arange(LARGEST) <= rows[:, None], size, 0.0)
    most = np.maximum(size.max(axis=1, keepdims=True), np.finfo(float).tiny)
    told = []
    for tokens in drawn:
        own = np.searchsorted(rows, tokens)
        told.append(np.sqrt(size[own[:, None], tokens] / most[own]))
    return np.rint(255 * np.stack(told)).astype(np.uint8)
