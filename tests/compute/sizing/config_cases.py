"""Two small configs, and how their layers and refusals are looked at."""

from __future__ import annotations

import pytest

from compute.sizing import ConfigError, read_config

LLAMA = {"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8}
GDN = {
    "model_type": "qwen3_next",
    "num_hidden_layers": 8,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 8,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "linear_conv_kernel_dim": 4,
}


def kinds(config):
    return [(group.count, group.kind) for group in read_config(config).layers]


def refusal(config):
    with pytest.raises(ConfigError) as refused:
        read_config(config)
    error = refused.value
    assert error.key in str(error) and error.remedy in str(error)
    return error
