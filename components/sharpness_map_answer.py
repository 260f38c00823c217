"""What the map itself says: curves of the chosen map, the query's entries and pairs on them, and the captions."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from components.lesson import Question
from components.powers import powers, raised
from components.reel import Answer
from components.says import decimals
from components.sharpness_frames import ENTRIES, FEATURES, NUMBERS, SCORES, drawn_features, entries, pairs
from components.sharpness_kept import own_bars
from components.sharpness_map import EDGES
from components.sharpness_marks import KERNEL_PLACED, VALUES_PLACED, entry_windows, note, pair_windows, placed_by
from components.sharpness_run import KEYS
from components.view import props
from compute.feature_maps import FeatureMap
from compute.one_number import score_kernel


def map_answer(question: Question, match: float, single: int) -> Answer:
    """What the two figures of the map itself show."""
    word, phi = question.map_word, question.map
    place = question.d_k, question.seed, question.row, match
    kernel = own_bars(phi, *place, single)["kernel"]
    pool, placed, least = entry_windows(word, phi)
    own, two = entries(phi, *place, least), pairs(kernel, *place)
    return {
        "sharpness.features": _curves(phi),
        "sharpness.entry_windows": pool,
        "sharpness.feature_marks": placed_by(VALUES_PLACED, word),
        "sharpness.feature_names": placed,
        "sharpness.kernel_curve": _kernel_curve(phi),
        "sharpness.pairs": {"key": np.arange(KEYS)},
        "sharpness.pair_windows": pair_windows(word, phi),
        "sharpness.kernel_marks": placed_by(KERNEL_PLACED, word),
        "sharpness.beyond": {"dy": np.array([8.0, -8.0])},
        "sharpness.kernel_name": {"text": ["softmax: eˢ"]},
        "sharpness.kernel_note": {"text": [note(word, phi)]},
        "sharpness.reel": _moved(own, two, kernel, phi is None),
        "sharpness.phrases": {"entry": [_entry(word, phi, question.d_k)], "pair": [_pair(phi is None)]},
        "sharpness.props": props(map_colours(word)),
    }


def _moved(own: dict, two: dict, kernel: dict, softmax: bool) -> dict:
    """Columns of the view's reel."""
    return {
        **{f"{name}_{edge}": told["edges"][:, i].astype(np.float32) for name, told in (("entry", own), ("pair", two))
           for i, edge in enumerate(EDGES)},
        **{f"entry_{to}": own[to].astype(np.float32) for to in ("x", "value")},
        **{column: two[column].astype(np.float32) for column in ("score", "kernel", "least", "most")},
        "filled": two["filled"],
        "entry_window": own["window"].astype(np.uint8),
        "pair_window": two["window"].astype(np.uint8),
        **{f"diagonal_{to}": two["diagonal"][:, [i]].astype(np.float32) for i, to in enumerate("xy")},
        "beyond_x": two["edges"][:, [1, 1]].astype(np.float32),
        "beyond_y": two["edges"][:, [3, 2]].astype(np.float32),
        "beyond": [[f"▲ {n} further up" if n else "", f"▼ {m} further down" if m else ""]
                   for n, m in zip(two["above"], two["below"])],
        "entry_title": [[decimals(x.min()), decimals(x.max())] for x in own["x"]],
        "pair_title": _pair_titles(two, kernel, softmax),
    }  # fmt: skip


def map_colours(word: str) -> list[tuple[str, str, str]]:
    """Rows of properties: all that is the map's wears its accent."""
    lines = ("kernel", "kernel_whisker", "kernel_dots", "entry_dots", *(f"feature.{f}" for f in FEATURES))
    rows = [(f"sharpness.{name}", "line_color", f"slot:{word}") for name in lines]
    return rows + [(f"sharpness.{name}_dots", "fill_color", f"slot:{word}") for name in ("kernel", "entry")]


@lru_cache(maxsize=32)
def _curves(phi: FeatureMap | None) -> dict[str, np.ndarray]:
    told = drawn_features(phi, NUMBERS)[:, : len(FEATURES)].astype(np.float32)
    blank = np.full(len(NUMBERS), np.nan, dtype=np.float32)
    return {"x": NUMBERS, **{f: told[:, i] if i < told.shape[1] else blank for i, f in enumerate(FEATURES)}}


@lru_cache(maxsize=32)
def _kernel_curve(phi: FeatureMap | None) -> dict[str, np.ndarray]:
    """e^s, and |κ| of a map whose kernel is made of the score."""
    known = phi is None or phi.of_score
    own = np.abs(score_kernel(phi, SCORES)) if known else np.full(len(SCORES), np.nan)
    return {"score": SCORES, "softmax": np.exp(SCORES), "own": np.where(own > 0, own, np.nan)}


def _entry(word: str, phi: FeatureMap | None, d_k: int) -> str:
    which = "Entries" if d_k <= ENTRIES else f"First {ENTRIES} entries"
    lead = f"{which} of c·q, {{}} to {{}}; φ: "
    if phi is None:
        return f"{lead}e^(xy) takes xʲ/√j! for every j, without end"
    what = f"numbers ({len(FEATURES)} drawn)" if phi.random else "products" if word == "dpfp" else "numbers"
    positive = "yes" if phi.positivity == "yes" else "no"
    return f"{lead}{d_k} → {phi.d_phi(d_k):,} {what}; all positive: {positive}"


def _pair(softmax: bool) -> str:
    return f"{KEYS} pairs, score s {{}} to {{}}: {'κ = eˢ' if softmax else 'κ {} to {}, eˢ'} {{}} to {{}}{{}}"


def _pair_titles(two: dict, kernel: dict, softmax: bool) -> list[list[str]]:
    titles = []
    for score, log, sign, zero in zip(two["score"], kernel["log"], kernel["sign"], two["zero"]):
        ordered = np.lexsort((sign * np.where(sign == 0, 0, log), sign))
        own = [signed(float(log[i]), int(sign[i])) for i in (ordered[0], ordered[-1])]
        ends = score.min(), score.max()
        at_zero = f"; {zero} at 0" if zero else ""
        titles.append([*map(decimals, ends), *([] if softmax else own), *map(signed, ends), at_zero])
    return titles


def signed(log: float, sign: int = 1) -> str:
    """sign·e^log as people write it, also where no float holds it."""
    if sign == 0:
        return "0"
    if abs(log) < 700:
        return powers(sign * math.exp(log))
    tens = log / math.log(10)
    return f"{'−' * (sign < 0)}{10 ** (tens % 1):.1f}·10{raised(math.floor(tens))}"
