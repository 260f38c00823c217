"""Measured times of the forms of attention beside their FLOPs: where each passes softmax by count and by the clock."""

from __future__ import annotations

import numpy as np

from components.says import tokens
from components.sweep_shown import Panel
from compute.sweeps.form_flops import FLOPS, fewer_from
from compute.sweeps.form_times import CHUNK

AGAINST, TOLD = "softmax", "chunkwise"
"""The form that others are held against, and that of which the sentence speaks, as Bracketing's figure does."""


def clocked(ms: float) -> str:
    """`53 µs`, `0.24 ms`, `33 ms`, `0.59 s`: never wider than its cell."""
    if ms < 0.0995:
        return f"{1e3 * ms:.2g} µs"
    return f"{ms / 1e3:.2g} s" if ms >= 500 else f"{ms:.2g} ms" if ms < 99.5 else f"{ms:.0f} ms"


def times_of(ratio: float) -> str:
    """`1/512`, `0.31 ×`, `12 ×`; nothing where one of the two was not measured."""
    if not np.isfinite(ratio):
        return "not measured"
    return f"1/{1 / ratio:,.0f}" if ratio < 0.1 else f"{ratio:.2g} ×" if ratio < 10 else f"{ratio:,.0f} ×"


def turns(panel: Panel) -> list[int | None]:
    """The first context at which a form takes fewer FLOPs than softmax."""
    starts = [fewer_from(form, panel.question["d"]) for form in panel.up]
    return [next((i for i, T in enumerate(panel.across) if start and start <= T), None) for start in starts]


def overtakes(panel: Panel) -> list[int | None]:
    """The first context from which on a form was the faster one, of those at which both were measured."""
    return [_ahead(row, _against(panel)) for row in panel.values]


def _against(panel: Panel) -> np.ndarray:
    if AGAINST in panel.up:
        return panel.values[panel.up.index(AGAINST)]
    return np.full(len(panel.across), np.nan)


def _ahead(mine: np.ndarray, other: np.ndarray) -> int | None:
    (both,) = np.nonzero(np.isfinite(mine) & np.isfinite(other))
    first = None
    for i in both[::-1]:
        if mine[i] >= other[i]:
            break
        first = int(i)
    return first


def flops_against(panel: Panel) -> list[list[str]]:
    d = panel.question["d"]
    return panel.each(lambda form, T: times_of(FLOPS[form](T, d) / FLOPS[AGAINST](T, d)))


def time_against(panel: Panel) -> list[list[str]]:
    return [[times_of(float(ratio)) for ratio in row] for row in panel.values / _against(panel)]


def equal_time(panel: Panel, form: str) -> float | None:
    """The context at which the two took equally long, between those measured along a power of T; None if not there."""
    mine, other = panel.values[panel.up.index(form)], _against(panel)
    last = _ahead(mine, other)
    if not last or not np.isfinite(mine[last - 1] / other[last - 1]):
        return None
    (x0, x1), (y0, y1) = np.log(panel.across[last - 1 : last + 1]), np.log((mine / other)[last - 1 : last + 1])
    return float(np.exp(x0 - y0 * (x1 - x0) / (y1 - y0)))


def _less_time(panel: Panel, start: int) -> str:
    """Where it takes less time; empty where nothing was measured that could say so."""
    heads = "one head" if panel.value == 1 else f"{panel.value} heads"
    mine, other = panel.values[panel.up.index(TOLD)], _against(panel)
    measured = np.isfinite(mine) & np.isfinite(other)
    less, of = int(np.sum(mine[measured] < other[measured])), int(measured.sum())
    if T := equal_time(panel, TOLD):
        multiple = T / start
        return f"from about {tokens(float(f'{T:.2g}'))} with {heads}" + (
            f" ({multiple:,.0f} times as many)" if multiple >= 2 else ""
        )
    if not of:
        return ""
    if 0 < less < of:
        return f"at {less} of {of} lengths with {heads}"
    return f"at {'all' if less else 'none'} that were measured with {heads}"


def says(panels: list[Panel]) -> str:
    """By counting, and by the clock for every number of heads."""
    if TOLD not in panels[0].up or AGAINST not in panels[0].up:
        return ""
    d = panels[0].question["d"]
    start, orders = fewer_from(TOLD, d), fewer_from("right", d, than="left")
    told = list(filter(None, (_less_time(panel, start) for panel in panels)))
    return (
        f"Linear attention in chunks of {CHUNK} takes fewer FLOPs than softmax, counted without a mask, from "
        f"{tokens(start)} tokens (the right order fewer than the left from {tokens(orders)})"
        + (f"; less time {' and '.join(told)}." if told else ".")
    )
