"""The memory's crosstalk: figure and sentence say the same, and no rule lies below what bounds it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import said

from app.page import view
from components.lesson import Question
from compute.memory import WRITE_RULES

answer = view("memory").answer


def test_a_bound_is_drawn_only_for_what_it_bounds():
    """Crosstalk of a rule that lets values shrink is less than any memory's miss; cosines are bounded for all."""
    for rule in WRITE_RULES:
        energies, curve = (answer(Question(rule=rule))[name] for name in ("memory.energies", "memory.curve"))
        for low, high in ((energies["least"], energies["energy"]), (curve["mean"], curve["best"])):
            drawn = np.isfinite(low) & np.isfinite(high)
            assert (low[drawn] <= high[drawn] * 1.02).all(), rule
        assert np.isfinite(energies["least"]).any() == (rule == "additive")


@pytest.mark.parametrize("rule", WRITE_RULES)
def test_the_sentence_says_the_crosstalk_that_is_drawn(rule):
    energy = answer(Question(rule=rule))["memory.energies"]["energy"]
    for n in (2, 32, 128, 256):
        sentence = said("memory", Question(rule=rule), "memory.sentence")[n]
        told = float(re.search(r"([\d.]+)× (the energy of the value|its energy)", sentence)[1])
        assert told == pytest.approx(energy[n - 1], abs=0.0501)
