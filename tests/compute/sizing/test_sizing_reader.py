"""Reading configs: where keys stand, which list wins, what counts as absent, and what is refused by name."""

import json

import pytest
from sizing.config_cases import GDN, LLAMA, kinds, refusal

from compute.sizing import ConfigError, bill, model_config, models, read_config
from compute.sizing.architectures import ARCHITECTURES, NO_FORMULA
from compute.sizing.families import Softmax

# -- where the keys stand ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", ["text_config", "llm_config", "language_config"])
def test_the_language_model_s_keys_are_unwrapped(wrapper):
    vision = {"num_hidden_layers": 27, "hidden_size": 1152, "num_attention_heads": 16}
    config = {"model_type": "some_vl", "torch_dtype": "float16", "vision_config": vision, wrapper: LLAMA}
    shape = read_config(config)
    assert shape.layers == read_config(LLAMA).layers
    assert shape.kv_dtype == "float16"
    assert "vision_config" in shape.ignored


def test_two_wrappers_deep_is_still_the_language_model():
    assert kinds({"thinker_config": {"text_config": LLAMA}}) == [(4, "softmax")]


def test_a_nested_dtype_wins_over_the_outer_one():
    assert read_config({"dtype": "float32", "text_config": LLAMA | {"dtype": "float16"}}).kv_dtype == "float16"


def test_a_layer_count_left_to_a_class_default_is_not_guessed():
    bare = {key: value for key, value in LLAMA.items() if key != "num_hidden_layers"}
    error = refusal({"model_type": "llava", "text_config": bare, "vision_config": {"num_hidden_layers": 24}})
    assert error.key == "num_hidden_layers" and "not in the file" in str(error)


@pytest.mark.parametrize("absent", [None, 0, -1])
@pytest.mark.parametrize("key", ["num_key_value_heads", "head_dim", "v_head_dim", "sliding_window"])
def test_null_zero_and_minus_one_are_absent(key, absent):
    assert read_config(LLAMA | {key: absent}).layers == read_config(LLAMA).layers


def test_older_spellings_mean_the_same():
    old = {"model_type": "gpt2", "n_layer": 4, "n_embd": 512, "n_head": 8}
    assert read_config(old).layers[0].family == read_config(LLAMA).layers[0].family == Softmax(8, 64, 64)


def test_the_head_width_of_the_file_wins_over_hidden_size_over_heads():
    assert read_config(LLAMA | {"head_dim": 96}).layers[0].family.d_k == 96


def test_values_may_be_narrower_than_keys():
    assert (
        bill(read_config(LLAMA | {"head_dim": 192, "v_head_dim": 128}), 1).kv_bytes_per_token == 4 * 8 * (192 + 128) * 2
    )


def test_the_class_name_stands_in_for_a_missing_model_type():
    config = {key: value for key, value in GDN.items() if key != "model_type"}
    assert read_config(config | {"architectures": ["Qwen3NextForCausalLM"]}).model_type == "qwen3_next"


def test_a_key_only_one_architecture_has_stands_in_for_a_missing_name():
    shape = read_config({key: value for key, value in GDN.items() if key != "model_type"})
    assert shape.model_type == "qwen3_next" and "linear_num_value_heads" in dict(shape.assumed)["model_type"]


def test_a_nameless_plain_file_is_billed_with_a_warning_never_silently():
    shape = read_config({key: value for key, value in LLAMA.items() if key != "model_type"})
    assert any("No model_type" in said for said in shape.warnings) and "model_type" in dict(shape.assumed)


@pytest.mark.parametrize(
    "scheme, word", [({"num_bits": 8, "type": "float"}, "fp8"), ({"num_bits": 8, "type": "int"}, "int8")]
)
def test_a_quantised_cache_is_read_from_its_scheme(scheme, word):
    config = LLAMA | {"torch_dtype": "bfloat16", "quantization_config": {"kv_cache_scheme": scheme}}
    assert read_config(config).kv_dtype == word


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, key",
    [
        ({"model_type": "brand_new"}, "model_type"),
        ({"model_type": 7}, "model_type"),
        ({"layer_types": ["full_attention"] * 3}, "layer_types"),
        ({"layer_types": ["full_attention", "mystery", "full_attention", "full_attention"]}, "layer_types"),
        ({"layer_types": ["linear_attention"] * 4}, "layer_types"),
        ({"mamba_d_state": 16}, "mamba_d_state"),
        ({"linear_num_value_heads": 16}, "linear_num_value_heads"),
        ({"compress_ratios": [4, 4, 4, 4]}, "compress_ratios"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_hidden_layers": "4"}, "num_hidden_layers"),
        ({"num_key_value_heads": 2.5}, "num_key_value_heads"),
        ({"head_dim": True}, "head_dim"),
        ({"num_attention_heads": -8}, "num_attention_heads"),
        ({"hidden_size": 4}, "num_attention_heads"),
        ({"torch_dtype": 16}, "torch_dtype"),
        ({"text_config": [1]}, "text_config"),
        ({"num_key_value_heads": [8, 8]}, "num_key_value_heads"),
        ({"num_kv_shared_layers": 4}, "num_kv_shared_layers"),
    ],
)
def test_what_has_no_exact_formula_is_refused_by_the_deciding_key(change, key):
    assert refusal(LLAMA | change).key == key


def test_a_hybrid_that_lists_nothing_is_refused_not_counted_plain():
    for name in ("minimax", "kimi_linear", "bamba", "granitemoehybrid", "nemotron_h", "zamba2", "lfm2"):
        assert refusal(LLAMA | {"model_type": name, "kv_lora_rank": 8, "qk_rope_head_dim": 8}).remedy


def test_an_unknown_name_is_told_its_nearest_relatives():
    assert "qwen3_next" in refusal(GDN | {"model_type": "qwen3_nxt"}).remedy


@pytest.mark.parametrize("name", NO_FORMULA)
def test_types_known_to_need_another_formula_say_why(name):
    assert name in str(refusal(LLAMA | {"model_type": name}))


def test_latent_types_without_a_latent_are_refused():
    assert refusal(LLAMA | {"model_type": "deepseek_v3"}).key == "kv_lora_rank"


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture_answers_a_bare_file_with_a_bill_or_a_named_key(name):
    try:
        made = bill(read_config(LLAMA | {"model_type": name}), 1_000)
    except ConfigError as error:
        assert error.key and error.remedy
    else:
        assert made.total_bytes > 0


@pytest.mark.parametrize("word", models())
def test_json_text_and_dict_read_alike(word):
    config = model_config(word)
    assert read_config(json.dumps(config)) == read_config(config)
