"""Where a sweep runs: a device, the array library on it, and how fast it is thought to be.

CUDA where there is one, else MPS for sweeps that do without float64, else the CPU; `EXPLORER_DEVICE` overrides.
Only a worker process asks: finding out imports torch.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.sweeps.base import Question, Sweep, Work

VARIABLE = "EXPLORER_DEVICE"
WISHES = ("auto", "cpu", "cuda", "mps")


@dataclass(frozen=True)
class Place:
    """kind: cpu, cuda or mps.  library: numpy or torch.  name: what a person calls the device."""

    kind: str = "cpu"
    library: str = "numpy"
    name: str = ""

    @property
    def xp(self) -> Any:
        from array_api_compat import numpy as numpy_namespace

        if self.library == "numpy":
            return numpy_namespace
        from array_api_compat import torch as torch_namespace

        return torch_namespace

    def told(self) -> dict[str, str]:
        return {"kind": self.kind, "library": self.library, "name": self.name, "versions": versions(self.library)}


CPU = Place()


def versions(library: str) -> str:
    """Versions of the libraries that computed, in words."""
    numbers = f"NumPy {np.__version__}"
    if library == "numpy":
        return numbers
    import torch

    return f"{numbers}, torch {torch.__version__}"


def wish(text: str | None = None) -> str:
    """What was asked for, `EXPLORER_DEVICE` if nothing was; ValueError for a word there is not."""
    text = text or os.environ.get(VARIABLE) or "auto"
    if text not in WISHES:
        raise ValueError(f"{VARIABLE} must be one of {', '.join(WISHES)}, got {text[:20]!r}")
    return text


def find(wanted: str = "auto", *, needs_float64: bool = False) -> Place:
    """The place that answers to a wish.  ValueError if a device was asked for by name that is not there."""
    if wanted == "cpu":  # nothing to find out, and torch takes a second to import
        return Place("cpu", "numpy", processor())
    kinds = _devices()
    if needs_float64:
        kinds.pop("mps", None)
    if wanted == "auto":
        wanted = next(kind for kind in ("cuda", "mps", "cpu") if kind in kinds)
    if wanted not in kinds:
        raise ValueError(f"device {wanted} is not there, or cannot do float64" if needs_float64 else
                         f"device {wanted} is not there")  # fmt: skip
    return kinds[wanted]


def _devices() -> dict[str, Place]:
    """Every kind of device that works here.  A missing torch or a broken driver leaves the CPU."""
    found = {"cpu": Place("cpu", "numpy", processor())}
    if importlib.util.find_spec("torch") is None:
        return found
    try:
        import torch

        if torch.backends.mps.is_available():
            found["mps"] = Place("mps", "torch", f"{platform.machine()} GPU (MPS)")
        if torch.cuda.is_available():
            torch.zeros(1, device="cuda")
            found["cuda"] = Place("cuda", "torch", torch.cuda.get_device_name())
    except (ImportError, OSError, RuntimeError):
        return {kind: place for kind, place in found.items() if kind != "cuda"}
    return found


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return f"one core of {names[0]}" if names else f"one core of a {platform.machine()} processor"


@dataclass(frozen=True)
class Rates:
    """What a device does in a second; `step` is the seconds that a dependent step costs."""

    flops: float
    bytes: float
    numbers: float
    step: float
    start: float


RATES = {
    "cpu": Rates(flops=3e10, bytes=8e9, numbers=3e8, step=4e-5, start=0.3),
    "mps": Rates(flops=2e12, bytes=1e11, numbers=2e9, step=5e-5, start=3.0),
    "cuda": Rates(flops=1.2e13, bytes=1.2e12, numbers=6e10, step=1.2e-5, start=4.0),
}
"""Round numbers, from one core of a shared server and one H200; `start` is importing torch and waking the device.
What a process has measured corrects them."""


PASSED_OVER = 0.001
"""Seconds of a point that a device leaves out."""


def seconds(work: Work, kind: str) -> float:
    """Estimated seconds of a point: whichever of arithmetic and traffic takes longer, the rest added."""
    if kind in work.left_out:
        return PASSED_OVER
    r = RATES[kind]
    moved = max(work.flops / r.flops, work.bytes / r.bytes)
    rest = work.seconds + (work.compiling if kind == "cuda" else 0.0)
    return moved + work.numbers / r.numbers + work.steps * r.step + rest


def estimate(sweep: Sweep, question: Question, kind: str) -> float:
    """Estimated seconds of a question on a kind of device, without starting the process that computes."""
    return sum(seconds(sweep.work(question, point), kind) for point in sweep.points(question))


def said(seconds: float) -> str:
    """`about 40 s`, `about 3 min`: as exact as an estimate deserves."""
    if seconds < 1.5:
        return "about a second"
    return f"about {seconds:.0f} s" if seconds < 90 else f"about {seconds / 60:.0f} min"
