"""What one more visitor costs the server: processor time, memory while there, and what is left when gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from statistics import fmean

from benchmarks.client import Visitor
from benchmarks.report import Row
from benchmarks.server import PAGES, Server, serving

CROWD, SMALL, CYCLES = 50, 25, 10
"""Visitors of the overview at a time, of a view page, and how often the first come and go."""

AT_ONCE = 8
SOON = ("--unused-session-lifetime", "500", "--check-unused-sessions", "500")
"""A session ends half a second after its visitor: cycles need not wait for the patience of the deployed server."""

LEFT = 4
"""Seconds after which no session of a cycle is left."""

LEAK = 20
"""kB a visitor may seem to leave behind over the second half of the cycles; what the heap's own noise comes to."""


def run(command: str) -> Iterator[Row]:
    with serving(command) as server:
        yield Row("web process at rest, after the warm start", server.memory(), "MB", 180)
        for page, name in PAGES.items():
            yield from asyncio.run(_page(server, page, name))
    with serving(command, *SOON) as server:
        yield from asyncio.run(_cycles(server))


async def _page(server: Server, page: str, name: str) -> list[Row]:
    _leave(await _enter(server, page, 5))
    memory, spent = server.memory(), server.cpu()
    crowd = await _enter(server, page, SMALL if page else CROWD)
    spent = (server.cpu() - spent) / len(crowd)
    await asyncio.sleep(0.5)
    memory = (server.memory() - memory) / len(crowd)
    down = fmean(visitor.down for visitor in crowd) / 1e3
    _leave(crowd)
    return [
        Row(
            f"server CPU for a new visitor of {name}",
            spent,
            "s",
            0.09 if page else 0.12,
            note=f"{len(crowd)}, {AT_ONCE} at a time",
        ),
        Row(f"memory for a live session of {name}", memory, "MB", 0.8),
        Row(f"websocket on opening {name}", down, "kB", 50),
    ]


async def _cycles(server: Server) -> list[Row]:
    """The same crowd comes and goes."""
    told, start = [], server.memory()
    for _ in range(CYCLES):
        _leave(await _enter(server, "", CROWD))
        await asyncio.sleep(LEFT)
        told.append(server.memory())
    half = CYCLES // 2
    later = 1e3 * (told[-1] - told[half - 1]) / (CROWD * (CYCLES - half))
    course = ", ".join(f"{memory:.0f}" for memory in (start, *told))
    return [
        Row(
            f"left by a visitor, cycles {half + 1} to {CYCLES} of {CROWD}",
            later,
            "kB",
            LEAK,
            note=f"MB after each: {course}",
        )
    ]


async def _enter(server: Server, page: str, count: int) -> list[Visitor]:
    crowd = [Visitor(f"{server.url}/{page}") for _ in range(count)]
    door = asyncio.Semaphore(AT_ONCE)

    async def one(visitor: Visitor) -> None:
        async with door:
            await visitor.enter()

    await asyncio.gather(*map(one, crowd))
    return crowd


def _leave(crowd: list[Visitor]) -> None:
    for visitor in crowd:
        visitor.leave()
