"""Sweeps on a terminal.

    python -m compute.sweeps list
    python -m compute.sweeps run crosstalk --quick --device auto --out crosstalk.npz
    python -m compute.sweeps bench
    python -m compute.sweeps ship assets/sweeps

Needs NumPy and array-api-compat; torch for a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy; more threads than free cores wait for one another
os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")

import numpy as np  # noqa: E402

from compute.sweeps.base import Question, Result, Sweep, default, settings  # noqa: E402
from compute.sweeps.packing import pack_result  # noqa: E402
from compute.sweeps.places import WISHES, estimate, find, said, wish  # noqa: E402
from compute.sweeps.registry import SWEEPS, find_sweep  # noqa: E402
from compute.sweeps.running import run  # noqa: E402
from compute.sweeps.shipped import ship  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m compute.sweeps", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="the sweeps there are, and what they cost").add_argument(
        "--json", action="store_true"
    )
    asked = verbs.add_parser("run", help="run one here and now")
    asked.add_argument("name", choices=SWEEPS)
    asked.add_argument("--device", choices=WISHES, default=None, help="EXPLORER_DEVICE, else the best there is")
    asked.add_argument("--quick", action="store_true", help="the small question, seconds on a laptop")
    asked.add_argument("--set", action="append", default=[], metavar="SETTING=JSON", help="another value for a setting")
    asked.add_argument("--injected", action="store_true", help="draws made by NumPy, the same on every device")
    asked.add_argument("--out", type=Path, metavar="FILE.npz")
    asked.add_argument("--json", action="store_true", help="print how it was made and the shapes, as JSON")
    benched = verbs.add_parser("bench", help="time the quick questions, and the best algorithm against the plain one")
    benched.add_argument("--device", choices=WISHES, default=None)
    benched.add_argument("--json", action="store_true")
    shipped = verbs.add_parser("ship", help="run default questions and write them as the explorer ships them")
    shipped.add_argument("folder", type=Path)
    shipped.add_argument("names", nargs="*", metavar="name", help="all sweeps without one")
    shipped.add_argument("--device", choices=WISHES, default=None)
    shipped.add_argument(
        "--set", action="append", default=[], metavar="SETTING=JSON", help="another value for a setting"
    )
    told = parser.parse_args(arguments)
    try:
        return {"list": _list, "run": _run, "bench": _bench, "ship": _ship}[told.verb](told)
    except (ValueError, MemoryError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


def _list(told: argparse.Namespace) -> int:
    rows = [_row(sweep) for sweep in SWEEPS.values()]
    if told.json:
        print(json.dumps(rows, indent=1))
        return 0
    for row in rows:
        print(f"{row['sweep']}: {row['title']}\n  {row['says']}")
        for kind, times in row["estimates"].items():
            print(f"  {kind}: {said(times['quick'])} --quick, {said(times['full'])} in full")
        for name, (value, meaning) in row["settings"].items():
            print(f"    {name} = {json.dumps(value)[:70]}  {meaning}")
    return 0


def _row(sweep: Sweep) -> dict[str, Any]:
    return {
        "sweep": sweep.word, "title": sweep.title, "says": sweep.says, "settings": settings(sweep),
        "estimates": {
            kind: {"quick": estimate(sweep, sweep.quick, kind), "full": estimate(sweep, default(sweep), kind)}
            for kind in ("cpu", "cuda")
        },
    }  # fmt: skip


def _run(told: argparse.Namespace) -> int:
    sweep = find_sweep(told.name)
    question = _question(sweep.quick if told.quick else default(sweep), told.set)
    place = find(wish(told.device), needs_float64=sweep.needs_float64)
    print(f"{sweep.title}: {said(estimate(sweep, question, place.kind))} on {place.name}", file=sys.stderr)
    keep = (lambda result: told.out.write_bytes(pack_result(result))) if told.out else (lambda result: None)
    result = run(sweep, question, place, _Bar(), injected=told.injected, keep=keep)
    print(file=sys.stderr)
    if told.json:
        print(json.dumps({**result.about, "arrays": {name: a.shape for name, a in result.arrays.items()}}, indent=1))
    else:
        _print(result)
    return 0


def _question(question: Question, settings: list[str]) -> Question:
    changed = dict(_setting(text) for text in settings)
    return type(question).read({**question.told(), **changed}) if changed else question


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"set must be SETTING=JSON, got {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        raise ValueError(f"set must be SETTING=JSON, got {text!r}") from None


def _print(result: Result) -> None:
    print(f"{result.about['seconds']:.2f} s on {result.about['device']['name']}; {result.about['device']['versions']}")
    for note in result.about["notes"]:
        print(f"  {note}")
    for name, a in result.arrays.items():
        axes = ", ".join(f"{axis} {n}" for axis, n in zip(result.about["dims"][name], a.shape))
        with np.errstate(all="ignore"):
            print(f"  {name} [{axes}]: {np.nanmin(a):.4g} to {np.nanmax(a):.4g}")


def _bench(told: argparse.Namespace) -> int:
    from compute.sweeps.timing import rows

    place = find(wish(told.device))
    found = list(rows(place))
    if told.json:
        print(json.dumps({"device": place.told(), "rows": found}, indent=1))
        return 0
    print(f"{place.name}; {place.told()['versions']}")
    for row in found:
        print(f"  {row['what']}: {row['measured']:.3g} {row['unit']}  {row['note']}")
    return 0


def _ship(told: argparse.Namespace) -> int:
    """A file after every sweep, and while a long one runs: what is computed is not lost with the machine."""
    told.folder.mkdir(parents=True, exist_ok=True)
    for name in told.names or SWEEPS:
        sweep = find_sweep(name)
        place = find(wish(told.device), needs_float64=sweep.needs_float64)
        question = _question(default(sweep), told.set)
        result = run(sweep, question, place, keep=lambda result: ship(result, told.folder))
        size = (told.folder / f"{name}.npz").stat().st_size
        print(f"{name}: {result.about['seconds']:.1f} s on {place.name}, {size / 1e3:.0f} kB", flush=True)
        for note in result.about["notes"]:
            print(f"  {note}", flush=True)
    return 0


class _Bar:
    """Progress on one line, at most five times a second."""

    def __init__(self) -> None:
        self.told = 0.0

    def __call__(self, fraction: float, note: str) -> None:
        now = time.monotonic()
        if note or fraction >= 1 or now - self.told > 0.2:
            self.told = now
            print(f"\r{fraction:6.1%} {note}", end="\n" if note else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
