"""What the queue's thread does: gives work to a backend, hears what it says, tells those who wait."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

from compute.sweeps.books import Books
from compute.sweeps.packing import Corrupt, unpack
from compute.sweeps.places import said
from compute.sweeps.tickets import Job, Refused

GIVE_UP = 25
"""Deaths of the worker in a row, without any progress between them, that end a run."""

IDLE_S = 600.0
"""A worker without work is ended after this long, and gives its memory back."""

BEAT_S = 0.5


class Dispatcher(Books):
    """The queue without its doors, which `Runner` adds.  Takes what `Books` does."""

    def __init__(self, *given: Any, **options: Any):
        super().__init__(*given, **options)
        self.thread = threading.Thread(target=self._loop, daemon=True, name="sweeps")
        self.thread.start()

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
        if not job.left:  # between its last point and saying that it is done
            self._on_done(job, {"elsewhere": True}, b"")
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
