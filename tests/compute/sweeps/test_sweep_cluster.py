"""Sweeps on a Dask cluster: a scheduler that is not there, and, where `distributed` is installed, a real one."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from sweep_cases import CROSSTALK, RECALL, SHORT, same, until

from benchmarks.local_cluster import LocalCluster, free_port
from compute.sweeps.cluster import DROPPED, LOST, DaskCluster, configured, point_of
from compute.sweeps.packing import unpack
from compute.sweeps.runner import Runner
from compute.sweeps.running import run
from compute.sweeps.store import Store

LONG = type(CROSSTALK.quick)(widths=(8, 16, 32), trials=800, d_v=16)


@contextlib.contextmanager
def runner_at(address: str, folder: Path):
    runner = Runner(
        Store(folder), environ={"EXPLORER_DEVICE": "cpu"}, backends=(partial(DaskCluster, address=address),)
    )
    try:
        yield runner
    finally:
        runner.close()


def test_a_task_gives_packed_arrays_and_where_they_were_made(monkeypatch):
    monkeypatch.setenv("EXPLORER_DEVICE", "cpu")
    text = '{"sweep": "recall", "question": {"widths": [8], "values": [8], "pairs": [4], "trials": 8}, "stopped": []}'
    arrays, about = unpack(point_of(text, 0))
    assert arrays["recall"].shape == (1,) and about["place"]["kind"] == "cpu" and about["notes"] == []


def test_no_scheduler_means_this_machine(tmp_path):
    with runner_at(f"tcp://127.0.0.1:{free_port()}", tmp_path) as runner:
        assert same(runner.submit("recall", SHORT).result(60), run(RECALL, SHORT))


def test_the_variable_alone_makes_a_runner_use_a_cluster(monkeypatch):
    monkeypatch.delenv("EXPLORER_DASK", raising=False)
    assert configured() == ()
    monkeypatch.setenv("EXPLORER_DASK", "tcp://127.0.0.1:1")
    assert configured() == (DaskCluster,)


class GivenUp:
    """A task that its client has given up."""

    status = "cancelled"


@pytest.mark.parametrize("there", [True, False], ids=["scheduler there", "scheduler lost"])
def test_tasks_given_up_are_blamed_on_the_scheduler_only_where_it_is_lost(there):
    """A client gives its tasks up when its scheduler dies, before the next ping notices."""

    class Client:
        scheduler = SimpleNamespace(identity=None)

        def sync(self, *_, **__):
            return {"workers": {}} if there else {}["the scheduler"]

        def close(self, **_): ...

    heard = []
    backend = DaskCluster(lambda told, _: heard.append(told), f"tcp://127.0.0.1:{free_port()}")
    backend.client, backend.run = Client(), 7
    backend._told(7, 0, GivenUp())
    assert [(told["is"], told["text"]) for told in heard] == [("gone", DROPPED if there else LOST)]
    assert backend.available() == there
    backend._told(7, 1, GivenUp())
    assert len(heard) == 1
    backend.close()


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed", reason="the extra `outside` installs distributed")
    made = LocalCluster(tmp_path)
    made.start_scheduler()
    yield made
    made.close()


@pytest.mark.outside
def test_a_worker_of_the_cluster_dies_in_mid_run_and_nothing_is_lost(cluster, tmp_path):
    workers = [cluster.start_worker() for _ in range(2)]
    with runner_at(cluster.address, tmp_path / "cache") as runner:
        until(runner.remote[0].available)
        until(lambda: len(runner.remote[0].client.scheduler_info()["workers"]) == 2)
        ticket, heard = runner.submit("crosstalk", LONG), []
        ticket.on_progress(lambda progress: heard.append(progress.fraction))
        until(lambda: len(ticket.job.finished) >= 2)
        assert runner.busy[0] is runner.remote[0] and runner.local.pid is None
        os.kill(workers[0].pid, signal.SIGKILL)
        told = ticket.result(120)
        assert same(told, run(CROSSTALK, LONG))
        assert told.about["device"]["name"].startswith("a Dask cluster")
        assert heard == sorted(heard)


@pytest.mark.outside
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["dead", "silent"])
def test_a_scheduler_that_is_lost_in_mid_run_leaves_the_rest_to_this_machine(cluster, tmp_path, how):
    cluster.start_worker()
    with runner_at(cluster.address, tmp_path / "cache") as runner:
        until(runner.remote[0].available)
        until(lambda: len(runner.remote[0].client.scheduler_info()["workers"]) == 1)
        ticket = runner.submit("crosstalk", LONG)
        until(lambda: len(ticket.job.finished) >= 2)
        os.kill(cluster.scheduler.pid, how)
        # Within two seconds on a quiet machine; how long it takes on a busy one is no matter of right or wrong.
        until(lambda: runner.busy is None or runner.busy[0] is runner.local)
        told = ticket.result(120)
        assert same(told, run(CROSSTALK, LONG))
        assert LOST in told.about["notes"]
        if how == signal.SIGSTOP:
            os.kill(cluster.scheduler.pid, signal.SIGCONT)
        else:
            cluster.start_scheduler()
        until(runner.remote[0].available)


@pytest.mark.outside
def test_a_task_that_runs_hears_that_nobody_wants_it(cluster, tmp_path):
    """One thread in the cluster, busy for many minutes unless it is told."""
    cluster.start_worker()
    with runner_at(cluster.address, tmp_path / "cache") as runner:
        until(runner.remote[0].available)
        until(lambda: len(runner.remote[0].client.scheduler_info()["workers"]) == 1)
        endless = type(LONG)(widths=(128,), rules=("additive",), trials=4000)
        ticket = runner.submit("crosstalk", endless)
        until(lambda: any(runner.remote[0].client.processing().values()))
        time.sleep(1)
        ticket.cancel()
        assert runner.submit("recall", SHORT).result(60).about["device"]["name"].startswith("a Dask cluster")


@pytest.mark.outside
def test_a_cancelled_run_leaves_the_cluster_free(cluster, tmp_path):
    cluster.start_worker()
    with runner_at(cluster.address, tmp_path / "cache") as runner:
        until(runner.remote[0].available)
        until(lambda: len(runner.remote[0].client.scheduler_info()["workers"]) == 1)
        ticket = runner.submit("crosstalk", LONG)
        until(lambda: len(ticket.job.finished) >= 1)
        ticket.cancel()
        assert not ticket.partial.complete
        until(lambda: runner.busy is None)
        assert runner.submit("recall", SHORT).result(60).complete
