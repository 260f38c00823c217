"""The queue and its worker process: one run for all who ask the same, and nothing but time is lost when it dies."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from compute.sweeps import dispatch
from compute.sweeps.registry import SWEEPS
from compute.sweeps.runner import Runner
from compute.sweeps.running import run
from compute.sweeps.store import Store
from compute.sweeps.tickets import Job, Refused

ROOT = Path(__file__).resolve().parents[3]
RECALL, CROSSTALK = SWEEPS["recall"], SWEEPS["crosstalk"]
SHORT = type(RECALL.quick)(widths=(8,), values=(8,), pairs=(4, 8), trials=8)
LONG = type(CROSSTALK.quick)(widths=(16, 32), trials=120, d_v=16)
"""A second or more of work, in ten points."""

WAIT_S = 60


def short(seed: int):
    return type(SHORT).read({**SHORT.told(), "seed": seed})


@pytest.fixture
def runner(tmp_path):
    made = Runner(Store(tmp_path), environ={"EXPLORER_DEVICE": "cpu"})
    yield made
    made.close()


def until(condition, seconds=WAIT_S) -> float:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, "it never happened"
        time.sleep(0.01)
    return time.monotonic() - start


def same(a, b) -> bool:
    return all(np.array_equal(x, b.arrays[name], equal_nan=True) for name, x in a.arrays.items())


def test_the_answer_is_that_of_a_run_here_and_is_kept(runner):
    told = runner.submit("recall", SHORT).result(WAIT_S)
    assert told.complete and same(told, run(RECALL, SHORT))
    assert told.about["device"]["kind"] == "cpu" and told.about["seed"] == 0
    again = runner.submit("recall", SHORT)
    assert again.done() and again.result() is told
    until(lambda: runner.store.load(runner.key_of(RECALL, SHORT)) is not None)


def test_a_stored_answer_needs_no_worker(runner):
    runner.store.save(runner.key_of(RECALL, SHORT), run(RECALL, SHORT))
    assert runner.submit("recall", SHORT).done()
    assert runner.local.pid is None


def test_many_who_ask_the_same_get_one_run(runner):
    tickets = [runner.submit("recall", SHORT, visitor=f"visitor {i}") for i in range(50)]
    assert len({id(ticket.result(WAIT_S)) for ticket in tickets}) == 1
    assert next(runner.runs) == 2


def test_progress_comes_every_second_and_never_goes_back(runner):
    heard = []
    ticket = runner.submit("crosstalk", LONG)
    ticket.on_progress(lambda progress: heard.append((time.monotonic(), progress)))
    ticket.result(WAIT_S)
    fractions = [progress.fraction for _, progress in heard]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert len(set(fractions)) > 2
    assert all(progress.left_s >= 0 for _, progress in heard)


def test_what_a_dead_process_had_begun_counts_until_it_is_overtaken():
    job = Job("", RECALL, RECALL.quick)
    job.move(0, 0.9)
    before = job.fraction
    job.move(0, 0.1)
    assert job.fraction == before > 0
    job.finished = {i: {} for i in range(3)}
    job.move(3, 0.0)
    assert before < job.fraction < 1


def test_cancelling_answers_at_once_with_what_was_finished(runner):
    ticket = runner.submit("crosstalk", LONG)
    until(lambda: runner.running is not None and len(runner.running.finished) >= 2)
    assert ticket.cancel() and ticket.done()
    with pytest.raises(CancelledError):
        ticket.result()
    assert not ticket.partial.complete
    assert 2 <= ticket.partial.about["finished"] < ticket.partial.about["points"]
    assert np.isnan(ticket.partial.arrays["cosine"]).any() and np.isfinite(ticket.partial.arrays["cosine"]).any()
    until(lambda: runner.busy is None)
    assert not ticket.cancel()


def test_asking_again_goes_on_where_it_was_cancelled(runner):
    ticket = runner.submit("crosstalk", LONG)
    until(lambda: runner.running is not None and len(runner.running.finished) >= 2)
    ticket.cancel()
    again = runner.submit("crosstalk", LONG)
    assert len(again.job.finished) >= 2
    assert same(again.result(WAIT_S), run(CROSSTALK, LONG))


def test_a_run_goes_on_for_those_who_still_wait(runner):
    first, second = (runner.submit("crosstalk", LONG, visitor) for visitor in "ab")
    until(lambda: runner.running is not None)
    first.cancel()
    assert second.result(WAIT_S).complete


def test_a_worker_that_does_not_stop_is_killed(runner, monkeypatch):
    monkeypatch.setattr(dispatch, "KILL_S", 0.1)
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


def test_one_visitor_has_one_sweep(runner):
    ticket = runner.submit("crosstalk", LONG, "ann")
    with pytest.raises(Refused, match="One sweep at a time"):
        runner.submit("recall", SHORT, "ann")
    ticket.cancel()
    assert runner.submit("recall", SHORT, "ann").result(WAIT_S).complete


def test_the_queue_is_bounded_and_says_where_one_stands(runner):
    first = runner.submit("crosstalk", LONG)
    until(lambda: runner.running is not None)
    tickets = [runner.submit("recall", short(i)) for i in range(1, 21)]
    assert [ticket.progress.position for ticket in tickets] == list(range(1, 21))
    assert all(a.progress.left_s <= b.progress.left_s for a, b in pairwise(tickets))
    with pytest.raises(Refused, match="20 sweeps are waiting; try again in about"):
        runner.submit("recall", short(21))
    tickets[3].cancel()
    assert runner.submit("recall", short(21)).progress.position == 20
    first.cancel()
    for ticket in tickets[4:]:
        ticket.cancel()
    assert tickets[0].result(WAIT_S).complete


def test_what_takes_too_long_is_refused_before_it_starts(runner):
    runner.submit("recall", SHORT).result(WAIT_S)
    with pytest.raises(Refused, match=r"about \d+ min on this machine"):
        runner.submit("crosstalk")


def test_a_first_question_that_is_too_long_is_refused_once_the_device_is_known(runner):
    with pytest.raises(Refused, match=r"about \d+ min on this machine"):
        runner.submit("crosstalk").result(WAIT_S)
    until(lambda: runner.busy is None)


def test_the_estimate_learns_from_what_was_measured(runner):
    before = runner.estimate_s(RECALL, RECALL.quick)
    told = runner.submit("recall", RECALL.quick).result(WAIT_S)
    assert runner.estimate_s(RECALL, RECALL.quick) == pytest.approx(told.about["seconds"], rel=0.05)
    assert before > 0


def test_neither_asking_nor_answering_imports_torch(tmp_path):
    code = f"""
import sys
from compute.sweeps.registry import SWEEPS
from compute.sweeps.runner import Runner
from compute.sweeps.store import Store
runner = Runner(Store({str(tmp_path)!r}), environ={{"EXPLORER_DEVICE": "cpu"}})
question = type(SWEEPS["recall"].quick)(widths=(8,), values=(8,), pairs=(4,), trials=8)
print(runner.submit("recall", question).result(60).complete, "torch" in sys.modules)
runner.close()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True", "False"], done.stderr


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

    until(gone, 10)


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


@pytest.mark.outside
def test_cancelling_at_many_random_moments_leaves_the_worker_free(runner):
    rng = np.random.default_rng(1)
    for seed in range(40):
        ticket = runner.submit("crosstalk", type(LONG).read({**LONG.told(), "seed": seed + 100}))
        time.sleep(rng.uniform(0.0, 0.6))
        start = time.monotonic()
        cancelled = ticket.cancel()
        assert ticket.done() and time.monotonic() - start < 0.5
        if cancelled:
            assert not ticket.partial.complete
            until(lambda: runner.busy is None, 3.5)
    assert runner.submit("recall", SHORT).result(WAIT_S).complete
