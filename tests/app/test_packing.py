"""An answer as one piece of bytes, read back by hand."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from visiting import agree, unpacked

from app.packing import FEW, ITEM, LARGE, ROW, TABLE_AT, packed, piece
from app.page import pages, views_of
from app.session import answers
from components.lesson import Question


@pytest.mark.parametrize("page", pages())
def test_what_a_view_answers_comes_out_as_it_went_in(page):
    told = answers(views_of(page), Question(phi="taylor", rule="delta", seed=1))
    read = unpacked(packed(told))
    assert list(read) == list(told)
    for source, columns in told.items():
        assert list(read[source]) == list(columns)
        for name, column in columns.items():
            assert agree(read[source][name], column), f"{source}.{name}"


def test_arrays_keep_their_shape_and_take_a_type_that_browsers_know():
    told = {"a.b": {
        "bytes": np.arange(6, dtype=np.uint8).reshape(2, 3), "odd": np.float32([[1], [2]]),
        "whole": np.array([1, -2]), "large": np.array([1 << 40]), "half": np.float16([0.5]), "none": np.zeros((2, 0)),
    }}  # fmt: skip
    read = unpacked(packed(told))["a.b"]
    assert {name: (column.dtype.name, column.shape) for name, column in read.items()} == {
        "bytes": ("uint8", (2, 3)), "odd": ("float32", (2, 1)), "whole": ("int32", (2,)),
        "large": ("float64", (1,)), "half": ("float32", (1,)), "none": ("float64", (2, 0)),
    }  # fmt: skip
    assert read["large"][0] == 1 << 40 and read["whole"].tolist() == [1, -2]


def test_a_list_of_floats_may_hold_what_json_cannot_and_others_may_not():
    assert np.isnan(unpacked(packed({"a.b": {"y": [1.0, float("nan")]}}))["a.b"]["y"][1])
    assert unpacked(packed({"a.b": {"t": ["φ", np.str_("k")], "n": [np.int64(3), "x"]}}))["a.b"] == {
        "t": ["φ", "k"], "n": [3, "x"],
    }  # fmt: skip
    with pytest.raises(ValueError):
        packed({"a.b": {"t": ["x", float("nan")]}})
    with pytest.raises(TypeError, match="cannot carry a object"):
        packed({"a.b": {"t": [object()]}})


MANY = FEW + 1


@pytest.mark.parametrize(
    "column, as_one",
    [
        (["", "φ → 0.98", "one\nabove the other"] * MANY, True),
        (["whole", ["0.98", ""], [""]] * MANY, True),
        (["few"] * FEW, False),
        (["none", []] * MANY, False),
        ([f"a{ROW}b"] * MANY, False),
        ([f"{ITEM}a"] * MANY, False),
        ([["a", f"b{ITEM}c"]] * MANY, False),
        (["a", 1] * MANY, False),
        ([["a", ["b"]]] * MANY, False),
    ],
)
def test_many_texts_travel_as_one_where_they_can_be_told_apart_again(column, as_one):
    told = packed({"a.b": {"t": column}})
    assert unpacked(told)["a.b"]["t"] == column
    assert (b'"dtype":"text"' in told.tobytes()[TABLE_AT:]) == as_one


def test_a_large_piece_is_deflated_and_a_small_one_is_not():
    small, large = ({"a.b": {"y": np.zeros(n, np.uint8)}} for n in (9, LARGE))
    assert np.array_equal(piece(small)["piece"][0], packed(small)) and piece(small)["deflated"] == [False]
    assert zlib.decompress(piece(large)["piece"][0]) == packed(large).tobytes() and piece(large)["deflated"] == [True]
