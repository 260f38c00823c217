"""What computes sweeps here, as far as it is known without torch, and what a quick one costs there.

The process that computes says what it has when it starts.  It is started to be asked only where there may be a GPU.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from components.sweep_pictures import pictures_of
from compute.sweeps.base import Sweep
from compute.sweeps.cluster import VARIABLE as CLUSTER
from compute.sweeps.places import RATES, estimate, processor, wish
from compute.sweeps.places import said as duration
from compute.sweeps.registry import SWEEPS
from compute.sweeps.runner import Runner

NVIDIA = Path("/dev/nvidia0")
NAMES = {"cuda": ("NVIDIA GPU", "an NVIDIA GPU"), "mps": ("Apple GPU", "Apple's GPU")}
"""What a device is called until the process that computes has said its name: in the badge, and in a sentence."""


class Device(NamedTuple):
    """kind: cpu, cuda or mps, for the estimate.  badge: in a word or two.  name: what a person calls it."""

    kind: str
    badge: str
    name: str


@cache
def runner() -> Runner:
    """The one queue of this process, made when somebody first asks."""
    return Runner()


def device(sweep: Sweep | None = None) -> Device:
    """Where a sweep asked for now is computed; without one, where sweeps are as a rule."""
    known = _queue()
    if os.environ.get(CLUSTER):
        return Device("cpu", "Dask cluster", "a Dask cluster")
    try:
        kind = known.place["kind"] if known and known.place else _likely(wish())
    except ValueError as reason:
        return Device("cpu", "no device", str(reason))
    if kind == "cpu" or (kind == "mps" and sweep and sweep.needs_float64):
        return Device("cpu", "CPU" if has_torch() else "CPU, no torch", processor())
    if known and known.place:
        return Device(kind, known.place["name"], known.place["name"])
    return Device(kind, *NAMES[kind])


def _likely(wanted: str) -> str:
    if wanted == "auto":
        return "cuda" if NVIDIA.exists() and has_torch() else "cpu"
    return wanted


def learn() -> None:
    """Start the process that computes if only it can say what there is: it takes seconds, and nobody waits for it."""
    if device().kind != "cpu" and not (_queue() and runner().place):
        runner().wake()


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def lacks(sweep: Sweep) -> str:
    """Why a sweep cannot be computed here, empty if it can."""
    if sweep.needs_torch and not has_torch() and not os.environ.get(CLUSTER):
        return "it trains with torch, which is not installed here"
    return ""


def cost(sweep: Sweep) -> str:
    """What the quick question of a sweep costs here."""
    known, here = _queue(), device(sweep)
    if known and known.place:
        seconds = known.estimate_s(sweep, sweep.quick)
    else:
        seconds = RATES[here.kind].start + estimate(sweep, sweep.quick, here.kind)
    return f"{duration(seconds)} on {here.name}"


def badge(view: str) -> dict[str, str] | None:
    """The badge in the frame of a view's page, and what it says to who points at it; None on a page without sweeps."""
    sweeps = [SWEEPS[picture.sweep] for picture in pictures_of(view)]
    if not sweeps:
        return None
    learn()
    told = [f"{sweep.title}: {lacks(sweep) or cost(sweep)}." for sweep in sweeps]
    return {"text": device().badge, "title": "\n".join(["What this page's quick sweeps cost here.", *told])}


def _queue() -> Runner | None:
    return runner() if runner.cache_info().currsize else None
