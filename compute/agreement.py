"""Whether two ways of computing the same thing agree: outputs per token, gradients as a whole, and a cheap check."""

from __future__ import annotations

import numpy as np

from compute.arrays import Array, admit, leave
from compute.attention.causal import FORMS, causal_linear_attention_chunkwise
from compute.attention.doors import FeatureMapLike, shown
from compute.attention.gradients import cumulative_sum_gradients
from compute.rounding import running_sum
from compute.scalars import whole


def outputs_of_forms(
    Q: Array, K: Array, V: Array, phi: FeatureMapLike, eps: float = 1e-6, chunk: int = 64
) -> dict[str, Array]:
    """O [*lead, T, d_v] of every form in `FORMS`, each computed by itself.

    chunk is the chunkwise form's; other arguments, and errors, as in `causal_linear_attention_recurrent`.
    """
    return {
        word: form(Q, K, V, phi, eps, chunk=chunk)
        if form is causal_linear_attention_chunkwise
        else form(Q, K, V, phi, eps)
        for word, form in FORMS.items()
    }


def apart(A: Array, B: Array) -> Array:
    """Largest absolute difference of each row: [*, T, d] twice → [*, T].

    NaN where one row has an undefined entry that the other has not; entries undefined in both agree.
    ValueError naming A, or B where it has another shape.
    """
    admitted = admit(finite=False, A=A, B=B)
    xp, _, (A, B) = admitted
    if A.shape != B.shape:
        raise ValueError(f"B must have the shape of A, {shown(A.shape)}, got {shown(B.shape)}")
    both = xp.isnan(A) & xp.isnan(B)
    return leave(admitted, xp.max(xp.abs(xp.where(both, 0.0, A) - xp.where(both, 0.0, B)), axis=-1))


def constant_outputs(O: Array) -> Array:
    """What comes back of values that are all 1, [*, T] from O [*, T, d_v]: 1 for every average, whatever its weights.

    Of several channels the one farthest from 1; NaN is farther than any.  ValueError naming O.
    """
    admitted = admit(finite=False, O=O)
    xp, _, (O,) = admitted
    off = xp.abs(O - 1)
    worst = xp.argmax(xp.where(xp.isnan(off), xp.inf, off), axis=-1)
    return leave(admitted, xp.take_along_axis(O, worst[..., None], axis=-1)[..., 0])


def row_sums(kernel: Array) -> Array:
    """Sums along the rows of a causally masked kernel, the denominators of the parallel form: [*, T, T] → [*, T].

    ValueError naming kernel unless it is square and finite.
    """
    admitted = admit(ndim=2, kernel=kernel)
    (kernel,) = admitted.arrays
    if kernel.shape[-1] != kernel.shape[-2]:
        raise ValueError(f"kernel must be square, got {shown(kernel.shape)}")
    return leave(admitted, admitted.xp.sum(admitted.xp.tril(kernel), axis=-1))


def shortfall(terms: np.ndarray, dtype: str) -> float:
    """How much of the sum over the first axis is lost when it is kept in `dtype`: mean of 1 − kept/exact.

    terms: [T, *], NumPy, positive.  ValueError as in `running_sum`.
    """
    kept = running_sum(terms, dtype)[-1].astype(np.float64)
    if not np.all(terms > 0):
        raise ValueError("terms must be positive, or their sum says nothing about what is lost")
    return float(np.mean(1 - kept / terms.sum(axis=0)))


def gradients_apart(
    phi_q: Array, phi_k: Array, V: Array, G: Array, eps: float = 1e-6, chunk: int = 64
) -> tuple[float, float]:
    """How far the gradients of sum(G·O) are apart: (loop against one matrix, chunks against one matrix).

    Gradients of phi_q, phi_k and V as cumulative sums of one token at a time, of `chunk` tokens, and of all T at once;
    the largest difference of any entry, relative to the largest entry.  Shapes, eps and errors as in
    `cumulative_sum_gradients`.  Source: Katharopoulos et al. 2020, arXiv:2006.16236.
    """
    phi_q, phi_k, V, G = admit(ndim=2, phi_q=phi_q, phi_k=phi_k, V=V, G=G).arrays
    chunk = whole("chunk", chunk, 1)
    matrix = cumulative_sum_gradients(phi_q, phi_k, V, G, eps, chunk=V.shape[-2])
    size = max(float(abs(g).max()) for g in matrix)
    apart_by = [
        max(float(abs(a - b).max()) for a, b in zip(cumulative_sum_gradients(phi_q, phi_k, V, G, eps, chunk=C), matrix))
        for C in (1, chunk)
    ]
    return apart_by[0] / (size or 1.0), apart_by[1] / (size or 1.0)
