"""What holds for every causal form whatever the tokens: averages, chunks, and no look into the future."""

import numpy as np
import pytest
from attention_calls import AVERAGES, CALLS, RESUMABLE
from attention_cases import D_K, D_V, LEAD, elu, log_gates, miss, quick, tokens
from hypothesis import given
from hypothesis import strategies as st

from compute.attention import (
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_recurrent,
)

gates, seeds = st.sampled_from(["none", "token", "channel"]), st.integers(0, 99)


@quick
@given(
    T=st.integers(1, 40),
    C=st.integers(1, 45),
    gate=st.sampled_from(["none", "token", "channel"]),
    seed=seeds,
)
def test_constant_values_give_constant_outputs(T, C, gate, seed):
    Q, K, V = tokens(T, seed)
    V[...] = np.arange(1.0, D_V + 1)
    for form, options in ((causal_linear_attention_recurrent, {}), (causal_linear_attention_chunkwise, {"chunk": C})):
        O = form(Q, K, V, elu, eps=0, log_alpha=log_gates(T, gate, D_K, seed), **options)
        assert np.allclose(O, V, rtol=1e-12, atol=0)


@quick
@given(
    T=st.integers(1, 60),
    C=st.integers(1, 70),
    gate=st.sampled_from(["none", "token", "channel"]),
    seed=seeds,
)
def test_any_chunk_agrees_with_the_loop(T, C, gate, seed):
    Q, K, V = tokens(T, seed)
    mask = np.random.default_rng(seed).random((*LEAD, T)) < 0.8
    options = dict(log_alpha=log_gates(T, gate, D_K, seed), mask=mask)
    want = causal_linear_attention_recurrent(Q, K, V, elu, **options)
    assert miss(causal_linear_attention_chunkwise(Q, K, V, elu, chunk=C, **options), want) < 1e-12


@pytest.mark.parametrize("name", [name for name in CALLS if name != "linear"])
@quick
@given(T=st.integers(2, 40), seed=seeds, data=st.data())
def test_permuting_the_future_changes_nothing_past(name, T, seed, data):
    cut = data.draw(st.integers(1, T - 1))
    order = np.concatenate([np.arange(cut), np.random.default_rng(seed).permutation(np.arange(cut, T))])
    Q, K, V = tokens(T, seed)
    past, shuffled = (CALLS[name](*(a[..., i, :] for a in (Q, K, V))) for i in (np.arange(T), order))
    assert miss(shuffled[..., :cut, :], past[..., :cut, :]) < 1e-13


@pytest.mark.parametrize("name", RESUMABLE)
@quick
@given(T=st.integers(2, 40), seed=seeds, data=st.data())
def test_split_anywhere_and_resumed_is_one_pass(name, T, seed, data):
    cut, (Q, K, V) = data.draw(st.integers(1, T - 1)), tokens(T, seed)
    K /= np.linalg.norm(K, axis=-1, keepdims=True)
    want, end = CALLS[name](Q, K, V, return_state=True)
    first, state = CALLS[name](*(a[..., :cut, :] for a in (Q, K, V)), return_state=True)
    second, got = CALLS[name](*(a[..., cut:, :] for a in (Q, K, V)), state=state, return_state=True)
    assert miss(np.concatenate([first, second], axis=-2), want) < 1e-12
    for ours, theirs in zip(got, end) if isinstance(end, tuple) else [(got, end)]:
        assert miss(ours, theirs) < 1e-12


@pytest.mark.parametrize("name", AVERAGES)
@quick
@given(T=st.integers(1, 40), seed=seeds)
def test_an_average_of_one_value_is_that_value(name, T, seed):
    Q, K, V = tokens(T, seed)
    V[...] = np.arange(1.0, D_V + 1)
    exact = {"eps": 0} if name in FORMS or name == "linear" else {}
    assert np.allclose(CALLS[name](Q, K, V, **exact), V, rtol=1e-12, atol=0)


@quick
@given(T=st.integers(1, 40), seed=seeds)
def test_rows_of_weights_sum_to_one(T, seed):
    """Reading the identity matrix as values shows the weights themselves."""
    Q, K, _ = tokens(T, seed, lead=())
    for form in FORMS.values():
        weights = form(Q, K, np.eye(T), elu, eps=0)
        assert np.allclose(weights.sum(-1), 1, rtol=1e-12)
        assert np.array_equal(weights, np.tril(weights))
