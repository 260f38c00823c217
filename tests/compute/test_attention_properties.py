"""What holds for every causal form whatever the tokens: averages, chunks, and no look into the future."""

import numpy as np
from attention_cases import D_K, D_V, LEAD, elu, log_gates, miss, quick, tokens
from hypothesis import given
from hypothesis import strategies as st

from compute.attention import (
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_parallel,
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


@quick
@given(T=st.integers(2, 40), C=st.integers(1, 45), seed=seeds, data=st.data())
def test_permuting_the_future_changes_nothing_past(T, C, seed, data):
    cut = data.draw(st.integers(1, T - 1))
    later = np.random.default_rng(seed).permutation(np.arange(cut, T))
    order = np.concatenate([np.arange(cut), later])
    Q, K, V = tokens(T, seed)
    for form, options in ((causal_linear_attention_parallel, {}), (causal_linear_attention_chunkwise, {"chunk": C})):
        past, shuffled = (form(*(a[..., i, :] for a in (Q, K, V)), elu, **options) for i in (np.arange(T), order))
        assert np.array_equal(past[..., :cut, :], shuffled[..., :cut, :])


@quick
@given(T=st.integers(1, 40), seed=seeds)
def test_rows_of_weights_sum_to_one(T, seed):
    """Reading the identity matrix as values shows the weights themselves."""
    Q, K, _ = tokens(T, seed, lead=())
    for form in FORMS.values():
        weights = form(Q, K, np.eye(T), elu, eps=0)
        assert np.allclose(weights.sum(-1), 1, rtol=1e-12)
        assert np.array_equal(weights, np.tril(weights))
