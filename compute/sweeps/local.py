"""One worker process on this machine, started when it is first needed and again whenever it has died."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from compute.sweeps.frames import read_frame, write_frame

ROOT = Path(__file__).resolve().parents[2]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MPS = {"PYTORCH_ENABLE_MPS_FALLBACK": "1"}
"""What Apple's GPU has no kernel for is done on the CPU instead of refused."""

Heard = Callable[[dict[str, Any], bytes], None]
"""Called from a thread of the worker's with each message; `{"is": "gone"}` is the last one of a process."""


class LocalWorker:
    """`give` an order, `stop` it, `kill` the process.  What it says goes to `heard`, with the generation of the
    process under `process`, so that words of a dead one can be told apart."""

    kind = "local"

    def __init__(self, heard: Heard, environ: Mapping[str, str] | None = None):
        self.heard, self.environ = heard, dict(environ or {})
        self.process: subprocess.Popen | None = None
        self.generation = 0

    def give(self, order: dict[str, Any]) -> None:
        if self.process is None or self.process.poll() is not None:
            self._start()
        self._send({"do": "run", **order})

    def stop(self, run: int) -> None:
        self._send({"do": "stop", "run": run})

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()

    def close(self) -> None:
        """End the process and wait for it."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()

    @property
    def pid(self) -> int | None:
        return None if self.process is None else self.process.pid

    def _start(self) -> None:
        self.close()
        environ = {**os.environ, **dict.fromkeys(THREADS, "1"), **MPS, **self.environ}
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "compute.sweeps.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ,
        )  # fmt: skip
        self.generation += 1
        threading.Thread(
            target=self._listen, args=(self.process, self.generation), daemon=True, name="sweeps-ear"
        ).start()

    def _send(self, told: dict[str, Any]) -> None:
        if self.process is not None:
            with contextlib.suppress(OSError, ValueError):  # a dead process says so by itself
                write_frame(self.process.stdin, told)

    def _listen(self, process: subprocess.Popen, generation: int) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError):
            while (frame := read_frame(process.stdout)) is not None:
                self.heard({**frame[0], "process": generation}, frame[1])
        process.kill()
        process.wait()
        self.heard({"is": "gone", "process": generation, "status": process.returncode}, b"")
