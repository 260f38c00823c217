"""A measured number beside its budget, and the machine it was measured on."""

from __future__ import annotations

import math
import operator
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Row:
    """One line of the table.

    measured and budget are in the unit, sense says on which side of the budget to be.  A row without a budget
    is there to be read beside the others.
    """

    what: str
    measured: float
    unit: str
    budget: float | None = None
    sense: Literal["≤", "≥", "="] = "≤"
    note: str = ""

    @property
    def ok(self) -> bool:
        within = {"≤": operator.le, "≥": operator.ge, "=": operator.eq}[self.sense]
        return self.budget is None or within(self.measured, self.budget)

    @property
    def cells(self) -> tuple[str, str, str, str]:
        limit = "" if self.budget is None else f"{self.sense} {_said(self.budget)} {self.unit}"
        told = f"{_said(self.measured)} {self.unit}" + (f" ({self.note})" if self.note else "")
        return self.what, limit.strip(), told.strip(), "" if self.budget is None else "yes" if self.ok else "**no**"


def _said(number: float) -> str:
    """Three digits, or all of a whole number."""
    if not math.isfinite(number):
        return "none"
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table, aligned for a terminal."""
    lines = [("what", "budget", "measured", "ok"), *(row.cells for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    told = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    return "\n".join([told[0], "| " + " | ".join("-" * width for width in widths) + " |", *told[1:]])


def percentile(values: Sequence[float], p: float) -> float:
    """The smallest value that p % of the values do not exceed; NaN without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(p / 100 * len(ordered)) - 1)] if ordered else math.nan


def machine() -> str:
    """The processor and how busy it is with other things; every number below is to be read beside it."""
    try:
        named = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        named = None
    return (
        f"{len(os.sched_getaffinity(0))} cores of {named[1] if named else platform.processor()}, "
        f"load {load()} before the run; Python {platform.python_version()}, {platform.system()}"
    )


def load() -> str:
    """Processes that wanted a core, on average over the last 1, 5 and 15 minutes."""
    return ", ".join(f"{x:.2f}" for x in os.getloadavg())


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Least processor time of several tries (s), and what came out."""
    least, told = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        told = work()
        least = min(least, time.process_time() - start)
    return least, told
