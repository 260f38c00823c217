"""Rows of whole numbers, from a list or an array: the same numbers, and the same word about a wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from compute.scalars import wholes

KINDS = [list, tuple, np.array, lambda row: np.array(row, dtype=np.uint8)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_comes_back_as_plain_whole_numbers(kind):
    told = wholes("at", kind([1, 4, 9]), 1, 9, rising=True)
    assert told == [1, 4, 9] and all(type(number) is int for number in told)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", [[0, 4], [1, 10], [4, 4], [4, 1], []])
def test_a_wrong_row_is_refused_by_name(kind, row):
    with pytest.raises(ValueError, match=r"^at "):
        wholes("at", kind(row), 1, 9, rising=True)


@pytest.mark.parametrize("row", [np.array([1.5, 2.0]), np.array([True, False]), np.array([[1, 2]]), "12", [1, None]])
def test_what_is_no_row_of_whole_numbers_is_refused_by_name(row):
    with pytest.raises(ValueError, match=r"^at "):
        wholes("at", row, 0, 9)
