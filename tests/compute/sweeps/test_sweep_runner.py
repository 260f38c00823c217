"""The queue: one run for all who ask the same, progress, and what a cancel leaves."""

from __future__ import annotations

import contextlib
import io
import queue
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
from sweep_cases import CROSSTALK, LONG, RECALL, SHORT, WAIT_S, same, until

from compute.sweeps import worker
from compute.sweeps.frames import write_frame
from compute.sweeps.running import run
from compute.sweeps.tickets import Job

ROOT = Path(__file__).resolve().parents[3]


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
    ticket.on_progress(lambda progress: heard.append(progress))
    ticket.result(WAIT_S)
    fractions = [progress.fraction for progress in heard]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert len(set(fractions)) > 2
    assert all(progress.left_s >= 0 for progress in heard)


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


@pytest.mark.outside
def test_cancelling_at_many_random_moments_leaves_the_worker_free(runner):
    rng = np.random.default_rng(1)
    for seed in range(40):
        ticket = runner.submit("crosstalk", type(LONG).read({**LONG.told(), "seed": seed + 100}))
        time.sleep(rng.uniform(0.0, 0.6))
        cancelled = ticket.cancel()
        assert ticket.done()
        if cancelled:
            assert not ticket.partial.complete
            until(lambda: runner.busy is None)
    assert runner.submit("recall", SHORT).result(WAIT_S).complete


class EndOfInput(Exception):
    """Stands in for the end of the process when nobody gives orders any more."""


def test_a_stop_that_comes_before_its_run_is_heeded_and_the_next_run_is_not_touched(monkeypatch):
    """A worker that is still waking, or busy with the run before, has not begun what it is told to stop."""

    def end(status):
        raise EndOfInput

    monkeypatch.setattr(worker.os, "_exit", end)
    heard, job, stream = [], worker.Job(), io.BytesIO()
    for stopped in (1, 3):
        write_frame(stream, {"do": "stop", "run": stopped})
    stream.seek(0)
    with contextlib.suppress(EndOfInput):
        worker.listen(stream, queue.SimpleQueue(), job)
    for run_number in (1, 2):
        order = {"run": run_number, "sweep": "recall", "question": SHORT.told(), "points": [0], "device": "cpu"}
        worker.serve(order, lambda told, payload=b"": heard.append((told["run"], told["is"])), job)
    assert heard == [(1, "stopped"), (2, "place"), (2, "point"), (2, "done")] and job.stopped == {3}
