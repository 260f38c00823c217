"""The bill itself: sums, arithmetic, dtypes, ranks, provenance, refusals."""

import json
import re
from dataclasses import FrozenInstanceError, asdict
from fractions import Fraction

import numpy as np
import pytest

from compute.sizing import DTYPES, Options, bill, load_model, model_config, models, rates, read_config

every_model = pytest.mark.parametrize("word", models())


def worked_out(text):
    """Evaluate a line of a bill, knowing nothing of how it was made."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r" (B|tokens)\b|(?<=\d) sequences", "", text).replace("×", "*")
    text = re.sub(r"\d+", lambda m: f"F({m[0]})", text)
    return eval(text, {"__builtins__": {}, "F": Fraction, "min": min})


@every_model
@pytest.mark.parametrize("options", [{}, {"batch": 3, "kv_dtype": "int4", "conv_columns": "k-1"}, {"kv_dtype": "q8_0"}])
def test_the_arithmetic_shown_gives_the_bytes_billed(word, options):
    for T in (0, 77, 262_144, 2**60 + 1):  # the last beyond what a float tells apart
        for row in bill(load_model(word), T, **options).layers:
            assert worked_out(row.arithmetic) * row.count == row.bytes


def test_a_count_in_numpys_integers_is_still_exact():
    own, T = rates(load_model("minimax-01")), 2**53 + 1
    assert own.total_bytes(np.int64(T)) == own.total_bytes(T) == own.fixed_bytes + own.kv_bytes_per_token * T


@every_model
def test_parts_add_up(word):
    made = bill(load_model(word), 5_000, batch=3, state_dtype="bfloat16", tp=2)
    assert made.fixed_bytes == made.state_bytes + made.conv_bytes
    assert made.total_bytes == made.fixed_bytes + made.kv_bytes + made.window_bytes
    assert made.kv_bytes == 3 * 5_000 * made.kv_bytes_per_token
    for part in ("state_bytes", "conv_bytes", "kv_bytes", "window_bytes"):
        assert sum(getattr(row, part) for row in made.layers) == getattr(made, part)
    assert sum(row.bytes for row in made.layers) == made.total_bytes


@every_model
def test_rates_agree_with_the_bill_at_every_length(word):
    shape = load_model(word)
    for options in (Options(), Options(batch=5, kv_dtype="q4_0", state_dtype="bfloat16", conv_columns="k-1", tp=2)):
        line = rates(shape, options)
        T = np.array([0, 1, 127, 128, 1_000, 4_095, 4_096, 1 << 20, 10_000_000])
        made = [bill(shape, int(t), **asdict(options)) for t in T]
        for part in ("kv_bytes", "window_bytes", "total_bytes"):
            exact = [getattr(b, part) for b in made]
            assert [getattr(line, part)(int(t)) for t in T] == exact
            curve = getattr(line, part)(T)
            assert curve.dtype == np.float64 and curve.tolist() == [float(x) for x in exact]
        assert line.fixed_bytes == made[0].fixed_bytes


def test_curves_are_exact_where_int64_would_wrap():
    shape = read_config(
        {"model_type": "llama", "num_hidden_layers": 999, "num_key_value_heads": 10**9, "head_dim": 10**9}
    )
    curve = rates(shape).kv_bytes(np.array([10**6]))
    assert curve[0] == float(bill(shape, 10**6).kv_bytes) > 2.0**63


@pytest.mark.parametrize(
    "dtype, per_token",
    [
        ("float32", 2_048),
        ("bfloat16", 1_024),
        ("float16", 1_024),
        ("fp8", 512),
        ("int8", 512),
        ("int4", 256),
        ("q8_0", 16 * 34),
        ("q4_0", 16 * 18),
    ],
)
def test_a_kv_dtype_costs_its_bytes_and_its_block_scales(dtype, per_token):
    assert bill(load_model("nemotron-3-nano-30b-a3b"), 1, kv_dtype=dtype).kv_bytes_per_token == 6 * per_token


def test_a_started_block_is_a_whole_block():
    assert [DTYPES["q4_0"].bytes(n) for n in (0, 1, 32, 33)] == [0, 18, 18, 36]
    assert [DTYPES["int4"].bytes(n) for n in (1, 2, 3)] == [1, 1, 2]


def test_a_rank_holds_its_share_of_heads_and_whole_groups():
    made = bill(load_model("bamba-9b"), 1, tp=4)
    row = made.layers[0]
    assert row.state_bytes == 29 * (128 // 4) * 64 * 128 * 4
    assert row.conv_bytes == 29 * (32 * 64 + 2 * 1 * 128) * 4 * 2  # the single group is copied to every rank


def test_ranks_share_the_groups_when_there_are_enough():
    row = bill(load_model("nemotron-3-nano-30b-a3b"), 1, tp=2).layers[0]
    assert row.conv_bytes == 23 * (32 * 64 + 2 * 4 * 128) * 4 * 2


def test_heads_that_do_not_divide_over_ranks_are_said_so():
    made = bill(load_model("olmo-hybrid-7b"), 1, tp=4)
    assert made.kv_bytes_per_token == 8 * 2 * 8 * 128 * 2
    assert any("30 KV heads do not divide over 4 ranks" in said for said in made.warnings)
    assert not any("divide" in said for said in bill(load_model("olmo-hybrid-7b"), 1, tp=2).warnings)


def test_arguments_win_over_the_config_and_a_difference_is_said():
    made = bill(load_model("llama-2-7b"), 10)
    assert any("the config says float16" in said for said in made.warnings)
    assert not any("dtype" in said for said in bill(load_model("llama-2-7b"), 10, kv_dtype="float16").warnings)
    half = bill(load_model("qwen3.8-27b"), 10, state_dtype="bfloat16")
    assert half.state_bytes == 72 << 20
    assert any("state_dtype is bfloat16, the config says float32" in said for said in half.warnings)


def test_what_was_not_in_the_file_is_assumed_aloud():
    made = bill(load_model("minimax-01"), 10)
    assert made.assumed["kv_dtype"].startswith("bfloat16")
    assert "released code" in made.assumed["state_dtype"]
    assert "state_dtype" not in bill(load_model("qwen3.8-27b"), 10).assumed
    assert "state_dtype" not in bill(load_model("llama-3.1-8b"), 10).assumed


def test_every_key_is_either_used_or_ignored():
    config = model_config("kimi-linear-48b-a3b")
    made = bill(read_config(config), 10)
    assert {"kv_lora_rank", "linear_attn_config.num_heads"} <= set(made.used)
    assert "head_dim" in made.ignored
    read = {key.partition(".")[0] for key in made.used}
    assert read | set(made.ignored) == set(config)


def test_rows_name_the_keys_their_numbers_came_from():
    rows = bill(load_model("qwen3.8-27b"), 10).layers
    assert rows[0].keys[0] == "layer_types" and "linear_num_value_heads" in rows[0].keys
    assert set(rows[1].keys) == {"layer_types", "num_key_value_heads", "head_dim"}
    assert "num_hidden_layers" in bill(load_model("llama-3.1-8b"), 10).layers[0].keys


def test_contexts_beyond_the_native_one_are_flagged():
    shape = load_model("llama-3.1-8b")
    assert not any("native" in said for said in bill(shape, 131_072).warnings)
    assert any("native context of 131,072" in said for said in bill(shape, 131_073).warnings)


def test_shapes_and_bills_are_values():
    assert load_model("qwen3.8-27b") == read_config(model_config("qwen3.8-27b"))
    assert hash(load_model("qwen3.8-27b")) == hash(read_config(model_config("qwen3.8-27b")))
    with pytest.raises(FrozenInstanceError):
        bill(load_model("gpt-2"), 1).tokens = 2
    json.dumps(asdict(bill(load_model("gemma-4-31b"), 9)))


def test_the_config_is_not_modified():
    config = model_config("zamba2-7b")
    before = json.dumps(config)
    read_config(config)
    assert json.dumps(config) == before


@pytest.mark.parametrize(
    "name, value",
    [
        ("tokens", -1),
        ("tokens", 1.5),
        ("tokens", True),
        ("tokens", "9"),
        ("batch", 0),
        ("tp", 0),
        ("tp", None),
        ("kv_dtype", "bf16"),
        ("state_dtype", None),
        ("conv_dtype", ["fp8"]),
        ("conv_columns", "k+1"),
        ("mla", "packed"),
    ],
)
def test_bad_options_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must"):
        bill(load_model("qwen3.8-27b"), **{"tokens": 10, name: value})


def test_numpy_integers_are_whole_numbers():
    assert bill(load_model("gpt-2"), np.int64(10)).kv_bytes == 368_640
