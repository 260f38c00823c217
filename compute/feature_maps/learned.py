"""The map that is trained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from compute.arrays import Array, admit, like, namespace
from compute.feature_maps.base import LogFeatureMap, where_largest
from compute.scalars import whole


@dataclass(frozen=True, eq=False)
class Hedgehog(LogFeatureMap):
    """A learned exponential: e^(Wᵀx+b) and its mirror e^−(Wᵀx+b).

    Width 2d' for W [d_k, d'], 2d_k by default.  W = None is the identity and b = None zero, where training starts.
    W and b: nested sequences, NumPy arrays, or torch tensors, through which gradients flow.
    Price: it mimics softmax only after training; as it starts, it follows the largest entry of a query.
    """

    W: Any = None
    b: Any = None

    word = "hedgehog"
    label = "Hedgehog"
    approximates = "by training"
    latex = r"\phi(x) = \left(e^{W^\top x + b},\, e^{-(W^\top x + b)}\right)"
    used_by = "Hedgehog, LoLCATs"
    source = "Zhang et al. 2024, arXiv:2402.04347"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, axes in (("W", 2), ("b", 1)):
            value = getattr(self, name)
            if value is None:
                continue
            (array,) = admit(**{name: value}).arrays
            if array.ndim != axes:
                raise ValueError(f"{name} must have {axes} axes, got shape {tuple(array.shape)}")
            if isinstance(array, np.ndarray):  # a tuple can be hashed and cannot be changed
                object.__setattr__(self, name, _nested(array.tolist()))
        if self.W is not None and self.b is not None and len(self.b) != self._width(None):
            raise ValueError(f"b must have one entry per column of W, {self._width(None)}, got {len(self.b)}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hedgehog) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def width_latex(self) -> str:
        return "2 d_k" if self.W is None else "2 d'"

    @property
    def _key(self) -> tuple:
        """Numbers count by value, a tensor (which may be trained) by identity."""
        return tuple(w if w is None or isinstance(w, tuple) else id(w) for w in (self.W, self.b))

    def d_phi(self, d_k: int) -> int:
        d_k = whole("d_k", d_k, 1)
        if self.W is not None and len(self.W) != d_k:
            raise ValueError(f"W must have d_k = {d_k} rows, got {len(self.W)}")
        if self.W is None and self.b is not None and len(self.b) != d_k:
            raise ValueError(f"b must have d_k = {d_k} entries, got {len(self.b)}")
        return 2 * self._width(d_k)

    def log_features(self, x: Array) -> Array:
        return self._mirrored(self._projection(x) + self._bias(x))

    def log_leading(self, q: Array) -> Array:
        u = self._projection(q)
        return where_largest(self._mirrored(u), self._mirrored(self._bias(q) + 0 * u), otherwise=-np.inf)

    def _width(self, d_k: int | None) -> int | None:
        return d_k if self.W is None else len(self.W[0])

    def _projection(self, x: Array) -> Array:
        return x if self.W is None else x @ like(x, self._arrays[0])

    def _bias(self, x: Array) -> Array | float:
        return 0.0 if self.b is None else like(x, self._arrays[1])

    @staticmethod
    def _mirrored(u: Array) -> Array:
        return namespace(u).concat([u, -u], axis=-1)

    @cached_property
    def _arrays(self) -> tuple[Any, Any]:
        return tuple(np.asarray(w) if isinstance(w, tuple) else w for w in (self.W, self.b))


def _nested(rows: Any) -> Any:
    return tuple(map(_nested, rows)) if isinstance(rows, list) else rows
