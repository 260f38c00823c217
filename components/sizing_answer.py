"""What sizing says: bytes of every part at every context length, crossings, the bill, and what fits where."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components import fitting
from components.axes import AXES
from components.formula import mathml
from components.lesson import Question
from components.plots import spread
from components.reel import Answer
from components.sharpness_answer import name_of
from components.sizing_said import LAST, ROWS, bill_texts, headline, make_bill, meets, per_row
from components.view import props, texts
from components.words import SOFTMAX
from compute.sizing import (
    ModelShape,
    Options,
    Rates,
    all_softmax_twin,
    human_bytes,
    load_model,
    model_crossings,
    models,
    rates,
    with_feature_map,
)

STOPS = AXES["T"].stops
T = np.asarray(STOPS)
OTHERS = ("other1", "other2", "other3")
LINES = ("cache", "window", "state", "conv", "total", "twin", "mapped", *OTHERS)
NAMES = {
    "cache": "cache",
    "window": "windows",
    "state": "state",
    "conv": "conv",
    "total": "total",
    "twin": "all softmax",
}
LATEX = r"\text{cache} = 2\, n_{kv}\, d\, b\, T \quad \text{state} = h\, d_\phi\, d_v\, b"

NOWHERE = 1e-3
LABEL_AT, EDGE = 1.35e7, 7e8


def shape_of(question: Question) -> tuple[ModelShape, str]:
    """The model that is asked about, and its name: the visitor's own if there is one."""
    if question.own is not None:
        return question.own.shape, question.own.name
    return load_model(question.model), models()[question.model].name


def options_of(question: Question) -> Options:
    return Options(
        question.batch, question.kv, question.state, question.conv, question.columns, question.mla, question.tp
    )


def answer(question: Question) -> Answer:
    shape, name = shape_of(question)
    options = options_of(question)
    own = _answer(shape, name, options)
    mapped = _mapped(shape, question.phi, options)
    others = _others(question.compare, options)
    curves = {**own["sizing.curves"], "mapped": mapped["curve"], **others["curves"]}
    low, high = _range(curves)
    names = {**NAMES, "mapped": mapped["name"], **others["names"]}
    if question.own is None and question.compare:
        names["total"] = f"total {name}"
    return {
        **own,
        "sizing.curves": curves,
        "sizing.names": _placed(curves, names, low, high),
        "sizing.native": _native(shape, low),
        "sizing.fit": _fit(question, shape, options),
        "sizing.props": props(
            [
                ("sizing.y", "start", low),
                ("sizing.y", "end", high),
                ("sizing.limit", "location", float(shape.native_context or NOWHERE)),
            ]
        ),
        "sizing.texts": texts(
            [
                *bill_texts(shape, options),
                *meets(shape, options),
                ("sizing.aside", mapped["said"]),
                ("sizing.subject", f" · {name}"),
                ("sizing.longest", fitting.context(shape, question, options)),
                ("sizing.room", fitting.room(question)),
            ]
        ),
        "sizing.math": texts([("sizing.formula", mathml(LATEX))]),
    }


@lru_cache(maxsize=64)
def _answer(shape: ModelShape, name: str, options: Options) -> dict:
    own, twin = rates(shape, options), twin_rates(shape, options)
    curves = {
        "cache": own.kv_bytes(T),
        "window": own.window_bytes(T),
        "state": np.full(len(T), float(own.state_bytes)),
        "conv": np.full(len(T), float(own.conv_bytes)),
        "total": own.total_bytes(T),
        "twin": twin.total_bytes(T) if twin else np.zeros(len(T)),
    }
    curves = {key: np.where(values > 0, values, np.nan) for key, values in curves.items()}
    parts = [key for key, values in curves.items() if key not in ("total", "twin") and np.isfinite(values).any()]
    if len(parts) == 1:
        curves["total"] = np.full(len(T), np.nan)  # it would lie on the only part there is
    bills = [make_bill(shape, int(t), options) for t in STOPS]
    return {
        "sizing.curves": {"T": T.astype(float), **curves},
        "sizing.reel": {
            "T": T.astype(float),
            "dots_x": np.repeat(T[:, None], 3, axis=1).astype(float),
            "dots_y": np.nan_to_num(np.stack([curves[k] for k in ("cache", "state", "twin")], axis=1), nan=NOWHERE),
            "headline": [headline(name, b, twin) for b in bills],
            "sentence": [per_row(shape, b) for b in bills],
            "total": [human_bytes(b.total_bytes) for b in bills],
            "twin_said": [human_bytes(twin.total_bytes(b.tokens)) if twin else "the model itself" for b in bills],
            "warned": ["; ".join(b.warnings) for b in bills],
            **{
                f"bytes_{i}": [human_bytes(b.layers[i].bytes) if i < len(b.layers) else "" for b in bills]
                for i in range(ROWS)
            },
        },
        "sizing.meet": _point(model_crossings(shape, options).state, own.state_bytes, "cache = state at {:,}"),
        "sizing.beat": _beat(shape, options, twin),
    }


def twin_rates(shape: ModelShape, options: Options) -> Rates | None:
    """Rates of the all-softmax twin; None where there is none or it is the model itself."""
    twin = all_softmax_twin(shape)
    return rates(twin, options) if twin not in (None, shape) else None


@lru_cache(maxsize=256)
def _fit(question: Question, shape: ModelShape, options: Options) -> dict[str, list[str]]:
    return {
        "fits": [fitting.sequences(shape, question, options, int(t)) for t in STOPS],
        "traffic": [fitting.traffic(shape, options, int(t)) for t in STOPS],
        "speed": [fitting.speed(shape, question, options, int(t)) for t in STOPS],
        "engine": [fitting.reservation(shape, options, int(t)) for t in STOPS],
    }


@lru_cache(maxsize=256)
def _mapped(shape: ModelShape, phi: str, options: Options) -> dict:
    """The what-if line: the same linear layers, their state widened by the chosen feature map."""
    nothing = {"curve": np.full(len(STOPS), np.nan), "name": "", "said": ""}
    question = Question(phi=phi)
    if question.phi == SOFTMAX:
        return {**nothing, "said": "φ = softmax is the all-softmax twin, dashed." if twin_rates(shape, options) else ""}
    widths: list[int] = []

    def width(d_k: int) -> int:
        widths.append(question.map.d_phi(d_k))
        return widths[-1]

    name = name_of(question.map_word)
    try:
        total = with_feature_map(shape, width)
    except ValueError:
        return {**nothing, "said": f"{name} does not exist at this model’s head width."}
    if total is None:
        return nothing
    said = f"With {name} (d_φ = {max(widths):,}) the same linear layers would keep {human_bytes(total, 3)} of state."
    if total == rates(shape).state_bytes:  # it would lie on the state's own line
        return {**nothing, "said": said}
    return {"curve": np.full(len(STOPS), float(total)), "name": f"state, {name}", "said": said}


@lru_cache(maxsize=64)
def _others(compare: str, options: Options) -> dict:
    """Totals of the models drawn beside the chosen one."""
    curves, names = {}, {}
    words = [word for word in compare.split(",") if word]
    for slot, word in zip(OTHERS, [*words, "", "", ""]):
        values = rates(load_model(word), options).total_bytes(T) if word else np.zeros(len(T))
        curves[slot], names[slot] = np.where(values > 0, values, np.nan), models()[word].name if word else ""
    return {"curves": curves, "names": names}


def _range(curves: dict[str, np.ndarray]) -> tuple[float, float]:
    drawn = [values for name, values in curves.items() if name != "T" and np.isfinite(values).any()]
    return float(min(np.nanmin(v) for v in drawn) / 2), float(max(np.nanmax(v) for v in drawn) * 3)


def _placed(curves: dict, names: dict[str, str], low: float, high: float) -> dict:
    """Names at the ends of their lines, pushed apart on the log axis."""
    ends = {name: np.log10(curves[name][-1]) for name in LINES if np.isfinite(curves[name][-1])}
    gap = 0.085 * np.log10(high / low)
    heights = dict(zip(ends, spread(list(ends.values()), gap, np.log10(low), np.log10(high) - gap / 2)))
    return {
        "x": np.full(len(LINES), LABEL_AT),
        "y": np.array([10 ** heights[name] if name in heights else NOWHERE for name in LINES]),
        "text": [names[name] if name in heights else "" for name in LINES],
    }


def _native(shape: ModelShape, low: float) -> dict:
    native = shape.native_context or 0
    return {
        "x": np.array([native * 1.12 if native else NOWHERE]),
        "y": np.array([low * 1.7]),
        "text": [f"native {native:,}" if native else ""],
    }


def _point(at: int | None, height: int, text: str) -> dict:
    """A crossing with its words; one that does not exist on this axis stands nowhere."""
    if not at or at > LAST:
        return {"x": np.array([NOWHERE]), "y": np.array([NOWHERE]), "text": [""]}
    return {"x": np.array([float(at)]), "y": np.array([float(height)]), "text": [text.format(at)]}


def _beat(shape: ModelShape, options: Options, twin: Rates | None) -> dict:
    at = model_crossings(shape, options).twin if twin else None
    return _point(at, twin.total_bytes(at) if twin and at else 0, "beats all softmax from {:,}")
