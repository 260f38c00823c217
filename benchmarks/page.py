"""Opening a page with nothing cached: what is fetched, when it shows, what moves, and what a second look fetches."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from statistics import median
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from playwright.sync_api import Browser

from benchmarks.browser import READY, chromium, visit
from benchmarks.report import Row
from benchmarks.server import PAGES, Server, serving

OPENINGS = 3
"""Cold openings of the overview; times are their medians.  A view page is opened once, or this would take minutes."""

FETCHED = """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter(e => e.name.startsWith(location.origin))
  .map(e => ({url: e.name, sent: e.transferSize, size: e.decodedBodySize}))"""

FIRST = """() => ({
  paint: performance.getEntriesByName('first-paint')[0]?.startTime ?? NaN,
  figure: Paints.first ?? NaN,
  shift: Paints.shifts,
  moved: [...new Set(Paints.moved)].join(', '),
})"""


def run(command: str) -> Iterator[Row]:
    with serving(command) as server, chromium() as browser:
        for page, name in PAGES.items():
            yield from _rows(name, [_open(browser, server, page) for _ in range(1 if page else OPENINGS)])


def _open(browser: Browser, server: Server, page: str) -> dict[str, Any]:
    """One cold opening, and a second look with what the browser kept."""
    before = server.cpu()
    with visit(browser, f"{server.url}/{page}") as told:
        cpu, seen, cold = server.cpu() - before, told.page.evaluate(FIRST), told.page.evaluate(FETCHED)
        down, addresses, errors = told.traffic.down, list(told.addresses), list(told.errors)
        told.page.goto(f"{server.url}/{page}")
        told.page.wait_for_function(READY)
        again = told.page.evaluate(FETCHED)
    home = urlsplit(server.url).netloc
    away = [url for url in addresses if urlsplit(url).scheme not in ("data", "blob") and urlsplit(url).netloc != home]
    return seen | {"cpu": cpu, "cold": cold, "again": again, "down": down, "away": away, "errors": errors}


def _rows(name: str, openings: list[dict[str, Any]]) -> Iterator[Row]:
    last = openings[-1]
    urls = list(dict.fromkeys(fetched["url"] for fetched in last["cold"]))
    raw, packed = map(sum, zip(*map(_weight, urls)))
    largest = sorted(((_weight(url)[0], url.partition("?")[0].rpartition("/")[2]) for url in urls), reverse=True)[:5]
    yield Row(
        f"{name}: HTTP cold, {len(urls)} files",
        raw / 1e6,
        "MB",
        3.3,
        note=", ".join(f"{file} {size / 1e3:.0f} kB" for size, file in largest),
    )
    yield Row(f"{name}: the same by gzip -6", packed / 1e6, "MB", 1.1)
    figures = [fetched for fetched in last["again"] if "/figures-" in fetched["url"]]
    yield Row(
        f"{name}: figures fetched on a second look",
        sum(fetched["sent"] for fetched in figures),
        "B",
        0,
        note=f"{len(figures)} kept",
    )
    yield Row(f"{name}: all of HTTP on a second look", sum(fetched["sent"] for fetched in last["again"]) / 1e3, "kB")
    yield Row(f"{name}: websocket down on opening", last["down"] / 1e3, "kB", 50)
    for what, key, budget in (("first paint", "paint", 1.0), ("first figure", "figure", 2.0)):
        yield Row(f"{name}: {what}, cold", median(opening[key] for opening in openings) / 1e3, "s", budget)
    yield Row(
        f"{name}: server CPU of a cold opening, files included",
        median(opening["cpu"] for opening in openings),
        "s",
        0.12 if name == "overview" else 0.09,
    )
    worst = max(openings, key=lambda opening: opening["shift"])
    yield Row(
        f"{name}: layout shift", worst["shift"], "", 0.01, note=worst["moved"][:120] if worst["shift"] > 0.01 else ""
    )
    for what, key in (("requests to other hosts", "away"), ("console errors", "errors")):
        found = [text for opening in openings for text in opening[key]]
        yield Row(f"{name}: {what}", len(found), "", 0, "=", note=found[0][:120] if found else "")


_weights: dict[str, tuple[int, int]] = {}


def _weight(url: str) -> tuple[int, int]:
    """Bytes of a file as it is, and by gzip -6."""
    if url not in _weights:
        with urlopen(Request(url, headers={"Accept-Encoding": "identity"})) as response:
            body = response.read()
        _weights[url] = len(body), len(gzip.compress(body, 6))
    return _weights[url]
