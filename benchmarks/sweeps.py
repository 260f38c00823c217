"""Sweeps: quick questions on the best device there is, known floors, the plain algorithm, and how long one waits.

    python -m benchmarks sweeps

On a machine with torch and NumPy alone the rows of the first kind come from `python -m compute.sweeps bench`, and
`python -m benchmarks.sweeps_memory` fills a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import sweeps_queue
from benchmarks.report import Row
from compute.sweeps.places import find, wish
from compute.sweeps.timing import rows


def run(command: str = "") -> Iterator[Row]:
    place = find(wish())
    for row in rows(place):
        note = ", ".join(filter(None, [row["note"], f"on {place.name}"]))
        yield Row(row["what"], row["measured"], row["unit"], row.get("budget"), sense=row.get("sense", "≤"), note=note)
    yield from sweeps_queue.rows()
