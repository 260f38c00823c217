"""The door through which arrays enter: one array kind, one dtype policy, one way to refuse.

NumPy or torch in, the same kind, device and floating dtype out.  Integers become float64.
float16 and bfloat16 are computed in float32 and rounded once, on the way out.
torch is never imported here: it is only recognised when the caller already brought it.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

Array = Any
"""A NumPy array or a torch tensor.  Shapes are read from the right: token axis -2, feature axis -1."""

HALF = ("float16", "bfloat16")


class Admitted(NamedTuple):
    """What `admit` lets in: namespace, the dtype to leave with, and the arrays to compute on."""

    xp: Any
    dtype: Any
    arrays: tuple[Array, ...]


def namespace(*arrays: Array) -> Any:
    """Array-API namespace shared by the arrays; ValueError if NumPy and torch are mixed."""
    kinds = {type(a) for a in arrays}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind in _NAMESPACES:
        return _NAMESPACES[kind]
    try:
        xp = array_namespace(*arrays)
    except TypeError:
        kinds = sorted(set(map(_home, arrays)))
        raise ValueError(f"arrays must be of one kind, got {' and '.join(kinds)}") from None
    if kind is not None:
        _NAMESPACES[kind] = xp
    return xp


_NAMESPACES: dict[type, Any] = {}
"""The answer for each kind of array met so far: asking anew takes as long as a small product."""


@lru_cache(maxsize=64)
def dtype_name(dtype: Any) -> str:
    """`float32` for both `numpy.float32` and `torch.float32`."""
    return str(np.dtype(dtype)) if not str(dtype).startswith("torch.") else str(dtype).partition(".")[2]


def admit(*, ndim: int = 1, finite: bool = True, narrow: bool = False, **named: Array) -> Admitted:
    """Check the named arrays and bring them to one floating dtype fit for computing.

    ndim: fewest axes each must have.  finite: refuse NaN and Inf.  narrow: 16-bit arrays stay as they are.
    Raises ValueError that begins with the name of the offending argument.
    """
    given = {name: a if is_array_api_obj(a) else _from_plain(name, a) for name, a in named.items()}
    xp = _shared(given)
    for name, a in given.items():
        if a.ndim < ndim:
            raise ValueError(f"{name} must have at least {ndim} axes, got shape {tuple(a.shape)}")
        if 0 in a.shape:
            raise ValueError(f"{name} must not be empty, got shape {tuple(a.shape)}")
        if not is_real(xp, a.dtype):
            raise ValueError(f"{name} must hold real numbers, got {dtype_name(a.dtype)}")
    floating = list({a.dtype for a in given.values() if _kind(xp, a.dtype) == "real floating"})
    dtype = (floating[0] if len(floating) == 1 else xp.result_type(*floating)) if floating else xp.float64
    work = xp.float32 if dtype_name(dtype) in HALF and not narrow else dtype
    arrays = tuple(a if a.dtype == work else xp.astype(a, work) for a in given.values())
    if finite:
        refuse_unless_finite(xp, dict(zip(given, arrays)))
    return Admitted(xp, dtype, arrays)


def _shared(named: dict[str, Array]) -> Any:
    """The namespace of arrays of one kind on one device; ValueError that begins with the first that is elsewhere."""
    (first, a), *others = named.items()
    for name, b in others:
        if type(b) is not type(a) and namespace(b) is not namespace(a):
            raise ValueError(f"{name} must be of the same kind as {first}, {_home(a)}, got {_home(b)}")
        if b.device != a.device:
            raise ValueError(f"{name} must be on the device of {first}, {a.device}, got {b.device}")
    return namespace(a)


def _home(a: Array) -> str:
    """The library that an array comes from."""
    return type(a).__module__.partition(".")[0]


def admit_like(name: str, a: Array, *, like: Array, finite: bool = True, dtype: Any = None) -> Array:
    """A side input, number or array, in the kind, device and dtype (unless another is named) of the main ones.

    Raises ValueError that begins with the name.
    """
    (a,) = admit(ndim=0, finite=finite, **{name: of_kind(name, a, like)}).arrays
    return namespace(like).astype(a, dtype or like.dtype, copy=False)


def admit_beside(name: str, values: Array, x: Array, *, ndim: int = 1) -> Array:
    """Values of x's kind or NumPy's (draws are always made there) in x's kind, device and dtype.

    ndim: axes they must have.  Raises ValueError that begins with the name.
    """
    values = of_kind(name, values, values if isinstance(values, np.ndarray) else x)
    (values,) = admit(ndim=ndim, **{name: values}).arrays
    if values.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, got shape {tuple(values.shape)}")
    return like(x, values)


def of_kind(name: str, a: Any, like: Array) -> Array:
    """A plain sequence as an array of `like`'s kind and device; an array must already be of both, a number in 0 axes
    of the kind alone.  ValueError that begins with the name."""
    xp = namespace(like)
    try:
        if not is_array_api_obj(a):
            return xp.asarray(a, device=device(like))
        namespace(a, like)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} must be an array of the kind of the others, {_home(like)}, got {_home(a)}") from None
    if a.ndim and a.device != like.device:
        raise ValueError(f"{name} must be on the device of the others, {like.device}, got {a.device}")
    return a


def is_real(xp: Any, dtype: Any) -> bool:
    """Whether it is the dtype of integers or of real floating numbers."""
    return _kind(xp, dtype) is not None


@lru_cache(maxsize=64)
def _kind(xp: Any, dtype: Any) -> str | None:
    return next((kind for kind in ("real floating", "integral") if xp.isdtype(dtype, kind)), None)


def refuse_unless_finite(xp: Any, named: dict[str, Array]) -> None:
    """ValueError that begins with the name of the first array that holds NaN or Inf.

    A sum is cheaper than a test of every entry, and proves it unless the sum itself overflows.  One number is
    looked at for all arrays, for on an accelerator every look waits until all that was asked before is done.
    """
    with np.errstate(all="ignore"):
        if bool(xp.isfinite(reduce(add, map(xp.sum, named.values())))):
            return
    for name, a in named.items():
        if not bool(xp.all(xp.isfinite(a))):
            raise ValueError(f"{name} must be finite, got NaN or Inf")


def refuse_unless_broadcast(name: str, a: Array, to: Array) -> None:
    """ValueError that begins with the name of a, where its shape does not broadcast against that of `to`."""
    try:
        np.broadcast_shapes(tuple(a.shape), tuple(to.shape))
    except ValueError:
        raise ValueError(f"{name} must broadcast against {tuple(to.shape)}, got {tuple(a.shape)}") from None


def _from_plain(name: str, a: Any) -> np.ndarray:
    try:
        return np.asarray(a)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array, got {type(a).__name__}") from None


def leave(admitted: Admitted, result: Array) -> Array:
    """The result in the dtype its inputs came with."""
    return admitted.xp.astype(result, admitted.dtype, copy=False)


def like(x: Array, values: Array) -> Array:
    """Values of either kind in x's kind, device and dtype (draws are always made by NumPy).

    A tensor that asks for gradients goes on asking.  Memory that must not be written to is copied: nobody can
    spoil it, and torch does not warn of it.
    """
    xp = namespace(x)
    if not isinstance(values, np.ndarray):
        return xp.astype(values, x.dtype, copy=False)
    if not values.flags.writeable:
        values = values.copy()
    return xp.asarray(values, dtype=x.dtype, device=device(x))
