"""Which kind each layer is: the list that wins, and the traps of released files."""

import pytest
from sizing.config_cases import GDN, LLAMA, kinds, refusal

from compute.sizing import bill, model_config, read_config
from compute.sizing.families import Latent, Softmax

MAMBA2 = {"mamba_n_heads": 8, "mamba_d_head": 32, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_n_groups": 1}


# -- which list wins --------------------------------------------------------------------------------------------------


def test_an_explicit_list_beats_an_interval():
    layer_types = ["linear_attention"] * 7 + ["full_attention"]
    assert kinds(GDN | {"full_attention_interval": 4}) == [(6, "gdn"), (2, "softmax")]
    assert kinds(GDN | {"full_attention_interval": 4, "layer_types": layer_types}) == [(7, "gdn"), (1, "softmax")]


def test_layer_types_come_before_the_other_lists():
    layer_types = ["linear_attention"] * 2 + ["full_attention"] * 2
    config = LLAMA | {
        "model_type": "minimax",
        "head_dim": 64,
        "attn_type_list": [0, 0, 0, 1],
        "layer_types": layer_types,
    }
    assert kinds(config) == [(2, "lightning"), (2, "softmax")]


def test_the_last_layers_are_the_ones_that_share():
    layer_types = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]
    config = LLAMA | {"model_type": "gemma4_text", "layer_types": layer_types, "sliding_window": 8, "head_dim": 64}
    assert kinds(config | {"num_kv_shared_layers": 3}) == [(1, "softmax"), (3, "shared")]


def test_windows_of_different_layers_are_added():
    config = LLAMA | {"model_type": "mistral", "sliding_window": 11, "num_key_value_heads": [1, 2, 2, 4]}
    assert bill(read_config(config), 100).window_bytes == (1 + 2 + 2 + 4) * 2 * 64 * 2 * 10


def test_an_interval_beats_the_type_s_own_rule():
    assert kinds(GDN | {"full_attention_interval": 2}) == [(4, "gdn"), (4, "softmax")]
    assert kinds(GDN) == [(6, "gdn"), (2, "softmax")]


def test_the_layer_list_decides_not_the_presence_of_mamba_keys():
    """Granite-4.0-Micro carries Mamba keys and has forty attention layers."""
    config = LLAMA | MAMBA2 | {"model_type": "granitemoehybrid", "layer_types": ["attention"] * 4}
    assert kinds(config) == [(4, "softmax")]


def test_a_list_alone_gives_the_number_of_layers():
    pattern = {key: value for key, value in GDN.items() if key != "num_hidden_layers"}
    assert kinds(pattern | {"layer_types": ["linear_attention", "full_attention"]}) == [(1, "gdn"), (1, "softmax")]


def test_marks_letters_and_block_names_are_read():
    base = LLAMA | MAMBA2 | {"head_dim": 64}
    assert kinds(base | {"model_type": "minimax", "attn_type_list": [0, 0, 0, 1]}) == [(3, "lightning"), (1, "softmax")]
    assert kinds(base | {"model_type": "minimax_m2", "attn_type_list": [1] * 4}) == [(4, "softmax")]
    nemotron = base | {"model_type": "nemotron_h"}
    expected = [(1, "mamba2"), (1, "softmax"), (1, "mlp"), (1, "moe")]
    assert kinds(nemotron | {"hybrid_override_pattern": "M*-E"}) == expected
    assert kinds(nemotron | {"layers_block_type": ["mamba", "attention", "mlp", "moe"]}) == expected
    zamba = base | {"model_type": "zamba2", "layers_block_type": ["mamba", "mamba", "hybrid", "mamba"]}
    assert kinds(zamba) == [(3, "mamba2"), (1, "attn+mamba2")]


def test_kimi_lists_count_from_one():
    config = model_config("kimi-linear-48b-a3b")
    assert kinds(config) == [(20, "kda"), (7, "mla")]
    config["linear_attn_config"]["kda_layers"] = [i - 1 for i in config["linear_attn_config"]["kda_layers"]]
    assert refusal(config).key == "linear_attn_config.kda_layers"


def test_indices_of_attention_layers_count_from_zero():
    bamba = LLAMA | MAMBA2 | {"model_type": "bamba", "attn_layer_indices": [0, 3]}
    assert kinds(bamba) == [(2, "softmax"), (2, "mamba2")]
    lfm = LLAMA | {"model_type": "lfm2", "conv_L_cache": 3, "full_attn_idxs": [1]}
    assert kinds(lfm) == [(3, "shortconv"), (1, "softmax")]


def test_periods_cycles_and_groups_are_spread_over_the_layers():
    jamba = LLAMA | {"model_type": "jamba", "num_hidden_layers": 8, "attn_layer_period": 4, "attn_layer_offset": 0}
    assert kinds(jamba) == [(2, "softmax"), (6, "mamba1")]
    assert kinds(model_config("recurrentgemma-2b")) == [(18, "rglru"), (8, "window")]
    ring = LLAMA | {"model_type": "bailing_moe_linear", "num_hidden_layers": 12, "layer_group_size": 5}
    assert kinds(ring) == [(8, "lightning"), (4, "softmax")]  # two of five, and the two after the last whole group


def test_window_patterns_are_numbers_or_letters():
    base = LLAMA | {"num_hidden_layers": 6, "sliding_window": 64, "head_dim": 64}
    assert kinds(base | {"model_type": "gemma3_text", "sliding_window_pattern": 3}) == [(4, "window"), (2, "softmax")]
    assert kinds(base | {"model_type": "gemma3_text"}) == [(5, "window"), (1, "softmax")]
    assert kinds(base | {"model_type": "exaone4", "sliding_window_pattern": "LLLG"}) == [(4, "window"), (2, "softmax")]
    assert kinds(base | {"model_type": "gemma2"}) == [(3, "window"), (3, "softmax")]


def test_windowed_layers_may_have_heads_of_their_own():
    config = LLAMA | {"model_type": "mimo_v2_flash", "hybrid_layer_pattern": [0, 1, 1, 1], "sliding_window": 128}
    config |= {"num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128}
    config |= {"swa_num_key_value_heads": 8, "swa_head_dim": 96, "swa_v_head_dim": 64}
    full, window = (group.family for group in read_config(config).layers)
    assert full == Softmax(4, 192, 128) and window == Softmax(8, 96, 64, 128)


def test_global_layers_of_gemma_4_have_heads_of_their_own():
    config = model_config("gemma-4-31b")
    assert read_config(config).layers[1].family == Softmax(4, 512, 512)
    config["text_config"]["attention_k_eq_v"] = False
    assert read_config(config).layers[1].family == Softmax(16, 512, 512)


def test_windows_start_at_a_threshold_and_only_when_switched_on():
    config = LLAMA | {"model_type": "qwen2", "sliding_window": 64, "max_window_layers": 3}
    assert kinds(config | {"use_sliding_window": True}) == [(3, "softmax"), (1, "window")]
    assert kinds(config | {"use_sliding_window": False}) == [(4, "softmax")]


def test_a_declared_but_unused_window_is_said():
    shape = read_config(LLAMA | {"sliding_window": 64})
    assert kinds(LLAMA | {"sliding_window": 64}) == [(4, "softmax")]
    assert any("sliding_window" in said and "no layer uses" in said for said in shape.warnings)


def test_chunks_of_llama_4():
    config = LLAMA | {"model_type": "llama4_text", "attention_chunk_size": 32, "head_dim": 64}
    assert kinds({"model_type": "llama4", "text_config": config}) == [(3, "chunked"), (1, "softmax")]
    assert bill(read_config(config), 1_000).window_bytes == 3 * 2 * 8 * 64 * 2 * 31


def test_draft_layers_are_not_layers():
    shape = read_config(model_config("deepseek-v3"))
    assert shape.n_layers == 61 and "num_nextn_predict_layers" in dict(shape.assumed)


def test_experts_have_no_effect():
    plain = LLAMA | {"num_key_value_heads": 2}
    assert read_config(plain | {"model_type": "mixtral", "num_local_experts": 8}).layers == read_config(plain).layers


# -- traps of released files ------------------------------------------------------------------------------------------


def test_falcon_mamba_goes_by_intermediate_size_and_jamba_does_not():
    falcon = {"model_type": "falcon_mamba", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128}
    falcon |= {"state_size": 16, "conv_kernel": 4, "expand": 16}
    assert read_config(falcon).layers[0].family.inner == 128
    jamba = falcon | {"model_type": "jamba", "mamba_expand": 2, "num_attention_heads": 1}
    jamba |= {"attn_layer_period": 2, "attn_layer_offset": 0}
    assert read_config(jamba | {"intermediate_size": 999}).layers[1].family.inner == 128


def test_an_automatic_head_width_follows_from_the_inner_width():
    config = (
        LLAMA | MAMBA2 | {"model_type": "bamba", "attn_layer_indices": [0], "mamba_d_head": "auto", "mamba_expand": 2}
    )
    assert read_config(config).layers[1].family.width == 2 * 512 // 8


def test_mamba_numbers_that_contradict_each_other_are_refused():
    config = LLAMA | MAMBA2 | {"model_type": "falcon_h1", "mamba_d_ssm": 100}
    assert refusal(config).key == "mamba_d_ssm"


def test_falcon_7b_has_one_kv_head_whatever_num_kv_heads_says():
    old = {"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71}
    assert read_config(old | {"multi_query": True, "num_kv_heads": 71}).layers[0].family.kv_heads == 1
    new = old | {"num_kv_heads": 8, "multi_query": True, "new_decoder_architecture": True}
    assert read_config(new).layers[0].family.kv_heads == 8


def test_a_sparse_indexer_adds_its_key():
    config = model_config("deepseek-v3") | {"model_type": "glm_moe_dsa", "index_head_dim": 64}
    assert read_config(config).layers[0].family == Latent(512, 64, 128, 128, 128, 64)


def test_layers_that_reuse_an_index_keep_no_index_key():
    config = model_config("deepseek-v3") | {"model_type": "glm_moe_dsa", "num_hidden_layers": 4, "index_head_dim": 128}
    for how in ({"indexer_types": ["full", "full", "shared", "full"]}, {"index_topk_pattern": "FFSF"}):
        assert [(g.count, g.family.index) for g in read_config(config | how).layers] == [(3, 128), (1, 0)]
    every_other = read_config(config | {"index_topk_freq": 2, "index_skip_topk_offset": 2})
    assert [(g.count, g.family.index) for g in every_other.layers] == [(3, 128), (1, 0)]
    assert refusal(config | {"indexer_types": ["full"] * 3}).key == "indexer_types"


def test_flash_linear_attention_hybrids_name_their_softmax_layers():
    config = {"model_type": "gla", "num_hidden_layers": 4, "hidden_size": 256, "num_heads": 4, "expand_k": 0.5}
    config |= {"expand_v": 1.0, "attn": {"layers": [1, 3], "num_heads": 8, "num_kv_heads": 2, "window_size": 64}}
    shape = read_config(config)
    assert kinds(config) == [(2, "gla"), (2, "window")]
    assert shape.layers[0].family.state()[0].value == 4 * 32 * 64
    assert shape.layers[1].family == Softmax(2, 32, 32, 64)


def test_grouped_keys_do_not_shrink_a_gla_state_but_do_shrink_its_convolution():
    config = {"model_type": "gla", "num_hidden_layers": 1, "hidden_size": 256, "num_heads": 4, "num_kv_heads": 2}
    config |= {"expand_k": 1, "expand_v": 1, "use_short_conv": True, "conv_size": 4}
    family = read_config(config).layers[0].family
    assert family.state()[0].value == 4 * 64 * 64
    assert family.conv()[0].value == (256 + 128 + 128) * 4


@pytest.mark.parametrize("feature_map, factor", [("elu", 1), ("hedgehog", 2), ("dpfp", 8)])
def test_a_feature_map_widens_the_plain_linear_state(feature_map, factor):
    config = {"model_type": "linear_attn", "num_hidden_layers": 1, "hidden_size": 256, "num_heads": 4}
    config |= {"expand_k": 1.0, "expand_v": 1.0, "feature_map": feature_map}
    assert read_config(config).layers[0].family.state()[0].value == 4 * 64 * factor * 64
