"""Sweeps: quick questions on the best device there is, known floors, and the plain algorithm.

    python -m benchmarks sweeps

On a machine with torch and NumPy alone the same rows come from `python -m compute.sweeps bench`.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.report import Row
from compute.sweeps.places import find, wish
from compute.sweeps.timing import rows


def run(command: str = "") -> Iterator[Row]:
    place = find(wish())
    for row in rows(place):
        note = ", ".join(filter(None, [row["note"], f"on {place.name}"]))
        yield Row(row["what"], row["measured"], row["unit"], row.get("budget"), sense=row.get("sense", "≤"), note=note)
