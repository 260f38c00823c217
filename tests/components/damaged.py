"""Kept files as they may be found: missing, empty or cut, or whole but made for something else."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

WAYS = ("missing", "empty", "cut", "of other stops")


def damaged(
    module: ModuleType, way: str, other: dict[str, Any], remembered: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch, folder: Path,
) -> Path:  # fmt: skip
    """The module's FILE as it is found, with all forgotten that it has remembered of it.

    One of other stops is the whole file, to a module whose constants are other than it was made for.
    """
    whole = module.FILE
    file = whole if way == "of other stops" else folder / whole.name
    if way in ("empty", "cut"):
        file.write_bytes(whole.read_bytes()[:100_000] if way == "cut" else b"")
    monkeypatch.setattr(module, "FILE", file)
    for name, value in other.items() if way == "of other stops" else ():
        monkeypatch.setattr(module, name, value)
    for name in remembered:
        monkeypatch.setattr(module, name, getattr(module, name).__wrapped__)
    return file
