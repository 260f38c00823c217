"""Kept files as they may be found: missing, empty or cut, or whole but made for something else."""

from __future__ import annotations

from pathlib import Path

WAYS = ("missing", "empty", "cut", "of other stops")


def damaged(whole: Path, way: str, folder: Path) -> Path:
    """The file as it is found; one of other stops is the whole one, and what is asked of it must be something else."""
    if way == "of other stops":
        return whole
    file = folder / whole.name
    if way != "missing":
        file.write_bytes(whole.read_bytes()[:100_000] if way == "cut" else b"")
    return file
