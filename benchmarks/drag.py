"""A finger on a reel: how long until every linked figure is painted, and what goes up meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.browser import Visit, chromium, visit
from benchmarks.report import Row, percentile
from benchmarks.server import PAGES, serving

STEPS, WARM_UP = 24, 4
MOVES, RATE = 65, 60
"""Mouse moves of a drag, and how many a second are asked for."""

SWEEP = 40
"""Moves from one end of a rail to the other.  The drag ends off the middle, where a reel may have begun."""

STATES = {"forms": "forms?example=random"}
"""Where a page opens on a few steps only, the state that has many."""

RAILS = "input[type=range][data-axis]"


def run(command: str) -> Iterator[Row]:
    with serving(command) as server, chromium() as browser:
        for page, name in PAGES.items():
            with visit(browser, f"{server.url}/{STATES.get(page, page)}") as told:
                axes = told.page.eval_on_selector_all(RAILS, "rails => rails.map(rail => rail.dataset.axis)")
                for axis in dict.fromkeys(axes):
                    yield from _axis(told, f"{name}, {axis}", axis)


def _axis(told: Visit, name: str, axis: str) -> Iterator[Row]:
    rail = told.page.locator(f'{RAILS}[data-axis="{axis}"]:visible').first
    rail.scroll_into_view_if_needed()
    rail.focus()
    told.rest(200)
    yield from _steps(told, name)
    yield from _drag(told, name, rail)


def _steps(told: Visit, name: str) -> Iterator[Row]:
    """One key press at a time, the next when the page is quiet."""
    last, paints, figures, missed = [], [], set(), 0
    for step in range(STEPS + WARM_UP):
        told.clear()
        told.page.keyboard.press("ArrowLeft" if step // 4 % 2 else "ArrowRight")
        seen = told.rest()
        pressed = next(event["at"] for event in seen["events"] if event["kind"] == "keydown")
        frames = [frame for frame in seen["frames"] if frame["at"] > pressed]
        if step < WARM_UP:
            continue
        if not frames:
            missed += 1
            continue
        last.append(frames[-1]["at"] - pressed)
        paints.append(len(frames))
        figures.update(name for frame in frames for name in frame["figures"])
    note = f"p50 {percentile(last, 50):.0f}" + (f", {missed} painted nothing" if missed else "")
    yield Row(f"step on {name}: event → {len(figures)} figures painted, p95", percentile(last, 95), "ms", 33, note=note)
    yield Row(f"step on {name}: frames it takes", max(paints, default=0), "", 1, "=")


def _drag(told: Visit, name: str, rail) -> Iterator[Row]:
    """The mouse sweeps the rail from end to end and back."""
    box = rail.bounding_box()
    y, left, width = box["y"] + box["height"] / 2, box["x"] + 8, box["width"] - 16
    told.page.mouse.move(left, y)
    told.page.mouse.down()
    told.rest(200, 1000)
    told.clear()
    start = time.perf_counter()
    for move in range(1, MOVES + 1):
        at = move % (2 * SWEEP)
        told.page.mouse.move(left + width * min(at, 2 * SWEEP - at) / SWEEP, y)
        time.sleep(max(0.0, start + move / RATE - time.perf_counter()))
    spent = time.perf_counter() - start
    seen = told.rest(300, 5000)
    up, messages = told.traffic.up, sum(told.traffic.sent.values())
    told.clear()
    told.page.mouse.up()
    told.page.wait_for_timeout(400)
    released, sent = told.traffic.up, dict(told.traffic.sent)
    moves = [event["at"] for event in seen["events"] if event["kind"] == "input"]
    frames = [frame["at"] for frame in seen["frames"]]
    during = [at for at in frames if moves and moves[0] <= at <= moves[-1] + 17]
    gaps = [b - a for a, b in pairwise(during)]
    after = frames[-1] - moves[-1] if moves and frames else float("nan")
    note = (
        f"{len(moves) / spent:.0f} changes a second of {MOVES / spent:.0f} moves; "
        f"longest gap {max(gaps, default=0):.0f} ms, last {after:.0f} ms after the last change"
    )
    yield Row(f"drag {name}: painted frames a second", len(during) / spent, "", note=note)
    yield Row(f"drag {name}: bytes up while dragging", up, "B", 0, "=", note=f"{messages} messages")
    yield Row(
        f"drag {name}: messages up on release", sum(sent.values()), "", 1, "=", note=f"{released} B: {_told(sent)}"
    )


def _told(sent: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sent.items()) or "nothing"
