"""Sizing's controls: models found and compared, and switches that show only while they are of use."""

from __future__ import annotations

import pytest

from components.controls import make_controls
from components.lesson import Lesson
from components.own import paste
from components.sizing import VIEW
from compute.sizing import models


def test_a_found_model_stands_in_the_empty_field_and_replaces_a_pasted_one():
    lesson = Lesson(own=paste('{"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4}'))
    widget = make_controls(lesson, ("model",))["model"]
    assert widget.value is None and widget.placeholder == lesson.own.name
    widget.value = lesson.model  # also the one that was there before the paste
    assert lesson.own is None and widget.value is None and widget.placeholder == models()[lesson.model].name
    lesson.model = "qwen3.8-27b"
    assert widget.placeholder == "Qwen3.8-27B"


def test_what_the_browser_sends_from_the_field_is_taken_and_the_field_is_cleared():
    lesson = Lesson()
    widget = make_controls(lesson, ("model",))["model"]
    model = widget.get_root()
    for name, word in (("Qwen3.8-27B", "qwen3.8-27b"), ("MiniMax-01", "minimax-01")):
        widget._process_events({"value": name})
        assert lesson.model == word and model.value == "" and model.placeholder == name


def test_models_are_put_beside_the_chosen_one_and_taken_away_by_the_same_list():
    lesson = Lesson()
    widget = make_controls(lesson, ("compare",))["compare"]
    for word in ("gpt-2", "llama-3.1-8b", "deepseek-v3"):
        widget.value = word
        assert widget.value is None and f"× {models()[word].name}" in widget.options
    assert lesson.compare == "gpt-2,llama-3.1-8b,deepseek-v3"
    assert not [name for name in widget.options if name.startswith("+")] and "3 beside" in widget.placeholder
    widget.value = "llama-3.1-8b"
    assert lesson.compare == "gpt-2,deepseek-v3" and "+ Llama-3.1-8B" in widget.options


DIALS = (*VIEW.dials, *VIEW.more)


def shown(**words):
    return {word for word, widget in make_controls(Lesson(**words), DIALS).items() if widget.visible}


@pytest.mark.parametrize(
    "model, hidden",
    [
        ("minimax-01", {"conv", "columns", "mla"}),
        ("qwen3.8-27b", {"mla"}),
        ("kimi-linear-48b-a3b", set()),
        ("deepseek-v3", {"state", "conv", "columns"}),
        ("llama-3.1-8b", {"state", "conv", "columns", "mla"}),
        ("falcon-mamba-7b", {"kv", "mla"}),
    ],
)
def test_a_switch_is_shown_where_the_model_has_what_it_switches(model, hidden):
    assert shown(model=model) == set(DIALS) - hidden


def test_what_an_engine_decides_is_no_switch():
    assert set(DIALS) - shown(model="kimi-linear-48b-a3b", engine="vllm-0.33") == {"columns", "mla"}
    lesson = Lesson(model="kimi-linear-48b-a3b")
    widgets = make_controls(lesson, DIALS)
    widgets["engine"].value = "vllm-0.33-prefix"
    assert lesson.engine == "vllm-0.33-prefix" and not widgets["mla"].visible
    widgets["engine"].value = "arithmetic"
    assert widgets["mla"].visible
