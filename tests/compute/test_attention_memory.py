"""The recurrent and chunkwise forms never hold a T x T array, counted by shape and by bytes."""

import tracemalloc

import numpy as np
import pytest
import torch
from attention_cases import as_torch, elu, log_gates, tokens
from torch.utils._python_dispatch import TorchDispatchMode

from compute.attention import (
    causal_linear_attention_chunkwise,
    causal_linear_attention_parallel,
    causal_linear_attention_recurrent,
    delta_attention_chunkwise,
    delta_attention_recurrent,
    sliding_window_attention,
)

T = 257

LINEAR_IN_T = {
    "recurrent": lambda Q, K, V, g: causal_linear_attention_recurrent(Q, K, V, elu, log_alpha=g),
    "chunkwise": lambda Q, K, V, g: causal_linear_attention_chunkwise(Q, K, V, elu, chunk=16, log_alpha=g),
    "delta recurrent": lambda Q, K, V, g: delta_attention_recurrent(Q, K, V, 0.1, log_alpha=g),
    "delta chunkwise": lambda Q, K, V, g: delta_attention_chunkwise(Q, K, V, 0.1, 16, log_alpha=g),
    "window": lambda Q, K, V, g: sliding_window_attention(Q, K, V, 16),
}
every_call = pytest.mark.parametrize("call", LINEAR_IN_T.values(), ids=LINEAR_IN_T)
every_gate = pytest.mark.parametrize("gate", ["none", "token", "channel"])


class Shapes(TorchDispatchMode):
    """Records the shape of every tensor any operation returns."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for a in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(a, torch.Tensor):
                self.seen.add(tuple(a.shape))
        return out

    def largest_square(self) -> int:
        return max((sorted(s)[-2] for s in self.seen if len(s) > 1), default=0)


@every_gate
@every_call
def test_no_array_has_two_token_axes(call, gate):
    arrays = as_torch(tokens(T, lead=())), as_torch(log_gates(T, gate, 5, lead=()))
    with Shapes() as shapes:
        call(*arrays[0], arrays[1])
    assert T in {n for s in shapes.seen for n in s}
    assert shapes.largest_square() < T


def test_the_parallel_form_is_caught_by_the_same_measure():
    with Shapes() as shapes:
        causal_linear_attention_parallel(*as_torch(tokens(T, lead=())), elu)
    assert shapes.largest_square() == T


@every_gate
@every_call
def test_numpy_never_holds_a_byte_per_pair(call, gate):
    long = 4096
    Q, K, V = tokens(long, lead=())
    gates = log_gates(long, gate, 5, lead=())
    tracemalloc.start()
    call(Q, K, V, gates)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < long**2


@every_gate
@every_call
def test_no_triangular_helper_is_used(call, gate, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a triangular helper was called")

    for module in (np, torch):
        for name in ("tril", "triu", "tri", "tril_indices", "triu_indices"):
            monkeypatch.setattr(module, name, forbidden, raising=False)
    monkeypatch.setattr(torch.Tensor, "tril", forbidden)
    monkeypatch.setattr(torch.Tensor, "triu", forbidden)
    Q, K, V = tokens(40, lead=())
    gates = log_gates(40, gate, 5, lead=())
    call(Q, K, V, gates)
    call(*as_torch((Q, K, V)), as_torch(gates))
