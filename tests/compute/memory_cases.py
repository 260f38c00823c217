"""Rules, exact numbers and draws that the tests of the memory share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from compute.memory import WRITE_RULES

every_rule = pytest.mark.parametrize("rule", [make() for make in WRITE_RULES.values()], ids=list(WRITE_RULES))


def exact(rows):
    return np.vectorize(Fraction, otypes=[object])(np.array(rows, dtype=object))


def draw(seed, *lead, d=5, d_v=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((*lead, d, d_v)), rng.standard_normal((*lead, d)), rng.standard_normal((*lead, d_v))
