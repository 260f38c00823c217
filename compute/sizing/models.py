"""The models that come with the explorer: one JSON file each, found by scanning the folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compute.scalars import brief

from .reader import read_config
from .shape import ModelShape

FOLDER = Path(__file__).parents[2] / "assets" / "models"


@dataclass(frozen=True)
class Model:
    """word: the file's stem and the model's word in an address.  source: where its config was published.

    verified: how far the numbers are known, such as "released config", "paper" or "package default".
    """

    word: str
    name: str
    source: str
    verified: str


@cache
def models() -> dict[str, Model]:
    """All models by word, in alphabetical order of their names."""
    found = []
    for path in FOLDER.glob("*.json"):
        entry = json.loads(path.read_text(encoding="utf-8"))
        found.append(Model(path.stem, entry["name"], entry["source"], entry["verified"]))
    return {model.word: model for model in sorted(found, key=lambda model: (model.name.lower(), model.word))}


def load_model(word: str) -> ModelShape:
    """The shape of a model by its word.  ValueError if there is none of that name."""
    return _read(word) if isinstance(word, str) else read_config(model_config(word))


@cache
def _read(word: str) -> ModelShape:
    return read_config(model_config(word))


def model_config(word: str) -> dict:
    """The config of a model by its word, as published.  ValueError if there is none of that name."""
    if not isinstance(word, str) or word not in models():
        raise ValueError(f"word must name a model, got {brief(word)}")
    return json.loads((FOLDER / f"{word}.json").read_text(encoding="utf-8"))["config"]
