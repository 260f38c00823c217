"""Public bug reports about cache sizes, each as the right value.  The test's name or id says which report.

Reports that one test answers for others: LMCache#2132 with #694, hf-mem#61 with #60, ollama#9987 with #16958,
llmfit#203 and #418 with #951, gemma.cpp#1012 with unsloth#5225, kaito#2319 with vllm#49064, vllm#39032 with #19592,
sparkrun#247 and #248 with omlx#2626, tt-xla#5728 with transformers#48566.

Not here, because they are about how one engine divides a pool, not about how many bytes a model keeps:
club-3090#1170 (state checkpoints for prefix caching come out of the printed pool; a bill with prefix caching counts the
second page of each state, not the checkpoints), sglang#29034 (one host budget applied to both pools), sglang#25993 and
#39851 (a fixed ratio between the pools leaves one of them empty), tpu-inference#3483 and #2366 (pages that cannot be
reinterpreted on a TPU).
"""

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
from compute.sizing.export import as_data

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
        pytest.param(model_config("gpt-oss-20b"), 12 * 2 * 8 * 64 * 2, id="Model-Optimizer#2482-gpt-oss"),
        pytest.param(plain("llama", 32, 4096, 32, 8), 2 * 32 * 8 * 128 * 2, id="vllm-fit#2"),
        pytest.param(plain("granite", 40, 4096, 32, 8), 2 * 40 * 8 * 128 * 2, id="model-memory-calculator#2"),
        pytest.param(model_config("llama-3.1-70b"), 2 * 80 * 8 * 128 * 2, id="Minnow#854"),
        pytest.param(model_config("granite-4.0-h-tiny"), 4 * 2 * 4 * 128 * 2, id="ollama#12186"),
    ],
)
def test_growing_bytes_per_token(config, expected):
    assert per_token(config) == expected


def test_linear_layers_are_not_free_lmcache_3504():
    made = bill(load_model("qwen3.5-27b"), 1)
    assert (made.state_bytes, made.conv_bytes) == (144 * MiB, 48 * 10_240 * 4 * 2)


@pytest.mark.parametrize("dtype, bytes_of_two", [("float32", 8), ("bfloat16", 4), ("fp8", 2), ("int8", 2), ("int4", 1)])
def test_the_layout_of_a_hybrid_counts_in_every_dtype_llmfit_951(dtype, bytes_of_two):
    made = bill(load_model("qwen3.5-27b"), 1_000, kv_dtype=dtype)
    assert made.kv_bytes == 16 * 4 * 256 * bytes_of_two * 1_000
    assert made.state_bytes == 144 * MiB


def test_the_state_of_kimi_linear_is_twenty_layers_of_two_mebibytes_vllm_28228():
    assert bill(load_model("kimi-linear-48b-a3b"), 1).state_bytes == 20 * 2 * MiB


def test_granite_s_states_are_the_same_at_every_length_ollama_12186():
    shape = load_model("granite-4.0-h-tiny")
    short, long = bill(shape, 1), bill(shape, 131_072)
    assert short.state_bytes == long.state_bytes == 54 * MiB
    assert long.total_bytes < 1.1 * GiB


def test_a_flat_formula_is_a_hundred_times_off_mlxcel_172():
    """26 layers of 10 heads of 256, as if all of them kept everything, against eight windows with one KV head."""
    made = bill(load_model("recurrentgemma-2b"), 131_072)
    assert 100 * made.total_bytes < 2 * 26 * 10 * 256 * 2 * 131_072
    assert made.window_bytes == 8 * 2 * 256 * 2 * 2_047


def test_dtypes_engine_and_version_stand_beside_the_numbers_configiq_112():
    told = as_data(bill(load_model("qwen3.8-27b"), 262_144, engine="vllm-0.33"), load_model("qwen3.8-27b"))
    assert told["options"]["engine"] == "vllm-0.33" and "vLLM 0.33" in told["assumed"]["engine"]
    assert (told["options"]["kv_dtype"], told["options"]["state_dtype"]) == ("bfloat16", "float32")


def test_tokens_that_fit_and_concurrency_come_from_the_same_pages_vllm_40691():
    made = reserve(load_model("qwen3.8-27b"), 262_144)
    assert made.concurrency(2 * 5_408 * made.page_bytes) == 2


def test_a_hybrid_is_not_paged_as_if_every_layer_grew_vllm_37124():
    made = reserve(load_model("qwen3.8-27b"), 262_144)
    uniform = 64 * -(-262_144 // made.block_tokens)
    assert made.pages == 5_408 < uniform / 3.9


def test_one_token_pins_a_whole_page_of_every_layer_vllm_54458():
    shape = load_model("qwen3.8-27b")
    made = reserve(shape, 1)
    assert made.pages == 64 and made.bytes == 64 * 3_211_264 > 1.3 * bill(shape, 1, conv_columns="k-1").total_bytes


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
