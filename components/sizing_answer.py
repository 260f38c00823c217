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
from components.says import tokens
from components.sharpness_answer import name_of
from components.view import props, texts
from components.words import SOFTMAX
from compute.sizing import (
    Bill,
    ModelShape,
    Options,
    Rates,
    all_softmax_twin,
    bill,
    human_bytes,
    layer_crossings,
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
KINDS = {
    "softmax": "softmax", "window": "windowed softmax", "chunked": "chunked softmax", "mla": "latent attention",
    "lightning": "lightning attention", "linear": "linear attention", "gdn": "Gated DeltaNet", "delta": "DeltaNet",
    "kda": "Kimi Delta Attention", "gla": "gated linear attention", "retnet": "retention", "mamba1": "Mamba-1",
    "mamba2": "Mamba-2", "rglru": "RG-LRU", "shortconv": "short convolution", "xlstm": "mLSTM", "rwkv": "RWKV",
    "attn": "softmax", "mlp": "feed-forward, no cache", "moe": "experts, no cache",
}  # fmt: skip
"""Kinds of layer as the papers call them."""

ROWS = 6
"""Kinds of layer that the bill has room for; no known model has more."""

LATEX = r"\text{cache} = 2\, n_{kv}\, d\, b\, T \quad \text{state} = h\, d_\phi\, d_v\, b"

NOWHERE = 1e-3
LAST, LABEL_AT, EDGE = STOPS[-1], 1.35e7, 7e8


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
    meets = _meets(shape, options)
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
                *_bill_texts(shape, options),
                *meets,
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
            "headline": [_headline(name, b, twin) for b in bills],
            "sentence": [_per_row(shape, b) for b in bills],
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


def make_bill(shape: ModelShape, tokens: int, options: Options) -> Bill:
    """The bill of a shape under the page's options."""
    return bill(shape, tokens, **{name: getattr(options, name) for name in Options.__dataclass_fields__})


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


def _headline(name: str, b: Bill, twin: Rates | None) -> str:
    growing, fixed, at = b.kv_bytes + b.window_bytes, b.fixed_bytes, tokens(b.tokens)
    state = b.state_bytes or fixed
    several = f", {b.options.batch:,} sequences" if b.options.batch > 1 else ""
    if not growing:
        return f"{name} at {at} tokens{several}: {human_bytes(fixed, 3)} of state, as at any other length."
    if not fixed:
        return f"{name} at {at} tokens{several}: {human_bytes(growing, 3)} of cache and no state."
    versus = f", not {human_bytes(twin.total_bytes(b.tokens), 3)}" if twin else ""
    return (
        f"{name} at {at} tokens{several}: {human_bytes(growing, 3)} of cache, {human_bytes(state, 3)} of state{versus}."
    )


def _per_row(shape: ModelShape, b: Bill) -> str:
    rows = max((group.family.rows for group in shape.layers if group.family.rows), default=0)
    sequences = "one sequence" if b.options.batch == 1 else f"{b.options.batch:,} sequences"
    if not rows:
        return f"{b.options.kv_dtype} cache, {sequences}."
    dtypes = f"{b.options.kv_dtype} cache, {b.options.state_dtype} state, {sequences}."
    if b.tokens < rows:
        return f"Fewer tokens than the {rows} rows of a state. {dtypes}"
    return f"{tokens(b.tokens / rows)} tokens for each of the {rows} rows of a state. {dtypes}"


def _point(at: int | None, height: int, text: str) -> dict:
    """A crossing with its words; one that does not exist on this axis stands nowhere."""
    if not at or at > LAST:
        return {"x": np.array([NOWHERE]), "y": np.array([NOWHERE]), "text": [""]}
    return {"x": np.array([float(at)]), "y": np.array([float(height)]), "text": [text.format(at)]}


def _beat(shape: ModelShape, options: Options, twin: Rates | None) -> dict:
    at = model_crossings(shape, options).twin if twin else None
    return _point(at, twin.total_bytes(at) if twin and at else 0, "beats all softmax from {:,}")


def _meets(shape: ModelShape, options: Options) -> list[tuple[str, str]]:
    """Crossings in words: per layer, and of the whole model."""
    whole = model_crossings(shape, options)
    layers = [
        f"{c.state_tokens:,} ({_kind(c.kind)})" for c in layer_crossings(shape, options) if c.state_tokens is not None
    ]
    return [
        ("sizing.meets", f"{whole.state:,} tokens" if whole.state else "never"),
        ("sizing.beats", f"{whole.twin:,} tokens" if whole.twin else "—"),
        ("sizing.layers", ", ".join(layers) or "—"),
    ]


def _kind(kind: str) -> str:
    return " and ".join(KINDS.get(part, part) for part in kind.split("+"))


def _bill_texts(shape: ModelShape, options: Options) -> list[tuple[str, str]]:
    b = make_bill(shape, LAST, options)
    said = []
    for i in range(ROWS):
        row = b.layers[i] if i < len(b.layers) else None
        said += [
            (f"sizing.row.{i}.kind", f"{row.count} × {_kind(row.kind)}" if row else ""),
            (f"sizing.row.{i}.arithmetic", row.arithmetic.replace(f"{LAST:,}", "T") if row else ""),
            (f"sizing.row.{i}.keys", " · ".join(row.keys) if row else ""),
        ]
    said.append(("sizing.assumed", "; ".join(b.assumed.values()) or "nothing"))
    said.append(("sizing.ignored", ", ".join(b.ignored[:12]) + (" …" if len(b.ignored) > 12 else "") or "none"))
    return said
