"""Crossings, fits and decode traffic, against walking the tokens one by one."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compute.sizing import (
    LayerCrossing,
    LayerGroup,
    ModelShape,
    Options,
    all_softmax_twin,
    bill,
    decode_step,
    layer_crossings,
    load_model,
    longest_context,
    model_crossings,
    models,
    rates,
    read_config,
    sequences_that_fit,
    tokens_per_row,
    tokens_per_second_bound,
)
from compute.sizing.families import Softmax
from compute.sizing.states import MatrixState

GiB = 1 << 30
ENGINE_CONV = Options(conv_columns="k-1")


def walked(passes, limit=4_000):
    return next((T for T in range(limit) if passes(T)), None)


@pytest.mark.parametrize(
    "word, options, state, fixed",
    [
        ("minimax-01", Options(), 1_024, 1_024),
        ("minimax-01", Options(state_dtype="bfloat16"), 512, 512),
        ("qwen3.5-27b", Options(), 768, 788),
        ("qwen3.5-27b", ENGINE_CONV, 768, 783),
        ("kimi-linear-48b-a3b", Options(), 1_821, 1_906),
        ("lfm2-1.2b", Options(), None, 6),
    ],
)
def test_a_layer_s_state_equals_its_cache_at_the_known_token(word, options, state, fixed):
    (crossing,) = layer_crossings(load_model(word), options)
    assert (crossing.state_tokens, crossing.fixed_tokens) == (state, fixed)


@pytest.mark.parametrize("word", ["falcon-h1-7b", "zamba2-7b"])
def test_layers_that_pay_for_both_have_no_crossing(word):
    assert layer_crossings(load_model(word)) == ()
    assert model_crossings(load_model(word)).twin is None
    assert all_softmax_twin(load_model(word)) is None


def test_minimax_s_cache_overtakes_its_state_at_7168_and_its_twin_at_1024():
    whole = model_crossings(load_model("minimax-01"))
    assert (whole.state, whole.fixed, whole.twin) == (7_168, 7_168, 1_024)


def test_qwen_s_cache_overtakes_its_state_at_2304():
    whole = model_crossings(load_model("qwen3.8-27b"))
    assert (whole.state, whole.fixed, whole.twin) == (2_304, 2_364, 788)


def test_models_without_states_cross_nothing():
    whole = model_crossings(load_model("llama-3.1-8b"))
    assert (whole.state, whole.fixed, whole.twin) == (None, None, None)


@pytest.mark.parametrize("word", models())
def test_crossings_are_the_first_token_at_which_bytes_are_enough(word):
    shape = load_model(word)
    twin = all_softmax_twin(shape)
    whole = model_crossings(shape)

    def cache(T):
        made = bill(shape, T)
        return made.kv_bytes + made.window_bytes

    fixed = bill(shape, 0).fixed_bytes
    if whole.fixed:
        assert cache(whole.fixed - 1) < fixed <= cache(whole.fixed)
    if whole.twin:
        for T, passed in ((whole.twin - 1, False), (whole.twin, True)):
            assert (bill(twin, T).total_bytes >= bill(shape, T).total_bytes) is passed


sizes = st.integers(1, 6)
shapes = st.builds(
    lambda n, state, m, kv, window, k, wide: ModelShape(
        "made up",
        (
            LayerGroup(n, MatrixState("linear", state, 4, 4)),
            LayerGroup(m, Softmax(kv, 2, 2, window)),
            LayerGroup(k, Softmax(wide, 2, 2)),
        ),
        softmax=Softmax(wide, 2, 2),
    ),
    *(sizes, sizes, sizes, sizes, st.integers(1, 60), sizes, sizes),
)


@settings(max_examples=60, deadline=None)
@given(shapes, st.integers(1, 3), st.integers(0, 30_000))  # a token takes 8 bytes or more
def test_piecewise_answers_agree_with_walking_the_tokens(shape, batch, free):
    options = Options(batch=batch)
    twin = all_softmax_twin(shape)

    def total(T, of=shape):
        return rates(of, options).total_bytes(T)

    fixed = total(0)
    whole = model_crossings(shape, options)
    assert whole.fixed == walked(lambda T: total(T) - fixed >= fixed)
    assert whole.twin == walked(lambda T: total(T, twin) >= total(T))
    first_too_long = walked(lambda T: total(T) > free)
    assert longest_context(shape, free, options) == first_too_long - 1


def test_a_cache_that_stops_growing_may_never_reach_the_state():
    shape = ModelShape(
        "made up",
        (LayerGroup(1, MatrixState("linear", 1, 100, 100)), LayerGroup(1, Softmax(1, 1, 1, 10))),
        softmax=Softmax(1, 1, 1, 10),
    )
    assert layer_crossings(shape) == (LayerCrossing("linear", None, None),)
    assert model_crossings(shape).fixed is None
    assert longest_context(shape, 10**6) is None


def test_what_fits_in_a_gpu():
    shape = load_model("minimax-01")
    assert sequences_that_fit(shape, 141 * 10**9, 1 << 20) == 3
    T = longest_context(shape, 141 * 10**9)
    assert bill(shape, T).total_bytes <= 141 * 10**9 < bill(shape, T + 1).total_bytes
    assert longest_context(shape, 279 << 20) == -1
    assert longest_context(load_model("rwkv-6-world-1b6"), GiB) is None


def test_sequences_are_counted_one_by_one_whatever_the_batch():
    shape = load_model("qwen3.8-27b")
    assert sequences_that_fit(shape, 100 * GiB, 4_096, Options(batch=8)) == sequences_that_fit(shape, 100 * GiB, 4_096)


def test_a_state_is_read_and_written_a_cache_read_and_extended():
    step = decode_step(load_model("qwen3.8-27b"), 1_000, Options(batch=2))
    fixed = (144 * 1024 + 3_840) * 1024
    assert (step.cache_read, step.cache_written) == (2 * 65_536 * 1_000, 2 * 65_536)
    assert step.fixed_read == step.fixed_written == 2 * fixed
    assert step.total == 2 * (65_536 * 1_001 + 2 * fixed)


def test_a_window_is_read_up_to_w_tokens():
    step = decode_step(load_model("gpt-oss-20b"), 1_000)
    assert step.cache_read == 12 * 2_048 * (1_000 + 128)


def test_the_bandwidth_bound_counts_weights_once_for_all_sequences():
    shape = load_model("llama-3.1-8b")
    one = tokens_per_second_bound(shape, 0, 131_072 * 10, weight_bytes=131_072 * 9)
    assert one == 1.0
    ten = tokens_per_second_bound(shape, 0, 131_072 * 19, weight_bytes=131_072 * 9, options=Options(batch=10))
    assert ten == 10.0


def test_tokens_per_row_is_the_load_of_each_state():
    assert tokens_per_row(load_model("minimax-01"), 1 << 20) == (("lightning", Fraction(8_192)),)
    assert tokens_per_row(load_model("jamba-v0.1"), 8) == (("mamba1", Fraction(1, 2)),)
    assert tokens_per_row(load_model("llama-3.1-8b"), 8) == ()


def test_a_layer_without_heads_to_copy_has_no_twin():
    config = {"model_type": "mamba", "num_hidden_layers": 2, "hidden_size": 64}
    assert all_softmax_twin(read_config(config)) is None


@pytest.mark.parametrize("name", ["free_bytes", "tokens"])
def test_bad_numbers_are_refused_by_name(name):
    arguments = {"free_bytes": 1, "tokens": 1, name: -1}
    with pytest.raises(ValueError, match=f"^{name} must"):
        sequences_that_fit(load_model("gpt-2"), **arguments)
