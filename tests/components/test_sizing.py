"""Sizing: curves, crossings and rows are those of the bill, and the headline says the bytes that are drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import DEFAULT, VIEWS, said

from components.axes import AXES
from components.lesson import Question
from compute.sizing import all_softmax_twin, bill, load_model, model_crossings, models

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


def answer(question=DEFAULT):
    return VIEWS["sizing"].answer(question)


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


@pytest.mark.parametrize("model", models())
def test_the_table_of_the_bill_has_the_rows_of_the_bill(model):
    question, T = Question(model=model), 2**20
    rows = bill(load_model(model), T).layers
    i = AXES["T"].stops.index(T)
    told = dict(zip(*(answer(question)["sizing.texts"][key] for key in ("node", "text")), strict=True))
    for k, row in enumerate(rows):
        assert told[f"sizing.row.{k}.kind"].startswith(f"{row.count} × ")
        (number, half), *_ = quantities(said("sizing", question, f"sizing.row.{k}.bytes")[i])
        assert abs(number - row.bytes) <= half
