"""One layer of each kind, against bytes measured on real cache tensors (transformers 5.24, bfloat16, batch 1)."""

import pytest

from compute.sizing import bill, load_model, model_config, read_config

BAILING = {
    "model_type": "bailing_hybrid",
    "num_hidden_layers": 12,
    "hidden_size": 2560,
    "num_attention_heads": 32,
    "head_dim": 128,
    "layer_group_size": 6,
    "short_conv_kernel_size": 4,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
}
PHI3 = {"model_type": "phi3", "num_hidden_layers": 32, "hidden_size": 3072, "num_attention_heads": 32}
PHI3 |= {"num_key_value_heads": 32, "sliding_window": 2047}
MAMBA = {"model_type": "mamba", "num_hidden_layers": 64, "hidden_size": 2560, "expand": 2, "state_size": 16}
MAMBA |= {"conv_kernel": 4}
RWKV4 = {"model_type": "rwkv", "num_hidden_layers": 32, "hidden_size": 4096}
BF16 = {"state_dtype": "bfloat16"}

# (model or config, kind, options, fixed bytes of a layer, bytes per token of a layer, tokens kept or None)
MEASURED = [
    ("minimax-01", "softmax", {}, 0, 4_096, None),
    ("minimax-01", "lightning", BF16, 2_097_152, 0, None),
    ("qwen3-next-80b-a3b", "gdn", {}, 2_162_688, 0, None),
    ("qwen3-next-80b-a3b", "softmax", {}, 0, 2_048, None),
    ("qwen3.5-27b", "gdn", {}, 3_227_648, 0, None),
    ("qwen3.5-27b", "softmax", {}, 0, 4_096, None),
    ("kimi-linear-48b-a3b", "kda", {}, 2_195_456, 0, None),
    ("kimi-linear-48b-a3b", "mla", {}, 0, 1_152, None),
    (BAILING, "kda", {}, 2_195_456, 0, None),
    (BAILING, "mla", {}, 0, 1_152, None),
    ("olmo-hybrid-7b", "gdn", {}, 2_304_000, 0, None),
    ("olmo-hybrid-7b", "softmax", {}, 0, 15_360, None),
    ("jamba-v0.1", "mamba1", {}, 589_824, 0, None),
    ("jamba-v0.1", "softmax", {}, 0, 4_096, None),
    ("bamba-9b", "mamba2", {}, 4_261_888, 0, None),
    ("bamba-9b", "softmax", {}, 0, 4_096, None),
    ("falcon-h1-7b", "attn+mamba2", {}, 3_174_400, 1_024, None),
    ("nemotron-3-nano-30b-a3b", "mamba2", {}, 2_146_304, 0, None),
    ("nemotron-3-nano-30b-a3b", "softmax", {}, 0, 1_024, None),
    ("zamba2-7b", "mamba2", {}, 1_894_400, 0, None),
    ("zamba2-7b", "attn+mamba2", {}, 1_894_400, 28_672, None),
    ("lfm2-1.2b", "shortconv", {}, 12_288, 0, None),
    ("lfm2-1.2b", "softmax", {}, 0, 2_048, None),
    ("recurrentgemma-2b", "window", {}, 0, 1_024, 2_047),
    ("recurrentgemma-2b", "rglru", {}, 25_600, 0, None),
    (MAMBA, "mamba1", {}, 368_640, 0, None),
    ("falcon-mamba-7b", "mamba1", {}, 589_824, 0, None),
    ("xlstm-7b", "xlstm", BF16, 2_101_272 - 8, 0, None),  # without the 8-byte step counter of the cache object
    (RWKV4, "rwkv4", {}, 65_536, 0, None),
    ("gpt-2", "softmax", {}, 0, 3_072, None),
    ("llama-2-7b", "softmax", {}, 0, 16_384, None),
    ("llama-3.1-8b", "softmax", {}, 0, 4_096, None),
    ("qwen3-32b", "softmax", {}, 0, 4_096, None),
    (PHI3, "window", {}, 0, 12_288, 2_046),
    ("mistral-7b-v0.1", "window", {}, 0, 4_096, 4_095),
    ("gemma-2-9b", "window", {}, 0, 8_192, 4_095),
    ("gemma-2-9b", "softmax", {}, 0, 8_192, None),
    ("gemma-3-27b-it", "window", {}, 0, 8_192, 1_023),
    ("gemma-3-27b-it", "softmax", {}, 0, 8_192, None),
    ("gemma-4-31b", "window", {}, 0, 16_384, 1_023),
    ("gemma-4-31b", "softmax", {}, 0, 8_192, None),
    ("gpt-oss-20b", "window", {}, 0, 2_048, 127),
    ("gpt-oss-20b", "softmax", {}, 0, 2_048, None),
    ("deepseek-v3", "mla", {}, 0, 1_152, None),
    ("deepseek-v3", "mla", {"mla": "decompressed"}, 0, 81_920, None),  # as transformers 4.57 cached it
    ("minimax-m2.5", "softmax", {}, 0, 4_096, None),
]


@pytest.mark.parametrize("model, kind, options, fixed, per_token, kept", MEASURED)
def test_a_layer_keeps_the_bytes_measured_on_its_tensors(model, kind, options, fixed, per_token, kept):
    shape = load_model(model) if isinstance(model, str) else read_config(model)
    T = 300 if kept is None else 100_000
    row = next(row for row in bill(shape, T, **options).layers if row.kind == kind)
    assert (row.state_bytes + row.conv_bytes) // row.count == fixed
    assert row.bytes_per_token == per_token
    assert (row.kv_bytes + row.window_bytes) // row.count == per_token * (T if kept is None else kept)


@pytest.mark.parametrize("T, kept", [(1, 1), (126, 126), (127, 127), (128, 127), (129, 127), (300, 127)])
def test_a_window_of_128_keeps_127_tokens_once_it_is_full(T, kept):
    assert bill(load_model("gpt-oss-20b"), T).window_bytes == 12 * 2_048 * kept


def test_an_indexed_latent_keeps_128_more_numbers_per_token():
    config = model_config("deepseek-v3") | {"model_type": "deepseek_v32", "index_head_dim": 128}
    assert bill(read_config(config), 1).kv_bytes_per_token == 61 * 1_408


def test_serving_engines_keep_one_convolution_column_less():
    layers = {columns: bill(load_model("qwen3.8-27b"), 1, conv_columns=columns).layers[0] for columns in ("k", "k-1")}
    assert layers["k"].conv_bytes == 48 * 80 * 1024
    assert layers["k-1"].conv_bytes == 48 * 60 * 1024


def test_rglru_and_token_shifts_do_not_depend_on_the_column_convention():
    for word in ("recurrentgemma-2b", "rwkv-6-world-1b6"):
        assert bill(load_model(word), 9).total_bytes == bill(load_model(word), 9, conv_columns="k-1").total_bytes
