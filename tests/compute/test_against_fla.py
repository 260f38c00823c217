"""Attention against flash-linear-attention's naive routines and transformers' MiniMax layer.

Both come with the `outside` extra.  Their outputs carry d_k^(-1/2) on the queries, which is put in here; most
of the recurrent naives compute in float32 whatever comes in, hence two tolerances.
"""

import warnings

import numpy as np
import pytest
import torch
from attention_cases import as_torch, elu, log_gates, miss, tokens

from compute.attention import (
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_recurrent,
    delta_attention_chunkwise,
    delta_attention_recurrent,
    lightning_attention,
    lightning_log_alpha,
    per_head,
    retnet_log_alpha,
)
from compute.feature_maps import FEATURE_MAPS

pytestmark = pytest.mark.outside

T, D_K, D_V, LEAD = 128, 16, 10, (2, 3)
SCALE = D_K**-0.5
IDENTITY = FEATURE_MAPS["identity"]()
EXACT, FLOAT32 = 1e-12, 2e-6

every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def naive(family, name):
    """`fla.ops.<family>.naive.<name>`, or a skip; without a GPU it warns on import that kernels are off."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reason = "flash-linear-attention is not installed (extra `outside`)"
        return getattr(pytest.importorskip(f"fla.ops.{family}.naive", reason=reason, exc_type=ImportError), name)


def case():
    Q, K, V = tokens(T, lead=LEAD, d_k=D_K, d_v=D_V)
    return Q, K / np.linalg.norm(K, axis=-1, keepdims=True), V


def heads_last(*arrays):
    """[batch, head, time, *] as torch in fla's usual [batch, time, head, *]."""
    return [torch.from_numpy(np.ascontiguousarray(np.moveaxis(a, 1, 2))) for a in arrays]


def heads_first(out):
    return np.moveaxis(np.asarray(out[0] if isinstance(out, tuple) else out), 2, 1)


@every_form
@pytest.mark.parametrize(
    "name, tolerance", [("naive_chunk_linear_attn", EXACT), ("naive_recurrent_linear_attn", FLOAT32)]
)
def test_linear_attention(form, name, tolerance):
    Q, K, V = case()
    theirs = naive("linear_attn", name)(*heads_last(elu(Q), elu(K), V), normalize=True)
    # Their denominator is that of scaled queries plus 1e-10.
    assert miss(form(Q, K, V, elu, eps=1e-10 / SCALE), heads_first(theirs)) < tolerance
    theirs = naive("linear_attn", name)(*heads_last(elu(Q), elu(K), V), normalize=False)
    assert miss(SCALE * form(Q, K, V, elu, normalise=False), heads_first(theirs)) < tolerance


@every_form
def test_taylor_features(form):
    Q, K, V = case()
    theirs = naive("based", "naive_parallel_based")(*as_torch((Q, K, V)))
    taylor = FEATURE_MAPS["taylor"]()
    assert miss(form(Q * SCALE**0.5, K * SCALE**0.5, V, taylor), theirs) < EXACT


@every_form
@pytest.mark.parametrize("family, name", [("simple_gla", "naive_recurrent_simple_gla"), ("gla", "naive_recurrent_gla")])
def test_gated_linear_attention(form, family, name):
    Q, K, V = case()
    gates = log_gates(T, "token" if family == "simple_gla" else "channel", D_K, lead=LEAD)
    theirs = naive(family, name)(*heads_last(Q, K, V, gates))
    assert miss(SCALE * form(Q, K, V, IDENTITY, normalise=False, log_alpha=gates), heads_first(theirs)) < FLOAT32


def test_retention():
    Q, K, V = case()
    theirs = naive("retention", "naive_retention")(*as_torch((Q, K, V)))
    ours = causal_linear_attention_chunkwise(
        Q, K, V, IDENTITY, normalise=False, log_alpha=per_head(retnet_log_alpha(LEAD[1]), Q)
    )
    assert miss(SCALE * ours, theirs) < FLOAT32


@pytest.mark.parametrize("ours", [delta_attention_recurrent, delta_attention_chunkwise])
@pytest.mark.parametrize("name, tolerance", [("delta_rule_chunkwise", EXACT), ("delta_rule_recurrence", FLOAT32)])
def test_the_delta_rule(ours, name, tolerance):
    Q, K, V = case()
    beta = np.random.default_rng(1).uniform(0, 1, (*LEAD, T))
    theirs, S = naive("delta_rule", name)(*as_torch((Q, K, V, beta)))
    O, S_ours = ours(Q, K, V, beta, return_state=True)
    assert max(miss(SCALE * O, theirs), miss(S_ours, S)) < tolerance


@pytest.mark.parametrize("ours", [delta_attention_recurrent, delta_attention_chunkwise])
@pytest.mark.parametrize("name", ["naive_recurrent_gated_delta_rule", "naive_chunk_gated_delta_rule"])
def test_the_gated_delta_rule(ours, name):
    Q, K, V = case()
    beta = np.random.default_rng(1).uniform(0, 1, (*LEAD, T))
    gates = -np.random.default_rng(2).exponential(0.2, (*LEAD, T))
    q, k, v, b, g = heads_last(Q, K, V, beta, gates)
    theirs = naive("gated_delta_rule", name)(q=q, k=k, v=v, beta=b, g=g)
    assert miss(SCALE * ours(Q, K, V, beta, log_alpha=gates), heads_first(theirs)) < FLOAT32


@pytest.mark.parametrize("ours", [delta_attention_recurrent, delta_attention_chunkwise])
@pytest.mark.parametrize("name", ["naive_recurrent_kda", "naive_chunk_kda"])
def test_the_delta_rule_with_a_gate_per_channel(ours, name):
    Q, K, V = case()
    beta = np.random.default_rng(1).uniform(0, 1, (*LEAD, T))
    gates = -np.random.default_rng(2).exponential(0.2, (*LEAD, T, D_K))
    q, k, v, b, g = heads_last(Q, K, V, beta, gates)
    theirs = naive("kda", name)(q=q, k=k, v=v, g=g, beta=b)
    assert miss(SCALE * ours(Q, K, V, beta, log_alpha=gates), heads_first(theirs)) < FLOAT32


@pytest.mark.parametrize("layer", [0, 3])
def test_lightning_attention_is_transformers_minimax_layer(layer):
    """The released layer, its projections set so that q, k, v and the gate come out as given."""
    reason = "transformers is not installed (extra `outside`)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config_of = pytest.importorskip("transformers.models.minimax.configuration_minimax", reason=reason)
        model_of = pytest.importorskip("transformers.models.minimax.modeling_minimax", reason=reason)
    heads, d = 4, 6
    config = config_of.MiniMaxConfig(
        hidden_size=heads * d * 4, num_attention_heads=heads, head_dim=d, num_hidden_layers=5, block_size=16
    )
    theirs = model_of.MiniMaxLightningAttention(config, layer).double()
    rng = np.random.default_rng(0)
    Q, K, V, gate = rng.standard_normal((4, 2, heads, 37, d))
    gain = rng.uniform(0.5, 2, (heads, 1, d))
    # One hidden number per projected one: [q, k, v] head by head, then the gate.
    hidden = np.concatenate([np.concatenate([Q, K, V], axis=-1), gate], axis=-1)
    qkv = np.moveaxis(hidden[..., : 3 * d], 1, 2).reshape(2, 37, -1)
    gates = np.moveaxis(hidden[..., 3 * d :], 1, 2).reshape(2, 37, -1)
    width = heads * d
    with torch.no_grad():
        theirs.qkv_proj.weight.copy_(torch.eye(4 * width)[: 3 * width])
        theirs.output_gate.weight.copy_(torch.eye(4 * width)[3 * width :])
        theirs.out_proj.weight.copy_(torch.eye(4 * width)[:, :width])
        theirs.norm.weight.copy_(torch.from_numpy(gain.reshape(-1)))
        x = torch.from_numpy(np.concatenate([qkv, gates], axis=-1))
        out = theirs(x, position_embeddings=None, attention_mask=None)[0][..., :width].numpy()
    want = np.moveaxis(out.reshape(2, 37, heads, d), 2, 1)
    decays = per_head(lightning_log_alpha(heads, layer, 5), Q)
    norm_eps = theirs.norm.variance_epsilon
    got = lightning_attention(Q, K, V, gate, decays, gain=gain, norm_eps=norm_eps)
    assert miss(got, want) < FLOAT32


def test_the_recurrent_form_resumes_where_theirs_does():
    Q, K, V = case()
    start = np.ones((*LEAD, D_K, D_V)), np.zeros((*LEAD, D_K))
    out, S = naive("linear_attn", "naive_recurrent_linear_attn")(
        *heads_last(Q, K, V), initial_state=torch.from_numpy(start[0]).float(), output_final_state=True
    )
    O, (S_ours, _) = causal_linear_attention_recurrent(
        Q, K, V, IDENTITY, normalise=False, state=start, return_state=True
    )
    assert max(miss(SCALE * O, heads_first(out)), miss(S_ours, S)) < FLOAT32
