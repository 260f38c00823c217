"""What the queue's thread does: gives work to a backend, hears what it says, tells those who wait.

Everything here runs under one lock; what others are to be told is collected and said when the lock is free again.
"""

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
from compute.sweeps.packing import Corrupt, unpack
from compute.sweeps.places import RATES, estimate, said
from compute.sweeps.store import Store, key
from compute.sweeps.tickets import Job, Progress, Refused, Ticket

LIMIT_S = 600.0
"""Longest estimate that is taken on."""

KILL_S = 3.0
"""A worker that has not stopped by then is killed."""

GIVE_UP = 25
"""Deaths of the worker in a row, without any progress between them, that end a run."""

IDLE_S = 600.0
"""A worker without work is ended after this long, and gives its memory back."""

BEAT_S = 0.5
REMEMBERED = 32
UNFINISHED = 8
"""Answers, and cancelled runs with what they had, that are kept in memory."""


class Dispatcher:
    """The queue without its doors, which `Runner` adds."""

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
        self.thread = threading.Thread(target=self._loop, daemon=True, name="sweeps")
        self.thread.start()

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

    # The thread.

    def _loop(self) -> None:
        while not self.closed:
            try:
                event = self.inbox.get(timeout=BEAT_S / 2)
            except queue.Empty:
                event = None
            with self.lock:
                if self.closed:
                    return
                if event is not None:
                    self._hear(*event)
                self._watch()
                calls, self.calls = self.calls, []
            for call in calls:
                call()

    def _watch(self) -> None:
        now = time.monotonic()
        if self.kill_at is not None and now >= self.kill_at and self.busy:
            self.busy[0].kill()
            self.kill_at = None
        decided = not any(backend.undecided() for backend in self.remote)
        if self.running is None and self.busy is None and self.waiting and decided:
            self._start(self.waiting.popleft())
        if self.running or self.busy or self.waiting:
            self.idle_since = now
        elif now - self.idle_since > IDLE_S and self.local.pid is not None:
            self.local.close()
        if now - self.beaten >= BEAT_S:
            self.beaten = now
            for job in self._jobs():
                self._tell(job)

    def _start(self, job: Job) -> None:
        self.running, job.began = job, time.monotonic() if job.began is None else job.began
        self._order(job)
        self._tell(job)

    def _order(self, job: Job) -> None:
        """Give what is left of a job to the first backend that takes work."""
        elsewhere = (b for b in self.remote if not job.sweep.timed and not job.device and b.available())
        backend = next(elsewhere, self.local)
        job.run = next(self.runs)
        self.busy, self.kill_at = (backend, job.run), None
        order = {"run": job.run, "sweep": job.sweep.word, "question": job.question.told(), "points": job.left}
        if job.device:
            order["device"] = job.device
        backend.give(order)

    def _hear(self, backend: Any, told: dict[str, Any], payload: bytes) -> None:
        what, run = told["is"], told.get("run")
        if what == "hello":
            self.place = {name: told[name] for name in ("kind", "library", "name", "versions")}
            return
        if what == "gone":
            if self.busy and self.busy[0] is backend and told.get("process") == getattr(backend, "generation", None):
                self._gone(backend, told)
            return
        if self.busy is None or run != self.busy[1]:
            return
        job = self.running if self.running and self.running.run == run else None
        if what in ("done", "stopped", "failed"):
            self.busy = self.kill_at = None
        if job is not None:
            getattr(self, f"_on_{what}")(job, told, payload)

    def _gone(self, backend: Any, told: dict[str, Any]) -> None:
        """The worker has died, or the cluster is out of reach: go on with what is left, on a new one."""
        self.busy = self.kill_at = None
        job = self.running
        if job is None:
            return
        job.deaths += 1
        if job.deaths >= GIVE_UP:
            self._fail(job, RuntimeError(f"the computing process ended {job.deaths} times in a row"))
            return
        if text := told.get("text"):
            job.note(text)
        self._order(job)

    def _on_place(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        job.place = {name: told[name] for name in ("kind", "library", "name", "versions")}
        if self.busy[0] is not self.local:
            return
        if job.device is None:
            self.place = job.place
        cost = job.estimated_s() * self.pace.get((job.sweep.word, job.place["kind"]), 1.0)
        if cost > self.limit_s and not job.finished:
            error = Refused(f"This would take {said(cost)} on this machine; {said(self.limit_s)} is the most.")
            tickets, job.tickets = job.tickets, []
            self._forget(job)
            self.calls += [lambda ticket=ticket: ticket.set_exception(error) for ticket in tickets]

    def _on_progress(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        before = job.fraction
        job.move(told["point"], told["fraction"])
        if job.fraction > before:
            job.deaths = 0

    def _on_note(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        job.note(told["text"])
        self._tell(job)

    def _on_point(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        try:
            job.finished[told["point"]] = unpack(payload)[0]
        except Corrupt:
            return
        job.deaths = 0
        job.move()

    def _on_lost(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        job.device = "cpu"
        job.note(f"{told['text']}: the rest on the CPU")

    def _on_done(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        if job.left:
            self._order(job)
            return
        result = job.result()
        if job.fresh and not job.notes and not told.get("elsewhere"):
            self.pace[job.sweep.word, job.place["kind"]] = max(job.elapsed_s(), 0.01) / max(job.estimated_s(), 0.01)
        name = self.key_of(job.sweep, job.question)
        self._remember(name, result)
        self.calls.append(lambda: self.store.save(name, result))
        self._end(job, lambda ticket: ticket.set_result(result))

    def _on_failed(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        self._fail(job, RuntimeError(told["text"]))

    def _on_stopped(self, job: Job, told: dict[str, Any], payload: bytes) -> None:
        self._fail(job, RuntimeError("the run was stopped"))
