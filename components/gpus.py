"""Accelerators to fit a model into: memory and bandwidth from their makers' data sheets (assets/gpus.json)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from components.assets import ASSETS


@dataclass(frozen=True)
class Gpu:
    """Memory in bytes, bandwidth in bytes a second."""

    word: str
    name: str
    memory: int
    bandwidth: int


@cache
def gpus() -> dict[str, Gpu]:
    path = ASSETS / "gpus.json"
    told = json.loads(path.read_text(encoding="utf-8"))["gpus"]
    return {g["word"]: Gpu(g["word"], g["name"], g["memory_gb"] * 10**9, g["bandwidth_gb_s"] * 10**9) for g in told}
