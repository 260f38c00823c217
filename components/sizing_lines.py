"""The lines of sizing: every part at every context length, crossings, models beside it, and names at the ends."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.lesson import Question
from components.plots import spread
from components.sizing_asked import counted
from components.sizing_laws import values_with
from components.sizing_said import Sums, latents
from components.words import SOFTMAX
from compute.feature_maps import FEATURE_MAPS
from compute.sizing import (
    ModelShape,
    Options,
    human_bytes,
    load_model,
    models,
    rates,
    with_feature_map,
)
from compute.sizing.options import ARITHMETIC
from compute.sizing.sums import sums
from compute.sizing.twins import twin_name

STOPS = AXES["T"].stops
T = np.asarray(STOPS)
OTHERS = ("other1", "other2", "other3")
LINES = ("cache", "window", "state", "conv", "total", "twin", "whole", "mapped", *OTHERS)
NAMES: dict[str, str] = {
    "cache": "cache",
    "window": "windows",
    "state": "state",
    "conv": "convolution",
    "total": "total",
    "whole": "without latents",
}

MAPPED = ("mapped", *FEATURE_MAPS)
"""Slots of the line that says what a chosen map would keep: it wears the colour of the map."""

DASH = {"twin": "6 4", "whole": "1 3", "mapped": "2 3", "other1": "12 3", "other2": "8 3 2 3", "other3": "2 2"}

NOWHERE = 1e-3
TICK_AT, EDGE = 1.3e7, 2.2e7
"""On the axis of T: where the swatches of the names begin, and where it ends.  The lines end before, at the last
length: between stands for each name what leads to it from the end of its line."""


def curves(own: Sums, twin: Sums | None) -> tuple[dict[str, np.ndarray], list[int], list[int]]:
    """Lines by name, with 0 where nothing is kept; exact totals; exact caches with windows."""
    caches, windows = [own.kv_bytes(t) for t in STOPS], [own.window_bytes(t) for t in STOPS]
    growing = [a + b for a, b in zip(caches, windows)]
    exact = [own.fixed_bytes + n for n in growing]
    drawn = {
        "cache": np.array(caches, dtype=float),
        "window": np.array(windows, dtype=float),
        "state": np.full(len(T), float(own.state_bytes)),
        "conv": np.full(len(T), float(own.conv_bytes)),
        "total": np.array(exact, dtype=float),
        "twin": twin.total_bytes(T) if twin else np.zeros(len(T)),
    }
    return drawn, exact, growing


def seen(drawn: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What has nothing to show is not drawn, nor a total that would lie on the only part there is."""
    curves = {name: np.where(values > 0, values, np.nan) for name, values in drawn.items()}
    parts = [name for name, values in curves.items() if name not in ("total", "twin") and np.isfinite(values).any()]
    if len(parts) == 1:
        curves["total"] = np.full(len(T), np.nan)
    return curves


@lru_cache(maxsize=64)
def whole(shape: ModelShape, options: Options) -> np.ndarray:
    """What the model would keep if its latent layers cached keys and values of every head; nothing where it has none,
    where the file does not say how wide they are, and where they are what is counted."""
    if latents(shape) and options.mla == "latent":
        try:
            return sums(shape, replace(options, mla="decompressed", engine=ARITHMETIC)).total_bytes(T)
        except ValueError:
            pass
    return np.full(len(T), np.nan)


@lru_cache(maxsize=256)
def mapped(shape: ModelShape, phi: str, options: Options) -> dict:
    """The what-if line: the same linear layers, their state widened by the chosen feature map."""
    nothing = {"curve": np.full(len(STOPS), np.nan), "name": "", "said": "", "slot": "mapped", "wider": "", "law": ""}
    question = Question(phi=phi)
    if question.phi == SOFTMAX:
        twin = twin_name(shape, options.mla)
        return {**nothing, "said": f"φ = softmax leaves no state: {twin.line}, dashed." if twin else ""}
    widths: list[int] = []

    def width(d_k: int) -> int:
        widths.append(question.map.d_phi(d_k))
        return widths[-1]

    name = FEATURE_MAPS[question.map_word].label
    try:
        total = with_feature_map(shape, width, options.tp)
    except ValueError:
        return {**nothing, "said": f"{name} does not exist at this model’s head width."}
    if total is None:
        return nothing
    total, state = total * options.batch, rates(shape, options).state_bytes
    said = f"With {name} (d_φ = {max(widths):,}) the same linear layers would keep {human_bytes(total, 3)} of state."
    if total == state:  # it would lie on the state's own line, pages aside
        return {**nothing, "said": said}
    return {
        "curve": np.full(len(STOPS), float(total)),
        "name": f"state, {name}",
        "said": said,
        "slot": question.map_word,
        "wider": f"{name} {human_bytes(total, 3)}" if total > state else "",
        "law": values_with(shape, options, name, question.map.d_phi),
    }


@lru_cache(maxsize=64)
def others(compare: str, options: Options) -> dict:
    """Totals of the models drawn beside the chosen one."""
    curves, names = {}, {}
    words = [word for word in compare.split(",") if word]
    for slot, word in zip(OTHERS, [*words, "", "", ""]):
        values, name = np.zeros(len(T)), ""
        if word:
            shape = load_model(word)
            own, note = counted(shape, options)
            values, name = sums(shape, own).total_bytes(T), models()[word].name + ("\n(arithmetic)" if note else "")
        curves[slot], names[slot] = np.where(values > 0, values, np.nan), name
    return {"curves": curves, "names": names}


def span(curves: dict[str, np.ndarray]) -> tuple[float, float]:
    """The bytes between which the axis runs."""
    drawn = [values for name, values in curves.items() if name != "T" and np.isfinite(values).any()]
    return float(min(np.nanmin(v) for v in drawn) / 2), float(max(np.nanmax(v) for v in drawn) * 3)


def placed(curves: dict, names: dict[str, str], low: float, high: float, slot: str) -> dict:
    """Names at the ends of their lines, pushed apart on the log axis; slot: the colour of what a map would keep."""
    ends = {name: np.log10(curves[name][-1]) for name in LINES if np.isfinite(curves[name][-1])}
    gap = 0.085 * np.log10(high / low)
    heights = dict(zip(ends, spread(list(ends.values()), gap, np.log10(low), np.log10(high) - gap / 2)))
    return {
        "x": np.full(len(LINES), EDGE),
        "tick": np.full(len(LINES), TICK_AT),
        "line": [slot if name == "mapped" else name for name in LINES],
        "dash": [DASH.get(name, "solid") for name in LINES],
        "end": np.full(len(LINES), float(STOPS[-1])),
        "end_y": np.array([curves[name][-1] if name in heights else NOWHERE for name in LINES]),
        "y": np.array([10 ** heights[name] if name in heights else NOWHERE for name in LINES]),
        "text": [names[name] if name in heights else "" for name in LINES],
    }
