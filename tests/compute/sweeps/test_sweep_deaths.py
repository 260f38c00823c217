"""The worker process dies, hangs or loses its device: nothing but time is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sweep_cases import CROSSTALK, LONG, RECALL, SHORT, WAIT_S, same, until

from compute.sweeps import books, dispatch
from compute.sweeps.runner import Runner
from compute.sweeps.running import run
from compute.sweeps.store import Store

ROOT = Path(__file__).resolve().parents[3]


def test_a_worker_that_does_not_stop_is_killed(runner, monkeypatch):
    monkeypatch.setattr(books, "KILL_S", 0.1)
    ticket = runner.submit("crosstalk", LONG)
    until(lambda: runner.running is not None and runner.running.fraction > 0)
    pid = runner.local.pid
    os.kill(pid, signal.SIGSTOP)  # as deaf as a call that does not come back
    ticket.cancel()
    until(lambda: runner.busy is None)
    assert runner.submit("recall", SHORT).result(WAIT_S).complete
    assert runner.local.pid != pid


def test_a_worker_that_dies_costs_nothing_but_time(runner):
    ticket, kills, heard = runner.submit("crosstalk", LONG), 0, []
    ticket.on_progress(lambda progress: heard.append(progress.fraction))
    while not ticket.done() and kills < 3:
        finished = len(ticket.job.finished)
        until(lambda before=finished: ticket.done() or len(ticket.job.finished) > before)
        if not ticket.done():
            with contextlib.suppress(ProcessLookupError):
                os.kill(runner.local.pid, signal.SIGKILL)
            kills += 1
    assert kills == 3
    assert same(ticket.result(WAIT_S), run(CROSSTALK, LONG))
    assert heard == sorted(heard)


def test_a_lost_device_means_a_new_process_and_the_rest_on_the_cpu(tmp_path):
    pytest.importorskip("torch")
    runner = Runner(Store(tmp_path), environ={"EXPLORER_DEVICE": "cpu", "EXPLORER_FAULT": "device:3"})
    # The fault is planned for every process, so that it takes several: each gets two allocations further.
    question = type(RECALL.quick)(widths=(8,), values=(8, 16), pairs=(4,), trials=8, rules=("additive", "delta"))
    orders, give = [], runner.local.give
    runner.local.give = lambda order: (orders.append(order), give(order))
    try:
        told = runner.submit("recall", question).result(WAIT_S)
    finally:
        runner.close()
    assert told.complete and same(told, run(RECALL, question))
    assert any("the rest on the CPU" in note for note in told.about["notes"])
    assert [order.get("device") for order in orders] == [None, "cpu"]
    assert orders[1]["points"] == orders[0]["points"][2:]


def test_a_process_that_dies_at_once_every_time_ends_the_run_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(dispatch, "GIVE_UP", 3)
    runner = Runner(Store(tmp_path), environ={"EXPLORER_DEVICE": "cpu", "EXPLORER_FAULT": "exit:1"})
    try:
        with pytest.raises(RuntimeError, match="ended 3 times in a row"):
            runner.submit("recall", SHORT).result(WAIT_S)
    finally:
        runner.close()


def test_a_failing_question_says_why_and_the_next_one_runs(tmp_path):
    runner = Runner(Store(tmp_path), environ={"EXPLORER_DEVICE": "cpu", "EXPLORER_FAULT": "memory:1"})
    try:
        with pytest.raises(RuntimeError, match="not enough memory"):
            runner.submit("recall", SHORT).result(WAIT_S)
        assert runner.running is None and runner.busy is None
    finally:
        runner.close()


def test_a_worker_ends_with_the_process_that_started_it(tmp_path):
    code = f"""
import os, time
from compute.sweeps.registry import SWEEPS
from compute.sweeps.runner import Runner
from compute.sweeps.store import Store
runner = Runner(Store({str(tmp_path)!r}), environ={{"EXPLORER_DEVICE": "cpu"}})
runner.submit("crosstalk", type(SWEEPS["crosstalk"].quick)(widths=(32,), trials=4000))
while runner.local.pid is None: time.sleep(0.01)
print(runner.local.pid, flush=True)
os._exit(9)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    pid = int(done.stdout)

    def gone():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"

    until(gone)


def test_a_worker_that_dies_after_its_last_point_has_done_its_work(runner, monkeypatch):
    heard, lost = runner._hear, []

    def hear(backend, told, payload):
        if told["is"] == "done" and not lost:
            lost.append(told)
            backend.kill()
        else:
            heard(backend, told, payload)

    monkeypatch.setattr(runner, "_hear", hear)
    result = runner.submit("crosstalk", CROSSTALK.quick).result(120)
    assert lost and result.complete and same(result, run(CROSSTALK, CROSSTALK.quick))


@pytest.mark.outside
def test_twenty_kills_at_random_moments_lose_nothing_but_time(runner):
    question = type(CROSSTALK.quick)(widths=(16, 32), trials=200, d_v=32)
    rng, kills, heard = np.random.default_rng(0), 0, []
    ticket = runner.submit("crosstalk", question)
    ticket.on_progress(lambda progress: heard.append(progress.fraction))
    while kills < 20:
        time.sleep(rng.uniform(0.1, 1.0))
        if ticket.done():  # all of it done before the twentieth: another question
            question = type(question).read({**question.told(), "seed": question.seed + 1})
            assert ticket.result().complete
            ticket = runner.submit("crosstalk", question)
        elif runner.local.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(runner.local.pid, signal.SIGKILL)
            kills += 1
    assert same(ticket.result(120), run(CROSSTALK, question))
    assert heard == sorted(heard)
