"""Inputs and measures that the attention tests share."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import settings

AWKWARD = (1, 15, 16, 17, 63, 257)
"""Lengths around a power of two, and one token."""

D_K, D_V, LEAD = 5, 3, (2, 2)

quick = settings(max_examples=25, derandomize=True, deadline=None)


def tokens(T: int, seed: int = 0, lead: tuple[int, ...] = LEAD, d_k: int = D_K, d_v: int = D_V):
    """Normal Q, K [*lead, T, d_k] and V [*lead, T, d_v]."""
    rng = np.random.default_rng(seed)
    Q, K = rng.standard_normal((2, *lead, T, d_k))
    return Q, K, rng.standard_normal((*lead, T, d_v))


def log_gates(T: int, kind: str, d: int, seed: int = 1, lead: tuple[int, ...] = LEAD):
    """None, one gate per token, or one per channel: some nearly open, some nearly shut."""
    rng = np.random.default_rng(seed)
    shape = {"none": None, "token": (*lead, T), "channel": (*lead, T, d)}[kind]
    return None if shape is None else -rng.exponential(size=shape) * rng.choice([0.01, 1.0, 30.0], size=shape)


def miss(got, want) -> float:
    """Distance relative to the size of what is wanted."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{got.shape} is not {want.shape}"
    return float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300))


def as_torch(value):
    """Arrays as tensors, through tuples; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(map(as_torch, value))
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def elu(x):
    """elu + 1, from torch where it can be."""
    if isinstance(x, torch.Tensor):
        return torch.nn.functional.elu(x) + 1
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
