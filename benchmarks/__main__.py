"""`python -m benchmarks [part …]`: print every measured number beside its budget; exit status 1 when one is missed."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import time
from pathlib import Path

from benchmarks.report import Row, load, machine, table
from benchmarks.server import PAGES, PROCFILE, web_command

PARTS = {
    "drag": "a finger on a reel",
    "ask": "a discrete choice",
    "visitors": "what a visitor costs the server",
    "page": "opening a page",
    "compute": "the numbers themselves",
    "sweeps": "what runs outside the web process",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"any of {', '.join(PARTS)}; all without one")
    parser.add_argument("--procfile", type=Path, default=PROCFILE, help="whose web line is run")
    names = ", ".join(PAGES.values())
    parser.add_argument("--only", nargs="+", metavar="page", help=f"of what is measured page by page: {names}")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if unknown := set(chosen.only or ()) - set(PAGES.values()):
        parser.error(f"no such page: {', '.join(sorted(unknown))}")
    for page in [page for page, name in PAGES.items() if name not in (chosen.only or PAGES.values())]:
        del PAGES[page]  # before the parts read it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: what the server runs with
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server of a part ends with us
    command = web_command(chosen.procfile)
    rows: list[Row] = []
    for part in chosen.parts or PARTS:
        print(f"\n## {part}: {PARTS[part]}\n\n{machine()}\n", flush=True)
        start = time.perf_counter()
        told: list[Row] = []
        try:
            told.extend(importlib.import_module(f"benchmarks.{part}").run(command))
        finally:  # what was measured before a failure is still worth reading
            print(table(told), f"\n{time.perf_counter() - start:.0f} s, load {load()} at the end", sep="\n", flush=True)
        rows += told
    missed = [row for row in rows if not row.ok]
    print(f"\n{sum(row.budget is not None for row in rows)} budgets, {len(missed)} missed")
    for row in missed:
        print("  " + " | ".join(row.cells[:3]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
