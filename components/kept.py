"""Files of numbers that were computed once: read as they were made, or else computed where they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

LOG = logging.getLogger(__name__)


@contextmanager
def opened(file: Path, made: str, module: str) -> Iterator[np.lib.npyio.NpzFile]:
    """An archive of arrays, and of what it was made for, `made`.

    ValueError if that was something else: `python -m module` makes the file anew.
    """
    with file.open("rb") as stream, np.load(stream) as told:  # NumPy would leave a damaged one open
        if str(told["made"]) != made:
            raise ValueError(f"{file.name} was made for other stops or maps; run python -m {module}")
        yield told


def is_readable(file: Path, what: str, read: Callable[[], object]) -> bool:
    """Whether `read` finds its part of a file.  What is missing or damaged is computed instead, and the log says so."""
    try:
        read()
    except Exception as error:  # a broken archive has a dozen ways to say so, and no page depends on it
        LOG.warning("%s: %s is computed instead of read (%s)", file, what, error)
        return False
    return True


def bytes_apart(numbers: np.ndarray) -> np.ndarray:
    """Bytes of equal weight of float32 numbers side by side, [4, *]: an archive of them is smaller by a fifth."""
    return np.moveaxis(numbers[..., None].view(np.uint8), -1, 0)


def bytes_together(apart: np.ndarray) -> np.ndarray:
    """And back."""
    return np.ascontiguousarray(np.moveaxis(apart, 0, -1)).view(np.float32)[..., 0]
