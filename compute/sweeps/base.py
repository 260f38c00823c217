"""What a sweep is: a frozen question, a grid of points that do not need one another, and arrays over that grid.

`Sweep.at` computes one point on a workbench; everything else about a sweep is said by small methods beside it.
Points can be computed in any order and anywhere, and those that are finished are worth keeping: a result that is not
complete holds NaN where nothing was computed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from compute.families import check, knob

Arrays = dict[str, np.ndarray]

MOST_VALUES = 128
"""Longest tuple that a question may hold."""


def several(default: tuple, low: Any = None, high: Any = None, doc: str = "", *, among: tuple[str, ...] = ()) -> Any:
    """A field that holds a tuple: of numbers from low to high, or of words among those given."""
    return field(default=default, metadata={"several": (low, high), "among": among, "doc": doc})


@dataclass(frozen=True)
class Question:
    """Settings of a sweep: numbers, and tuples of numbers or words, so that they travel as JSON.

    Made by `knob` and `several`; ValueError that begins with the field's name for anything out of range.
    """

    seed: int = knob(0, 0, 2**31 - 1, "which random draws")

    def __post_init__(self):
        for f in fields(self):
            value = getattr(self, f.name)
            if "several" in f.metadata:
                value = _several(f.name, type(f.default[0]), value, f.metadata)
            else:
                value = check(f.name, type(f.default), value, f.metadata["bounds"])
            object.__setattr__(self, f.name, value)

    def told(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        return {f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v for f in fields(self)}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Question:
        """The question that `told` describes, defaults for what is missing; ValueError names an unknown field."""
        if unknown := sorted(set(told) - {f.name for f in fields(cls)}):
            raise ValueError(f"{unknown[0]} is no setting of this sweep")
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in told.items()})


def _several(name: str, kind: type, value: Any, metadata: Mapping[str, Any]) -> tuple:
    if not isinstance(value, (tuple, list)) or not 1 <= len(value) <= MOST_VALUES:
        raise ValueError(f"{name} must be 1 to {MOST_VALUES} values, got {str(value)[:60]!r}")
    if among := metadata["among"]:
        if unknown := [v for v in value if v not in among]:
            raise ValueError(f"{name} must be among {', '.join(among)}, got {str(unknown[0])[:60]!r}")
        values = tuple(value)
    else:
        values = tuple(check(name, kind, v, metadata["several"]) for v in value)
    if len(set(values)) != len(values):
        raise ValueError(f"{name} must not hold a value twice")
    return values


class Work(NamedTuple):
    """What a point costs, for the estimate: floating-point operations, bytes moved, dependent steps, numbers drawn
    or exponentiated, seconds that do not depend on the device, and seconds in which kernels are compiled for CUDA.
    left_out: kinds of device on which the point is passed over."""

    flops: float = 0.0
    bytes: float = 0.0
    steps: float = 0.0
    numbers: float = 0.0
    seconds: float = 0.0
    compiling: float = 0.0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """Named arrays, and what is to be known about them.

    arrays: over the axes of the grid, then over the axes of a point; read-only; NaN where nothing was computed.
    about: JSON: sweep, question, axes, dims (names of the axes of every array), device, seconds, date, version,
    notes (what went otherwise than planned), points (how many there are) and finished (how many were computed).
    """

    arrays: Arrays
    about: dict[str, Any]

    def __post_init__(self):
        for a in self.arrays.values():
            a.setflags(write=False)

    @property
    def complete(self) -> bool:
        return self.about["finished"] == self.about["points"]

    @property
    def axes(self) -> dict[str, np.ndarray]:
        """Values along each named axis."""
        return {name: np.asarray(values) for name, values in self.about["axes"].items()}


class Sweep:
    """One kind of sweep.  A subclass states its words and the methods that raise NotImplementedError here."""

    word: ClassVar[str]
    title: ClassVar[str]
    says: ClassVar[str]
    """What the arrays hold, in a sentence or two."""
    question: ClassVar[type[Question]]
    quick: ClassVar[Question]
    """A question that a laptop answers in seconds."""
    needs_float64: ClassVar[bool] = False
    """Such a sweep skips devices without float64."""
    needs_torch: ClassVar[bool] = False
    """NumPy is not enough for it."""
    timed: ClassVar[bool] = False
    """Its result is a measurement of one device, and good for that device only."""
    dims: ClassVar[dict[str, tuple[str, ...]]]
    """For every array the names of the axes that follow those of the grid."""

    def grid(self, question: Question) -> dict[str, tuple]:
        """Axes of the grid: their names and values.  Every combination is one point."""
        raise NotImplementedError

    def axes(self, question: Question) -> dict[str, tuple]:
        """Axes of a point: their names and values."""
        return {}

    def work(self, question: Question, point: tuple) -> Work:
        raise NotImplementedError

    def at(self, question: Question, point: tuple, bench: Any) -> Arrays:
        """The arrays of one point, NumPy, of a shape that does not depend on the point."""
        raise NotImplementedError

    def points(self, question: Question) -> tuple[tuple, ...]:
        return tuple(itertools.product(*self.grid(question).values()))

    def assemble(self, question: Question, finished: Mapping[int, Arrays]) -> Arrays:
        """Arrays over the whole grid from the arrays of its points; NaN for points that are missing."""
        shape = tuple(len(values) for values in self.grid(question).values())
        arrays: Arrays = {}
        for i, told in sorted(finished.items()):
            for name, a in told.items():
                if name not in arrays:
                    arrays[name] = np.full((math.prod(shape), *a.shape), np.nan, dtype=a.dtype)
                arrays[name][i] = a
        return {name: a.reshape(*shape, *a.shape[1:]) for name, a in arrays.items()}

    def result(self, question: Question, finished: Mapping[int, Arrays], **about: Any) -> Result:
        grid = self.grid(question)
        told = {
            "sweep": self.word, "question": question.told(), "points": len(self.points(question)),
            "finished": len(finished),
            "axes": {name: list(values) for name, values in {**grid, **self.axes(question)}.items()},
            "dims": {name: [*grid, *dims] for name, dims in self.dims.items()},
            **about,
        }  # fmt: skip
        return Result(self.assemble(question, finished), told)


def default(sweep: Sweep) -> Question:
    """The question that the shipped pictures answer."""
    return sweep.question()


def settings(sweep: Sweep) -> dict[str, tuple[Any, str]]:
    """Default and meaning of every field of a sweep's question."""
    return {f.name: (f.default, f.metadata["doc"]) for f in fields(sweep.question) if f.default is not MISSING}
