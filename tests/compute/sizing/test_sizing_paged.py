"""Bills in an engine's pages: the same switch moves rows, sums, crossings and what fits."""

import re

import pytest

from compute.sizing import (
    Options,
    all_softmax_twin,
    bill,
    decode_step,
    layer_crossings,
    load_model,
    longest_context,
    model_crossings,
    models,
    reserve,
    sequences_that_fit,
)
from compute.sizing.bill_rows import row_bytes
from compute.sizing.options import ARITHMETIC, ENGINES, PAGED, PREFIX
from compute.sizing.sums import first, sums

GiB = 1 << 30
LENGTHS = (1, 16, 784, 785, 100_000)


def served(word):
    try:
        sums(load_model(word), Options(engine=PAGED))
    except ValueError as refused:
        assert re.match("shape has .* (does not serve|cannot make equal)$", str(refused))
        return False
    return True


SERVED = [word for word in models() if served(word)]
every_served = pytest.mark.parametrize("word", SERVED)


@pytest.mark.parametrize("engine, total", [(PAGED, 17_366_515_712), (PREFIX, 17_520_656_384)])
def test_the_published_bytes_of_qwen_3_8_stand_in_its_bill(engine, total):
    made = bill(load_model("qwen3.8-27b"), 262_144, engine=engine)
    assert made.total_bytes == total == sum(row.bytes for row in made.layers)
    assert made.layers[0].arithmetic == "335 pages × 3,211,264 B"
    assert "vLLM 0.33" in made.assumed["engine"]


@every_served
@pytest.mark.parametrize("engine", [PAGED, PREFIX])
def test_a_bill_in_pages_is_the_reservation_of_every_sequence(word, engine):
    shape = load_model(word)
    for T in LENGTHS:
        made = bill(shape, T, batch=3, engine=engine)
        assert made.total_bytes == 3 * reserve(shape, T, prefix_caching=engine == PREFIX).padded_bytes
        for part in ("state_bytes", "conv_bytes", "kv_bytes", "window_bytes"):
            assert sum(getattr(row, part) for row in made.layers) == getattr(made, part)
        assert made.total_bytes == made.fixed_bytes + made.kv_bytes + made.window_bytes


@every_served
def test_the_pages_shown_give_the_bytes_billed(word):
    for row in bill(load_model(word), 9_999, batch=2, engine=PAGED).layers:
        numbers = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", row.arithmetic)]
        batch, pages, page = numbers
        assert batch == 2 and batch * row.count * pages * page == row.bytes
        assert "".join(text for text, _ in row.terms) == row.arithmetic
        assert all(bool(origin) == text[0].isdigit() for text, origin in row.terms)
        assert row.keys


@every_served
def test_pages_never_hold_less_than_the_arithmetic_needs(word):
    shape = load_model(word)
    for T in LENGTHS:
        payload = bill(shape, T, conv_columns="k-1")
        assert bill(shape, T, engine=PAGED).total_bytes >= payload.total_bytes


def test_latents_and_convolution_windows_are_the_engine_s():
    made = bill(load_model("kimi-linear-48b-a3b"), 1_000, mla="decompressed", conv_columns="k", engine=PAGED)
    assert (made.options.mla, made.options.conv_columns) == ("latent", "k-1")
    assert made.total_bytes == bill(load_model("kimi-linear-48b-a3b"), 1_000, engine=PAGED).total_bytes


@pytest.mark.parametrize("word", ["qwen3.8-27b", "nemotron-3-nano-30b-a3b", "kimi-linear-48b-a3b"])
@pytest.mark.parametrize("engine", [PAGED, PREFIX])
def test_crossings_in_pages_are_the_first_that_a_walk_finds(word, engine):
    shape, options = load_model(word), Options(engine=engine)
    own, twin, found = sums(shape, options), sums(all_softmax_twin(shape), options), model_crossings(shape, options)
    states = own.state_bytes
    assert found.state == next(T for T in range(20_000) if own.kv_bytes(T) >= states)
    assert found.twin == next(T for T in range(20_000) if twin.total_bytes(T) >= own.total_bytes(T))


def test_a_state_s_page_is_met_by_the_first_page_of_a_cache():
    """Pages are equal: one token's block takes as much as a state; with prefix caching a state takes two."""
    shape = load_model("qwen3.8-27b")
    assert [c.state_tokens for c in layer_crossings(shape, Options(engine=PAGED))] == [1]
    assert [c.state_tokens for c in layer_crossings(shape, Options(engine=PREFIX))] == [785]


@pytest.mark.parametrize("word", ["qwen3.8-27b", "gpt-oss-20b", "llama-3.1-8b"])
def test_the_longest_context_in_pages_fits_and_one_more_token_does_not(word):
    shape, options = load_model(word), Options(batch=2, engine=PAGED)
    longest = longest_context(shape, 40 * GiB, options)
    assert bill(shape, longest, batch=2, engine=PAGED).total_bytes <= 40 * GiB
    assert bill(shape, longest + 1, batch=2, engine=PAGED).total_bytes > 40 * GiB


def test_sequences_that_fit_are_counted_in_pages():
    shape = load_model("qwen3.8-27b")
    one = bill(shape, 262_144, engine=PAGED).total_bytes
    assert sequences_that_fit(shape, 3 * one, 262_144, Options(batch=9, engine=PAGED)) == 3
    assert sequences_that_fit(shape, 3 * one - 1, 262_144, Options(engine=PAGED)) == 2


def test_states_alone_give_every_length_or_none():
    shape, options = load_model("falcon-mamba-7b"), Options(engine=PAGED)
    assert longest_context(shape, GiB, options) is None
    assert longest_context(shape, 1_000, options) == -1


def test_a_step_moves_what_is_kept_not_what_is_reserved():
    shape = load_model("qwen3.8-27b")
    assert decode_step(shape, 9, Options(engine=PAGED)) == decode_step(shape, 9, Options(conv_columns="k-1"))


def test_the_first_meeting_of_two_rising_steps_is_found():
    rising, other = (lambda T: 10 * (T // 10)), (lambda T: 7 + 3 * (T // 4))
    assert first(rising, other) == next(T for T in range(1_000) if rising(T) >= other(T))
    assert first(lambda T: 5, lambda T: 6) is None
    assert first(lambda T: T, lambda T: T + 1) is None


def test_an_unknown_engine_is_refused_by_name():
    with pytest.raises(ValueError, match=f"^engine must be one of {', '.join(ENGINES)}"):
        bill(load_model("gpt-2"), 1, engine="vllm")


def test_arithmetic_is_the_default():
    assert bill(load_model("gpt-2"), 9) == bill(load_model("gpt-2"), 9, engine=ARITHMETIC)


@pytest.mark.parametrize("options", [Options(batch=3, kv_dtype="q8_0"), Options(batch=2, engine=PREFIX)])
def test_row_bytes_are_those_of_the_bills_rows(options):
    for word in SERVED:
        shape = load_model(word)
        told = row_bytes(shape, options, LENGTHS)
        for k, T in enumerate(LENGTHS):
            made = bill(shape, T, **{name: getattr(options, name) for name in Options.__dataclass_fields__})
            assert [row[k] for row in told] == [row.bytes for row in made.layers]
