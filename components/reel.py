"""Reels: stacks of frames that the browser indexes, one ColumnDataSource each.

A row of a reel is a frame.  Its binds say where the pieces of a frame go: into a column of a figure's
source, onto a property of a named model, or into a text node of the page.  The script that reads them
(assets/reel.js) holds no mathematics; this module holds the same rule in Python, so that a figure can
be drawn at any stop before the script runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource

from components.axes import AXES

Columns = Mapping[str, Any]
Answer = dict[str, Columns]
"""`{source name: {column: values}}`, what a view says to a question."""


@dataclass(frozen=True)
class Bind:
    """One piece of a frame and its target.

    column: reel column that holds the piece, one row a frame.
    source, to: target source and column (to defaults to the reel's column name).
    model, property: target model and property, instead of a source.
    node: text node of the page, instead of either; a row that is a list fills the gaps `{}` of the phrase.
    phrase: `source.column` of the one text with gaps, so that a long sentence is not sent once a stop.
    A piece may be shorter than its target column; the rest is then NaN.
    pool, start, stop: the piece is `pool[column][start:stop]` (a ragged stack), where start and stop are reel columns;
    without stop, it is the pool's row number `start`.
    also: a second axis; `pool[column]` then has a row for every stop of the reel's axis and, within it, of this one.
    scale: one step of an integer column, so that small integers can travel for floats.
    image: the target column holds one image rather than one value a row.
    """

    column: str
    source: str = ""
    to: str = ""
    model: str = ""
    property: str = ""
    node: str = ""
    pool: str = ""
    start: str = ""
    stop: str = ""
    scale: float = 1.0
    image: bool = False
    phrase: str = ""
    also: str = ""

    def spelled(self) -> dict[str, Any]:
        """Only what is set, for the script."""
        told = {name: value for name, value in asdict(self).items() if value not in ("", False)}
        if self.source:
            told["to"] = self.to or self.column
        return told


@dataclass(frozen=True)
class Reel:
    """Name of the reel's source, the axis it follows, and its binds.

    end: `source.column` whose rows all hold the number of the last stop that shows something new, where the axis is
    longer than what is shown.
    """

    name: str
    axis: str
    binds: tuple[Bind, ...]
    end: str = ""

    @property
    def tag(self) -> dict[str, Any]:
        """What the script is told of it."""
        own = {"axis": self.axis, "binds": [bind.spelled() for bind in self.binds]}
        return {**own, "end": self.end} if self.end else own

    def piece(self, bind: Bind, answer: Answer, positions: Mapping[str, int]) -> Any:
        """What the bind shows at the given stops."""
        reel, i = answer[self.name], positions[self.axis]
        if bind.also:
            return answer[bind.pool][bind.column][i * len(AXES[bind.also].stops) + positions[bind.also]]
        if not bind.pool:
            return reel[bind.column][i]
        pool, start = answer[bind.pool][bind.column], int(reel[bind.start][i])
        return pool[start] if not bind.stop else pool[start : int(reel[bind.stop][i])]


def frame_columns(reels: Iterable[Reel], answer: Answer, positions: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """The columns that reels own in figure sources, at the given stops."""
    columns: dict[str, dict[str, Any]] = {}
    for reel in reels:
        for bind in reel.binds:
            if bind.source:
                piece = _decoded(reel.piece(bind, answer, positions), bind.scale)
                target = columns.setdefault(bind.source, {})
                target[bind.to or bind.column] = _filled(piece, bind, answer)
    return columns


def frame_texts(reels: Iterable[Reel], answer: Answer, positions: Mapping[str, int]) -> dict[str, str]:
    """The texts that reels put into page nodes, at the given stops."""
    return {bind.node: _said(reel, bind, answer, positions) for reel in reels for bind in reel.binds if bind.node}


def _said(reel: Reel, bind: Bind, answer: Answer, positions: Mapping[str, int]) -> str:
    piece = reel.piece(bind, answer, positions)
    if isinstance(piece, str):
        return piece
    source, _, column = bind.phrase.rpartition(".")
    return fill(answer[source][column][0], piece)


def fill(phrase: str, parts: Iterable[str]) -> str:
    """The phrase with its gaps `{}` filled in order."""
    for part in parts:
        phrase = phrase.replace("{}", part, 1)
    return phrase


def frame_properties(reels: Iterable[Reel], answer: Answer, positions: Mapping[str, int]) -> list[tuple[str, str, Any]]:
    """(model, property, value) that reels set, at the given stops."""
    return [
        (bind.model, bind.property, reel.piece(bind, answer, positions))
        for reel in reels
        for bind in reel.binds
        if bind.model
    ]


def _decoded(piece: Any, scale: float) -> Any:
    return piece if scale == 1.0 else np.asarray(piece, dtype=np.float32) * np.float32(scale)


def _filled(piece: Any, bind: Bind, answer: Answer) -> Any:
    if bind.image:
        return [piece]
    beside = answer.get(bind.source)
    if beside and isinstance(piece, np.ndarray) and len(piece) < (length := len(next(iter(beside.values())))):
        column = np.full(length, np.nan, dtype=np.float32)
        column[: len(piece)] = piece
        return column
    return [piece] if np.isscalar(piece) else np.array(piece) if isinstance(piece, np.ndarray) else list(piece)


def last_stop(reels: Iterable[Reel], answer: Answer, axis: str) -> int:
    """Number of the last stop of an axis that shows something new."""
    ends = (reel.end.rpartition(".") for reel in reels if reel.axis == axis and reel.end)
    return min((len(AXES[axis].stops) - 1, *(int(answer[source][column][0]) for source, _, column in ends)))


NOT_DRAWN = ("texts", "math", "props")
"""Last part of an answer's name that is no figure source: texts of nodes, MathML of nodes, (model, property, value)."""


def is_drawn(name: str) -> bool:
    return name.rpartition(".")[2] not in NOT_DRAWN


def together(answer: Answer, more: Answer) -> Answer:
    """Two parts of an answer: columns of a drawn source side by side, rows of the others one after another."""
    told = dict(answer)
    for name, columns in more.items():
        beside = told.get(name, {})
        stacked = not is_drawn(name)
        told[name] = {c: beside.get(c, []) + columns[c] for c in columns} if stacked else {**beside, **columns}
    return told


def make_sources(
    reels: Sequence[Reel], answer: Answer, positions: Mapping[str, int], prefix: str = ""
) -> dict[str, ColumnDataSource]:
    """Every named source of a view, figure sources starting at the given stops."""
    framed = frame_columns(reels, answer, positions)
    tags = {reel.name: [reel.tag] for reel in reels}
    names = [name for name in (*answer, *(n for n in framed if n not in answer)) if is_drawn(name)]
    return {
        name: ColumnDataSource(
            data={**answer.get(name, {}), **framed.get(name, {})}, name=prefix + name, tags=tags.get(name, [])
        )
        for name in names
    }
