"""Bills against the caches that transformers' own model classes make.

The extra `outside` brings the package.  Models run in bfloat16 for a batch of two: small ones with real numbers on the
CPU, through a prefill and decoding, and whole ones on the device "meta", where tensors have shapes and dtypes but no
numbers.  `real_caches.CONVENTION` names what the package does where engines differ.
"""

import json

import pytest
from sizing.real_caches import assert_bill_is_exact, built, configured, run

from compute.sizing import ConfigError, bill, model_config, models, read_config
from compute.sizing.architectures import ARCHITECTURES

pytestmark = pytest.mark.outside

WINDOW = 16
LINEAR_FULL = ["linear_attention", "full_attention"]
WINDOW_FULL = ["sliding_attention", "full_attention"]

SLIDING, LOCAL, CHUNKED = ({key: WINDOW} for key in ("sliding_window", "attention_window_size", "attention_chunk_size"))
LISTS = ("layer_types", "attn_type_list", "layers_block_type", "sliding_window_size", "hybrid_override_pattern")
SMALL = {"vocab_size": 32, "intermediate_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
EXPERTS = {
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 2),
    **dict.fromkeys(("num_experts_per_tok", "num_experts_per_token", "n_group", "topk_group"), 1),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "intermediate_size_mlp"), 64),
    "moe_shared_expert_intermediate_size": 64,
    "first_k_dense_replace": 1,
}
MLA = {"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
KDA = {"head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4, "kda_layers": [1], "full_attn_layers": [2]}

# A model of ours, or the package's model type with its default widths, and what is changed: the layers, MLPs, experts,
# vocabulary and windows.  Head counts and widths are the released ones.
REAL = {
    "minimax": ("minimax-01", EXPERTS | {"model_type": "minimax", "layer_types": LINEAR_FULL}),
    "qwen3_next": ("qwen3-next-80b-a3b", EXPERTS | {"layer_types": LINEAR_FULL}),
    "qwen3_5": ("qwen3.8-27b", {"layer_types": LINEAR_FULL}),
    "qwen3_5_moe": ("qwen3.5-35b-a3b", EXPERTS | {"layer_types": LINEAR_FULL}),
    "kimi_linear": ("kimi-linear-48b-a3b", EXPERTS | {"num_hidden_layers": 2, "linear_attn_config": KDA}),
    "bailing_hybrid": (None, EXPERTS | {"num_hidden_layers": 2, "layer_group_size": 2}),
    "olmo_hybrid": ("olmo-hybrid-7b", {"layer_types": LINEAR_FULL}),
    "jamba": ("jamba-v0.1", EXPERTS | {"num_hidden_layers": 2, "attn_layer_period": 2, "attn_layer_offset": 1}),
    "bamba": ("bamba-9b", {"num_hidden_layers": 2, "attn_layer_indices": [1]}),
    "granitemoehybrid": (
        "granite-4.0-h-tiny",
        EXPERTS | {"layer_types": ["mamba", "attention"], "shared_intermediate_size": 64},
    ),
    "falcon_h1": ("falcon-h1-7b", {"num_hidden_layers": 1}),
    "nemotron_h": (
        "nemotron-3-nano-30b-a3b",
        EXPERTS | {"layers_block_type": ["mamba", "attention", "mlp", "moe"]},
    ),
    "zamba2": ("zamba2-7b", {"n_mamba_heads": 112, "layers_block_type": ["mamba", "hybrid"]}),
    "lfm2": ("lfm2-1.2b", {"num_hidden_layers": 2, "full_attn_idxs": [1]}),
    "recurrent_gemma": ("recurrentgemma-2b", LOCAL | {"num_hidden_layers": 3}),
    "mamba": (None, {"num_hidden_layers": 1, "hidden_size": 2560, "intermediate_size": 5120}),
    "falcon_mamba": ("falcon-mamba-7b", {"num_hidden_layers": 1, "intermediate_size": 8192}),
    "mamba2": (None, {"num_hidden_layers": 1}),
    "xlstm": ("xlstm-7b", {"num_blocks": 1, "num_hidden_layers": 1}),
    "rwkv": (None, {"num_hidden_layers": 2, "hidden_size": 4096, "attention_hidden_size": 4096}),
    "gpt2": ("gpt-2", {"n_layer": 1}),
    "llama": ("llama-3.1-8b", {"num_hidden_layers": 1}),
    "falcon": (None, {"num_hidden_layers": 1}),
    "dbrx": (
        None,
        {"n_layers": 1, "d_model": 6144, "n_heads": 48}
        | {"attn_config": {"kv_n_heads": 8, "clip_qkv": 8, "rope_theta": 500_000.0}}
        | {"ffn_config": {"moe_num_experts": 2, "moe_top_k": 1, "ffn_hidden_size": 64}},
    ),
    "qwen3": ("qwen3-32b", {"num_hidden_layers": 1}),
    "minimax_m2": ("minimax-m2.5", EXPERTS | {"num_hidden_layers": 1}),
    "phi3": (None, SLIDING | {"num_hidden_layers": 1}),
    "mistral": ("mistral-7b-v0.1", SLIDING | {"num_hidden_layers": 1}),
    "gemma2": ("gemma-2-9b", SLIDING | {"num_hidden_layers": 2}),
    "gemma3": ("gemma-3-27b-it", SLIDING | {"hidden_size": 5376, "layer_types": WINDOW_FULL}),
    "gemma3n": (
        None,
        SLIDING
        | {"model_type": "gemma3n_text", "layer_types": WINDOW_FULL * 2, "num_kv_shared_layers": 2}
        | {"intermediate_size": [64] * 4, "activation_sparsity_pattern": [0.0] * 4, "vocab_size_per_layer_input": 32},
    ),
    "gemma4": (
        "gemma-4-31b",
        SLIDING | {"num_attention_heads": 32, "layer_types": WINDOW_FULL, "hidden_size_per_layer_input": 0},
    ),
    "gpt_oss": ("gpt-oss-20b", EXPERTS | SLIDING | {"layer_types": WINDOW_FULL}),
    "llama4": (
        None,
        EXPERTS | CHUNKED | {"model_type": "llama4_text", "num_hidden_layers": 2, "no_rope_layers": [1, 0]},
    ),
    "mimo_v2_flash": (None, EXPERTS | SLIDING | {"layer_types": WINDOW_FULL[::-1]}),
    "deepseek_v3": ("deepseek-v3", EXPERTS | {"num_hidden_layers": 1}),
    "deepseek_v32": (
        None,
        EXPERTS | MLA | {"num_hidden_layers": 1, "hidden_size": 7168, "num_attention_heads": 128, "index_n_heads": 64},
    ),
}


def small(name):
    """The released config with its changes; its lists of layers are left out, and their number follows the new list."""
    word, changes = REAL[name]
    file = model_config(word) if word else {"model_type": name}
    inner = {key: value for key, value in file.get("text_config", file).items() if key not in LISTS} | SMALL | changes
    listed = inner.get("layer_types") or inner.get("layers_block_type")
    if listed:
        inner["num_hidden_layers"] = len(listed)
    return file | {"text_config": inner} if "text_config" in file else inner


@pytest.mark.parametrize("name", REAL)
def test_every_cached_tensor_is_in_the_bill_to_the_byte(name):
    model = built(configured(small(name)), "cpu")
    shape = read_config(model.config.to_json_string())

    assert_bill_is_exact(shape, model, run(model, 40), 40)
    cache = run(model, WINDOW - 2)
    assert_bill_is_exact(shape, model, cache, WINDOW - 2)
    for tokens in (WINDOW - 1, WINDOW, WINDOW + 1):  # windows fill on the way
        cache = run(model, 1, cache)
        assert_bill_is_exact(shape, model, cache, tokens)


# Numbers that our excerpt of a released file leaves out, where the class would put another model's.
LEFT_OUT = {
    "gemma-4-31b": {"num_hidden_layers": 60, "num_attention_heads": 32},
    "zamba2-7b": {"n_mamba_heads": 112},
}


@pytest.mark.parametrize("word", models())
def test_a_whole_model_keeps_what_its_released_file_is_billed_for(word):
    file = model_config(word)
    file.get("text_config", file).update(LEFT_OUT.get(word, {}))
    if file["model_type"] == "minimax_text_01":  # transformers knows it under another name and with another list
        file |= {"model_type": "minimax", "layer_types": [LINEAR_FULL[mark] for mark in file["attn_type_list"]]}
    model = built(configured(file), "meta")
    cache = run(model, 20)
    for released_or_saved in (model_config(word), model.config.to_json_string()):
        assert_bill_is_exact(read_config(released_or_saved), model, cache, 20)


# Class defaults that make no model that runs, or one without the layers in question.
ROTARY = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [8, 12, 12], "partial_rotary_factor": 0.5}
CANNOT_RUN = {
    "bamba": {"attn_layer_indices": [9, 18]},
    "deepseek_v2": EXPERTS,
    "dots1": {"n_routed_experts": 4, "num_experts_per_tok": 1, "n_shared_experts": 1},
    "glm4v": {"text_config": {"rope_parameters": ROTARY}},
    "glm4v_moe": {"text_config": {"rope_parameters": ROTARY, "head_dim": 128}},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"] * 16},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 16},
    "ministral": {"head_dim": 128},
    "nemotron": {"head_dim": 128, "num_key_value_heads": 8},
}


@pytest.mark.parametrize("model_type", sorted(set(ARCHITECTURES) - {"dbrx"}))  # its experts look at numbers
def test_a_model_of_every_type_keeps_what_its_saved_file_is_billed_for(model_type):
    config = configured({"model_type": model_type} | CANNOT_RUN.get(model_type, {}))
    for key in SLIDING | LOCAL | CHUNKED:
        if getattr(config, key, None):
            setattr(config, key, WINDOW)
    model = built(config, "meta")
    assert_bill_is_exact(read_config(model.config.to_json_string()), model, run(model, 20), 20)


def rows(file):
    return [(row.kind, row.count, row.bytes) for row in bill(read_config(file), 100_000).layers]


def meant(config, key):
    """The saved file as the class fills it in without the key, or None if the class cannot do without."""
    given = {k: value for k, value in config.to_dict().items() if k != key}
    try:
        return type(config).from_dict(given).to_json_string()
    except Exception:  # classes fail in many ways, and then there is nothing to compare with
        return None


@pytest.mark.parametrize("model_type", sorted(ARCHITECTURES))
def test_a_key_left_out_of_a_saved_file_is_read_as_the_class_reads_it_or_refused(model_type):
    config = configured({"model_type": model_type} | CANNOT_RUN.get(model_type, {}))
    saved = json.loads(config.to_json_string())
    compared = 0
    for key in saved.keys() - {"model_type"}:
        filled = meant(config, key)
        try:
            read = rows({k: value for k, value in saved.items() if k != key})
        except ConfigError:
            continue
        if filled is not None:
            assert read == rows(filled), key
            compared += 1
    assert compared > 9
