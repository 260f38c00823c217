"""Sizing by what an engine reserves: named, for the models that it serves, and for those beside them."""

from __future__ import annotations

from dataclasses import replace

from asked import VIEWS, said

from components.axes import AXES
from components.lesson import Question
from compute.sizing import bill, load_model

STOPS = AXES["T"].stops


def test_the_engine_is_named_where_its_pages_are_counted():
    question = Question(model="qwen3.8-27b", engine="vllm-0.33")
    i = STOPS.index(262_144)
    assert said("sizing", question, "sizing.total")[i].endswith("17,366,515,712 B")
    assert "vLLM 0.33 reserves 16 GiB" in said("sizing", question, "sizing.headline")[i]
    assert said("sizing", question, "sizing.both")[i] == "16.14 GiB · 16.17 GiB"
    assert said("sizing", replace(question, engine="arithmetic"), "sizing.both")[i] == "16.14 GiB · 16.17 GiB"


def test_a_model_that_the_engine_does_not_serve_is_billed_by_arithmetic_and_said_so():
    question = Question(model="xlstm-7b", engine="vllm-0.33")
    texts = said("sizing", question, "sizing.sentence")
    assert all("xlstm layers, which vLLM 0.33 does not serve: this is the arithmetic." in text for text in texts)
    plain = VIEWS["sizing"].answer(Question(model="xlstm-7b"))["sizing.curves"]["state"]
    assert (VIEWS["sizing"].answer(question)["sizing.curves"]["state"] == plain).all()


def test_models_beside_it_are_counted_the_same_way_where_the_engine_serves_them():
    question = Question(model="xlstm-7b", compare="qwen3.8-27b,rwkv-6-world-1b6", engine="vllm-0.33")
    told = VIEWS["sizing"].answer(question)
    pages = [bill(load_model("qwen3.8-27b"), T, engine="vllm-0.33").total_bytes for T in STOPS]
    assert told["sizing.curves"]["other1"].tolist() == pages
    assert told["sizing.curves"]["other2"][0] == bill(load_model("rwkv-6-world-1b6"), 1).total_bytes
    names = [text for text in told["sizing.names"]["text"] if "Qwen" in text or "RWKV" in text]
    assert names == ["Qwen3.8-27B", "RWKV-6-World-1B6\n(arithmetic)"]
