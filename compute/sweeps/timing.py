"""How fast the sweeps are on a device: quick questions, questions with a known floor, and the plain algorithm.

What the device must do at least is known for some questions: operations over the rate of the unit that does them, or
bytes over the bandwidth, as measured on one H200.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from compute.sweeps.base import Question, Result, Sweep
from compute.sweeps.crosstalk_map import LOT, CrosstalkMap, CrosstalkQuestion, keys_and_values, naive
from compute.sweeps.feature_surface import FeatureQuestion, FeatureSurface
from compute.sweeps.places import CPU, Place
from compute.sweeps.rank_curves import RankCurves, RankQuestion
from compute.sweeps.registry import SWEEPS
from compute.sweeps.running import run
from compute.sweeps.workbench import Bench

Row = dict[str, Any]
"""what, measured, unit, note; with `budget` where there is one."""

NAIVE_WIDTHS, NAIVE_TRIALS = (32, 64, 128, 256), 16
NORMS = tuple(round(0.25 * (i + 1), 2) for i in range(20))

FLOORS: tuple[tuple[str, Sweep, Question, float], ...] = (
    (
        "crosstalk, d = 128, n to 1,024, 64 trials, additive and delta", CrosstalkMap(),
        CrosstalkQuestion(widths=(128,), rules=("additive", "delta"), trials=64), 0.0122,
    ),
    (
        "random features, 20 lengths, d_φ to 4,096, 10,000 draws", FeatureSurface(),
        FeatureQuestion(kinds=("positive",), lengths=NORMS), 0.0097,
    ),
    (
        "rank of elu+1, N = 2,048, 64 draws", RankCurves(),
        RankQuestion(maps=("elu",), widths=(16,), lengths=(2048,)), 0.0114,
    ),
    (
        "rank of softmax, N = 1,024, 8 draws", RankCurves(),
        RankQuestion(maps=("softmax",), widths=(16,), lengths=(1024,), draws=8), 8 * 0.102,
    ),
    ("crosstalk in full", CrosstalkMap(), CrosstalkQuestion(), 1.8),
    ("random features in full", FeatureSurface(), FeatureQuestion(), 6 * 81 / 20 * 0.0097),
)  # fmt: skip
"""What, and the seconds that the best route known took on one H200 without drawing, quantiles and transfers."""


def rows(place: Place) -> Iterator[Row]:
    for sweep in SWEEPS.values():
        if sweep.word != "trained-recall":
            yield from _quick(sweep, place)
    if place.kind == "cuda":
        yield from _floors(place)
    else:
        yield from _against_naive()


def _quick(sweep: Sweep, place: Place) -> Iterator[Row]:
    here, result = seconds_of(sweep, sweep.quick, place)
    note = ""
    if place.kind != "cpu" and not sweep.timed:
        there, _ = seconds_of(sweep, sweep.quick, CPU)
        apart = farthest(run(sweep, sweep.quick, place, injected=True), run(sweep, sweep.quick, CPU, injected=True))
        note = f"{there:.3g} s on one CPU core, {there / here:.3g} times; {apart:.1e} apart with the same draws"
    yield {
        "what": f"{sweep.word}, quick",
        "measured": here,
        "unit": "s",
        "note": note,
        "points": result.about["points"],
    }


def _floors(place: Place) -> Iterator[Row]:
    for what, sweep, question, floor in FLOORS:
        took, _ = seconds_of(sweep, question, place)
        note = f"best route known {1e3 * floor:.3g} ms"
        yield {"what": what, "measured": 1e3 * took, "unit": "ms", "budget": 2e3 * floor, "note": note}


def _against_naive() -> Iterator[Row]:
    """One trial, all rules: the plain way gives every n and every pair, the blocks what the sweep keeps of it."""
    sweep, took = CrosstalkMap(), {"best": 0.0, "plain": 0.0}
    for d in NAIVE_WIDTHS:
        question = CrosstalkQuestion(widths=(d,), trials=NAIVE_TRIALS)
        K, V = (a[0] for a in keys_and_values(Bench(), 0, LOT, question.load * d, d, question.d_v))
        best = seconds_of(sweep, question, CPU)[0] / NAIVE_TRIALS
        start = time.perf_counter()
        for rule in question.rules:
            naive(question, (rule, d), K, V)
        plain = time.perf_counter() - start
        took["best"] += best
        took["plain"] += plain
        yield _faster(f"d = {d}", plain, best)
    yield {**_faster(f"d = {', '.join(map(str, NAIVE_WIDTHS))} together", **took), "budget": 30, "sense": "≥"}


def _faster(what: str, plain: float, best: float) -> Row:
    note = f"five rules, n to 8 d; {plain:.3g} s for {best:.3g} s a trial on one CPU core"
    what = f"crosstalk by blocks, against writing and reading one by one, {what}"
    return {"what": what, "measured": plain / best, "unit": "× faster", "note": note}


def seconds_of(sweep: Sweep, question: Question, place: Place, repeats: int = 3) -> tuple[float, Result]:
    """Least seconds of several runs, after one to warm up on a device that is not the CPU."""
    least, result = float("inf"), None
    for i in range(repeats + (place.kind != "cpu")):
        start = time.perf_counter()
        result = run(sweep, question, place)
        if i or place.kind == "cpu":
            least = min(least, time.perf_counter() - start)
        if 2 < least < float("inf"):
            break
    return least, result


def farthest(a: Result, b: Result) -> float:
    """Largest difference of two results, relative to the largest value of each array along its last axis."""
    worst = 0.0
    for name, x in a.arrays.items():
        x, y = (np.nan_to_num(v.astype(np.float64)) for v in (x, b.arrays[name]))
        scale = np.maximum(np.max(np.abs(y), axis=-1, keepdims=True) if y.ndim else np.abs(y), 1.0)
        worst = max(worst, float(np.max(np.abs(x - y) / scale)))
    return worst
