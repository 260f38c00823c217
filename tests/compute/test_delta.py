"""The delta rule as attention: both forms against the write rules applied one token at a time."""

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, D_K, D_V, LEAD, as_torch, log_gates, miss, quick, tokens
from hypothesis import given
from hypothesis import strategies as st

from compute.attention import DELTA_FORMS, causal_linear_attention_recurrent, delta_attention_chunkwise
from compute.write_rules import WRITE_RULES

every_form = pytest.mark.parametrize("form", DELTA_FORMS.values(), ids=DELTA_FORMS)
every_gate = pytest.mark.parametrize("gate", ["none", "token", "channel"])


def unit_tokens(T, seed=0, lead=LEAD):
    """Q, K with unit keys, V and write strengths between 0 and 2, where the rule contracts."""
    Q, K, V = tokens(T, seed, lead)
    K /= np.linalg.norm(K, axis=-1, keepdims=True)
    return Q, K, V, np.random.default_rng(seed).uniform(0, 2, (*lead, T))


def one_by_one(Q, K, V, beta, log_alpha, S=None):
    """Outputs and last memory of the rule itself, token after token."""
    rule = WRITE_RULES["delta" if log_alpha is None else "gated_delta"]()
    S = np.zeros((*LEAD, D_K, D_V)) if S is None else S
    out = []
    for t in range(K.shape[-2]):
        alpha = 1.0 if log_alpha is None else np.exp(log_alpha[:, :, t])
        S = rule(S, K[..., t, :], V[..., t, :], alpha=alpha, beta=beta[..., t])
        out.append(np.einsum("...kv,...k->...v", S, Q[..., t, :]))
    return np.stack(out, axis=-2), S


@every_gate
@every_form
@pytest.mark.parametrize("T", AWKWARD)
def test_both_forms_are_the_write_rule_applied_in_turn(form, gate, T):
    Q, K, V, beta = unit_tokens(T)
    gates = log_gates(T, gate, D_K)
    want, S = one_by_one(Q, K, V, beta, gates)
    got, S_got = form(Q, K, V, beta, log_alpha=gates, return_state=True)
    assert max(miss(got, want), miss(S_got, S)) < 1e-12
    got = form(*as_torch((Q, K, V)), as_torch(beta), log_alpha=as_torch(gates))
    assert miss(got, want) < 1e-12


@quick
@given(
    T=st.integers(1, 50),
    C=st.integers(1, 60),
    gate=st.sampled_from(["none", "token", "channel"]),
    seed=st.integers(0, 99),
)
def test_any_chunk_gives_the_same(T, C, gate, seed):
    Q, K, V, beta = unit_tokens(T, seed)
    gates = log_gates(T, gate, D_K, seed)
    got = delta_attention_chunkwise(Q, K, V, beta, C, log_alpha=gates)
    assert miss(got, one_by_one(Q, K, V, beta, gates)[0]) < 1e-12


@every_gate
@every_form
def test_split_and_resume_equals_one_pass(form, gate):
    Q, K, V, beta = unit_tokens(37)
    gates, S0 = log_gates(37, gate, D_K), np.ones((*LEAD, D_K, D_V))
    mask = np.random.default_rng(5).random((*LEAD, 37)) < 0.7
    want, S_want = form(Q, K, V, beta, log_alpha=gates, mask=mask, state=S0, return_state=True)
    S, parts = S0, []
    for part in (slice(0, 20), slice(20, 37)):
        options = dict(mask=mask[..., part], log_alpha=None if gates is None else gates[:, :, part], state=S)
        O, S = form(*(a[..., part, :] for a in (Q, K, V)), beta[..., part], return_state=True, **options)
        parts.append(O)
    assert max(miss(np.concatenate(parts, axis=-2), want), miss(S, S_want)) < 1e-12


@every_form
def test_a_masked_token_neither_writes_nor_decays(form):
    Q, K, V, beta = unit_tokens(20)
    gates = log_gates(20, "token", D_K)
    mask = np.arange(20) % 3 > 0
    got = form(Q, K, V, beta, log_alpha=gates, mask=np.broadcast_to(mask, (*LEAD, 20)))
    cut = form(*(a[..., mask, :] for a in (Q, K, V)), beta[..., mask], log_alpha=gates[..., mask])
    assert miss(got[..., mask, :], cut) < 1e-12


@every_form
def test_orthonormal_keys_make_it_additive(form):
    """Nothing to correct: the error read before each write is the value itself."""
    K = np.eye(D_K)
    Q, _, V = tokens(D_K, lead=())
    additive = causal_linear_attention_recurrent(Q, K, V, lambda x: x, normalise=False)
    assert miss(form(Q, K, V), additive) < 1e-14


@every_form
def test_the_same_key_twice_reads_the_newer_value(form):
    K, V = np.array([[0.6, 0.8], [0.6, 0.8]]), np.array([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]])
    assert np.allclose(form(K, K, V), V, rtol=1e-14)
    assert np.allclose(form(K, K, V, 0.5)[1], 0.5 * V[1] + 0.25 * V[0], rtol=1e-14)


@every_form
def test_inputs_are_left_alone_and_half_precision_is_computed_in_float32(form):
    Q, K, V, beta = unit_tokens(30)
    for a in (Q, K, V, beta):
        a.setflags(write=False)
    form(Q, K, V, beta)
    halves = [torch.from_numpy(a.copy()).to(torch.bfloat16) for a in (Q, K, V, beta)]
    O, S = form(*halves, return_state=True)
    assert torch.equal(O, form(*(a.float() for a in halves)).to(torch.bfloat16))
    assert (O.dtype, S.dtype) == (torch.bfloat16, torch.float32)


@every_form
@pytest.mark.parametrize("name", ["beta", "log_alpha", "state"])
@pytest.mark.parametrize("value", [np.zeros((1, 7)), np.nan, "one"])
def test_bad_options_are_refused_by_name(form, name, value):
    with pytest.raises(ValueError, match=f"^{name}"):
        form(*tokens(6), **{name: value})
