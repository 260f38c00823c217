"""Kernel values in the order in which their keys arrive: what a query's denominator holds after t tokens, for many t.

kappa [*, T] are the kernel values of one query with T keys, the oldest first.  at [n] are the numbers of tokens at
which one looks, rising, from 1 to T.  This says for one fixed query what `compute.normaliser` says row by row.
Source: Qin et al. 2022, arXiv:2210.10340, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device, is_numpy_array

from compute.arrays import Admitted, Array, admit, admit_like, leave, refuse_unless_finite
from compute.attention.doors import divide
from compute.normaliser import kernel_derivative_of
from compute.scalars import reals, whole, wholes


class Sums(NamedTuple):
    """After each number of tokens, [*, n]: the denominator, the sum without signs, and the newest kernel value."""

    net: Array
    gross: Array
    newest: Array


class Arrived(NamedTuple):
    """`sums_at`, `share_of_newest` for one and for m, and `kernel_derivatives_at` of the same kernel values."""

    sums: Sums
    newest: Array
    near: Array
    derivatives: Array


def arrived_at(kappa: Array, at: Sequence[int], m: int) -> Arrived:
    """All of these from one running sum, which costs more than the rest.  ValueError naming kappa, at or m."""
    admitted, kappa, last = _enter(kappa, at)
    xp, m = admitted.xp, whole("m", m, 1)
    net, gross = _running(xp, kappa)
    sums = Sums(*(leave(admitted, x[..., last]) for x in (net, gross, kappa)))
    shares = (_shares(xp, net, last, 1), _shares(xp, net, last, m))
    return Arrived(sums, *(leave(admitted, x) for x in (*shares, _derivatives(xp, kappa, net, last))))


def sums_at(kappa: Array, at: Sequence[int]) -> Sums:
    """The sums that a read after at[i] tokens divides by.  ValueError naming kappa or at."""
    admitted, kappa, last = _enter(kappa, at)
    return Sums(*(leave(admitted, x[..., last]) for x in (*_running(admitted.xp, kappa), kappa)))


def denominators_at(kappa: Array, at: Sequence[int]) -> Array:
    """Of `sums_at` the denominators alone, [*, n]: half the time for signed values.  ValueError naming kappa or at."""
    admitted, kappa, last = _enter(kappa, at)
    return leave(admitted, admitted.xp.cumulative_sum(kappa, axis=-1)[..., last])


def _running(xp: Any, kappa: Array) -> tuple[Array, Array]:
    """Running sums of kernel values [*, T], with and without their signs."""
    if bool(xp.min(kappa) >= 0):
        net = xp.cumulative_sum(kappa, axis=-1)
        return net, net
    if not is_numpy_array(kappa):
        return xp.cumulative_sum(kappa, axis=-1), xp.cumulative_sum(xp.abs(kappa), axis=-1)
    # NumPy begins a sum when the one before it is written: as parts of a complex number two are added in that time.
    both = np.empty(kappa.shape, np.result_type(kappa, np.complex64))
    both.real, both.imag = kappa, np.abs(kappa)
    np.cumsum(both, axis=-1, out=both)
    return both.real, both.imag


def share_of_newest(kappa: Array, at: Sequence[int], m: int = 1) -> Array:
    """Share of the m newest tokens, or of all while there are fewer: [*, n].  About m/t; NaN where the sum is 0.

    ValueError naming kappa, at or m.
    """
    admitted, kappa, last = _enter(kappa, at)
    m, net = whole("m", m, 1), admitted.xp.cumulative_sum(kappa, axis=-1)
    return leave(admitted, _shares(admitted.xp, net, last, m))


def _shares(xp: Any, net: Array, last: np.ndarray, m: int) -> Array:
    # What the running sum held before the m newest: nothing while there are fewer.
    before = xp.where(xp.asarray(last >= m, device=device(net)), net[..., np.maximum(last - m, 0)], 0.0)
    return _ratio(net[..., last] - before, net[..., last])


def kernel_derivatives_at(kappa: Array, at: Sequence[int]) -> Array:
    """Largest |∂p/∂κ| after at[i] tokens, [*, n]: at most one over the size of the denominator; NaN where that is 0.

    ValueError naming kappa or at.
    """
    admitted, kappa, last = _enter(kappa, at)
    net = admitted.xp.cumulative_sum(kappa, axis=-1)
    return leave(admitted, _derivatives(admitted.xp, kappa, net, last))


def _derivatives(xp: Any, kappa: Array, net: Array, last: np.ndarray) -> Array:
    return kernel_derivative_of(net[..., last], *_extremes(xp, kappa, last), single=np.asarray(last) == 0)


def score_derivatives_at(kappa: Array, at: Sequence[int]) -> Array:
    """Largest |∂p/∂score| of softmax weights p after at[i] tokens, [*, n], for kappa = exp(score).

    It is p(1 − p) of the largest weight: no other exceeds 1 − p, and below ½ a larger p gives more.  So none
    exceeds 1/4, whatever the scores.  ValueError naming kappa or at.
    """
    admitted, kappa, last = _enter(kappa, at)
    p = _ratio(_extremes(admitted.xp, kappa, last)[1], admitted.xp.cumulative_sum(kappa, axis=-1)[..., last])
    return leave(admitted, p * (1 - p))


def numerators_at(kappa: Array, V: Array, at: Sequence[int], log_alpha: Array | None = None) -> Array:
    """Sums of kappa_s v_s after at[i] tokens, [*, n, d_v]; V: [*, T, d_v], the value that arrives with each key.

    log_alpha: [*], log of what is kept of older writes per token, or [m, *] for m decays of the same sums, which are
    then [m, *, n, d_v]; None keeps all.  ValueError naming an argument.
    """
    admitted = admit(kappa=kappa, V=V, finite=False)
    xp, _, (kappa, V) = admitted
    lead, T = tuple(kappa.shape[:-1]), kappa.shape[-1]
    last = _looks(at, T)
    if V.ndim < 2 or V.shape[-2] != T or tuple(V.shape[:-2]) not in ((), lead):
        raise ValueError(f"V must hold a value for each of {T} keys, got shape {tuple(V.shape)}")
    decay = None if log_alpha is None else admit_like("log_alpha", log_alpha, like=kappa)
    if decay is not None:
        shape = tuple(decay.shape)
        if shape not in ((), lead, (*shape[:1], *lead)) or bool(xp.any(decay > 0)):
            raise ValueError(f"log_alpha must be at most 0 and have shape {lead}, got shape {shape}")
    with np.errstate(all="ignore"):  # a sum is finite only if all that was added is: else each number is looked at
        found = _added_up(xp, kappa, V, last, decay)
        proved = last[-1] + 1 == T and bool(xp.isfinite(xp.sum(found[-1])))
    if not proved:
        refuse_unless_finite(xp, {"kappa": kappa, "V": V})
    return leave(admitted, xp.stack(found, axis=-2))


def _added_up(xp: Any, kappa: Array, V: Array, last: np.ndarray, decay: Array | None) -> list[Array]:
    """The numerators at every look, [*, d_v] each."""
    pieces, fades, found = _pieces(last), None, []
    if decay is not None:
        lengths = np.diff(last + 1, prepend=0)
        age = np.repeat(last, lengths) - np.arange(last[-1] + 1)
        kappa = xp.exp(decay[..., None] * xp.asarray(age, dtype=kappa.dtype)) * kappa[..., : len(age)]
        fade = xp.exp(decay[..., None] * xp.asarray(lengths, dtype=kappa.dtype))
        fades = [fade[..., i, None] for i in range(len(pieces))]
    row = kappa[..., None, :]
    for i, new in enumerate(pieces):
        read = (row[..., new] @ V[..., new, :])[..., 0, :]
        if found:
            read = read + (found[-1] if fades is None else found[-1] * fades[i])
        found.append(read)
    return found


def _pieces(last: np.ndarray) -> list[slice]:
    """What has come since the look before, for every look."""
    return [slice(a, b) for a, b in pairwise((0, *(last + 1).tolist()))]


def _extremes(xp: Any, kappa: Array, last: np.ndarray) -> tuple[Array, Array]:
    """Lowest and highest kernel value so far, [*, n] each."""
    if is_numpy_array(kappa):
        kappa, starts = kappa[..., : last[-1] + 1], np.append(0, last[:-1] + 1)
        return tuple(f.accumulate(f.reduceat(kappa, starts, axis=-1), axis=-1) for f in (np.minimum, np.maximum))
    lows, highs = [], []
    for new in _pieces(last):
        low, high = xp.min(kappa[..., new], axis=-1), xp.max(kappa[..., new], axis=-1)
        lows.append(xp.minimum(lows[-1], low) if lows else low)
        highs.append(xp.maximum(highs[-1], high) if highs else high)
    return xp.stack(lows, axis=-1), xp.stack(highs, axis=-1)


def _enter(kappa: Array, at: Sequence[int]) -> tuple[Admitted, Array, np.ndarray]:
    """The kernel values let in, and the index of the newest key at each look."""
    admitted = admit(kappa=kappa)
    (kappa,) = admitted.arrays
    return admitted, kappa, _looks(at, kappa.shape[-1])


def _looks(at: Sequence[int], T: int) -> np.ndarray:
    """The index of the newest key at each look."""
    return np.asarray(wholes("at", at, 1, T, rising=True)) - 1


def _ratio(part: Array, whole_sum: Array) -> Array:
    return divide(part[..., None], whole_sum)[..., 0]


def power_of(t: Sequence[int], values: Array) -> float:
    """The power of t [n] with which positive values [n] grow: least-squares slope between their logarithms.

    n >= 2 and NumPy values.  ValueError naming t or values.
    """
    t, values = np.asarray(wholes("t", t, 1, rising=True)), reals("values", values)
    if len(t) < 2:
        raise ValueError("t must hold at least two numbers, got one")
    if values.shape != t.shape or np.any(values <= 0):
        raise ValueError(f"values must be {len(t)} numbers above 0, one for each t")
    x, y = (log - log.mean() for log in (np.log(t), np.log(values)))
    return float(x @ y / (x @ x))
