"""Presets and predict-first questions: one data file a view, `assets/views/<view>.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"


@dataclass(frozen=True)
class Preset:
    """A named state of a view: address words that differ from the default, and what to see there."""

    name: str
    caption: str
    words: dict[str, str] = field(hash=False)


@dataclass(frozen=True)
class Predict:
    """A question to answer before looking.  `marks` are drawn hidden and shown with the answer."""

    question: str
    options: tuple[str, ...]
    right: int
    because: str
    marks: tuple[str, ...] = ()


@cache
def presets(view: str) -> tuple[Preset, ...]:
    """The named states of a view, in the order in which they make its argument."""
    return tuple(
        Preset(entry["name"], entry["caption"], {k: str(v) for k, v in entry["words"].items()})
        for entry in _read(view).get("presets", ())
    )


@cache
def predict(view: str) -> Predict | None:
    entry = _read(view).get("question")
    if entry is None:
        return None
    return Predict(entry["question"], tuple(entry["options"]), entry["right"], entry["because"], tuple(entry.get("marks", ())))


def _read(view: str) -> dict:
    path = ASSETS / "views" / f"{view}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
