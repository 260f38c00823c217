"""Running a sweep here and now: a pure function of question, place and draws, told in points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from compute.sweeps.base import Arrays, Question, Result, Sweep, Work
from compute.sweeps.faults import Faults
from compute.sweeps.places import CPU, Place, seconds
from compute.sweeps.version import code_version
from compute.sweeps.workbench import Bench, NoRoom

Progress = Callable[[float, str], None]
"""Called with the share that is done, never smaller than before, and a note, mostly empty."""


KEEP_S = 10.0
NO_ROOM = "there is not enough memory for the smallest piece of this sweep"


def run(
    sweep: Sweep,
    question: Question,
    place: Place = CPU,
    progress: Progress = lambda fraction, note: None,
    *,
    injected: bool = False,
    faults: Faults | None = None,
    keep: Callable[[Result], None] = lambda result: None,
) -> Result:
    """Every point of the question.  MemoryError, saying so, if a point fits into no memory there is.

    keep: given what there is, every ten seconds or so, and at the end.
    """
    began, notes, finished, kept = time.monotonic(), [], {}, time.monotonic()
    weights = shares(sweep, question)
    before = [sum(weights[:i]) for i in range(len(weights))]

    def tick(i: int, fraction: float) -> None:
        progress(min(1.0, before[i] + weights[i] * fraction), "")

    def say(text: str) -> None:
        if text not in notes:
            notes.append(text)
            progress(sum(weights[i] for i in finished), text)

    for i, arrays in compute(sweep, question, range(len(weights)), place, tick, say, injected=injected, faults=faults):
        finished[i] = arrays
        tick(i, 1.0)
        if len(finished) == len(weights) or time.monotonic() - kept > KEEP_S:
            kept, took = time.monotonic(), time.monotonic() - began
            told = made(place.told(), question, took, list(notes), injected=injected)
            keep(result := sweep.result(question, finished, **told))
    return result


def compute(
    sweep: Sweep,
    question: Question,
    points: Iterable[int],
    place: Place,
    tick: Callable[[int, float], None] = lambda i, fraction: None,
    say: Callable[[str], None] = lambda text: None,
    *,
    injected: bool = False,
    faults: Faults | None = None,
) -> Iterator[tuple[int, Arrays]]:
    """The arrays of some points, one after another.  A point that does not fit on the device is done on the CPU,
    with the device's draws, or with the CPU's own if there is not even room for those."""
    faults = Faults.read() if faults is None else faults
    grid = sweep.points(question)
    for i in points:
        costs = sweep.work(question, grid[i])
        told = {
            "seed": question.seed, "injected": injected, "tick": lambda f, i=i: tick(i, f), "say": say,
        }  # fmt: skip
        bench = Bench(place, expected_s=seconds(costs, place.kind), faults=faults, **told)
        full = False
        try:
            arrays = sweep.at(question, grid[i], bench)
        except NoRoom:
            full = True
        if full:
            if place.library == "numpy":
                raise MemoryError(NO_ROOM)
            bench.let_go()
            say(f"out of memory on {place.kind}: done on the CPU")
            arrays = _spared(sweep, question, grid[i], costs, place, told)
        yield i, arrays


def _spared(sweep: Sweep, question: Question, point: tuple, costs: Work, place: Place, told: dict[str, Any]) -> Arrays:
    for draws_on in (place, CPU):
        bench = Bench(CPU, expected_s=seconds(costs, "cpu"), draws_on=draws_on, **told)
        try:
            return sweep.at(question, point, bench)
        except NoRoom:
            told["say"](f"no room on {place.kind} for draws: other ones, made on the CPU")
    raise MemoryError(NO_ROOM)


def shares(sweep: Sweep, question: Question, kind: str = "cpu") -> list[float]:
    """How large a part of the whole each point is thought to be; they add up to 1."""
    costs = [seconds(sweep.work(question, point), kind) for point in sweep.points(question)]
    total = sum(costs) or 1.0
    return [cost / total for cost in costs]


def made(
    device: dict[str, str], question: Question, took: float, notes: list[str], *, injected: bool = False
) -> dict[str, Any]:
    """How a result came about; device is what `Place.told` said."""
    return {
        "device": device, "seconds": round(took, 3), "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "version": code_version(), "seed": question.seed, "notes": notes,
        "draws": "NumPy" if injected or device["library"] == "numpy" else f"torch on {device['kind']}",
    }  # fmt: skip
