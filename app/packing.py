"""An answer as one piece of bytes.

A message of Bokeh's has two frames for every array and spells out every list item by item; an answer has dozens of
arrays and thousands of short texts.  Packed, it costs one array, whatever is in it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from components.reel import Columns

LARGE = 96_000
"""Bytes from which on a piece is deflated, to about two thirds: it then waits some milliseconds in the browser."""

TABLE_AT = 4
"""Where the table begins, behind its own length as a little-endian uint32."""

ROW, ITEM = chr(30), chr(31)
"""ASCII's separators of records and of units: between texts that travel as one; in a row of several, before each."""

FEW = 16
"""Texts up to which a list stays in the table."""


def packed(told: Mapping[str, Columns]) -> np.ndarray:
    """uint8: length of the table, the table as JSON, then the arrays.

    The table is `{source: {column: list or {dtype, shape, start, stop}}}`, in bytes behind the table.
    ValueError where a list holds NaN or Inf between other things; a list of floats travels as an array, and one of many
    texts as UTF-8 of dtype `text`: quoted one by one in the table, they take half as much again.
    """
    arrays: list[bytes] = []
    at = 0

    def placed(column: Any) -> Any:
        nonlocal at
        if isinstance(column, list) and column and all(isinstance(item, float) for item in column):
            column = np.array(column)
        if isinstance(column, np.ndarray):
            array = _as_browsers_know_it(column)
            told, content = {"dtype": array.dtype.name, "shape": array.shape}, array.tobytes()
        elif isinstance(column, list) and (text := _joined(column)) is not None:
            told, content = {"dtype": "text"}, text.encode()
        else:
            return column
        arrays.append(content)
        start, at = at, at + len(content)
        return {**told, "start": start, "stop": at}

    table = {source: {name: placed(column) for name, column in columns.items()} for source, columns in told.items()}
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain).encode()
    return np.frombuffer(len(text).to_bytes(TABLE_AT, "little") + text + b"".join(arrays), dtype=np.uint8)


def piece(told: Mapping[str, Columns]) -> Columns:
    """The columns that carry an answer: the piece, and whether it is deflated."""
    whole = packed(told)
    if len(whole) < LARGE:
        return {"piece": [whole], "deflated": [False]}
    return {"piece": [np.frombuffer(zlib.compress(whole, 1), dtype=np.uint8)], "deflated": [True]}


def _joined(column: list) -> str | None:
    """Many texts, or rows of texts, as one; None for what is not that, or could not be told apart again."""
    if len(column) <= FEW or not all(isinstance(row, (str, list)) and (row or row == "") for row in column):
        return None
    try:
        text = ROW.join(row if isinstance(row, str) else ITEM + ITEM.join(row) for row in column)
    except TypeError:  # something else is among them
        return None
    items = sum(len(row) for row in column if not isinstance(row, str))
    return text if text.count(ROW) == len(column) - 1 and text.count(ITEM) == items else None


def _as_browsers_know_it(array: np.ndarray) -> np.ndarray:
    """Typed arrays of a browser have no whole numbers of 64 bits, and no half."""
    if array.dtype.itemsize == 8 and array.dtype.kind in "iu":
        small = array.size == 0 or (array.min() >= -(1 << 31) and array.max() < 1 << 31)
        return array.astype("<i4" if small else "<f8")
    return array.astype("<f4") if array.dtype.itemsize == 2 and array.dtype.kind == "f" else array


def _plain(value: Any) -> Any:
    """A NumPy number as one of Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"an answer cannot carry a {type(value).__name__}")
