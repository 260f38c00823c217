"""Places of the map itself that are named with their numbers: values at hand, and what each curve is called."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from components.powers import powers
from components.sharpness_frames import ENTRY, GROWN, SCORE, drawn_features
from components.words import SOFTMAX
from compute.feature_maps import FeatureMap
from compute.one_number import score_kernel

APART = 1 / 20
"""Share of a frame's width by which marks are apart at least: of closer ones the first keeps its place."""

FAR = 10.0
"""The score at which a kernel is set beside e^s, in the first window; twice as much in the next."""


class Name(NamedTuple):
    """A curve's name: which feature; where the curve reaches a share of the frame's top, `side` −1 left or 1 right of
    zero, the text beside it, towards zero or `out`; side 0 at the frame's right end."""

    feature: int
    text: str
    side: int
    height: float = 0.9
    out: bool = False


NAMES: dict[str, tuple[Name, ...]] = {
    SOFTMAX: (Name(0, "1", 0), Name(1, "x", 0), Name(2, "x²/√2", 1), Name(3, "x³/√6 …", 1, 0.6)),
    "taylor": (Name(0, "1", 0), Name(1, "x", 0), Name(2, "x²/√2", 1)),
    "hedgehog": (Name(0, "eˣ", 1, out=True), Name(1, "e⁻ˣ", -1, 0.55, out=True)),
    "dpfp": (Name(0, "max(x, 0)", 1, 0.7), Name(1, "max(−x, 0)", -1, 0.35)),
}

VALUES = {"elu": (7.0, 0.0, 2.0, -1.0)}
"""Numbers whose feature is written beside the curve, the one that must be seen first."""

KERNELS: dict[str, tuple[tuple[float, str], ...]] = {
    SOFTMAX: ((0.0, "{}"), (1.0, "{} for a lead of 1"), (3.0, "{} for a lead of 3")),
    "taylor": ((-1.0, "{} at −1"), (5.0, "{} at 5"), (-3.0, "{} at −3"), (0.0, "{} at 0")),
}
"""Scores whose kernel value is written beside the curve."""

ROWS = 5
"""Marks that a figure has room for."""


@lru_cache(maxsize=64)
def entry_windows(word: str, phi: FeatureMap | None) -> tuple[dict[str, np.ndarray | list], dict[str, list], int]:
    """What is written in each window of an entry, how its texts are placed, and the least window that shows it."""
    at = (_lowest(phi),) if word == "silu" else VALUES.get(word, ())
    value = drawn_features(phi, np.array(at))[:, 0] if at else np.empty(0)
    text = [f"lowest {_brief(v)} at {_brief(x)}" if word == "silu" else _brief(v) for x, v in zip(at, value)]
    kept = [_apart(at, ENTRY[:2] * grown) for grown in GROWN]
    named = [[_named(name, phi, ENTRY * grown) for name in NAMES.get(word, ())] for grown in GROWN]
    pool = {
        "x": _rows([np.where(keep, at, np.nan) for keep in kept]),
        "value": _rows([np.where(keep, value, np.nan) for keep in kept]),
        "text": [[t if k else "" for t, k in zip(text, keep)] + [""] * (ROWS - len(text)) for keep in kept],
        "name_x": _rows([[x for x, _ in row] for row in named]),
        "name_y": _rows([[y for _, y in row] for row in named]),
    }
    names = NAMES.get(word, ())
    beside = [5 if _begins(name) else -5 if name.side else -2 for name in names]
    over = [0 if name.side else -8 if name.feature == 0 else 11 for name in names]
    placed = {
        "text": _padded([name.text for name in names], ""),
        "align": _padded(["left" if _begins(name) else "right" for name in names], "left"),
        "dx": np.array(_padded(beside, 0), dtype=float),
        "dy": np.array(_padded(over, 0), dtype=float),
    }
    least = int(np.argmax([len(at) == 0 or keep[0] for keep in kept]))
    return pool, placed, least


@lru_cache(maxsize=64)
def pair_windows(word: str, phi: FeatureMap | None) -> dict[str, np.ndarray | list]:
    """What is written in each window of a score: kernel values, once more with every product once (`merged`), and in
    the last row e^s."""
    told: dict[str, list] = {k: [] for k in ("score", "kernel", "merged", "text")}
    for grown in GROWN:
        for column, row in _marked(word, phi, FAR * grown, SCORE * grown).items():
            told[column].append(row)
    return {k: v if k == "text" else np.array(v) for k, v in told.items()}


def _marked(word: str, phi: FeatureMap | None, far: float, frame: np.ndarray) -> dict[str, list]:
    """One row of the marks of a kernel."""
    if word not in KERNELS:
        return {**dict.fromkeys(("score", "kernel", "merged"), [np.nan] * (ROWS + 1)), "text": [""] * (ROWS + 1)}
    marks = KERNELS[word] if word == SOFTMAX else ((far, f"{{}} at {far:g}"), *KERNELS[word])
    at = np.array([s for s, _ in marks])
    keep = _apart(at, frame)
    value, merged = (score_kernel(m, at) for m in (phi, phi and phi.merged()))
    texts = [form.format(_brief(v)) if k else "" for v, (_, form), k in zip(value, marks, keep)]
    beside = np.nan if word == SOFTMAX else np.exp(far)
    return {
        "score": [*_padded(list(np.where(keep, at, np.nan)), np.nan), np.nan if word == SOFTMAX else far],
        "kernel": [*_padded(list(np.where(keep, value, np.nan)), np.nan), beside],
        "merged": [*_padded(list(np.where(keep, merged, np.nan)), np.nan), np.nan],
        "text": [*_padded(texts, ""), "" if word == SOFTMAX else powers(beside)],
    }


VALUES_PLACED = {
    "elu": {
        "align": ["right", "left", "left", "right", "left"],
        "dx": [-8, 5, 6, -4, 0],
        "dy": [-3, 10, 9, -9, 0],
    },
    "": {"align": ["left"] * ROWS, "dx": [4] * ROWS, "dy": [10] * ROWS},
}
"""How values beside an entry's curve are placed, in the order of VALUES; behind "" those of any other map."""

KERNEL_PLACED = {
    SOFTMAX: {"align": ["right", *["left"] * 5], "dx": [-7, *[8] * 5], "dy": [-4, *[5] * 5]},
    "": {
        "align": ["right", "center", "left", "left", "left", "right"],
        "dx": [14, 0, 6, -4, 6, -7],
        "dy": [-12, 12, 11, -12, 7, 0],
    },
}
"""How texts of the kernel's marks are placed, in the order of KERNELS; behind "" those of any other map."""


def placed_by(table: dict[str, dict[str, list]], word: str) -> dict[str, list | np.ndarray]:
    """Columns of a table for a map: pixels as arrays."""
    told = table.get(word, table[""])
    return {k: v if k == "align" else np.array(v, dtype=float) for k, v in told.items()}


def note(word: str, phi: FeatureMap | None) -> str:
    """What is said in the upper corner."""
    if phi is None:
        return "a lead of Δ in score:\ne^Δ times the weight"
    if word in KERNELS:
        near = 0.01
        short = (np.exp(near) - score_kernel(phi, np.array([near]))[0]) / near**3
        one, two = score_kernel(phi, np.array([1e4, 2e4]))
        return f"near 0: eˢ − κ = {short:.3f}·s³\nfar out: κ grows as s^{np.log2(two / one):.2f}"
    told = ["median and range of draws"] if phi.random else []
    told += [] if phi.random or phi.of_score else ["κ is not made of s alone"]
    return "\n".join(told + ["hollow: κ below zero"] * (phi.positivity == "no"))


@lru_cache(maxsize=4)
def _lowest(phi: FeatureMap) -> float:
    """Where the map of a number is lowest."""
    x = np.linspace(-3, 0, 30_001)
    return float(x[np.argmin(phi(x[:, None])[:, 0])])


def _named(name: Name, phi: FeatureMap | None, window: np.ndarray) -> tuple[float, float]:
    _, right, _, top = window
    if not name.side:
        return right, float(drawn_features(phi, np.array([right]))[0, name.feature])
    x = np.linspace(0, right, 2001)
    curve = drawn_features(phi, name.side * x)[:, name.feature]
    reached = np.argmax(np.nan_to_num(curve, nan=np.inf) >= name.height * top)
    return float(name.side * x[reached]), float(name.height * top)


def _begins(name: Name) -> bool:
    """Whether the text begins at the curve."""
    return name.side * (1 if name.out else -1) > 0


def _apart(at, frame: np.ndarray) -> np.ndarray:
    """Which marks are in the frame and have room; the first ones first."""
    kept: list[float] = []
    for x in at:
        if frame[0] <= x <= frame[1] and all(abs(x - other) >= APART * np.ptp(frame) for other in kept):
            kept.append(x)
    return np.isin(at, kept)


def _brief(value: float) -> str:
    return powers(value if abs(value) >= 1000 else float(f"{value:.3g}"))


def _padded(row: list, filler) -> list:
    return [*row, *[filler] * (ROWS - len(row))]


def _rows(rows: list) -> np.ndarray:
    out = np.full((len(rows), ROWS), np.nan)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out
