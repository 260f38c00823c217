"""Softmax attention and its window, against torch's own."""

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, D_K, as_torch, miss, quick, tokens
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from compute.attention import kernel_attention, sliding_window_attention, softmax_attention


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
@pytest.mark.parametrize("T", AWKWARD)
def test_softmax_attention_is_torchs(T, causal, scale):
    Q, K, V = tokens(T)
    want = scaled_dot_product_attention(*as_torch((Q, K, V)), is_causal=causal, scale=scale)
    assert miss(softmax_attention(Q, K, V, causal=causal, scale=scale), want) < 1e-14
    assert miss(softmax_attention(*as_torch((Q, K, V)), causal=causal, scale=scale), want) < 1e-14


def test_queries_may_be_fewer_than_keys_where_nothing_is_causal():
    Q = tokens(4, seed=8)[0]
    _, K, V = tokens(9)
    mask = np.random.default_rng(1).random((2, 2, 9)) < 0.6
    want = scaled_dot_product_attention(*as_torch((Q, K, V)), attn_mask=as_torch(mask)[..., None, :])
    assert miss(softmax_attention(Q, K, V, causal=False, mask=mask), want) < 1e-14


@pytest.mark.parametrize("T", [1, 17, 63])
@pytest.mark.parametrize("window", [1, 2, 5, 16, 63, 200])
def test_a_window_is_a_band_mask(T, window):
    Q, K, V = tokens(T)
    t = np.arange(T)
    band = (t[:, None] >= t) & (t > t[:, None] - window)
    mask = np.random.default_rng(1).random((2, 2, T)) < 0.8
    mask |= t % window == 0
    mask[..., 0] = True
    seen = as_torch(band & mask[..., None, :])
    want = torch.nan_to_num(scaled_dot_product_attention(*as_torch((Q, K, V)), attn_mask=seen))
    assert miss(sliding_window_attention(Q, K, V, window, mask=mask), want) < 1e-14


def test_one_relevant_key_by_hand():
    """Scores 1 and 0 without temperature: weights e/(e+1) and 1/(e+1)."""
    Q, K = np.array([[0.0, 0], [1, 0]]), np.array([[1.0, 0], [0, 1]])
    weights = softmax_attention(Q, K, np.eye(2), scale=1.0)
    assert np.allclose(weights[1], [np.e / (np.e + 1), 1 / (np.e + 1)], rtol=1e-15)


def test_softmax_is_kernel_attention_with_the_exponential_kernel():
    Q, K, V = tokens(17)
    want = kernel_attention(Q, K, V, lambda Q, K: np.exp(Q @ K.mT / np.sqrt(D_K)))
    assert miss(softmax_attention(Q, K, V), want) < 1e-14


def test_long_vectors_do_not_overflow():
    Q, K, V = (a * 1e3 for a in tokens(9))
    assert np.isfinite(softmax_attention(Q, K, V)).all()
    assert np.isfinite(sliding_window_attention(Q, K, V, 4)).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    Q, K, V = (torch.from_numpy(a).to(dtype) for a in tokens(33))
    for call in (softmax_attention, lambda *a: sliding_window_attention(*a, 8)):
        assert torch.equal(call(Q, K, V), call(Q.float(), K.float(), V.float()).to(dtype))


@quick
@given(T=st.integers(1, 40), window=st.integers(1, 45), seed=st.integers(0, 99))
def test_rows_sum_to_one_and_the_future_is_not_seen(T, window, seed):
    Q, K, _ = tokens(T, seed, lead=())
    for weights in (softmax_attention(Q, K, np.eye(T)), sliding_window_attention(Q, K, np.eye(T), window)):
        assert np.allclose(weights.sum(-1), 1, rtol=1e-12)
        assert np.array_equal(weights, np.tril(weights))


@pytest.mark.parametrize("scale", [np.nan, np.inf, "d"])
def test_a_bad_scale_is_refused(scale):
    with pytest.raises(ValueError, match=r"^scale "):
        softmax_attention(*tokens(3), scale=scale)
