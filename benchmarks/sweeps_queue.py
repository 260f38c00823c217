"""How long whoever asks for a sweep waits: for progress, a cancel, a refusal, a dead worker, a lost scheduler."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from benchmarks.local_cluster import LocalCluster, free_port
from benchmarks.report import Row
from compute.sweeps.cluster import DaskCluster
from compute.sweeps.crosstalk_map import CrosstalkQuestion
from compute.sweeps.recall_map import RecallQuestion
from compute.sweeps.runner import WAITING, Runner
from compute.sweeps.store import Store
from compute.sweeps.tickets import Refused

CANCELS, KILLS = 12, 6
LONG = CrosstalkQuestion(widths=(16, 32, 64), trials=800, d_v=32)
"""About ten seconds of one core, in fifteen points."""


@contextlib.contextmanager
def queue(address: str = "") -> Iterator[Runner]:
    backends = (partial(DaskCluster, address=address),) if address else ()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Store(folder), environ={"EXPLORER_DEVICE": "cpu"}, backends=backends)
        try:
            yield runner
        finally:
            runner.close()


def until(condition: Callable[[], object], most_s: float = 60.0) -> float:
    """Seconds until it holds; inf if it does not within `most_s`."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > most_s:
            return float("inf")
        time.sleep(0.002)
    return time.monotonic() - start


def rows() -> Iterator[Row]:
    yield from _progress_and_deaths()
    yield from _cancels()
    yield from _refusal()
    yield from _lost_schedulers()


def _asked(seed: int) -> CrosstalkQuestion:
    return CrosstalkQuestion.read({**LONG.told(), "seed": seed})


def _progress_and_deaths() -> Iterator[Row]:
    """One run, whose worker is killed at random moments on its way."""
    rng, heard, back = random.Random(0), [], []
    with queue() as runner:
        ticket = runner.submit("crosstalk", LONG)
        ticket.on_progress(lambda progress: heard.append((time.monotonic(), progress.fraction)))
        for _ in range(KILLS):
            until(lambda: runner.running and runner.running.fraction > 0)
            time.sleep(rng.uniform(0.1, 0.8))
            if ticket.done():
                break
            pid = runner.local.pid
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            back.append(until(lambda pid=pid: ticket.done() or runner.local.pid not in (pid, None)))
        ticket.result(300)
    gaps = [b - a for (a, _), (b, _) in pairwise(heard)]
    backwards = sum(b < a for (_, a), (_, b) in pairwise(heard))
    yield Row(
        "progress of a run whose worker is killed: longest silence", max(gaps), "s", 1.0, note=f"{len(back)} kills"
    )
    yield Row("the same: steps backwards", backwards, "", 0, "=")
    yield Row("a killed worker: until the next one is started", max(back), "s", 1.0)


def _cancels() -> Iterator[Row]:
    """Cancels at random moments, and one of a worker that hears nothing."""
    rng, idle, free = random.Random(1), [], []
    with queue() as runner:
        for seed in range(CANCELS):
            ticket = runner.submit("crosstalk", _asked(seed))
            until(lambda: runner.running)
            time.sleep(rng.uniform(0.0, 0.7))
            start = time.monotonic()
            ticket.cancel()
            idle.append(time.monotonic() - start)
            free.append(until(lambda: runner.busy is None, 10))
        ticket = runner.submit("crosstalk", _asked(CANCELS))
        until(lambda: runner.running and runner.running.fraction > 0)
        os.kill(runner.local.pid, signal.SIGSTOP)
        ticket.cancel()
        deaf = until(lambda: runner.busy is None, 10)
    yield Row("cancel: whoever asked is free", max(idle), "s", 0.5, note=f"most of {CANCELS}")
    yield Row("cancel: the worker is free", max(free), "s", 2.0, note=f"median {statistics.median(free):.3f} s")
    yield Row("cancel of a worker that hears nothing: it is killed", deaf, "s", 3.5)


def _refusal() -> Iterator[Row]:
    with queue() as runner:
        runner.submit("crosstalk", LONG)
        until(lambda: runner.running)
        for seed in range(WAITING):
            runner.submit("recall", RecallQuestion(widths=(8,), values=(8,), pairs=(4,), trials=8, seed=seed))
        start = time.monotonic()
        try:
            runner.submit("recall", RecallQuestion(widths=(8,), values=(8,), pairs=(4,), trials=8, seed=WAITING))
            took = float("inf")
        except Refused:
            took = time.monotonic() - start
    yield Row("a full queue: until the next is refused", took, "s", 0.2)


def _lost_schedulers() -> Iterator[Row]:
    """Until this machine computes, from the loss on; its worker then takes as long to start as always."""
    if find_spec("distributed") is None:
        return
    with queue(f"tcp://127.0.0.1:{free_port()}") as runner:
        start = time.monotonic()
        runner.submit("crosstalk", LONG)
        until(lambda: runner.busy and runner.busy[0] is runner.local)
        yield Row("no scheduler at the start: until this machine computes", time.monotonic() - start, "s", 2.0)
    for what, how in (("dies", signal.SIGKILL), ("falls silent", signal.SIGSTOP)):
        with tempfile.TemporaryDirectory() as folder:
            cluster = LocalCluster(Path(folder))
            try:
                cluster.start_scheduler()
                cluster.start_worker()
                with queue(cluster.address) as runner:
                    until(lambda: runner.remote[0].available())
                    until(lambda: runner.remote[0].client.scheduler_info()["workers"])
                    ticket = runner.submit("crosstalk", LONG)
                    until(lambda job=ticket.job: job.finished)
                    os.kill(cluster.scheduler.pid, how)
                    took = until(lambda: runner.busy and runner.busy[0] is runner.local)
                    complete = ticket.result(300).complete
            finally:
                cluster.close()
        note = "the run was finished" if complete else "the run was not finished"
        yield Row(f"a scheduler {what} in mid-run: until this machine computes", took, "s", 2.0, note=note)
