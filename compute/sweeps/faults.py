"""Faults on purpose, so that tests see what happens when memory runs out or a device is lost.

`EXPLORER_FAULT` holds words such as `memory:1`, `memory:2-4`, `device:3`: the fault is raised at that allocation (the
first is 1), or at every one of a range.  Nothing is raised where the variable is not set.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

VARIABLE = "EXPLORER_FAULT"
KINDS = ("memory", "device", "exit")


class OutOfMemoryError(RuntimeError):
    """Stands in for the error of the same name that torch raises."""


class DeviceLost(RuntimeError):
    """A device that answers nothing any more; its process must end."""


@dataclass
class Faults:
    """Counts allocations, and raises at those that were named."""

    planned: tuple[tuple[str, int, int], ...] = ()
    count: int = field(default=0, compare=False)

    @classmethod
    def read(cls, text: str | None = None) -> Faults:
        """From `EXPLORER_FAULT` if no text is given; ValueError for a word that is not understood."""
        planned = []
        for word in (os.environ.get(VARIABLE, "") if text is None else text).split():
            kind, _, which = word.partition(":")
            first, _, last = which.partition("-")
            if kind not in KINDS or not first.isdigit() or (last and not last.isdigit()):
                raise ValueError(f"{VARIABLE} must hold words like memory:2 or device:1-3, got {word!r}")
            planned.append((kind, int(first), int(last or first)))
        return cls(tuple(planned))

    def allocation(self) -> None:
        """Called before every piece of work that takes memory on a device."""
        self.count += 1
        for kind, first, last in self.planned:
            if first <= self.count <= last:
                if kind == "exit":
                    os._exit(9)
                raise (OutOfMemoryError if kind == "memory" else DeviceLost)(f"{kind} fault {self.count}, on purpose")


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory, of either kind, ran out."""
    return isinstance(error, (MemoryError, OutOfMemoryError)) or type(error).__name__ == "OutOfMemoryError"


def device_lost(error: BaseException) -> bool:
    """Whether an exception says that a CUDA context is gone: nothing in its process can use the device again."""
    return isinstance(error, DeviceLost) or type(error).__name__ == "AcceleratorError" or (
        isinstance(error, RuntimeError) and "CUDA error" in str(error)
    )  # fmt: skip
