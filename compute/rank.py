"""How many independent directions a kernel matrix has, seen through its singular values.

The module works in float64 and hands float64 out whatever comes in, because roundoff of the input's
dtype would be counted as rank.  `dtype="float32"` shows exactly that; every function takes it.
A kernel of d_phi features is a product of two thin matrices, hence rank ≤ d_phi at any length, and
its spectrum follows from two QR factors without the N × N matrix.
Source: Golub & Van Loan 2013, Matrix Computations, 4th edition (numerical rank, section 5.4; QR of thin factors).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from array_api_compat import device

from compute.arrays import Array, admit, leave, namespace
from compute.attention.doors import feature
from compute.scalars import one_of, positive, reals, wholes

Phi = Callable[[Array], Array] | None
"""A feature map, or None for the softmax kernel."""

PRECISIONS = ("float64", "float32")


def kernel_matrix(Q: Array, K: Array, phi: Phi = None, scale: float | None = None, *, dtype: str = "float64") -> Array:
    """Kernel of every query with every key, `[*lead, N_q, N_k]` from Q `[*lead, N_q, d_k]`, K `[*lead, N_k, d_k]`.

    phi None: exp(scale·q·k), scale None being d_k^(−½).  A phi: φ(√scale·Q)φ(√scale·K)ᵀ, scale None being
    the inputs as given.  No row is divided by its sum.  ValueError for shapes that do not fit, a scale that
    is not positive, or an exponential beyond the dtype.
    """
    xp, (Q, K), scale = _enter(Q, K, scale, dtype)
    if phi is not None:
        return _features(phi, Q, scale) @ _features(phi, K, scale).mT
    scores = (Q @ K.mT) * (Q.shape[-1] ** -0.5 if scale is None else scale)
    if float(xp.max(scores)) > np.log(float(xp.finfo(scores.dtype).max)):
        raise ValueError(f"Q must be shorter, exp(scale·q·k) overflows {dtype}")
    return xp.exp(scores)


def spectrum(M: Array, *, symmetric: bool = False, dtype: str = "float64") -> Array:
    """Singular values of M `[*lead, m, n]`, descending, `[*lead, min(m, n)]`; absolute, not divided by the first.

    symmetric: M is its own transpose, so |eigenvalues| serve, several times cheaper.  ValueError naming M (one axis,
    NaN, Inf; not square where symmetric) or dtype.
    """
    xp, (M,) = _floats(dtype, ndim=2, M=M)
    if symmetric:
        if M.shape[-1] != M.shape[-2]:
            raise ValueError(f"M must be square to be symmetric, got shape {tuple(M.shape)}")
        return xp.flip(xp.sort(xp.abs(xp.linalg.eigvalsh(M)), axis=-1), axis=-1)
    values = min(M.shape[-2:])
    if isinstance(M, np.ndarray) and M.shape[-2] % STRIDE == 0:
        M = np.concatenate([M, np.zeros_like(M[..., :1, :])], axis=-2)
    return xp.linalg.svdvals(M)[..., :values]


STRIDE = 256
"""Columns a multiple of so many rows apart share few lines of the processor's cache.  LAPACK goes by columns: a row of
zeros more, which changes no singular value, saves it a sixth of the time."""


def feature_spectrum(phi_q: Array, phi_k: Array, *, dtype: str = "float64") -> Array:
    """Singular values of φ(Q)φ(K)ᵀ from the features `[*lead, N, d_phi]` themselves, `[*lead, min(N_q, N_k, d_phi)]`.

    The remaining singular values are zero exactly.  4·N·d_phi² FLOPs; with as many features as rows the product
    is formed after all.  ValueError naming phi_q, phi_k or dtype.
    """
    _, (phi_q, phi_k), d_phi = _thin(phi_q, phi_k, dtype)
    # Rotations leave singular values alone: what is left of a tall side is its triangular factor.
    left, right = (_triangle(x) if x.shape[-2] > d_phi else x for x in (phi_q, phi_k))
    return spectrum(left @ right.mT, dtype=dtype)


def kernel_spectrum(
    Q: Array, K: Array, phi: Phi = None, scale: float | None = None, *, dtype: str = "float64"
) -> Array:
    """Singular values of `kernel_matrix(Q, K, phi, scale)` by the cheapest route, `[*lead, min(N_q, N_k, d_phi)]`.

    Features go through QR; the softmax kernel of a set with itself (K is Q) through eigenvalues, else in full.
    Errors as there.
    """
    if phi is None:
        return spectrum(kernel_matrix(Q, K, scale=scale, dtype=dtype), symmetric=K is Q, dtype=dtype)
    same = K is Q
    _, (Q, K), scale = _enter(Q, K, scale, dtype)
    phi_q = _features(phi, Q, scale)
    return feature_spectrum(phi_q, phi_q if same else _features(phi, K, scale), dtype=dtype)


def spectra(
    Q: Array, K: Array, phi: Phi, lengths: Sequence[int], scale: float | None = None, *, dtype: str = "float64"
) -> Array:
    """`kernel_spectrum` of the first N rows of Q and K for each N of `lengths`, `[*lead, len(lengths), max(lengths)]`.

    Row i holds N values, zeros where the features are exhausted, then NaN.  What prefixes share is computed once: the
    matrix, or features and, where these are fewer than N, triangular factors that grow from length to length.
    ValueError naming lengths (none, or not from 1 to the rows there are), or as in `kernel_matrix`.
    """
    same = K is Q
    _, (Q, K), scale = _enter(Q, K, scale, dtype)
    lengths = wholes("lengths", lengths, 1, min(Q.shape[-2], K.shape[-2]))
    Q = Q[..., : max(lengths), :]
    K = Q if same else K[..., : max(lengths), :]
    if phi is None:
        M = kernel_matrix(Q, K, scale=scale, dtype=dtype)
        return _padded([spectrum(M[..., :N, :N], symmetric=same, dtype=dtype) for N in lengths], lengths)
    phi_q = _features(phi, Q, scale)
    phi_k = phi_q if same else _features(phi, K, scale)
    return _padded(feature_spectra(phi_q, phi_k, lengths, dtype=dtype), lengths)


def feature_spectra(phi_q: Array, phi_k: Array, lengths: Sequence[int], *, dtype: str = "float64") -> list[Array]:
    """`feature_spectrum` of the first N rows of features `[*lead, rows, d_phi]` for each N of `lengths`.

    ValueError naming phi_q, phi_k, lengths or dtype.
    """
    xp, (phi_q, phi_k), d_phi = _thin(phi_q, phi_k, dtype)
    lengths = wholes("lengths", lengths, 1, min(phi_q.shape[-2], phi_k.shape[-2]))
    # Two triangular factors cost more than they save until the rows are a third more than the features.
    tall = sorted({N for N in lengths if 4 * d_phi <= 3 * N})
    told = {}
    if tall:
        both = _growing(xp, xp.stack([x[..., : tall[-1], :] for x in (phi_q, phi_k)], axis=0), tall)
        values = xp.linalg.svdvals(xp.stack([R[0, ...] @ R[1, ...].mT for R in both], axis=0))
        told = {N: values[i, ...] for i, N in enumerate(tall)}
    if short := [N for N in lengths if N not in told]:
        M = phi_q[..., : max(short), :] @ phi_k[..., : max(short), :].mT
        told |= {N: spectrum(M[..., :N, :N], dtype=dtype)[..., :d_phi] for N in short}
    return [told[N] for N in lengths]


def _growing(xp: Any, A: Array, stops: Sequence[int]) -> list[Array]:
    """Triangular factors R of the first N rows of A for each of the ascending stops: each grows from the one before."""
    factors, start = [], 0
    for N in stops:
        rows = A[..., start:N, :]
        factors.append(_triangle(xp.concat([factors[-1], rows], axis=-2) if factors else rows))
        start = N
    return factors


def _padded(rows: Sequence[Array], lengths: Sequence[int]) -> Array:
    """Spectra as rows of one array: zeros up to their length, NaN behind it."""
    first, xp = rows[0], namespace(rows[0])
    shape = (*first.shape[:-1], len(lengths), max(lengths))
    told = xp.full(shape, xp.nan, dtype=first.dtype, device=device(first))
    for i, (values, N) in enumerate(zip(rows, lengths)):
        told[..., i, :N] = 0.0
        told[..., i, : values.shape[-1]] = values
    return told


def rank_of(values: Array, rtol: float | Sequence[float] = 1e-10) -> Any:
    """How many of the descending singular values exceed rtol times the first; NaN counts as absent.

    values `[*lead, n]`, rtol a number or `[R]`.  An int for one spectrum and one number, else integers, `[*lead]` or
    `[*lead, R]`.  ValueError naming values or rtol.
    """
    (xp, _, (values,)), rtol = admit(finite=False, values=values), reals("rtol", rtol, 0, 1)
    if rtol.ndim > 1:
        raise ValueError(f"rtol must be a number or a row of numbers, got shape {rtol.shape}")
    least = xp.asarray(rtol, dtype=values.dtype, device=device(values)) * values[..., :1]  # [*lead, R], or R = 1
    count = xp.sum(xp.astype(values[..., None, :] > least[..., None], xp.int64), axis=-1)
    count = count if rtol.ndim else count[..., 0]
    return int(count) if count.ndim == 0 else count


def numerical_rank(M: Array, rtol: float = 1e-10, *, dtype: str = "float64") -> Any:
    """Count of σᵢ > rtol·σ₁, an int, or integers `[*lead]` for a stack of matrices.

    M `[*lead, m, n]`.  What counts depends on rtol: look at the whole `spectrum` beside the number.
    ValueError naming M (one axis, NaN, Inf), rtol (not from 0 to 1) or dtype.
    """
    return rank_of(spectrum(M, dtype=dtype), rtol)


def past_to_future(M: Array) -> Array:
    """The block of later rows and earlier columns, `M[N//2:, :N//2]`: what the second half asks of the first.

    It lies below the diagonal, so the causal mask leaves it whole.  ValueError unless M `[*lead, N, N]` is square with
    two rows at least; NaN and Inf pass.
    """
    admitted = admit(ndim=2, finite=False, M=M)
    (M,) = admitted.arrays
    if M.shape[-1] != M.shape[-2] or M.shape[-1] < 2:
        raise ValueError(f"M must be square with at least 2 rows, got shape {tuple(M.shape)}")
    half = M.shape[-2] // 2
    return leave(admitted, M[..., half:, :half])


def block_rank(M: Array, rtol: float = 1e-10, *, dtype: str = "float64") -> Any:
    """`numerical_rank` of `past_to_future(M)`: the least state through which the past reaches the future.

    M `[*lead, N, N]`.  ValueError naming M (not square, one row, NaN, Inf), rtol or dtype.
    """
    (M,) = admit(ndim=2, M=M).arrays
    return numerical_rank(past_to_future(M), rtol, dtype=dtype)


def _floats(dtype: str, ndim: int, **named: Array) -> tuple[Any, tuple[Array, ...]]:
    one_of("dtype", dtype, PRECISIONS)
    xp, _, arrays = admit(ndim=ndim, **named)
    return xp, tuple(xp.astype(a, getattr(xp, dtype), copy=False) for a in arrays)


def _enter(Q: Array, K: Array, scale: float | None, dtype: str) -> tuple[Any, tuple[Array, Array], float | None]:
    xp, (Q, K) = _floats(dtype, ndim=2, Q=Q, K=K)
    if K.shape[-1] != Q.shape[-1] or K.shape[:-2] != Q.shape[:-2]:
        raise ValueError(f"K must have the width and lead axes of Q {tuple(Q.shape)}, got {tuple(K.shape)}")
    return xp, (Q, K), None if scale is None else positive("scale", scale)


def _thin(phi_q: Array, phi_k: Array, dtype: str) -> tuple[Any, tuple[Array, Array], int]:
    """Features let in, and how many a row has."""
    xp, (phi_q, phi_k) = _floats(dtype, ndim=2, phi_q=phi_q, phi_k=phi_k)
    d_phi = phi_q.shape[-1]
    if phi_k.shape[-1] != d_phi or phi_k.shape[:-2] != phi_q.shape[:-2]:
        raise ValueError(f"phi_k must have width and lead axes of phi_q {tuple(phi_q.shape)}, got {tuple(phi_k.shape)}")
    return xp, (phi_q, phi_k), d_phi


def _features(phi: Callable[[Array], Array], X: Array, scale: float | None) -> Array:
    return feature(phi, X if scale is None else X * scale**0.5)


def _triangle(A: Array) -> Array:
    """R of the QR factors; NumPy and torch both skip Q in this mode, which the array API does not have."""
    if isinstance(A, np.ndarray):
        return np.linalg.qr(A, mode="r")
    import torch

    return torch.linalg.qr(A, mode="r")[1]
