"""A discrete choice: how long until every canvas is painted, what the answer costs the server and the wire.

And the same picture as a DynamicMap, chosen in turn with ours in one run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from math import ceil
from statistics import fmean, median

from playwright.sync_api import Locator

from app.page import OVERVIEW, views_of
from app.session import answers
from benchmarks.browser import Visit, chromium, visit
from benchmarks.client import Visitor
from benchmarks.report import Row, percentile, timed
from benchmarks.server import PAGES, Server, serving
from components.lesson import Question
from components.offered import KNOBS, OFFERED
from components.words import WIDTHS, WORDS
from compute.sizing import models

ASKED = {
    "": ("phi", "d_k", "rule", "keys", "model", "seed"),
    "sharpness?seed=1": ("phi", "d_k", "seed", "single"),
    "memory?seed=2": ("rule", "keys", "seed", "pair"),
    "rank?seed=3": ("phi", "d_k", "seed", "mask", "precision"),
    "normaliser?seed=4": ("phi", "d_k", "seed", "way"),
    "random-features?seed=5": ("head", "seed"),
    "bracketing": ("phi", "head"),
    "forms": ("example", "pitfall"),
    "recall": ("d_k", "rule"),
    "sizing": ("model", "phi"),
}
"""Choices of a page.  Each page has its own draw, so that its first round asks what depends on it anew."""

DRAWN = ("", "rank", "sharpness", "random-features", "memory", "normaliser")
"""Pages whose pictures depend on the draw."""

WIDEST = OFFERED[1]
"""Directions of the widest random map."""

STEPS = 5
"""Models or draws that are gone through, there and back."""

ENOUGH = 20
"""Choices of a word at least: of fewer, a 95th percentile is no more than the largest."""

OTHER = "panel serve benchmarks/pages/dynamic.py --port $PORT --liveness"
ROUNDS = 4


@dataclass(frozen=True)
class Asked:
    """One choice: ms from the event to the last paint (NaN if nothing was painted), s of server time, bytes down."""

    ms: float
    frames: int
    cpu: float
    down: int


def run(command: str) -> Iterator[Row]:
    if missing := PAGES.keys() - {page.partition("?")[0] for page in ASKED}:
        raise ValueError(f"ASKED must name the choices of every page that draws, it lacks {', '.join(missing)}")
    with serving(command) as server, chromium() as browser:
        for page, words in ASKED.items():
            if page.partition("?")[0] not in PAGES:
                continue
            with visit(browser, f"{server.url}/{page}") as told:
                name, every = page.partition("?")[0] or "overview", []
                for word in words:
                    new, again = _ask(told, server, word)
                    every += new + again
                    yield from _rows(name, word, new, again)
                yield _painted(f"all {len(every)} choices on {name}", name, every)
    yield from _draws()
    if "memory" in PAGES:
        yield from _beside_a_dynamic_map(command)


def _draws() -> Iterator[Row]:
    """What a draw that nobody has asked for costs where it is computed, without a browser and without the server.

    A visitor who draws again mostly does not wait for it: the next draw is made while the last one is looked at.
    """
    seeds = {d_k: count() for d_k in WIDTHS}  # views share what they find: no draw twice
    for page in (page for page in DRAWN if page in PAGES):
        views = views_of(page or OVERVIEW)
        answers(views, Question())
        offered = WIDEST if page and "features" in views[0].dials else max(KNOBS["m"])
        kinds = [
            ("", Question(), 25),
            (f" at d_k = {WIDTHS[-1]}", Question(d_k=WIDTHS[-1]), 25),
            (f" with {2 * offered:,} trigonometric features, the most offered", Question(phi=f"trig~m~{offered}"), 25),
        ]
        if page == "rank":
            kinds += [("'s float32", Question(precision="float32"), 25), ("'s mask", Question(mask="causal"), 25)]
        if offered < WIDEST:
            kinds.append((f" with {2 * WIDEST:,}, if another page chose them", Question(phi=f"trig~m~{WIDEST}"), None))
        for said, asked, budget in kinds:
            draws = [replace(asked, seed=seed) for seed in islice(seeds[asked.d_k], STEPS)]
            spent = [1e3 * timed(partial(answers, views, question), 1)[0] for question in draws]
            what = f"a new draw on {PAGES[page]}{said}: CPU of its answer"
            yield Row(what, median(spent), "ms", budget, note=f"most {max(spent):.0f}")


def _rows(page: str, word: str, new: list[Asked], again: list[Asked]) -> Iterator[Row]:
    asks, what = new + again, f"{word} on {page}"
    new_ms, again_ms = (percentile([asked.ms for asked in some if asked.frames], 50) for some in (new, again))
    first = next(asked.ms for asked in asks if asked.frames)
    yield _painted(what, page, asks, f"new {new_ms:.0f}", f"asked before {again_ms:.0f}", f"the first {first:.0f}")
    spent_new, spent_again = ([1e3 * asked.cpu for asked in some] for some in (new, again))
    note = f"most {max(spent_new):.0f}, asked before {fmean(spent_again):.1f}"
    yield Row(f"{what}: server CPU of a new question", fmean(spent_new), "ms", 25, note=note)
    down = [asked.down / 1e3 for asked in asks]
    yield Row(f"{what}: most bytes down", max(down), "kB", 100, note=f"median {median(down):.1f}")


def _painted(what: str, page: str, asks: list[Asked], *notes: str) -> Row:
    painted = [asked.ms for asked in asks if asked.frames]
    told = [f"p50 {percentile(painted, 50):.0f}", *notes]
    if (more := max(asked.frames for asked in asks)) > 1:
        told.append(f"up to {more} frames")
    if len(painted) < len(asks):
        told.append(f"{len(asks) - len(painted)} painted nothing")
    budget = 80 if page == "overview" else 50
    return Row(f"{what}: event → all canvases, p95", percentile(painted, 95), "ms", budget, note=", ".join(told))


def _ask(told: Visit, server: Server, word: str) -> tuple[list[Asked], list[Asked]]:
    """Go through the values of a word: what it took the first time, and afterwards, `ENOUGH` times at least."""
    control = told.page.locator(f'[data-control="{word}"]').first
    control.scroll_into_view_if_needed()
    field = control.locator("select, input")
    first, again = [], []
    if word == "model":
        names = [model.name for model in models().values() if model.word != WORDS["model"].default][:STEPS]
        back = [*names[::-1][1:], models()[WORDS["model"].default].name]
        for into, order in ((first, names), (again, back), *[(again, names + back)] * (ENOUGH // 2 // STEPS - 1)):
            for name in order:
                field.first.click()
                told.page.keyboard.type(name)
                told.rest(100, 400)
                into.append(_timed(told, server, lambda: told.page.keyboard.press("Enter")))
        return first, again
    if field.count():
        field.first.focus()
        rounds = [("ArrowUp", again), ("ArrowDown", again)] * (ENOUGH // 2 // STEPS)
        for key, into in (("ArrowUp", first), *rounds[1:]):
            for _ in range(STEPS):
                into.append(_timed(told, server, lambda key=key: told.page.keyboard.press(key)))
        return first, again
    buttons = control.locator(".bk-btn")
    start = next(i for i in range(buttons.count()) if "bk-active" in buttons.nth(i).get_attribute("class"))
    others = [i for i in range(buttons.count()) if i != start]
    for into in (first, *[again] * ceil(ENOUGH / buttons.count())):
        for button in (*others, start):
            before = server.cpu()  # an answer is made as soon as the pointer rests on its button
            into.append(_timed(told, server, _press(told, buttons.nth(button)), before))
    again.append(first.pop())  # the page began with it
    return first, again


def _press(told: Visit, button: Locator) -> Callable[[], None]:
    """Go to the button and let what hovering does come to rest; what is left to do is the click."""
    box = button.bounding_box()
    told.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    told.rest(100, 400)

    def click() -> None:
        told.page.mouse.down()
        told.page.mouse.up()

    return click


def _timed(told: Visit, server: Server, act: Callable[[], None], before: float | None = None) -> Asked:
    told.clear()
    before = server.cpu() if before is None else before
    act()
    seen = told.rest(120, 2500)
    event = next(event["at"] for event in seen["events"] if event["kind"] in ("keydown", "pointerup"))
    frames = [frame["at"] for frame in seen["frames"] if frame["at"] > event]
    return Asked(frames[-1] - event if frames else float("nan"), len(frames), server.cpu() - before, told.traffic.down)


def _beside_a_dynamic_map(command: str) -> Iterator[Row]:
    settings = command.partition("python -m")[0]
    with serving(command) as ours, serving(f"{settings}python -m {OTHER}") as other:
        cheap, dear = asyncio.run(_both(ours, other))
    yield Row("write rule on memory, server CPU an ask as a DynamicMap", 1e3 * dear, "ms")
    yield Row("write rule on memory, server CPU an ask as an answer", 1e3 * cheap, "ms", 25)
    yield Row("the same picture as a DynamicMap costs the server", dear / cheap, "×", 5, sense="≥")


async def _both(ours: Server, other: Server) -> tuple[float, float]:
    """Mean seconds of server time for one choice of the write rule, once every rule was chosen before."""
    visitors = [(ours, Visitor(f"{ours.url}/memory"), []), (other, Visitor(f"{other.url}/dynamic"), [])]
    for _, visitor, _ in visitors:
        await visitor.enter()
    for turn in range(ROUNDS):
        for button in (1, 2, 3, 0):
            for server, visitor, spent in visitors:
                before = server.cpu()
                if not await visitor.choose(visitor.control("gated delta"), button):
                    raise RuntimeError(f"{visitor.url} did not answer")
                if turn:
                    spent.append(server.cpu() - before)
    for _, visitor, _ in visitors:
        visitor.leave()
    return fmean(visitors[0][2]), fmean(visitors[1][2])
