"""Sizing's laws: those of the layers that a model has, and with its numbers the bytes of its bill."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from fractions import Fraction
from math import prod

import pytest
from asked import VIEWS, said

from components.axes import AXES
from components.formula import at_stops
from components.lesson import Question
from components.sizing_laws import laws, laws_of, values
from compute.feature_maps import FEATURE_MAPS
from compute.sizing import Options, bill, human_bytes, load_model, models
from compute.sizing.bill_rows import row_bytes
from compute.sizing.options import PAGED
from compute.sizing.twins import with_feature_map

LENGTHS = (1, 100, 5000)


@pytest.mark.parametrize(
    ("model", "options", "has", "lacks"),
    [
        ("minimax-01", Options(), ("n_{kv}", "state"), ("min", "d_r")),
        ("deepseek-v3", Options(), ("(r + d_r)",), ("n_{kv}", "state")),
        ("deepseek-v3", Options(mla="decompressed"), ("(d_k + d_v)",), ("d_r", "state")),
        ("gemma-3-27b-it", Options(), ("n_{kv}", "min"), ("state",)),
        ("mistral-7b-v0.1", Options(), ("min",), ("cache", "state")),
        ("falcon-h1-7b", Options(), ("n_{kv}", "state"), ("min",)),
        ("gla-7b", Options(), ("state",), ("cache", "min")),
        ("recurrentgemma-2b", Options(), ("min",), ("cache", "state")),
    ],
)
def test_the_law_is_that_of_the_layers_the_model_has(model, options, has, lacks):
    told = laws(load_model(model), options)
    assert all(part in told for part in has) and not any(part in told for part in lacks)


def worth(law, T: int) -> Fraction:
    """The law's bytes, worked out from its LaTeX."""
    parts = re.findall(r"n_\{kv\}|d_\\phi|[a-zA-Z]_\w|\\min|\\,|[a-zA-Z]|\d+|[-+(),]", law.whole)
    signs = {r"\,": "*", r"\min": "min", **{sign: sign for sign in "-+(),"}}
    told = {**{symbol: f"Fraction('{number}')" for symbol, number in law.numbers.items()}, **signs, "T": str(T)}
    return eval("".join(told.get(part, part) for part in parts), {"__builtins__": {}, "Fraction": Fraction, "min": min})


@pytest.mark.parametrize(
    "options", [Options(), Options(tp=2, kv_dtype="int4", state_dtype="bfloat16", conv_columns="k-1")]
)
@pytest.mark.parametrize("model", models())
def test_the_laws_with_their_numbers_are_the_bytes_of_the_bill(model, options):
    shape = load_model(model)
    for group, sizes in zip(shape.layers, row_bytes(shape, options, LENGTHS), strict=True):
        found = laws_of(group.family, options)
        if group.family.conv() or (group.family.state() and group.family.rows is None):
            continue  # convolution windows and states without a matrix have no law here
        assert [group.count * sum(worth(law, T) for law in found) for T in LENGTHS] == list(sizes)


@pytest.mark.parametrize("model", models())
def test_of_layers_with_a_convolution_too_the_law_is_the_rest(model):
    options = Options()
    for group in load_model(model).layers:
        if group.family.conv() and group.family.rows:
            state = sum(worth(law, 1) for law in laws_of(group.family, options) if law.name == "state")
            assert state == 4 * sum(run.value for run in group.family.state())


def test_every_symbol_has_its_number_underneath_and_T_the_fingers():
    cache, state = told_under("minimax-01", Options(batch=3))
    assert state == "state=L70B3h64dφ128dv128b4=840 MiB"
    assert cache == "cache=L10B32nkv8d128b2T16=…"
    assert told_under("gemma-3-27b-it", Options())[1] == "window=L522nkv16d128b2min(T16,W1,024−1)=…"


TOLD = {"sizing.reel": {f"bytes_{i}": ["…"] * 17 for i in range(6)}}


def told_under(model: str, options: Options) -> list[str]:
    return under(values(load_model(model), options))


def under(formulas: str) -> list[str]:
    made = at_stops(formulas, {"T": 16}, TOLD)
    return ["".join(block.itertext()).replace("\xa0", " ") for block in xml.fromstring(f"<all>{made}</all>")]


def worth_of(block: str) -> int:
    """The product of the numbers under the symbols, as `L70h64dφ16,513dv128b4` has them."""
    numbers = re.findall(r"(?:L|B|h|dφ|dv|b)([\d,]+)", block.rpartition("=")[0])
    return prod(int(number.replace(",", "")) for number in numbers)


def test_pages_have_no_law():
    shape = load_model("minimax-01")
    assert values(shape, Options(engine=PAGED)) == "" and bill(shape, 16, engine=PAGED).total_bytes


@pytest.mark.parametrize("model", ["minimax-01", "gla-7b", "gated-deltanet", "nemotron-h-8b-base-8k"])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_map_that_makes_the_states_wider_says_how_large_in_headline_and_formula(model, batch):
    question, shape = Question(model=model, phi="taylor", batch=batch), load_model(model)
    more = batch * with_feature_map(shape, FEATURE_MAPS["taylor"]().d_phi)
    told = dict(zip(*(VIEWS["sizing"].answer(question)["sizing.math"][c] for c in ("node", "text")), strict=True))
    blocks = under(told["sizing.values"])
    assert sum(worth_of(block) for block in blocks if block.startswith("with Taylor=")) == more
    for headline in said("sizing", question, "sizing.headline"):
        assert f", with Taylor {human_bytes(more, 3)}" in headline and "{}" not in headline
    narrow = Question(model=model, phi="elu", batch=batch)
    assert not any("with" in headline for headline in said("sizing", narrow, "sizing.headline"))


def test_the_headline_with_a_wider_map_keeps_its_length_and_its_cache():
    (at,) = (i for i, T in enumerate(AXES["T"].stops) if T == 2**20)
    headline = said("sizing", Question(phi="taylor"), "sizing.headline")[at]
    assert headline == "MiniMax-01 at 1,048,576 tokens: 40 GiB of cache, 280 MiB of state, with Taylor 35.3 GiB."
