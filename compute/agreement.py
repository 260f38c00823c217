"""Whether two ways of computing the same thing agree: outputs per token, gradients as a whole, and a cheap check."""

from __future__ import annotations

import numpy as np

from compute.arrays import Array, admit
from compute.attention.causal import FORMS, causal_linear_attention_chunkwise
from compute.attention.doors import FeatureMapLike, shown
from compute.attention.gradients import cumulative_sum_gradients
from compute.rounding import running_sum


def outputs_of_forms(
    Q: Array, K: Array, V: Array, phi: FeatureMapLike, eps: float = 1e-6, chunk: int = 64
) -> dict[str, Array]:
    """O [*lead, T, d_v] of every form in `FORMS`, each computed by itself.  Arguments and errors as there."""
    return {
        word: form(Q, K, V, phi, eps, chunk=chunk)
        if form is causal_linear_attention_chunkwise
        else form(Q, K, V, phi, eps)
        for word, form in FORMS.items()
    }


def apart(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Largest absolute difference of each row: [*, T, d] twice → [*, T].

    NaN where one row has an undefined entry that the other has not; entries undefined in both agree.
    ValueError, beginning with B, on another shape.
    """
    if A.shape != B.shape:
        raise ValueError(f"B must have the shape of A, {shown(A.shape)}, got {shown(B.shape)}")
    both = np.isnan(A) & np.isnan(B)
    return np.abs(np.where(both, 0, A) - np.where(both, 0, B)).max(axis=-1)


def constant_outputs(O: np.ndarray) -> np.ndarray:
    """What comes back of values that are all 1, [*, T] from O [*, T, d_v]: 1 for every average, whatever its weights.

    Of several channels the one farthest from 1.
    """
    off = np.abs(O - 1)
    worst = np.argmax(np.where(np.isnan(off), np.inf, off), axis=-1)
    return np.take_along_axis(O, worst[..., None], axis=-1)[..., 0]


def row_sums(kernel: np.ndarray) -> np.ndarray:
    """Sums along the rows of a causally masked kernel, the denominators of the parallel form: [*, T, T] → [*, T]."""
    return np.tril(kernel).sum(axis=-1)


def shortfall(terms: np.ndarray, dtype: str) -> float:
    """How much of the sum over the first axis is lost when it is kept in `dtype`: mean of 1 − kept/exact.

    terms: [T, *], NumPy, positive.  ValueError as in `running_sum`.
    """
    kept = running_sum(terms, dtype)[-1].astype(np.float64)
    return float(np.mean(1 - kept / terms.sum(axis=0)))


def gradients_apart(
    phi_q: np.ndarray, phi_k: np.ndarray, V: np.ndarray, G: np.ndarray, eps: float = 1e-6, chunk: int = 64
) -> tuple[float, float]:
    """How far the gradients of sum(G·O) are apart: (loop against one matrix, chunks against one matrix).

    Gradients of φ(Q), φ(K) and V as cumulative sums of one token at a time, of `chunk` tokens, and of all T at once;
    the largest difference of any entry, relative to the largest entry.  Shapes and errors as in
    `cumulative_sum_gradients`.  Source: Katharopoulos et al. 2020, arXiv:2006.16236.
    """
    phi_q, phi_k, V, G = admit(ndim=2, phi_q=phi_q, phi_k=phi_k, V=V, G=G).arrays
    matrix = cumulative_sum_gradients(phi_q, phi_k, V, G, eps, chunk=V.shape[-2])
    size = max(float(np.abs(g).max()) for g in matrix)
    apart_by = [
        max(
            float(np.abs(a - b).max())
            for a, b in zip(cumulative_sum_gradients(phi_q, phi_k, V, G, eps, chunk=C), matrix)
        )
        for C in (1, chunk)
    ]
    return apart_by[0] / (size or 1.0), apart_by[1] / (size or 1.0)
