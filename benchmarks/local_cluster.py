"""A Dask scheduler and workers on loopback, in processes of their own that can be killed."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LocalCluster:
    """`start_scheduler`, `start_worker`, and `close`, which ends them all; `folder` is where they work."""

    def __init__(self, folder: Path):
        self.address, self.folder = f"tcp://127.0.0.1:{free_port()}", folder
        self.environ = {
            **os.environ,
            "EXPLORER_DEVICE": "cpu",
            "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
        }
        self.processes: list[subprocess.Popen] = []
        self.scheduler: subprocess.Popen | None = None

    def start_scheduler(self) -> None:
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-jupyter"
        )  # fmt: skip
        while not self._listens(int(port)):
            if self.scheduler.poll() is not None:
                raise RuntimeError("the scheduler did not start")
            time.sleep(0.05)

    def start_worker(self) -> subprocess.Popen:
        return self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--no-dashboard",
            "--local-directory", str(self.folder),
        )  # fmt: skip

    def _start(self, *arguments: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]],
            env=self.environ, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.processes.append(process)
        return process

    @staticmethod
    def _listens(port: int) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.2):
            return True
        return False

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
