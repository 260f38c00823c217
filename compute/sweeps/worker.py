"""The process that computes: it alone imports torch and touches a GPU.

Started by `compute.sweeps.local` as `python -m compute.sweeps.worker`; told what to do on standard input, tells on
standard output.  It ends when its input ends, so it never outlives the process that started it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from typing import Any, BinaryIO

from compute.sweeps.faults import device_lost
from compute.sweeps.frames import read_frame, write_frame
from compute.sweeps.packing import pack
from compute.sweeps.places import find, wish
from compute.sweeps.registry import find_sweep
from compute.sweeps.running import compute
from compute.sweeps.workbench import Stopped

HEARTBEAT_S = 0.4
LOST = 3
"""Exit status after the device was lost."""


class Teller:
    """Writes messages from whichever thread has something to say."""

    def __init__(self, stream: BinaryIO):
        self.stream, self.lock = stream, threading.Lock()

    def __call__(self, told: dict[str, Any], payload: bytes = b"") -> None:
        try:
            with self.lock:
                write_frame(self.stream, told, payload)
        except (OSError, ValueError):
            os._exit(0)  # nobody is listening any more


class Job:
    """The run that is being computed, and those that nobody wants any more, begun or not."""

    def __init__(self) -> None:
        self.run: int | None = None
        self.point, self.fraction, self.stopped = 0, 0.0, set()


def listen(stream: BinaryIO, orders: queue.SimpleQueue, job: Job) -> None:
    """Passes orders on; a stop is heeded at once, whatever the computing thread is doing."""
    while True:
        try:
            frame = read_frame(stream)
        except (OSError, EOFError, ValueError):
            frame = None
        if frame is None:
            os._exit(0)
        told, _ = frame
        if told["do"] == "stop":
            job.stopped.add(told["run"])
        else:
            orders.put(told)


def beat(tell: Teller, job: Job) -> None:
    while True:
        time.sleep(HEARTBEAT_S)
        if job.run is not None:
            tell({"is": "progress", "run": job.run, "point": job.point, "fraction": job.fraction})


def serve(order: dict[str, Any], tell: Teller, job: Job) -> None:
    """Compute the points of one order, and say how it ended."""
    run = order["run"]
    job.point, job.fraction = order["points"][0], 0.0
    job.run = run

    def tick(point: int, fraction: float) -> None:
        job.point, job.fraction = point, fraction
        if run in job.stopped:
            raise Stopped

    try:
        tick(job.point, 0.0)  # a stop may have come before the run
        sweep = find_sweep(order["sweep"])
        question = sweep.question.read(order["question"])
        place = find(wish(order.get("device")), needs_float64=sweep.needs_float64)
        tell({"is": "place", "run": run, **place.told()})
        say = lambda text: tell({"is": "note", "run": run, "text": text})  # noqa: E731
        for i, arrays in compute(
            sweep, question, order["points"], place, tick, say, injected=order.get("injected", False)
        ):
            tell({"is": "point", "run": run, "point": i}, pack(arrays, {}))
    except Stopped:
        ended = {"is": "stopped", "run": run}
    except Exception as error:
        if device_lost(error):
            tell({"is": "lost", "run": run, "text": "the device stopped answering"})
            os._exit(LOST)
        said = str(error) if isinstance(error, (ValueError, MemoryError)) else f"{type(error).__name__} while computing"
        if not isinstance(error, (ValueError, MemoryError)):
            sys.excepthook(type(error), error, error.__traceback__)
        ended = {"is": "failed", "run": run, "text": said}
    else:
        ended = {"is": "done", "run": run}
    job.run = None
    job.stopped.discard(run)
    tell(ended)


def main() -> None:
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not run into the messages
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    tell, job, orders = Teller(stdout), Job(), queue.SimpleQueue()
    threading.Thread(target=listen, args=(stdin, orders, job), daemon=True).start()
    threading.Thread(target=beat, args=(tell, job), daemon=True).start()
    try:
        tell({"is": "hello", **find(wish()).told()})
    except ValueError as error:
        tell({"is": "hello", **find("cpu").told(), "text": str(error)})
    while True:
        serve(orders.get(), tell, job)


if __name__ == "__main__":
    main()
