"""Chunks of a delta rule: the inverse that corrects their values, and the two ways from state to state."""

import numpy as np
import pytest
import scipy.linalg
import torch
from attention_cases import as_torch, log_gates, miss, tokens

from compute.attention import delta, delta_attention_chunkwise
from compute.attention.wy import Chunks, leap, walk
from compute.triangular import inverse_unit_lower


@pytest.mark.parametrize("C", [1, 2, 7, 8, 9, 16, 37, 64, 100])
def test_the_inverse_is_scipys_and_reads_nothing_above_the_diagonal(C):
    L = np.random.default_rng(C).standard_normal((2, 3, C, C)) / 3
    lower = np.tril(L, -1)
    want = np.stack([scipy.linalg.solve_triangular(a, np.eye(C), lower=True, unit_diagonal=True) for a in lower[0]])
    assert miss(inverse_unit_lower(L)[0], want) < 1e-13
    assert miss(inverse_unit_lower(as_torch(L)), inverse_unit_lower(L)) < 1e-13
    assert np.array_equal(inverse_unit_lower(L), inverse_unit_lower(lower))


@pytest.mark.parametrize("strength", [1.0, 2.0])
def test_the_same_key_over_and_over_loses_no_digits(strength):
    """The worst case for a sum of powers over the whole chunk, whose terms would grow to 10¹⁸ and cancel."""
    L = np.full((64, 64), strength, dtype=np.float32)
    want = np.eye(64)
    want[1:, :-1] -= strength * np.tril(np.power(1 - strength, np.subtract.outer(np.arange(63), np.arange(63)).clip(0)))
    assert np.array_equal(inverse_unit_lower(L), want)


def chunks(N, kept, lead=(2,), C=4, d_k=3, d_v=2):
    rng = np.random.default_rng(N)
    shapes = ((C, d_v), (C, d_k), (d_k, C))
    parts = [rng.standard_normal((*lead, N, *shape)) / 3 for shape in shapes]
    keep = {"all": None, "token": rng.random((*lead, N, 1, 1)), "channel": rng.random((*lead, N, d_k, 1))}[kept]
    return rng.standard_normal((*lead, d_k, d_v)), Chunks(*parts, keep)


@pytest.mark.parametrize("kept", ["all", "token", "channel"])
@pytest.mark.parametrize("N", [*range(1, 10), 16, 23])
def test_leaping_arrives_where_walking_does(N, kept):
    S, some = chunks(N, kept)
    walked, leapt = walk(S, some), leap(S, some)
    assert max(miss(a, b) for a, b in zip(leapt, walked)) < 1e-13
    assert np.array_equal(walked[1][:, 0], S)


@pytest.mark.parametrize("gate", ["none", "token", "channel"])
def test_an_accelerator_that_leaps_gets_the_same(gate, monkeypatch):
    """Only a CPU walks; here it leaps, gradients and all."""
    Q, K, V = tokens(77, lead=(2,))
    K /= np.linalg.norm(K, axis=-1, keepdims=True)
    options = dict(beta=as_torch(np.random.default_rng(0).uniform(0, 2, (2, 77))), chunk=8, return_state=True)
    gates = as_torch(log_gates(77, gate, Q.shape[-1], lead=(2,)))
    results = []
    for way in (walk, leap):
        monkeypatch.setattr(delta, "walk", way)
        leaves = [a.clone().requires_grad_() for a in as_torch((Q, K, V))]
        O, S = delta_attention_chunkwise(*leaves, log_alpha=gates, **options)
        (O.sum() + S.sum()).backward()
        results.append((O.detach(), S.detach(), *(a.grad for a in leaves)))
    assert max(miss(a, b) for a, b in zip(*results)) < 1e-12
    assert all(torch.isfinite(a).all() for a in results[0])
