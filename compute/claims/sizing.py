"""What is found for the claims about bytes at real sizes, and about sums in few digits."""

from __future__ import annotations

import numpy as np

from compute.claims.registry import PHI, check, normals
from compute.cost import state_numbers
from compute.rounding import running_sum, stalls_at
from compute.sizing import (
    all_softmax_twin,
    bill,
    kv_cache_tokens,
    layer_crossings,
    load_model,
    model_crossings,
    read_config,
    taylor_state_bytes,
)

NATIVE = 262_144
MINIMAX, QWEN = "minimax-01", "qwen3.8-27b"


def _one_of_each():
    """A linear and a softmax layer with 32 heads of 128 and 8 key-value heads."""
    return read_config(
        {
            "model_type": "minimax_text_01",
            "num_hidden_layers": 2,
            "hidden_size": 4096,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "attn_type_list": [0, 1],
        }
    )


def _layers(word):
    """Softmax layers, recurrent layers, all layers."""
    shape = load_model(word)
    softmax = sum(group.count for group in shape.layers if group.family == shape.softmax)
    return [softmax, shape.n_layers - softmax, shape.n_layers]


@check
def state_numbers_of_32_heads():
    return bill(_one_of_each(), 1).state_bytes // 4


@check
def normaliser_of_32_heads():
    z = 32 * (state_numbers(128, 128) - 128 * 128)
    return [z, z / state_numbers_of_32_heads()]


@check
def grouped_cache_in_numbers():
    shape = _one_of_each()
    return [bill(shape, 1).kv_bytes_per_token // 2, kv_cache_tokens(state_numbers_of_32_heads(), 8, 128, bytes_per=1)]


@check
def grouped_cache_in_bytes():
    made = bill(_one_of_each(), 1)
    return [made.state_bytes, made.kv_bytes_per_token, layer_crossings(_one_of_each())[0].state_tokens]


@check
def layers_and_heads_of_minimax():
    shape = load_model(MINIMAX)
    lightning = next(group.family for group in shape.layers if group.family != shape.softmax)
    kv_heads = bill(shape, 1).kv_bytes_per_token // (_layers(MINIMAX)[0] * 2 * 128 * 2)
    return [*_layers(MINIMAX), lightning.heads, lightning.d_k, kv_heads]


@check
def state_of_minimax():
    made = bill(load_model(MINIMAX), 1000)
    return [made.state_bytes // 4, made.state_bytes / 2**20]


@check
def cache_of_minimax():
    made = bill(load_model(MINIMAX), 2**20)
    return [made.kv_bytes_per_token, made.kv_bytes / 2**30]


@check
def cache_of_minimax_if_all_softmax():
    return bill(all_softmax_twin(load_model(MINIMAX)), 2**20).total_bytes / 2**30


@check
def cache_of_qwen():
    return bill(load_model(QWEN), NATIVE).kv_bytes / 2**30


@check
def layers_of_qwen():
    return _layers(QWEN)


@check
def state_of_qwen():
    (row,) = (row for row in bill(load_model(QWEN), NATIVE).layers if row.state_bytes)
    return [row.state_bytes / row.count / 2**20, row.state_bytes / 2**20]


@check
def state_of_qwen_at_two_lengths():
    """In MiB at 100 tokens and at the native length; the cache at 100 tokens; where the cache overtakes the state."""
    shape = load_model(QWEN)
    short, long = bill(shape, 100), bill(shape, NATIVE)
    return [
        *(part / 2**20 for part in (short.state_bytes, long.state_bytes, short.kv_bytes)),
        model_crossings(shape).state,
    ]


@check
def share_of_softmax_layers():
    return [softmax / total for softmax, _, total in (_layers(MINIMAX), _layers(QWEN))]


@check
def taylor_at_full_width():
    features = PHI["taylor"](normals(1, 128)).shape[-1]
    return [features, taylor_state_bytes(128, 128, 1, bytes_per=1) - features]


@check
def taylor_state_of_eight_heads():
    return [taylor_state_bytes(16, 64, 8), taylor_state_bytes(16, 64, 8, bytes_per=2)]


@check
def tokens_that_fill_a_state():
    return [kv_cache_tokens(2 * 2**20, 8, 128), kv_cache_tokens(taylor_state_bytes(16, 64, 8), 8, 128)]


@check
def sums_that_stall():
    """Ones added 400 times and hundredths added 1,000 times in bfloat16, and where float32 stalls."""
    sums = running_sum(np.ones(400), "bfloat16")[-1], running_sum(np.full(1000, 0.01), "bfloat16")[-1]
    return [*map(float, sums), stalls_at(1, "float32")]


@check
def normaliser_in_bfloat16():
    """How far elu+1's running sum of 4,096 key features falls short, as a share of the true sum."""
    features = PHI["elu"](normals(4096, 16))
    short = 1 - running_sum(features, "bfloat16")[-1] / features.sum(axis=0)
    return [float(short.mean()), float(np.max(np.abs(1 - running_sum(features, "float32")[-1] / features.sum(axis=0))))]
