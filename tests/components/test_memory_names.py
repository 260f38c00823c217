"""Names of the two rules of a duel."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS

from components.lesson import Question
from components.memory_names import CLEAR, TOP, UNDER

answer = VIEWS["memory"].answer


@pytest.mark.parametrize("rule", ["decay", "delta", "gated_delta"])
@pytest.mark.parametrize("stream", ["plain", "overwrite", "topics", "ungated"])
def test_the_names_of_two_rules_lie_on_neither_line(rule, stream):
    told = answer(Question(rule=rule, duel="additive", stream=stream))
    lines = np.array([told["memory.curve"][name][256 - UNDER : 257] for name in ("mean", "rival")], dtype=float)
    heights = told["memory.duel"]["y"]
    upper = np.argmax(lines.mean(axis=1))
    assert heights[upper] >= min(lines[upper].max() + CLEAR, TOP - CLEAR / 2) - 1e-6
    assert np.abs(lines - heights[1 - upper]).min() >= CLEAR / 2 and abs(heights[0] - heights[1]) >= CLEAR - 1e-6


def test_a_memory_that_ends_early_has_its_names_too():
    told = answer(Question(keys="orthonormal", rule="decay", duel="additive"))
    assert np.isfinite(told["memory.duel"]["y"]).all() and all(told["memory.duel"]["text"])
