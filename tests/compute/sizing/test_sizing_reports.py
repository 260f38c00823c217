"""Public bug reports about cache sizes, each as the right value.  The test's id names the report."""

from fractions import Fraction

import pytest

from compute.sizing import (
    ConfigError,
    bill,
    load_model,
    longest_context,
    model_config,
    rates,
    read_config,
    reserve,
    sequences_that_fit,
)

MiB, GiB = 1 << 20, 1 << 30


SMALL_24B = {"head_dim": 128, "sliding_window": None}


def plain(model_type="llama", layers=32, hidden=4096, heads=32, kv=8, **more):
    return {
        "model_type": model_type,
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        **more,
    }


GPT_OSS_120B = model_config("gpt-oss-20b") | {
    "num_hidden_layers": 36,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
}


def per_token(config):
    return bill(read_config(config), 1).kv_bytes_per_token


@pytest.mark.parametrize(
    "config, expected",
    [
        pytest.param(model_config("qwen3-32b"), 64 * 2 * 8 * 128 * 2, id="LMCache#688"),
        pytest.param(plain("glm4_moe", 92, 5120, 96, 8, head_dim=128), 92 * 4_096, id="LMCache#2248"),
        pytest.param(model_config("deepseek-v3"), 70_272, id="LMCache#694"),
        pytest.param(model_config("qwen3.5-27b"), 65_536, id="LMCache#3080"),
        pytest.param(model_config("qwen3.5-35b-a3b"), 20_480, id="gguf-parser-go#28"),
        pytest.param(model_config("nemotron-3-nano-30b-a3b"), 6_144, id="inference-sim#1558"),
        pytest.param(plain("mistral", 40, 5120, 32, 8, **SMALL_24B), 40 * 4_096, id="Model-Optimizer#2482"),
        pytest.param(plain("hunyuan_v1_dense", 36, 3072, 32, 8, head_dim=128), 36 * 4_096, id="hunyuan-4b"),
        pytest.param(model_config("kimi-linear-48b-a3b"), 8_064, id="vllm#28228"),
        pytest.param(plain("llama", 32, 4096, 32, 8), 2 * 32 * 8 * 128 * 2, id="vllm-fit#2"),
        pytest.param(model_config("granite-4.0-h-tiny"), 4 * 2 * 4 * 128 * 2, id="ollama#12186"),
    ],
)
def test_growing_bytes_per_token(config, expected):
    assert per_token(config) == expected


def test_linear_layers_are_not_free_lmcache_3504():
    assert bill(load_model("qwen3.5-27b"), 1).state_bytes == 144 * MiB


def test_below_the_window_all_36_layers_grow_hf_mem_60():
    shape = read_config(GPT_OSS_120B)
    assert bill(shape, 127).total_bytes - bill(shape, 126).total_bytes == 73_728
    assert bill(shape, 129).total_bytes - bill(shape, 128).total_bytes == 36_864


def test_payload_and_reservation_of_a_window_are_two_true_answers_hf_mem_70():
    shape = load_model("gpt-oss-20b")
    row = next(row for row in reserve(shape, 131_072, in_flight=1).rows if row.kind == "window")
    assert bill(shape, 131_072).window_bytes == 12 * 127 * 2_048
    assert row.bytes == 12 * 9 * 16 * 2_048


def test_decompressed_heads_are_an_engine_s_choice_gguf_parser_go_8():
    made = bill(load_model("deepseek-v3"), 1, mla="decompressed")
    assert made.kv_bytes_per_token == 61 * 128 * (128 + 64 + 128) * 2


def test_four_slots_of_llama_cpp_lmstudio_1862():
    """The engine's own log: 16,384 MiB KV, and 149.62 MiB of state per slot, 598.5 MiB for four."""
    made = bill(load_model("qwen3.6-27b"), 262_144, batch=4, conv_dtype="float32", conv_columns="k-1")
    assert made.kv_bytes == 4 * 16_384 * MiB
    assert Fraction(made.fixed_bytes, MiB) == Fraction("598.5")
    assert Fraction(made.conv_bytes, 4 * MiB) == Fraction("5.625")


def test_windows_and_full_layers_are_added_ollama_16958_and_17037():
    made = bill(load_model("gemma-3-27b-it"), 131_072)
    assert made.window_bytes == 52 * 8_192 * 1_023
    assert made.total_bytes == made.window_bytes + 10 * 8_192 * 131_072


def test_kv_heads_may_differ_from_layer_to_layer_ollama_17201():
    config = plain("openelm", 4, 1280, 12, [3, 3, 4, 5], head_dim=64)
    shape = read_config(config)
    assert per_token(config) == (3 + 3 + 4 + 5) * 2 * 64 * 2
    assert [group.count for group in shape.layers] == [2, 1, 1]


@pytest.mark.parametrize("word, gib", [("gemma-3-27b-it", 10.41), ("qwen3.5-27b", 16.00), ("deepseek-v3", 10.72)])
def test_full_contexts_of_three_families_unsloth_4757(word, gib):
    shape = load_model(word)
    made = bill(shape, shape.native_context)
    assert (made.kv_bytes + made.window_bytes) / GiB == pytest.approx(gib, abs=0.005)


def test_layers_that_share_a_cache_own_none_unsloth_5225():
    config = plain("gemma3n_text", 35, 2048, 8, 2, head_dim=256, sliding_window=512, num_kv_shared_layers=15)
    shape = read_config({"model_type": "gemma3n", "text_config": config})
    made = bill(shape, 32_768)
    assert {group.kind: group.count for group in shape.layers} == {"window": 16, "softmax": 4, "shared": 15}
    assert made.total_bytes == 2_048 * (4 * 32_768 + 16 * 511)


def test_a_footprint_is_a_constant_and_a_rate_vllm_51041():
    shape = load_model("qwen3.8-27b")
    one, two = bill(shape, 1_000).total_bytes, bill(shape, 3_000).total_bytes
    assert (two - one) // 2_000 == 65_536
    assert one - 65_536 * 1_000 == bill(shape, 0).total_bytes == (144 * 1024 + 3_840) * 1024


def test_short_sequences_are_bounded_by_their_states_vllm_49064():
    shape = load_model("qwen3.8-27b")
    assert sequences_that_fit(shape, 16 * GiB, 0) == 16 * GiB // (144 * MiB + 3_840 * 1024) == 110


def test_attention_blocks_and_state_blocks_are_both_counted_kaito_2052():
    for word, attention, states in (("nemotron-h-8b-base-8k", 4, 24), ("falcon-h1-7b", 44, 44)):
        made = reserve(load_model(word), 8_192)
        blocks = -(-8_192 // made.block_tokens)
        assert made.pages == attention * blocks + states


def test_the_state_s_dtype_is_its_own_choice_vllm_19592():
    shape = load_model("minimax-01")
    assert bill(shape, 9, state_dtype="bfloat16").state_bytes == 140 * MiB
    assert bill(shape, 9, kv_dtype="fp8").state_bytes == 280 * MiB


def test_cells_follow_the_context_and_states_the_sequences_llama_cpp_19559():
    one, four = bill(load_model("qwen3.8-27b"), 4_096), bill(load_model("qwen3.8-27b"), 1_024, batch=4)
    assert four.kv_bytes == one.kv_bytes
    assert four.state_bytes == 4 * one.state_bytes


def test_batches_of_nemotron_count_states_by_sequence_tensorrt_llm_5371():
    made = bill(load_model("nemotron-3-nano-30b-a3b"), 1_000, batch=8)
    assert made.state_bytes == 8 * 46 * MiB
    assert made.kv_bytes == 8 * 6_144 * 1_000


def test_a_64_token_block_is_four_mebibytes_omlx_2725():
    assert bill(load_model("qwen3.8-27b"), 64).kv_bytes == 4 * MiB


def test_a_compressed_cache_is_refused_not_guessed_omlx_2626():
    config = plain("deepseek_v4", 43, 4096, 64, 1, head_dim=512, compress_ratios=[4, 128] * 21 + [0])
    with pytest.raises(ConfigError) as refused:
        read_config(config)
    assert refused.value.key == "compress_ratios"


@pytest.mark.parametrize("absent", [-1, 0, None])
def test_no_window_is_no_window_turboquant_mlx_52(absent):
    made = bill(read_config(plain("mistral", sliding_window=absent)), 1_000)
    assert made.window_bytes == 0
    assert made.kv_bytes == 32 * 4_096 * 1_000


def test_every_rank_holds_the_whole_latent_tt_xla_5861():
    assert bill(load_model("deepseek-v3"), 1, tp=8).kv_bytes_per_token == 70_272


@pytest.mark.parametrize("tp, heads", [(1, 8), (2, 4), (8, 1), (16, 1)])
def test_ranks_share_the_kv_heads_but_never_less_than_one_transformers_48566(tp, heads):
    assert bill(load_model("llama-3.1-8b"), 1, tp=tp).kv_bytes_per_token == 32 * 2 * heads * 128 * 2


def test_growth_is_inverted_piecewise_aiconfigurator_1201():
    shape = load_model("gemma-3-27b-it")
    free = bill(shape, 131_072).total_bytes
    assert longest_context(shape, free) == 131_072
    assert longest_context(shape, free - 1) == 131_071
    inside = bill(shape, 500).total_bytes
    assert longest_context(shape, inside) == 500
    assert rates(shape).total_bytes(1) * 131_072 > 5 * free
