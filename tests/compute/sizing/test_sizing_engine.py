"""What vLLM 0.33 sets aside, against figures traced from the engine by others and by hand."""

from fractions import Fraction

import pytest

from compute.sizing import Options, bill, load_model, models, reserve


def test_qwen_3_8_reserves_the_published_bytes():
    made = reserve(load_model("qwen3.8-27b"), 262_144)
    assert (made.block_tokens, made.page_bytes, made.pages) == (784, 3_211_264, 5_408)
    assert made.bytes == made.padded_bytes == 17_366_515_712
    assert made.engine == "vLLM 0.33"


def test_qwen_3_8_with_prefix_caching_reserves_the_published_bytes():
    made = reserve(load_model("qwen3.8-27b"), 262_144, prefix_caching=True)
    assert (made.pages, made.bytes) == (5_456, 17_520_656_384)


def test_a_speculative_block_is_one_more_page_per_state():
    shape = load_model("qwen3.8-27b")
    assert reserve(shape, 262_144, speculative=2).pages == 5_408 + 2 * 48


@pytest.mark.parametrize("T, blocks", [(1, 1), (16, 1), (17, 2), (131_072, 8_192)])
def test_plain_models_round_up_to_blocks_of_sixteen(T, blocks):
    made = reserve(load_model("llama-3.1-8b"), T)
    assert made.bytes == 32 * blocks * 16 * 4_096


def test_latents_make_hybrid_blocks_multiples_of_128():
    made = reserve(load_model("kimi-linear-48b-a3b"), 1 << 20)
    state = 32 * 128 * 128 * 4 + 3 * 32 * 128 * 3 * 2
    assert made.block_tokens == 128 * 15  # the smallest multiple of 128 tokens whose page holds a state
    assert 14 * 128 * 1_152 < state <= made.page_bytes == 15 * 128 * 1_152


def test_layers_are_padded_to_groups_of_equal_size():
    """6 attention and 23 Mamba layers make one group of six and four of six: one layer of padding."""
    made = reserve(load_model("nemotron-3-nano-30b-a3b"), 4_096)
    assert made.padding_pages == 1
    assert made.padded_bytes == made.bytes + made.page_bytes
    assert reserve(load_model("gpt-oss-20b"), 4_096).padding_pages == 0


def test_windows_hold_tokens_in_flight_and_one_block_more():
    rows = {row.kind: row for row in reserve(load_model("gpt-oss-20b"), 131_072, in_flight=2_048).rows}
    assert rows["window"].pages_per_layer == -(-(127 + 2_048) // 16) + 1
    assert rows["softmax"].pages_per_layer == 8_192


def test_narrower_layers_get_longer_blocks_so_that_pages_are_equal():
    rows = reserve(load_model("gemma-4-31b"), 4_096).rows
    assert {row.kind: row.block_tokens for row in rows} == {"window": 16, "softmax": 32}
    assert len({row.page_bytes for row in rows}) == 1


def test_models_without_attention_take_one_page_per_state():
    made = reserve(load_model("falcon-mamba-7b"), 10**6)
    assert made.bytes == bill(load_model("falcon-mamba-7b"), 1, conv_columns="k-1").fixed_bytes
    assert made.bytes == reserve(load_model("falcon-mamba-7b"), 1).bytes


def test_concurrency_is_pool_over_pages_not_a_rate_of_tokens():
    made = reserve(load_model("qwen3.8-27b"), 262_144)
    assert made.concurrency(3 * made.bytes // 2) == Fraction(3, 2)


@pytest.mark.parametrize("word", models())
def test_a_reservation_never_falls_short_of_the_payload(word):
    shape = load_model(word)
    for T in (1, 1_000, 100_000):
        try:
            made = reserve(shape, T)
        except ValueError as refused:
            assert str(refused).startswith("shape has")
            return
        assert made.bytes >= bill(shape, T, conv_columns="k-1").total_bytes


def test_ranks_and_dtypes_carry_over():
    shape = load_model("llama-3.1-8b")
    assert reserve(shape, 160, Options(tp=2, kv_dtype="fp8")).bytes * 4 == reserve(shape, 160).bytes


def test_a_model_the_engine_dropped_carries_a_note():
    assert "0.23" in reserve(load_model("minimax-01"), 1_000).note


@pytest.mark.parametrize("word", ["xlstm-7b", "rwkv-6-world-1b6", "recurrentgemma-2b", "gla-7b"])
def test_kinds_the_engine_does_not_serve_are_refused(word):
    with pytest.raises(ValueError, match="does not serve"):
        reserve(load_model(word), 10)


@pytest.mark.parametrize("arguments", [{"tokens": 0}, {"block": 0}, {"speculative": -1}, {"in_flight": 0}])
def test_bad_numbers_are_refused_by_name(arguments):
    with pytest.raises(ValueError, match=f"^{next(iter(arguments))} must"):
        reserve(load_model("gpt-2"), **{"tokens": 1} | arguments)
