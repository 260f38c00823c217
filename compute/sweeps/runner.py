"""The queue: who asks, who waits, who is told.

One run at a time, computed by one worker process of this machine, or by a Dask cluster where one is configured; what is
finished is never computed twice.  Nothing here blocks longer than a look at a dictionary, except reading a stored
result, a file of some hundred kilobytes: it may be called from an event loop.
"""

from __future__ import annotations

from concurrent.futures import Future

from compute.sweeps.base import Question, Result, Sweep
from compute.sweeps.dispatch import Dispatcher
from compute.sweeps.places import said
from compute.sweeps.registry import find_sweep
from compute.sweeps.tickets import Job, Progress, Refused, Ticket

WAITING = 20
"""Runs that may wait; the next one is refused."""

ONE_AT_A_TIME = "One sweep at a time: cancel the other one first."


class Runner(Dispatcher):
    """`submit` a question, get a `Ticket`.

    backends: besides this machine, in the order in which they are tried; the configured ones unless given.
    """

    def submit(self, sweep: Sweep | str, question: Question | None = None, visitor: str = "") -> Ticket:
        """A ticket for the answer.  `Refused` says to a person why it is not taken on.

        visitor: whoever may have one run only; empty for no such limit.
        """
        sweep = find_sweep(sweep) if isinstance(sweep, str) else sweep
        question = sweep.question() if question is None else question
        with self.lock:
            name = self.key_of(sweep, question)
            if result := self._known(name):
                ticket = Ticket(self, None, visitor)
                ticket.progress = Progress(1.0)
                ticket.set_result(result)
                return ticket
            job = next((job for job in self._jobs() if job.key == name), None)
            if visitor and any(
                t.visitor == visitor for other in self._jobs() if other is not job for t in other.tickets
            ):
                raise Refused(ONE_AT_A_TIME)
            if job is None:
                job = self._new_job(name, sweep, question)
            ticket = Ticket(self, job, visitor)
            job.tickets.append(ticket)
            self._tell(job)
            self.inbox.put(None)
            return ticket

    def let_go(self, ticket: Ticket) -> bool:
        """A ticket's `cancel`."""
        with self.lock:
            job = ticket.job
            if ticket.done() or job is None or ticket not in job.tickets:
                return False
            job.tickets.remove(ticket)
            ticket.partial = job.result()
            if not job.tickets:
                self._forget(job)
            done = Future.cancel(ticket)
        self.inbox.put(None)
        return done

    def wake(self) -> None:
        """Start the worker, so that the device is known before the first question."""
        with self.lock:
            if self.local.pid is None:
                self.local._start()

    def close(self) -> None:
        """End the worker and every ticket."""
        with self.lock:
            self.closed = True
            tickets = [t for job in self._jobs() for t in job.tickets]
            self.waiting.clear()
            self.running = self.busy = None
        for ticket in tickets:
            Future.cancel(ticket)
        self.inbox.put(None)
        self.thread.join(5)
        for backend in (*self.remote, self.local):
            backend.close()

    def _known(self, name: str) -> Result | None:
        if name in self.results:
            self.results.move_to_end(name)
            return self.results[name]
        if (result := self.store.load(name)) is not None:
            self._remember(name, result)
        return result

    def _new_job(self, name: str, sweep: Sweep, question: Question) -> Job:
        cost = self.estimate_s(sweep, question)
        if self.place and cost > self.limit_s:
            raise Refused(f"This would take {said(cost)} on this machine; {said(self.limit_s)} is the most.")
        if len(self.waiting) >= WAITING:
            left = sum(self._left_s(job) for job in self._jobs())
            raise Refused(f"{len(self.waiting)} sweeps are waiting; try again in {said(left)}.")
        job = self.unfinished.pop(name, None)
        job = Job(name, sweep, question) if job is None else Job(
            name, sweep, question, finished=job.finished, notes=job.notes, fresh=not job.finished
        )  # fmt: skip
        job.move()
        self.waiting.append(job)
        return job
