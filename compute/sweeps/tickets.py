"""What whoever asks for a sweep holds in hand, and the run behind it that several may share."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from compute.sweeps.base import Arrays, Question, Result, Sweep
from compute.sweeps.places import CPU, seconds
from compute.sweeps.running import made, shares

if TYPE_CHECKING:
    from compute.sweeps.runner import Runner


class Refused(RuntimeError):
    """A sweep that is not taken on; the text says why, to a person."""


@dataclass(frozen=True)
class Progress:
    """How far a run is.  fraction never falls.  position: runs ahead of it, 0 when it is running.

    left_s: estimated seconds until it is done, waiting included.  notes: what went otherwise than planned.
    """

    fraction: float = 0.0
    position: int = 0
    left_s: float = 0.0
    elapsed_s: float = 0.0
    notes: tuple[str, ...] = ()
    place: str = ""


class Ticket(Future):
    """A future of a `Result`, with progress.  `cancel` leaves what was finished in `partial`."""

    def __init__(self, runner: Runner, job: Job | None, visitor: str):
        super().__init__()
        self.runner, self.job, self.visitor = runner, job, visitor
        self.progress = Progress()
        self.partial: Result | None = None
        self.listeners: list[Callable[[Progress], None]] = []

    def running(self) -> bool:
        return not self.done() and self.job is not None and self.job.began is not None

    def on_progress(self, listener: Callable[[Progress], None]) -> None:
        """Called from the runner's thread, at least every second while the run waits or runs, and when it ends."""
        self.listeners.append(listener)

    def cancel(self) -> bool:
        """Let the answer go.  The run itself is stopped when nobody else waits for it."""
        return self.runner.let_go(self)


@dataclass(eq=False)
class Job:
    """One run of one question, whoever asked for it."""

    key: str
    sweep: Sweep
    question: Question
    tickets: list[Ticket] = field(default_factory=list)
    finished: dict[int, Arrays] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    began: float | None = None
    fraction: float = 0.0
    run: int = 0
    deaths: int = 0
    device: str | None = None
    place: dict[str, Any] = field(default_factory=CPU.told)
    fresh: bool = True
    """Nothing of it was computed by an earlier run, so its time says how fast the device is."""

    def __post_init__(self):
        self.weights = shares(self.sweep, self.question)

    @property
    def left(self) -> list[int]:
        return [i for i in range(len(self.weights)) if i not in self.finished]

    def move(self, point: int = -1, fraction: float = 0.0) -> None:
        """Progress, never backwards: what a dead process had begun counts until it is overtaken."""
        done = sum(self.weights[i] for i in self.finished)
        if 0 <= point < len(self.weights) and point not in self.finished:
            done += self.weights[point] * fraction
        self.fraction = max(self.fraction, min(done, 1.0))

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def estimated_s(self) -> float:
        """Estimated seconds of the whole run on its device."""
        points = self.sweep.points(self.question)
        return sum(seconds(self.sweep.work(self.question, point), self.place["kind"]) for point in points)

    def elapsed_s(self) -> float:
        return 0.0 if self.began is None else time.monotonic() - self.began

    def result(self) -> Result:
        """What there is; labelled by the number of points that are finished."""
        about = made(self.place, self.question, self.elapsed_s(), list(self.notes))
        return self.sweep.result(self.question, dict(self.finished), **about)
