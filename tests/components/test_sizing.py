"""Sizing: curves, crossings and rows are those of the bill, and the headline says the bytes that are drawn."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from asked import DEFAULT, VIEWS, _mark, examples, said

from components.axes import AXES
from components.lesson import SERVER, Question
from components.own import paste
from components.palette import LIGHT
from components.sizing_answer import ELSEWHERE, _told
from components.sizing_asked import counted
from components.sizing_bill import ROWS
from components.sizing_export import exported
from components.sizing_said import make_bill
from compute.sizing import Options, all_softmax_twin, bill, human_bytes, load_model, model_crossings, models
from compute.sizing.options import ENGINES

STOPS = AXES["T"].stops

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


def answer(question=DEFAULT):
    return VIEWS["sizing"].answer(question)


def nodes(question, kind="texts"):
    """Texts of the page's nodes by name."""
    told = answer(question)[f"sizing.{kind}"]
    return dict(zip(told["node"], told["text"], strict=True))


@pytest.mark.parametrize("word", ELSEWHERE)
def test_what_only_other_views_read_changes_nothing_here(word):
    """Asked for itself, an answer that is taken from another question's would be the same."""
    for question in (DEFAULT, Question(phi="favor", model="qwen3.8-27b")):
        for text in examples(SERVER[word]):
            told = _told.__wrapped__(replace(question, **{word: SERVER[word].read(text)}))
            assert marks(told) == marks(answer(question)), text


def marks(told):
    return {(name, column): _mark(value) for name, columns in told.items() for column, value in columns.items()}


@pytest.mark.parametrize("model", models())
def test_the_sizing_curves_are_the_bill(model):
    shape = load_model(model)
    told, twin = answer(Question(model=model))["sizing.curves"], all_softmax_twin(shape)
    for i, T in enumerate(AXES["T"].stops):
        b = bill(shape, T)
        whole = {
            "cache": b.kv_bytes,
            "window": b.window_bytes,
            "state": b.state_bytes,
            "conv": b.conv_bytes,
            "total": b.total_bytes,
        }
        if twin not in (None, shape):
            whole["twin"] = bill(twin, T).total_bytes
        for name in ("cache", "window", "state", "conv", "total", "twin"):
            drawn = told[name][i]
            if np.isfinite(drawn):
                assert drawn == pytest.approx(whole[name], rel=1e-12), (name, T)
            else:
                parts = [x for x in list(whole.values())[:4] if x]
                assert not whole.get(name) or (name == "total" and len(parts) == 1), (name, T)


def quantities(text):
    """Bytes that a sentence says, with half a unit of the last digit."""
    found = []
    for number, unit in re.findall(r"(\d[\d,]*(?:\.\d+)?) ([KMGTP]iB|B)\b", text):
        digits = len(number.partition(".")[2])
        value = float(number.replace(",", ""))
        # Three significant digits: 280 may stand for 279.6, and 1,024 for itself.
        found.append((value * UNITS[unit], 0.501 * 10.0**-digits * UNITS[unit]))
    return found


@pytest.mark.parametrize("model", models())
def test_the_sizing_headline_says_the_bytes_that_are_drawn(model):
    question, shape = Question(model=model), load_model(model)
    curves = {name: np.nan_to_num(values) for name, values in answer(question)["sizing.curves"].items()}
    for i, text in enumerate(said("sizing", question, "sizing.headline")):
        T = AXES["T"].stops[i]
        assert f"{T:,}" in text
        growing, state = curves["cache"][i] + curves["window"][i], curves["state"][i] or curves["conv"][i]
        drawn = [x for x in (growing, state, curves["state"][i] + curves["conv"][i], curves["twin"][i]) if x]
        numbers = quantities(text)
        assert numbers, text
        for number, half in numbers:
            assert any(abs(number - x) <= half for x in drawn), (text, drawn)
        if growing:
            assert abs(numbers[0][0] - growing) <= numbers[0][1], text
    assert bill(shape, T).total_bytes == pytest.approx(
        max(curves["total"][-1], growing + curves["state"][-1] + curves["conv"][-1])
    )


@pytest.mark.parametrize("model", models())
def test_curves_meet_where_the_points_stand(model):
    """A crossing is the first whole token: the curves have passed it there, and not one token before."""
    shape = load_model(model)
    told, meet = answer(Question(model=model)), model_crossings(shape)
    points = {name: told[f"sizing.{name}"] for name in ("meet", "beat")}
    for point, at in ((points["meet"], meet.state), (points["beat"], meet.twin)):
        if point["text"][0]:
            assert point["x"][0] == at and f"{at:,}" in point["text"][0]
    if points["meet"]["text"][0]:
        T = meet.state
        assert (
            bill(shape, T).kv_bytes + bill(shape, T).window_bytes
            >= bill(shape, T).state_bytes
            == points["meet"]["y"][0]
        )
        if T > 1:
            assert bill(shape, T - 1).kv_bytes + bill(shape, T - 1).window_bytes < bill(shape, T - 1).state_bytes
    if points["beat"]["text"][0]:
        T, twin = meet.twin, all_softmax_twin(shape)
        assert bill(twin, T).total_bytes >= bill(shape, T).total_bytes
        if T > 1:
            assert bill(twin, T - 1).total_bytes < bill(shape, T - 1).total_bytes


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", models())
def test_bill_lines_headline_and_total_are_of_one_count(model, engine):
    """Under every way of counting the rows say what the curves draw, and both are the bill's."""
    shape, T = load_model(model), 2**20
    options, _ = counted(shape, Options(batch=3, engine=engine))
    question, made, i = Question(model=model, engine=engine, batch=3), make_bill(shape, T, options), STOPS.index(T)
    told = nodes(question)
    for k in range(ROWS):
        row = made.layers[k] if k < len(made.layers) else None
        assert told[f"sizing.row.{k}.kind"].startswith(f"{row.count} × " if row else "")
        text = said("sizing", question, f"sizing.row.{k}.bytes")[i]
        assert text == (human_bytes(row.bytes) if row else "")
    assert said("sizing", question, "sizing.total")[i] == f"{human_bytes(made.total_bytes)} = {made.total_bytes:,} B"
    curves = {name: np.nan_to_num(values[i]) for name, values in answer(question)["sizing.curves"].items()}
    parts = [made.kv_bytes, made.window_bytes, made.state_bytes, made.conv_bytes]
    assert [curves[name] for name in ("cache", "window", "state", "conv")] == parts
    assert (
        human_bytes(made.kv_bytes + made.window_bytes or made.fixed_bytes, 3)
        in said("sizing", question, "sizing.headline")[i]
    )


def test_every_number_of_a_formula_says_where_it_came_from():
    told = nodes(Question(model="qwen3.8-27b"), "math")
    spelled = told["sizing.row.0.arithmetic"]
    assert '<span title="linear_num_value_heads">48</span>' in spelled
    assert re.sub("<[^>]*>", "", spelled) == "48 × 128 × 128 × 4 B + (2 × 16 × 128 + 48 × 128) × 4 × 2 B"
    texts = nodes(Question(model="qwen3.8-27b"))
    assert (
        "48 linear_num_value_heads" in texts["sizing.row.0.keys"]
        and "layers: layer_types" in texts["sizing.row.0.keys"]
    )
    assert "linear_num_value_heads = 48" in texts["sizing.used"].split("\n")


def test_a_model_of_more_kinds_than_rows_loses_none_of_its_bytes():
    heads = list(range(1, 10))
    own = paste(
        json.dumps({"model_type": "openelm", "num_hidden_layers": 9, "head_dim": 64, "num_key_value_heads": heads})
    )
    question, i = Question(own=own), STOPS.index(1024)
    rows = [said("sizing", question, f"sizing.row.{k}.bytes")[i] for k in range(ROWS)]
    assert rows[-1] == human_bytes(sum(heads[ROWS - 1 :]) * 2 * 64 * 2 * 1024)
    texts = nodes(question)
    assert texts[f"sizing.row.{ROWS - 1}.kind"] == "4 layers of 4 further kinds"


@pytest.mark.parametrize(
    "model, load, fill",
    [
        ("minimax-01", "8,192", "256"),
        ("qwen3.8-27b", "8,192", "256"),
        ("jamba-v0.1", "65,536", "256"),
        ("gpt-2", "", ""),
    ],
)
def test_a_state_is_as_full_as_its_rows_and_tokens_say(model, load, fill):
    question, i = Question(model=model), STOPS.index(2**20)
    assert said("sizing", question, "sizing.load")[i] == load
    assert said("sizing", question, "sizing.fill")[i] == fill
    j = STOPS.index(128)
    if model == "minimax-01":  # one token a row is as full as 16 pairs in a memory of 16 rows
        assert said("sizing", question, "sizing.load")[j] == "1" and said("sizing", question, "sizing.fill")[j] == "16"


KNOWN = {
    # whole model: cache = state, cheaper than all softmax; one layer; bytes a token; longest context in 141 GB
    "minimax-01": ("7,168 tokens", "1,024 tokens", "1,024 tokens", "40,960 B a token"),
    "qwen3-next-80b-a3b": ("3,072 tokens", "1,056 tokens", "1,024 tokens", "24,576 B a token"),
    "kimi-linear-48b-a3b": ("5,202 tokens", "1,906 tokens", "1,821 tokens", "8,064 B a token"),
    "nemotron-h-8b-base-8k": ("6,144 tokens", "1,044 tokens", "1,024 tokens", "16,384 B a token"),
    "jamba-v0.1": ("896 tokens", "144 tokens", "128 tokens", "16,384 B a token"),
    "deepseek-v3": ("", "", "", "70,272 B a token"),
    "llama-3.1-8b": ("", "", "", "131,072 B a token"),
    "gemma-3-27b-it": ("", "", "", "81,920 B a token, windows up to 415.6 MiB"),
    "gpt-oss-20b": ("", "", "", "24,576 B a token, windows up to 2.977 MiB"),
}


@pytest.mark.parametrize("model", KNOWN)
def test_crossings_and_rates_are_on_the_page_in_words(model):
    told = nodes(Question(model=model))
    assert tuple(told[f"sizing.{name}"] for name in ("meets", "beats", "layers", "rate")) == KNOWN[model]


def test_what_fits_is_on_the_page_in_words():
    question, i = Question(), STOPS.index(2**20)
    assert said("sizing", question, "sizing.fits")[i] == "3"
    longest = (141 * 10**9 - 280 * 2**20) // 40_960
    texts = nodes(question)
    assert texts["sizing.longest"] == f"{longest:,} tokens"
    windowed = Question(model="gemma-3-27b-it", gib=1)
    texts = nodes(windowed)
    assert texts["sizing.longest"] == f"{(2**30 - 52 * 8_192 * 1_023) // 81_920:,} tokens"
    moved = 40 * 2**30 + 2 * 280 * 2**20 + 40_960  # the cache is read and one token written, the state read and written
    assert said("sizing", question, "sizing.traffic")[i] == human_bytes(moved)
    assert said("sizing", question, "sizing.speed")[i] == f"≤ {4_800 * 10**9 / moved:,.0f} tokens/s"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_map_that_keeps_the_width_draws_no_second_line_of_states(engine):
    told = {phi: answer(Question(model="qwen3.8-27b", phi=phi, engine=engine)) for phi in ("elu", "taylor")}
    assert np.isnan(told["elu"]["sizing.curves"]["mapped"]).all()
    d_phi = 1 + 128 + 128**2
    assert told["taylor"]["sizing.curves"]["mapped"][0] == 48 * 48 * d_phi * 128 * 4


def test_a_length_of_ones_own_is_billed_to_the_byte():
    made = bill(load_model("qwen3.8-27b"), 100_001, batch=2, kv_dtype="fp8")
    question = Question(model="qwen3.8-27b", batch=2, kv="fp8", exact=100_001)
    assert nodes(question)["sizing.exact"] == f"100,001 tokens: 6.392 GiB = {made.total_bytes:,} B"
    assert nodes(replace(question, exact=0))["sizing.exact"] == ""
    name, text = exported(question, 2**20, "json")
    assert name == "qwen3.8-27b-100001-tokens.json" and json.loads(text)["total_bytes"] == made.total_bytes
    name, text = exported(replace(question, exact=0, engine="vllm-0.33"), 1_024, "csv")
    assert name == "qwen3.8-27b-1024-tokens.csv" and "engine vllm-0.33" in text.splitlines()[1]


def test_lengths_beyond_the_native_one_are_warned_of_on_the_page():
    texts = said("sizing", Question(model="llama-3.1-8b"), "sizing.warned")
    for T, text in zip(STOPS, texts, strict=True):
        assert (f"{T:,} tokens are more than the native context of 131,072" in text) == (T > 131_072)


@pytest.mark.parametrize("model", models())
def test_the_table_of_the_bill_has_the_rows_of_the_bill(model):
    question, T = Question(model=model), 2**20
    rows = bill(load_model(model), T).layers
    i = AXES["T"].stops.index(T)
    told = nodes(question)
    for k, row in enumerate(rows):
        assert told[f"sizing.row.{k}.kind"].startswith(f"{row.count} × ")
        (number, half), *_ = quantities(said("sizing", question, f"sizing.row.{k}.bytes")[i])
        assert abs(number - row.bytes) <= half


def test_a_model_of_latents_shows_what_it_would_keep_without_them_and_calls_its_twin_what_it_is():
    question, i = Question(model="kimi-linear-48b-a3b"), STOPS.index(2**20)
    told, shape = answer(question), load_model("kimi-linear-48b-a3b")
    assert told["sizing.curves"]["whole"][i] == bill(shape, 2**20, mla="decompressed").total_bytes
    assert {"without latents", "all latents"} <= set(told["sizing.names"]["text"])
    assert "latents alone 30.4 GiB" in said("sizing", question, "sizing.headline")[i]
    for plain in (Question(), replace(question, mla="decompressed")):
        assert np.isnan(answer(plain)["sizing.curves"]["whole"]).all()
    assert "all softmax" in answer(Question())["sizing.names"]["text"]


@pytest.mark.parametrize("phi", ["taylor", "dpfp", "elu"])
def test_what_a_map_would_keep_wears_the_colour_of_the_map(phi):
    told = answer(Question(phi=phi))
    seen = [m for m, on in zip(told["sizing.props"]["model"], told["sizing.props"]["value"]) if on is True]
    slot = phi if np.isfinite(told["sizing.curves"]["mapped"]).any() else "mapped"
    assert seen == [f"sizing.mapped_{slot}"] and slot in told["sizing.names"]["line"]
    (fig,) = (cell.figure for row in VIEWS["sizing"].draw(Question(), False).rows for cell in row)
    (drawn,) = (r for r in fig.renderers if r.name == f"sizing.mapped_{slot}")
    assert drawn.glyph.line_color == LIGHT[slot]
