"""A card that is full: pieces that shrink, then the CPU, the same numbers, and whoever asked is told.

    python -m benchmarks.sweeps_memory

Needs a CUDA device, torch and NumPy.  This process takes the card's memory but for a little, for itself and then for
the worker process that computes for visitors, and gives it back.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import torch

from benchmarks.report import Row, machine, table
from compute.sweeps import workbench
from compute.sweeps.base import Result
from compute.sweeps.crosstalk_map import CrosstalkMap, CrosstalkQuestion
from compute.sweeps.places import find
from compute.sweeps.runner import Runner
from compute.sweeps.running import run
from compute.sweeps.store import Store
from compute.sweeps.timing import farthest

SWEEP = CrosstalkMap()
QUESTION = CrosstalkQuestion(widths=(128,), rules=("delta",), trials=400)
APART = 1e-5
ADDED_S = 5.0
LEFT = {"smaller pieces": 1 << 30, "done on the CPU": 24 << 20}
"""Bytes that stay free, and what the notes then say."""

LEFT_TO_WORKER = 900 << 20
"""The same for another process, whose CUDA context takes some 550 MiB of it."""


@contextlib.contextmanager
def held(left: int) -> Iterator[float]:
    """All free memory of the card but `left` bytes is taken and written to; how many GiB that are."""
    torch.cuda.empty_cache()
    parts, step = [], 1 << 30
    while step >= 1 << 20:
        if torch.cuda.mem_get_info()[0] - left < step:
            step >>= 1
            continue
        parts.append(torch.ones(step, dtype=torch.uint8, device="cuda"))
    try:
        yield sum(part.numel() for part in parts) / (1 << 30)
    finally:
        parts.clear()
        torch.cuda.empty_cache()


def run_here() -> Iterator[Row]:
    """In this process, with pieces as large as the whole card."""
    place = find("cuda")
    usual, took = _timed(place)
    run(SWEEP, QUESTION, place)
    start = torch.cuda.memory_allocated()
    for said, left in LEFT.items():
        room = torch.cuda.mem_get_info()[1]
        with held(left) as gib, mock.patch.dict(workbench.ROOM, cuda=room):
            told, longer = _timed(place)
        yield from _rows(f"{gib:.0f} GiB held", said, told, usual, longer, took)
    yield Row("bytes on the card after both", torch.cuda.memory_allocated() - start, "B", 1 << 20)
    again, _ = _timed(place)
    yield Row("the next run is as if nothing had been", farthest(again, usual), "apart", 0.0, "=", _notes(again))


def run_in_worker() -> Iterator[Row]:
    """In the worker, through the queue, while this process holds the card."""
    usual, took = _asked()
    with held(LEFT_TO_WORKER) as gib:
        told, longer = _asked()
    yield from _rows(f"worker, {gib:.0f} GiB held by another", "out of memory on cuda", told, usual, longer, took)


def _asked() -> tuple[Result, float]:
    with tempfile.TemporaryDirectory() as folder:
        runner, start = Runner(Store(Path(folder)), backends=()), time.perf_counter()
        try:
            return runner.submit(SWEEP, QUESTION).result(300), time.perf_counter() - start
        finally:
            runner.close()


def _timed(place) -> tuple[Result, float]:
    start = time.perf_counter()
    told = run(SWEEP, QUESTION, place)
    return told, time.perf_counter() - start


def _rows(what: str, said: str, told: Result, usual: Result, longer: float, took: float) -> Iterator[Row]:
    heard = any(said in note for note in told.about["notes"])
    yield Row(f"{what}: a note says “{said}”", int(heard), "", 1, "=", _notes(told))
    yield Row(f"{what}: numbers", farthest(told, usual), "apart", APART)
    yield Row(f"{what}: added", longer - took, "s", ADDED_S, note=f"{took:.2f} s with room")


def _notes(told: Result) -> str:
    return "; ".join(told.about["notes"]) or "no notes"


def main() -> None:
    print(torch.cuda.get_device_name(), machine(), flush=True)
    rows = []
    for part in (run_here(), run_in_worker()):
        for row in part:
            rows.append(row)
            print(" | ".join(row.cells), flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
