"""Files as transformers saves them, where they differ from the released ones; the `outside` tests measure the bytes."""

import pytest

from compute.sizing import ConfigError, from_text, model_config, read_config, to_text
from compute.sizing.families import Softmax
from compute.sizing.states import MatrixState

LLAMA = {"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8}
GEMMA = {key: value for key, value in model_config("gemma-4-31b")["text_config"].items() if "global" not in key}
GEMMA |= {"model_type": "gemma4_text"}


def test_single_layers_may_have_widths_of_their_own():
    own = {f"{i:02}": {"head_dim": 512, "num_key_value_heads": 4} for i in range(5, 60, 6)}
    saved = GEMMA | {"per_layer_config": own}
    shape = read_config(saved)
    assert [(group.count, group.family) for group in shape.layers] == [
        (50, Softmax(16, 256, 256, 1_024)),
        (10, Softmax(4, 512, 512)),
    ]
    assert "per_layer_config" in dict(shape.used) and "per_layer_config" in shape.layers[1].keys
    assert read_config(from_text(to_text(saved))).layers == shape.layers


def test_an_empty_object_says_that_all_layers_are_alike():
    saved = GEMMA | {"per_layer_config": {}}
    assert read_config(saved).layers[1].family == Softmax(16, 256, 256)
    assert read_config(from_text(to_text(saved))).layers == read_config(saved).layers


def test_null_in_a_single_layer_takes_the_key_away_there():
    saved = LLAMA | {"num_key_value_heads": 2, "per_layer_config": {"2": {"num_key_value_heads": None}}}
    assert [(group.count, group.family.kv_heads) for group in read_config(saved).layers] == [(3, 2), (1, 8)]


@pytest.mark.parametrize("own", [[], {"last": {}}, {"1": 7}, {"1": {"skip": ["attention"]}}, {"1": {"head_dim": "d"}}])
def test_single_layers_that_have_no_formula_are_refused(own):
    with pytest.raises(ConfigError) as refused:
        read_config(LLAMA | {"per_layer_config": own})
    assert refused.value.key in ("per_layer_config", "head_dim") and refused.value.remedy


def test_windowed_layers_of_mimo_have_twice_the_kv_heads_unless_the_file_says_otherwise():
    saved = LLAMA | {"model_type": "mimo_v2_flash", "layer_types": ["full_attention", "sliding_attention"] * 2}
    saved |= {"num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128, "sliding_window": 128}
    shape = read_config(saved)
    assert shape.layers[1].family == Softmax(8, 192, 128, 128)
    assert dict(shape.assumed)["swa_num_key_value_heads"].startswith("8:")
    assert read_config(saved | {"swa_num_key_value_heads": 2}).layers[1].family.kv_heads == 2


def test_the_head_dim_of_a_bailing_file_is_its_rotary_width():
    saved = {"model_type": "bailing_hybrid", "num_hidden_layers": 1, "layer_group_size": 6, "num_attention_heads": 32}
    saved |= {"head_dim": 64, "linear_head_dim": 128, "qk_rope_head_dim": 64}
    assert read_config(saved).layers[0].family == MatrixState("kda", 32, 128, 128, (32, 32, 32), 4)
