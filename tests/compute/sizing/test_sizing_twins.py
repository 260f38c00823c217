"""The model imagined otherwise, and two closed forms of the lessons."""

import pytest

from compute.sizing import (
    LayerGroup,
    ModelShape,
    all_softmax_twin,
    bill,
    human_bytes,
    kv_cache_tokens,
    load_model,
    normaliser_numbers,
    taylor_state_bytes,
    with_feature_map,
)
from compute.sizing.families import Latent, NoCache, Softmax
from compute.sizing.states import MatrixState
from compute.sizing.twins import twin_name

GiB = 1 << 30

FULL, WINDOW, RECURRENT = Softmax(2, 8, 8), Softmax(2, 8, 8, 16), MatrixState("gdn", 1, 2, 8, 8)


def taylor(d):
    return 1 + d + d * d


def test_minimax_all_softmax_keeps_320_gib_at_a_million_tokens():
    twin = all_softmax_twin(load_model("minimax-01"))
    made = bill(twin, 1 << 20)
    assert made.total_bytes == made.kv_bytes == 320 * GiB
    assert [(group.count, group.kind) for group in twin.layers] == [(80, "softmax")]


def test_the_twin_copies_the_model_s_own_softmax_layer():
    assert bill(all_softmax_twin(load_model("kimi-linear-48b-a3b")), 1).kv_bytes_per_token == 27 * 1_152
    assert bill(all_softmax_twin(load_model("nemotron-3-nano-30b-a3b")), 1).kv_bytes_per_token == 29 * 1_024
    assert bill(all_softmax_twin(load_model("recurrentgemma-2b")), 10**6).window_bytes == 26 * 1_024 * 2_047


def test_a_model_without_states_is_its_own_twin():
    shape = load_model("gemma-3-27b-it")
    assert all_softmax_twin(shape) is shape


def test_minimax_with_full_taylor_features_keeps_35_gib():
    shape = load_model("minimax-01")
    size = with_feature_map(shape, taylor)
    assert taylor(128) == 16_513
    assert size == 70 * 64 * 16_513 * 128 * 4
    assert human_bytes(size, 3) == "35.3 GiB"
    assert with_feature_map(shape, lambda d: d) == bill(shape, 1).state_bytes


def test_every_matrix_state_takes_a_feature_map_and_other_layers_do_not():
    assert with_feature_map(load_model("qwen3.8-27b"), lambda d: 2 * d) == 2 * (144 << 20)
    assert with_feature_map(load_model("bamba-9b"), lambda d: d) == bill(load_model("bamba-9b"), 1).state_bytes
    for word in ("llama-3.1-8b", "lfm2-1.2b", "falcon-mamba-7b"):
        assert with_feature_map(load_model(word), taylor) is None


def test_a_normaliser_has_an_entry_for_each_row_of_every_state():
    assert normaliser_numbers(load_model("minimax-01")) == 70 * 64 * 128
    assert normaliser_numbers(load_model("qwen3.8-27b")) == 48 * 48 * 128
    assert normaliser_numbers(load_model("llama-3.1-8b")) is None


def test_taylor_states_count_matrix_and_normaliser():
    assert taylor_state_bytes(1, 1, 1, 1) == 3 + 3
    assert taylor_state_bytes(16, 64, 12) == 12 * 273 * 65 * 4
    assert taylor_state_bytes(128, 128, 1) == 4 * (2_113_664 + 16_513)


@pytest.mark.parametrize(
    "state, heads, d, size, tokens",
    [
        (2 << 20, 8, 128, 2, 512),
        (0, 8, 128, 2, 0),
        (1, 8, 128, 2, 1),
        (4_097, 8, 128, 2, 2),
        (10**30 + 1, 1, 1, 1, (10**30 + 2) // 2),
    ],
)
def test_the_smallest_cache_that_is_at_least_the_state(state, heads, d, size, tokens):
    assert kv_cache_tokens(state, heads, d, size) == tokens


def test_a_head_of_128_reaches_its_state_at_token_65():
    assert kv_cache_tokens((128 * 128 + 128) * 2, 1, 128) == 65


@pytest.mark.parametrize("name", ["d_head", "d_v", "n_heads", "bytes_per"])
@pytest.mark.parametrize("value", [0, -1, 1.0, None, True])
def test_taylor_refuses_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must"):
        taylor_state_bytes(**{"d_head": 1, "d_v": 1, "n_heads": 1, name: value})


@pytest.mark.parametrize("name, value", [("state_bytes", -1), ("n_kv", 0), ("d_k", 0.5), ("bytes_per", None)])
def test_kv_cache_tokens_refuses_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must"):
        kv_cache_tokens(**{"state_bytes": 1, "n_kv": 1, "d_k": 1, name: value})


@pytest.mark.parametrize(
    "n, text",
    [
        (0, "0 B"),
        (1_023, "1023 B"),
        (1_024, "1 KiB"),
        (40 * GiB, "40 GiB"),
        (280 << 20, "280 MiB"),
        (3_932_160, "3.75 MiB"),
        (17_366_515_712, "16.17 GiB"),
        (17_520_656_384, "16.32 GiB"),
        (GiB - 1, "1 GiB"),
        (1_000 << 40, "1,000 TiB"),
        (10**24, "867,362 EiB"),
        (-5 << 20, "-5 MiB"),
    ],
)
def test_bytes_read_in_binary_units(n, text):
    assert human_bytes(n) == text


@pytest.mark.parametrize(
    ("own", "families", "line", "layers"),
    [
        (FULL, [RECURRENT, FULL], "all softmax", "if every layer were softmax"),
        (FULL, [RECURRENT, FULL, NoCache()], "all softmax", "with softmax for every state"),
        (FULL, [RECURRENT, FULL, WINDOW], "softmax for states", "with softmax for every state"),
        (WINDOW, [RECURRENT, WINDOW], "all windows", "if every layer kept windows"),
        (Latent(16, 4), [RECURRENT, Latent(16, 4)], "all latents", "if every layer kept latents"),
        (Latent(16, 4), [RECURRENT, Latent(16, 4), WINDOW], "latents for states", "with latents for every state"),
    ],
)
def test_a_twin_is_called_by_what_it_keeps(own, families, line, layers):
    name = twin_name(ModelShape("none", tuple(LayerGroup(1, family) for family in families), own))
    assert (name.line, name.layers) == (line, layers)


def test_latents_that_are_decompressed_are_the_keys_and_values_of_softmax():
    assert twin_name(load_model("kimi-linear-48b-a3b"), "decompressed").line == "all softmax"


def test_a_model_without_states_is_its_own_twin_and_has_no_other_name():
    assert twin_name(load_model("deepseek-v3")) is None
