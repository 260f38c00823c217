"""The books of the queue: runs that wait, the one that runs, what was found, and who is to be told."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Any

from compute.sweeps.base import Question, Result, Sweep
from compute.sweeps.cluster import configured
from compute.sweeps.local import LocalWorker
from compute.sweeps.places import RATES, estimate
from compute.sweeps.store import Store, key
from compute.sweeps.tickets import Job, Progress, Ticket

LIMIT_S = 600.0
"""Longest estimate that is taken on."""

KILL_S = 3.0
"""A worker that has not stopped by then is killed."""

REMEMBERED = 32
UNFINISHED = 8
"""Answers, and cancelled runs with what they had, that are kept in memory."""


class Books:
    """Who waits for which run, what each has, and which backend is busy.  Everything here runs under one lock; what
    others are to be told is collected in `calls`, and said when the lock is free."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        backends: tuple[Callable[..., Any], ...] | None = None,
        limit_s: float = LIMIT_S,
    ):
        self.store, self.limit_s = store or Store(), limit_s
        self.lock = threading.RLock()
        self.inbox: queue.SimpleQueue = queue.SimpleQueue()
        self.local = LocalWorker(self._heard(lambda: self.local), environ)
        self.remote = [
            make(self._heard(lambda i=i: self.remote[i]))
            for i, make in enumerate(configured() if backends is None else backends)
        ]
        self.waiting: deque[Job] = deque()
        self.running: Job | None = None
        self.busy: tuple[Any, int] | None = None
        """The backend that is computing and its run; it outlives a cancelled job until the worker is free."""
        self.kill_at: float | None = None
        self.results: OrderedDict[str, Result] = OrderedDict()
        self.unfinished: OrderedDict[str, Job] = OrderedDict()
        self.place: dict[str, Any] | None = None
        self.pace: dict[tuple[str, str], float] = {}
        self.runs, self.beaten, self.idle_since = itertools.count(1), 0.0, time.monotonic()
        self.calls: list[Callable[[], None]] = []
        self.closed = False

    def _heard(self, backend: Callable[[], Any]) -> Callable[[dict[str, Any], bytes], None]:
        return lambda told, payload: self.inbox.put((backend(), told, payload))

    def key_of(self, sweep: Sweep, question: Question) -> str:
        device = (self.place["name"] if self.place else "?") if sweep.timed else ""
        return key(sweep, question, device)

    def estimate_s(self, sweep: Sweep, question: Question) -> float:
        """Estimated seconds here, by what this process has seen of its device so far; a worker has to wake first."""
        kind = self.place["kind"] if self.place else "cpu"
        asleep = RATES[kind].start if self.local.pid is None else 0.0
        return asleep + estimate(sweep, question, kind) * self.pace.get((sweep.word, kind), 1.0)

    def _jobs(self) -> list[Job]:
        return [*([self.running] if self.running else []), *self.waiting]

    def _remember(self, name: str, result: Result) -> None:
        self.results[name] = result
        while len(self.results) > REMEMBERED:
            self.results.popitem(last=False)

    def _forget(self, job: Job) -> None:
        """Nobody waits for it any more: stop it, keep what it has for whoever asks again."""
        if job.finished:
            self.unfinished[job.key] = job
            while len(self.unfinished) > UNFINISHED:
                self.unfinished.popitem(last=False)
        if job is self.running:
            self.running = None
            if self.busy:
                self.busy[0].stop(self.busy[1])
                self.kill_at = time.monotonic() + KILL_S
        else:
            self.waiting.remove(job)

    def _left_s(self, job: Job) -> float:
        return self.estimate_s(job.sweep, job.question) * (1 - job.fraction)

    def _tell(self, job: Job) -> None:
        """Bring the tickets of a job up to date; who listens is called once the lock is free."""
        jobs = self._jobs()
        position = jobs.index(job) if job in jobs else 0
        if job is not self.running and (self.running is None and self.busy is not None):
            position += 1
        left = sum(self._left_s(ahead) for ahead in jobs[: jobs.index(job) + 1]) if job in jobs else 0.0
        if job is self.running and job.fraction > 0.1 and job.fresh:
            left = job.elapsed_s() * (1 / job.fraction - 1)
        name = job.place["name"] if job.began is not None else ""
        told = Progress(job.fraction, position, left, job.elapsed_s(), tuple(job.notes), name)
        for ticket in job.tickets:
            ticket.progress = told
            self.calls += [lambda listener=listener: listener(told) for listener in ticket.listeners]

    def _end(self, job: Job, outcome: Callable[[Ticket], None]) -> None:
        job.fraction = 1.0 if not job.left else job.fraction
        self._tell(job)
        tickets, job.tickets = job.tickets, []
        self.calls += [lambda ticket=ticket: outcome(ticket) for ticket in tickets]
        if job is self.running:
            self.running = None

    def _fail(self, job: Job, error: Exception) -> None:
        for ticket in job.tickets:
            ticket.partial = job.result()
        self._end(job, lambda ticket: ticket.set_exception(error))
