"""Answers that come with the explorer: the default question of every sweep, computed on a GPU and kept as a file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from compute.sweeps.base import Result
from compute.sweeps.packing import pack_result, rounded, unpack_result

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "sweeps"


@cache
def shipped(word: str) -> Result | None:
    """The result in `assets/sweeps`, None if there is none; `about` says on which device, when and from which seed."""
    path = FOLDER / f"{word}.npz"
    return unpack_result(path.read_bytes()) if path.exists() else None


def ship(result: Result, folder: Path = FOLDER) -> Path:
    """Write a result in four digits, as the file that `shipped` reads."""
    told = Result(
        {name: rounded(a) if np.issubdtype(a.dtype, np.floating) else a for name, a in result.arrays.items()},
        {**result.about, "digits": 4},
    )
    path = folder / f"{result.about['sweep']}.npz"
    path.write_bytes(pack_result(told))
    return path
