"""Random directions and the features made of them, on their own, without a member of the family.

Positive features estimate e^(q·k) by an average of products of positive numbers, trigonometric ones by an average of
cosines.  Both are unbiased for standard-normal directions.  No temperature is applied here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log

import numpy as np
from array_api_compat import is_numpy_array

from compute.arrays import Admitted, Array, admit, admit_beside, leave, like, namespace
from compute.scalars import made, whole


def orthogonal_directions(d_phi: int, d_k: int, rng: np.random.Generator) -> np.ndarray:
    """Directions that are orthogonal in blocks of d_k rows: [d_phi, d_k] float64.

    Every row alone is standard normal: a uniform direction times an independent χ(d_k) length.  Rows of different
    blocks are independent; the last block may be cut.  Raises ValueError naming d_phi, d_k or rng.
    Source: Choromanski et al. 2020, arXiv:2009.14794, section 2.4.
    """
    d_phi, d_k = whole("d_phi", d_phi, 1), whole("d_k", d_k, 1)
    rng = made("rng", rng, np.random.Generator)
    blocks, step = -(-d_phi // d_k), max(1, TOGETHER // d_k**2)
    told = np.empty((blocks, d_k, d_k))
    for i in range(0, blocks, step):
        frames, R = np.linalg.qr(rng.standard_normal((min(step, blocks - i), d_k, d_k)))
        # LAPACK fixes signs by its own convention; undone, the frame is uniform (Haar), else estimates are biased.
        signs = np.where(np.diagonal(R, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
        np.multiply(frames, signs[:, None, :], out=told[i : i + step])
    rows = told.reshape(blocks * d_k, d_k)[:d_phi]
    rows *= np.sqrt(rng.chisquare(d_k, size=(d_phi, 1)))
    return rows


TOGETHER = 1 << 16
"""Numbers of directions made orthogonal at once: memory of 2 MB comes from the kernel anew each time, which takes as
long as to draw them."""


def directions(m: int, d_k: int, seed: int, orthogonal: bool) -> np.ndarray:
    """The m directions of one draw, [m, d_k] float64, read-only; orthogonal in blocks of d_k, or independent.

    ValueError naming m, d_k or seed.
    """
    m, d_k, seed = whole("m", m, 1), whole("d_k", d_k, 1), whole("seed", seed, 0)
    return (_few if m * d_k <= FEW else _many)(m, d_k, seed, bool(orthogonal))


def directions_beside(x: Array, m: int, seed: int, orthogonal: bool) -> Array:
    """The `directions` of one draw in the kind, device and dtype of x [*, d_k] let in already: [m, d_k].

    Beside an array they are the remembered ones, not to be handed out: a wide map asks for them with every piece of its
    features.
    """
    d_k = x.shape[-1]
    if not is_numpy_array(x):
        return like(x, directions(m, d_k, seed, orthogonal))
    return (_single if x.dtype == np.float32 else directions)(m, d_k, seed, orthogonal)


@lru_cache(maxsize=16)
def _single(m: int, d_k: int, seed: int, orthogonal: bool) -> np.ndarray:
    """In float32."""
    Omega = directions(m, d_k, seed, orthogonal).astype(np.float32)
    Omega.setflags(write=False)
    return Omega


FEW = 1 << 14
"""Numbers up to which a draw is kept beside 63 others, in 8 MiB together."""


def _drawn(m: int, d_k: int, seed: int, orthogonal: bool) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Omega = orthogonal_directions(m, d_k, rng) if orthogonal else rng.standard_normal((m, d_k))
    Omega.setflags(write=False)
    return Omega


_few, _many = lru_cache(maxsize=64)(_drawn), lru_cache(maxsize=16)(_drawn)


def half_square(x: Array) -> Array:
    """‖x‖²/2 with the feature axis kept, [*, 1], of vectors [*, d_k] let in already."""
    return namespace(x).sum(x * x, axis=-1, keepdims=True) / 2


def log_positive_features(x: Array, Omega: Array) -> Array:
    """Logarithm of the positive features, [*, m], of x [*, d_k] and Omega [m, d_k] let in already.

    It stays a number where the features themselves would over- or underflow.
    """
    told, less = x @ namespace(x).matrix_transpose(Omega), half_square(x) + log(Omega.shape[0]) / 2
    return np.subtract(told, less, out=told) if is_numpy_array(told) else told - less


def log_positive_features_along(x: Array, Omega: Array) -> Callable[[Array], Array]:
    """The same of c·x, [C, m], for factors c [C, 1], one x [d_k] and Omega [m, d_k]: these two are multiplied once.

    All let in already.
    """
    projected, less, width = Omega @ x, half_square(x), log(Omega.shape[0]) / 2

    def of(c: Array) -> Array:
        told = c * projected
        off = c * c * less + width
        return np.subtract(told, off, out=told) if is_numpy_array(told) else told - off

    return of


def waves(x: Array, Omega: Array) -> Array:
    """cos(Ωx) then sin(Ωx), over √m, [*, 2m], of x [*, d_k] and Omega [m, d_k] let in already.

    The factor e^(‖x‖²/2) of trigonometric features is left out.
    """
    m = Omega.shape[0]
    if not is_numpy_array(x):
        return _unscaled(x, Omega) / m**0.5
    rows = x.reshape(-1, x.shape[-1])
    told = np.empty((len(rows), 2 * m), x.dtype)
    step = max(1, PIECE // m)
    for i in range(0, len(rows), step):
        np.divide(_unscaled(rows[i : i + step], Omega), m**0.5, out=told[i : i + step])
    return told.reshape(*x.shape[:-1], 2 * m)


def mean_wave(Q: Array, K: Array, Omega: Array, c: Array | None = None) -> Array:
    """Mean of cos(ω·(q − k)) over the directions ω, the kernel of `waves`, for all pairs: [*, T_q, T_k].

    Q [*, T_q, d_k], K [*, T_k, d_k] and Omega [m, d_k] let in already.  Or Q is one query [d_k], K [T_k, d_k], and the
    queries are c·q for factors c [T_q].  Of thousands of waves only a piece is there at once.
    """
    m, xp = Omega.shape[0], namespace(Q)
    step = m
    if is_numpy_array(Q):
        queries = Q.size // Q.shape[-1] if c is None else len(c)
        step = max(1, PIECE // (queries + K.size // K.shape[-1]))

    def of(some: Array) -> Array:
        q = _unscaled(Q, some) if c is None else _waves_of(c[:, None] * (some @ Q))
        return q @ xp.matrix_transpose(_unscaled(K, some))

    return sum(of(Omega[i : i + step, :]) for i in range(0, m, step)) / m


def mean_wave_from(Q: Array, Omega: Array) -> Callable[[Array], Array]:
    """The same of these queries with any keys, [*, T_k, d_k] → [*, T_q, T_k]: the waves of Q are there throughout.

    Q [*, T_q, d_k] and Omega [m, d_k] let in already.
    """
    queries = _unscaled(Q, Omega) / Omega.shape[0]
    return lambda K: queries @ namespace(K).matrix_transpose(_unscaled(K, Omega))


PIECE = 1 << 17
"""Angles taken at once: more would leave the processor's cache."""


def _unscaled(x: Array, Omega: Array) -> Array:
    """The waves before they are divided by √m."""
    return _waves_of(x @ namespace(x).matrix_transpose(Omega))


def _waves_of(angle: Array) -> Array:
    """Cosines beside sines; the angles are lost."""
    xp, m = namespace(angle), angle.shape[-1]
    if not is_numpy_array(angle):
        return xp.concat([xp.cos(angle), xp.sin(angle)], axis=-1)
    told = np.empty((*angle.shape[:-1], 2 * m), angle.dtype)
    _cos_and_sin(angle, told[..., :m], told[..., m:])
    return told


def _cos_and_sin(angle: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> None:
    """Both of each angle, to some roundoffs of 1; the angles are lost.  Where both are slow, from the tangent t of half
    the angle, as cos + 1 = 2/(1 + t²) = sin/t: NumPy's tangent of float64 takes a tenth of the time of its cosine."""
    if angle.dtype != np.float64:
        np.cos(angle, out=cos)
        np.sin(angle, out=sin)
        return
    angle /= 2
    np.tan(angle, out=angle)
    np.multiply(angle, angle, out=cos)
    cos += 1
    np.divide(2, cos, out=cos)
    np.multiply(angle, cos, out=sin)
    cos -= 1


def positive_random_features(X: Array, Omega: Array) -> Array:
    """exp(Ωx − ‖x‖²/2)/√d_φ for every row of X: [*, n, d_k] and [d_φ, d_k] give [*, n, d_φ].

    No temperature.  The result has X's kind and dtype.  Raises ValueError naming X or Omega.
    Source: Choromanski et al. 2020, arXiv:2009.14794, lemma 1.
    """
    x = admit(X=X)
    return leave(x, x.xp.exp(log_positive_features(x.arrays[0], _directions_like(x.arrays[0], Omega))))


def softmax_kernel_estimate(q: Array, k: Array, Omega: Array) -> Array:
    """The estimate φ(q)·φ(k) of e^(q·k) from positive features: vectors [*, d_k] give scalars [*].

    Omega: [d_phi, d_k].  The exponents are added before exponentiating, so the product of two tiny features is not
    lost.  No temperature.  Raises ValueError naming q, k or Omega.
    Source: Choromanski et al. 2020, arXiv:2009.14794, lemma 1.
    """
    x, q, k, Omega = _pair(q, k, Omega)
    return leave(x, x.xp.sum(x.xp.exp(log_positive_features(q, Omega) + log_positive_features(k, Omega)), axis=-1))


def trigonometric_kernel_estimate(q: Array, k: Array, Omega: Array) -> Array:
    """The estimate φ(q)·φ(k) of e^(q·k) from trigonometric features: vectors [*, d_k] give scalars [*].

    Omega: [m, d_k], which makes 2m features.  Unbiased like the positive one, but it can be negative.
    No temperature.  Raises ValueError naming q, k or Omega.
    Source: Rahimi & Recht 2007, NeurIPS; Choromanski et al. 2020, arXiv:2009.14794, lemma 1.
    """
    x, q, k, Omega = _pair(q, k, Omega)
    growth = x.xp.exp((half_square(q) + half_square(k))[..., 0])
    return leave(x, growth * x.xp.sum(waves(q, Omega) * waves(k, Omega), axis=-1))


def _pair(q: Array, k: Array, Omega: Array) -> tuple[Admitted, Array, Array, Array]:
    """Vectors q and k of one shape, and directions as wide."""
    x = admit(q=q, k=k)
    q, k = x.arrays
    if k.shape != q.shape:
        raise ValueError(f"k must have the shape of q, {tuple(q.shape)}, got {tuple(k.shape)}")
    return x, q, k, _directions_like(q, Omega)


def _directions_like(x: Array, Omega: Array) -> Array:
    """Omega checked, in x's kind and dtype."""
    omega = admit_beside("Omega", Omega, x, ndim=2)
    if omega.shape[-1] != x.shape[-1]:
        raise ValueError(f"Omega must have shape (d_phi, {x.shape[-1]}), got {tuple(omega.shape)}")
    return omega
