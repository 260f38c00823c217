"""Random draws in lots, each with a seed of its own, so that a number depends on nothing but its place.

What NumPy drew is kept while it fits: the rules of a sweep fill their memories with the same pairs.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from functools import cache
from typing import Any

import numpy as np

KEPT = 64 << 20
"""Bytes of draws that are kept."""


def lot_seed(*parts: Any) -> int:
    """63 bits that tell any two lots of any two sweeps apart."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big") >> 1


def numpy_lot(kind: str, shape: tuple[int, ...], seed: int, dtype: str, of: float | None) -> np.ndarray:
    """Normals, or with `kind` gamma draws of shape parameter `of` in float32; read-only, since others have it too."""
    key = (kind, shape, seed, dtype, of)
    with _LOCK:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    rng = np.random.default_rng(seed)
    made = (
        rng.standard_gamma(of, shape, dtype=np.float32)
        if kind == "gamma"
        else rng.standard_normal(shape, dtype=np.dtype(dtype).type)
    )
    made.setflags(write=False)
    if made.nbytes <= KEPT // 2:
        with _LOCK:
            _kept[key] = made
            while sum(a.nbytes for a in _kept.values()) > KEPT:
                _kept.popitem(last=False)
    return made


_kept: OrderedDict[tuple, np.ndarray] = OrderedDict()
_LOCK = threading.Lock()


def torch_lot(kind: str, shape: tuple[int, ...], seed: int, dtype: str, of: float | None, device: str) -> Any:
    """The same on a device of torch, whose generator draws other numbers."""
    import torch

    generator = _generator(device, threading.get_ident()).manual_seed(seed)
    if kind == "gamma":
        return torch._standard_gamma(torch.full(shape, of, device=device), generator=generator)
    return torch.randn(shape, generator=generator, device=device, dtype=getattr(torch, dtype))


@cache
def _generator(device: str, thread: int) -> Any:
    """One for each thread, since its seed is set before every lot."""
    import torch

    return torch.Generator(device=device)
