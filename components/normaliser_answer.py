"""What stands in the normaliser's sources, for any question."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.cases import checked
from components.lesson import Question
from components.normaliser_draws import SIGNED
from components.normaliser_hand import CASES, hand
from components.normaliser_kept import beside_of
from components.normaliser_names import EDGE, FAR, RIGHT_AT, remarks, sum_names
from components.normaliser_numbers import NEARBY, Numbers, T, ends_of
from components.normaliser_places import beside
from components.normaliser_said import mean_of, moved, power, quoted
from components.normaliser_way_said import answer_of
from components.normaliser_wide import numbers
from components.palette import DASHES
from components.plots import spread
from components.powers import powers
from components.reel import Answer, Columns, together
from components.says import percent
from components.sharpness_answer import name_of
from components.view import props, texts
from compute.normaliser import SCORE_DERIVATIVE_BOUND

LEFT_AT, TICK_AT = 1.3, 4_500.0
"""On the axis of tokens: where names stand inside a figure, and where swatches begin beyond its lines."""

BOUND = SCORE_DERIVATIVE_BOUND

TINTED = (
    ("sums_band", "fill_color"), ("sums_own", "line_color"), ("negative_dots", "line_color"),
    ("share_band", "fill_color"), ("share_mid", "line_color"), ("share_own", "fill_color"), ("near_line", "line_color"),
    ("kernel_band", "fill_color"), ("kernel_mid", "line_color"), ("chosen_left", "line_color"),
)  # fmt: skip
"""Glyphs that wear the colour of the chosen map."""


def answer(question: Question) -> Answer:
    of = question.phi, question.d_k, question.seed
    return together(_answer(*of), answer_of(*of, question.way))


@lru_cache(maxsize=128)
def _answer(phi: str, d_k: int, seed: int) -> Answer:
    found = numbers(phi, d_k, seed)
    net, bands, slot = found.net, found.bands, phi.partition("~")[0]
    signed = {slot: of.left for slot, of in beside_of(d_k, seed).signed.items()}
    ranges = {
        "denominator": _decades(found.sizes),
        "derivative": _decades(ends_of(np.concatenate([bands["kernel"].ravel(), bands["score"].ravel()]))),
    }
    named = {
        "sum": sum_names(found, ranges["denominator"]),
        "share": _share_names(found),
        "derivative": _derivative_names(found, ranges["derivative"]),
    }
    dots = _dots(found)
    derivatives = {
        f"{b}_{part}": bands[b][i] for b in ("kernel", "score") for i, part in enumerate(("low", "mid", "high"))
    }
    return {
        "normaliser.reel": {"tokens": T.astype(float), **dots, **beside(found, dots, ranges, named)},
        "normaliser.sums": _single(
            low=bands["denominator"][0], high=bands["denominator"][2], own=np.where(net > 0, net, np.nan),
            negative=np.where(net < 0, -net, np.nan), law=found.law, bf16=found.short,
        ),
        "normaliser.shares": _single(
            low=bands["share"][0], mid=bands["share"][1], high=bands["share"][2], own=np.abs(found.share),
            near=bands["near"][1], law=1 / T, near_law=np.minimum(NEARBY / T, 1),
        ),
        "normaliser.derivatives": _single(**derivatives, bound=found.bound),
        **{f"normaliser.{name}_names": columns for name, columns in named.items()},
        "normaliser.left": _single(chosen=found.left, **signed),
        "normaliser.left_names": _left_names(slot, found, signed),
        **remarks([found.left, *signed.values()]),
        **{f"normaliser.read_{i}": _single(**way.columns()) for i, way in enumerate(found.ways)},
        **{f"normaliser.read_{i}_names": way.names() for i, way in enumerate(found.ways)},
        "normaliser.props": props([
            *((f"normaliser.{name}_y", end, value) for name, ends in ranges.items()
              for end, value in zip(("start", "end"), ends)),
            *((f"normaliser.{name}", prop, f"slot:{slot}") for name, prop in TINTED),
        ]),
        "normaliser.texts": texts([
            ("normaliser.subject", f" · {name_of(slot)}, d_k = {d_k}"),
            ("normaliser.quoted", quoted()),
            ("normaliser.power", power(found)),
            *hand(),
            *checked("normaliser", CASES),
            ("normaliser.crossing_title", "what signs leave of the sum in one draw, Σκ/Σ|κ| (trigonometric: 16 waves)"),
        ]),
    }  # fmt: skip


def _decades(ends: np.ndarray) -> tuple[float, float]:
    """Whole powers of ten round the ends of what is drawn on a log axis."""
    low, high = np.log10(ends)
    return 10.0 ** float(np.floor(low - 0.1)), 10.0 ** float(np.ceil(high + 0.1))


def _dots(found: Numbers) -> dict:
    """The numbers under the finger: heights of dots and what is written beside them."""
    net, lines = found.net, (found.bands["kernel"][1], found.bands["score"][1])
    return {
        "den": np.where(net == 0, np.nan, np.abs(net)).astype(np.float32),
        "den_text": [powers(float(v)) for v in net],
        "share": np.abs(found.share).astype(np.float32),
        "mean_text": [mean_of(float(v)) for v in net / T],
        "share_text": [percent(v) if np.isfinite(v) else "" for v in found.share],
        "moves": np.stack(lines, axis=1).astype(np.float32),
        "moves_x": np.repeat(T[:, None], 2, axis=1).astype(np.float32),
        "moves_text": [[moved(v) if v > 0 else "" for v in pair] for pair in zip(*lines)],
        **{f"way_{i}": np.stack([w.mid, w.newest], axis=1).astype(np.float32) for i, w in enumerate(found.ways)},
    }


def _share_names(found: Numbers) -> Columns:
    return {
        "x": np.array([LEFT_AT, RIGHT_AT, LEFT_AT]), "y": np.array([0.0045, 0.75, 6e-5]),
        "align": ["left", "right", "left"],
        "text": ["1/t, the newest", f"the {NEARBY} newest", "" if found.positive else "where a sum is left"],
    }  # fmt: skip


def _derivative_names(found: Numbers, ends: tuple[float, float]) -> Columns:
    """The kernel's derivative is named in the corner on its side of softmax's."""
    low, high = np.log10(ends)
    kernel, score = found.bands["kernel"][1], found.bands["score"][1]
    seen = np.isfinite(kernel) & (kernel > 0)
    below = bool(np.median(score[seen] / kernel[seen]) > 1) if seen.any() else True
    corner = 10 ** (low + (0.07 if below else 0.93) * (high - low))
    return {
        "x": np.array([LEFT_AT if below else RIGHT_AT, RIGHT_AT, RIGHT_AT]),
        "align": ["left" if below else "right", "right", "right"],
        "y": np.array([corner, found.bands["score"][2, T >= 512][0] * 1.9, BOUND * 2.2]),
        "text": ["kernel value: at most 1/Σκ", "softmax score", "at most ¼"],
    }


def _left_names(slot: str, found: Numbers, signed: Columns) -> Columns:
    """The lines of the lowest figure, named at their ends; the chosen map may be one of the signed ones."""
    ends = {s: float(left[-1]) for s, left in signed.items() if s != slot}
    ends[slot] = float(np.nan_to_num(found.left[-1]))
    blank = len(SIGNED) + 1 - len(ends)
    heights = spread(list(ends.values()), 0.28, -0.95, 1.0)
    return {
        "tick": np.full(len(SIGNED) + 1, TICK_AT),
        "x": np.full(len(SIGNED) + 1, EDGE),
        "y": np.array(heights + [FAR] * blank),
        "word": [*ends, *[slot] * blank],
        "dash": ["solid" if word == slot else DASHES[word] for word in (*ends, *[slot] * blank)],
        "text": [*map(name_of, ends), *[""] * blank],
    }


def _single(**columns: np.ndarray) -> dict[str, np.ndarray]:
    """Columns over the stops."""
    return {name: np.asarray(of).astype(np.float32) for name, of in {"tokens": T, **columns}.items()}
