"""Attention against flash-linear-attention's naive routines, which come with the `outside` extra.

Their outputs carry d_k^(-1/2) on the queries, which is put in here; most of the recurrent naives compute in float32
whatever comes in, hence two tolerances.  Where theirs ask for whole chunks, silent tokens fill the last one: nothing
before them can tell.
"""

import warnings

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, as_torch, elu, miss, tokens

from compute.attention import (
    DELTA_FORMS,
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_recurrent,
    per_head,
    retnet_log_alpha,
    softmax_attention,
)
from compute.feature_maps import FEATURE_MAPS

pytestmark = pytest.mark.outside

D_K, D_V, LEAD = 16, 10, (2, 3)
SCALE = D_K**-0.5
IDENTITY = FEATURE_MAPS["identity"]()
EXACT, FLOAT32 = 1e-12, 2e-6

every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
every_delta = pytest.mark.parametrize("form", DELTA_FORMS.values(), ids=DELTA_FORMS)
every_length = pytest.mark.parametrize("T", AWKWARD)


def naive(family, name):
    """`fla.ops.<family>.naive.<name>`, or a skip; without a GPU it warns on import that kernels are off."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reason = "flash-linear-attention is not installed (extra `outside`)"
        return getattr(pytest.importorskip(f"fla.ops.{family}.naive", reason=reason, exc_type=ImportError), name)


def case(T):
    Q, K, V = tokens(T, lead=LEAD, d_k=D_K, d_v=D_V)
    return Q, K / np.linalg.norm(K, axis=-1, keepdims=True), V


def filled(size, *arrays):
    """Zero tokens behind [batch, head, time, *] until chunks of this size are whole."""
    short = -arrays[0].shape[2] % size
    return [np.pad(a, [(0, short if axis == 2 else 0) for axis in range(a.ndim)]) for a in arrays]


def heads_last(*arrays):
    """[batch, head, time, *] as torch in fla's usual [batch, time, head, *]."""
    return [torch.from_numpy(np.ascontiguousarray(np.moveaxis(a, 1, 2))) for a in arrays]


def heads_first(out):
    return np.moveaxis(np.asarray(out[0] if isinstance(out, tuple) else out), 2, 1)


@every_form
@every_length
@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize(
    "name, tolerance", [("naive_chunk_linear_attn", EXACT), ("naive_recurrent_linear_attn", FLOAT32)]
)
def test_linear_attention(form, T, normalise, name, tolerance):
    Q, K, V = case(T)
    theirs = naive("linear_attn", name)(*heads_last(*filled(64, elu(Q), elu(K), V)), normalize=normalise)
    theirs = heads_first(theirs)[:, :, :T]
    # Their denominator is that of scaled queries plus 1e-10.
    ours = form(Q, K, V, elu, eps=1e-10 / SCALE, normalise=normalise)
    assert miss(ours if normalise else SCALE * ours, theirs) < tolerance


@every_form
@every_length
@pytest.mark.parametrize("name", ["naive_parallel_based", "naive_chunk_based"])
def test_taylor_features(form, T, name):
    Q, K, V = case(T)
    theirs = naive("based", name)(*map(as_torch, filled(256, Q, K, V)))[:, :, :T]
    taylor = FEATURE_MAPS["taylor"]()
    assert miss(form(Q * SCALE**0.5, K * SCALE**0.5, V, taylor), theirs) < EXACT


@every_form
@every_length
@pytest.mark.parametrize(
    "family, name, gate",
    [
        ("simple_gla", "naive_recurrent_simple_gla", "token"),
        ("simple_gla", "naive_parallel_simple_gla", "token"),
        ("simple_gla", "naive_chunk_simple_gla", "token"),
        ("gla", "naive_recurrent_gla", "channel"),
    ],
)
def test_gated_linear_attention(form, T, family, name, gate):
    Q, K, V = case(T)
    gates = -np.random.default_rng(1).exponential(0.2, (*LEAD, T, *([D_K] if gate == "channel" else [])))
    theirs = naive(family, name)(*heads_last(Q, K, V, gates))
    assert miss(SCALE * form(Q, K, V, IDENTITY, normalise=False, log_alpha=gates), heads_first(theirs)) < FLOAT32


@every_length
def test_retention(T):
    Q, K, V = case(T)
    theirs = naive("retention", "naive_retention")(*as_torch((Q, K, V)))
    ours = causal_linear_attention_chunkwise(
        Q, K, V, IDENTITY, normalise=False, log_alpha=per_head(retnet_log_alpha(LEAD[1]), Q)
    )
    assert miss(SCALE * ours, theirs) < FLOAT32


@every_delta
@every_length
@pytest.mark.parametrize(
    "name, size, tolerance",
    [("delta_rule_chunkwise", 32, EXACT), ("delta_rule_parallel", 128, EXACT), ("delta_rule_recurrence", 1, FLOAT32)],
)
def test_the_delta_rule(form, T, name, size, tolerance):
    Q, K, V = case(T)
    beta = np.random.default_rng(1).uniform(0, 1, (*LEAD, T))
    theirs, S = naive("delta_rule", name)(*map(as_torch, filled(size, Q, K, V, beta)))
    O, S_ours = form(Q, K, V, beta, return_state=True)
    assert miss(SCALE * O, theirs[:, :, :T]) < tolerance
    if name != "delta_rule_parallel":  # which gives its matrix of weights
        assert miss(S_ours, S) < tolerance


@every_delta
@every_length
@pytest.mark.parametrize(
    "family, name, channels",
    [
        ("gated_delta_rule", "naive_recurrent_gated_delta_rule", ()),
        ("gated_delta_rule", "naive_chunk_gated_delta_rule", ()),
        ("kda", "naive_recurrent_kda", (D_K,)),
        ("kda", "naive_chunk_kda", (D_K,)),
    ],
)
def test_the_gated_delta_rule(form, T, family, name, channels):
    Q, K, V = case(T)
    beta = np.random.default_rng(1).uniform(0, 1, (*LEAD, T))
    gates = -np.random.default_rng(2).exponential(0.2, (*LEAD, T, *channels))
    q, k, v, b, g = heads_last(*filled(64, Q, K, V, beta, gates))
    theirs = heads_first(naive(family, name)(q=q, k=k, v=v, beta=b, g=g))[:, :, :T]
    assert miss(SCALE * form(Q, K, V, beta, log_alpha=gates), theirs) < FLOAT32


@every_length
def test_softmax(T):
    Q, K, V = case(T)
    theirs = naive("attn", "naive_parallel_attn")(*heads_last(Q, K, V))
    assert miss(softmax_attention(Q, K, V), heads_first(theirs)) < FLOAT32


def test_the_recurrent_form_resumes_where_theirs_does():
    Q, K, V = case(63)
    start = np.ones((*LEAD, D_K, D_V)), np.zeros((*LEAD, D_K))
    out, S = naive("linear_attn", "naive_recurrent_linear_attn")(
        *heads_last(Q, K, V), initial_state=torch.from_numpy(start[0]).float(), output_final_state=True
    )
    O, (S_ours, _) = causal_linear_attention_recurrent(
        Q, K, V, IDENTITY, normalise=False, state=start, return_state=True
    )
    assert max(miss(SCALE * O, heads_first(out)), miss(S_ours, S)) < FLOAT32
