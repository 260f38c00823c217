"""Attention against the layers of released models as transformers writes them in plain torch (extra `outside`)."""

import inspect
import warnings

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, as_torch, miss, tokens

from compute.attention import (
    DELTA_FORMS,
    lightning_attention,
    lightning_log_alpha,
    mlstm_attention,
    per_head,
)

pytestmark = pytest.mark.outside

LEAD, D_K, D_V = (2, 3), 16, 10
FLOAT32 = 2e-6
"""What they compute in, whatever comes in."""


def layers(model, kind="modeling"):
    """`transformers.models.<model>.<kind>_<model>`, or a skip."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reason = "transformers is not installed (extra `outside`)"
        return pytest.importorskip(f"transformers.models.{model}.{kind}_{model}", reason=reason, exc_type=ImportError)


@pytest.mark.parametrize("layer", [0, 3])
def test_lightning_attention_is_transformers_minimax_layer(layer):
    """The released layer, its projections set so that q, k, v and the gate come out as given."""
    config_of, model_of = layers("minimax", "configuration"), layers("minimax")
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


@pytest.mark.parametrize("form", DELTA_FORMS.values(), ids=DELTA_FORMS)
@pytest.mark.parametrize("theirs", ["torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule"])
@pytest.mark.parametrize("T", AWKWARD)
def test_the_gated_delta_rule_of_qwen3_next(form, theirs, T):
    Q, K, V = tokens(T, lead=LEAD, d_k=D_K, d_v=D_V)
    K /= np.linalg.norm(K, axis=-1, keepdims=True)
    rng = np.random.default_rng(1)
    beta, gates = rng.uniform(0, 1, (*LEAD, T)), -rng.exponential(0.2, (*LEAD, T))
    q, k, v, g, b = (torch.from_numpy(np.moveaxis(a, 1, 2).copy()) for a in (Q, K, V, gates, beta))
    # What they wrap it in would take flash-linear-attention's kernel for a GPU, where that is installed.
    written_out = inspect.unwrap(getattr(layers("qwen3_next"), theirs))
    out, S = written_out(q, k, v, g=g, beta=b, output_final_state=True)
    O, S_ours = form(Q, K, V, beta, log_alpha=gates, return_state=True)
    assert max(miss(D_K**-0.5 * O, np.moveaxis(out.numpy(), 2, 1)), miss(S_ours, S)) < FLOAT32


@pytest.mark.parametrize("theirs", ["mlstm_chunkwise_native_autograd", "mlstm_recurrent_sequence_native"])
@pytest.mark.parametrize("T", AWKWARD)
def test_the_read_of_xlstm(theirs, T):
    """Their gates are exponentials kept in range by a running maximum, ours plain numbers; they temper the query."""
    Q, K, V = tokens(T, lead=LEAD, d_k=D_K, d_v=D_V)
    write, forget = np.random.default_rng(1).standard_normal((2, *LEAD, T))
    options = {"dtype_state": torch.float64} if "recurrent" in theirs else {"chunk_size": T}
    given = as_torch((Q, K, V, write, 2 + forget))
    want = getattr(layers("xlstm"), theirs)(*given, eps=0.0, return_last_states=False, **options)
    gates = -np.log1p(np.exp(-2 - forget))
    ours = mlstm_attention(Q * D_K**-0.5, K, V, log_alpha=gates, write=np.exp(write), chunk=16)
    assert miss(ours, want[0] if isinstance(want, tuple) else want) < 1e-12
