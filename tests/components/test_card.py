"""What the overview leaves to the pages of its views, and how a page puts it beside the rest."""

from __future__ import annotations

import pytest

from app.page import OVERVIEW, views_of
from components.lesson import Question
from components.reel import together

ONLY_ON_PAGES = (
    *(f"components.memory_run.{dear}" for dear in ("read_weights", "named_right", "expected_read")),
    *(f"components.sharpness_map_answer.{dear}" for dear in ("entries", "pairs")),
)


@pytest.mark.parametrize("question", [Question(seed=83), Question(seed=84, rule="delta", keys="phi", phi="silu")])
def test_the_overview_computes_nothing_dear_that_only_a_page_shows(question, monkeypatch):
    for name in ONLY_ON_PAGES:
        monkeypatch.setattr(name, lambda *_, name=name, **__: pytest.fail(f"{name} was asked"))
    for view in views_of(OVERVIEW):
        view.answer(question)


def test_parts_of_an_answer_put_columns_side_by_side_and_rows_one_after_another():
    one = {"a.curve": {"x": [1]}, "a.texts": {"node": ["n"], "text": ["one"]}, "a.bars": {"y": [2]}}
    two = {"a.curve": {"y": [3]}, "a.texts": {"node": ["m"], "text": ["two"]}, "a.math": {"node": ["f"], "text": ["x"]}}
    told = together(one, two)
    assert told == {
        "a.curve": {"x": [1], "y": [3]},
        "a.texts": {"node": ["n", "m"], "text": ["one", "two"]},
        "a.bars": {"y": [2]},
        "a.math": {"node": ["f"], "text": ["x"]},
    }
    assert one["a.texts"] == {"node": ["n"], "text": ["one"]} and one["a.curve"] == {"x": [1]}
