"""Sizing: how many bytes does my model keep, and when does the state win?"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.formula import mathml
from components.lesson import Question
from components.palette import LIGHT
from components.plots import labels, line, mark, plot, spread, ticks
from components.reel import Answer, Bind, Reel
from components.says import tokens
from components.sharpness_answer import name_of
from components.view import Cell, Drawing, View, props, texts
from components.words import SOFTMAX
from compute.sizing import (
    Bill,
    ModelShape,
    all_softmax_twin,
    bill,
    human_bytes,
    load_model,
    model_crossings,
    models,
    rates,
    with_feature_map,
)

STOPS = AXES["T"].stops
LINES = ("cache", "window", "state", "conv", "total", "twin", "mapped")
NAMES = {
    "cache": "cache",
    "window": "windows",
    "state": "state",
    "conv": "conv",
    "total": "total",
    "twin": "all softmax",
}
SLOT = {"total": "ink", "twin": "muted"}
DASH = {"twin": [6, 4], "mapped": [2, 3]}
KINDS = {
    "softmax": "softmax", "window": "windowed softmax", "chunked": "chunked softmax", "mla": "latent attention",
    "lightning": "lightning attention", "linear": "linear attention", "gdn": "Gated DeltaNet", "delta": "DeltaNet",
    "kda": "Kimi Delta Attention", "gla": "gated linear attention", "retnet": "retention", "mamba1": "Mamba-1",
    "mamba2": "Mamba-2", "rglru": "RG-LRU", "shortconv": "short convolution", "xlstm": "mLSTM", "rwkv": "RWKV",
    "attn": "softmax",     "mlp": "feed-forward, no cache", "moe": "experts, no cache",
}  # fmt: skip
"""Kinds of layer as the papers call them."""

ROWS = 6
"""Kinds of layer that the bill has room for; no known model has more."""

LATEX = r"\text{cache} = 2\, n_{kv}\, d\, b\, T \quad \text{state} = h\, d_\phi\, d_v\, b"

NOWHERE = 1e-3
LAST, LABEL_AT, EDGE = STOPS[-1], 1.35e7, 7e8
UNIT_TICKS = {float(2**p): human_bytes(2**p) for p in range(10, 55, 5)}

REELS = (
    Reel(
        "sizing.reel",
        "T",
        (
            Bind("T", model="sizing.at", property="location"),
            Bind("dots_x", source="sizing.dots", to="x"),
            Bind("dots_y", source="sizing.dots", to="y"),
            Bind("headline", node="sizing.headline"),
            Bind("sentence", node="sizing.sentence"),
            Bind("total", node="sizing.total"),
            *(Bind(f"bytes_{i}", node=f"sizing.row.{i}.bytes") for i in range(ROWS)),
            Bind("twin_said", node="sizing.twin"),
        ),
    ),
)


def slot_of(name: str) -> str:
    return SLOT.get(name, name)


def answer(question: Question) -> Answer:
    own, mapped = _answer(question.model), _mapped(question.model, question.phi)
    curves = {**own["sizing.curves"], **mapped["sizing.curves"]}
    ends = {name: curves[name][-1] for name in LINES if np.isfinite(curves[name][-1])}
    names = {**NAMES, "mapped": mapped["name"]}
    low, high = own["range"]
    heights = np.log10([ends[name] for name in ends])
    placed = dict(zip(ends, spread(list(heights), 0.085 * np.log10(high / low), np.log10(low), np.log10(high))))
    return {
        **{name: columns for name, columns in own.items() if name.startswith("sizing.")},
        "sizing.curves": curves,
        "sizing.names": {
            "x": np.full(len(LINES), LABEL_AT),
            "y": np.array([10 ** placed[name] if name in placed else NOWHERE for name in LINES]),
            "text": [names[name] if name in placed else "" for name in LINES],
        },
        "sizing.texts": {
            "node": [*own["sizing.texts"]["node"], "sizing.aside"],
            "text": [*own["sizing.texts"]["text"], mapped["said"]],
        },
    }


@lru_cache(maxsize=256)
def _mapped(model: str, phi: str) -> dict:
    """The what-if line: the same linear layers, their state widened by the chosen feature map."""
    shape, nothing = load_model(model), np.full(len(STOPS), np.nan)
    question = Question(phi=phi)
    off = {"sizing.curves": {"mapped": nothing}, "name": "", "said": ""}
    if question.phi == SOFTMAX:
        twin = all_softmax_twin(shape)
        return {**off, "said": "φ = softmax is the all-softmax twin, dashed." if twin not in (None, shape) else ""}
    widths: list[int] = []

    def width(d_k: int) -> int:
        widths.append(question.map.d_phi(d_k))
        return widths[-1]

    try:
        total = with_feature_map(shape, width)
    except ValueError:
        return {**off, "said": f"{name_of(question.map_word)} does not exist at this model’s head width."}
    if total is None:
        return off
    name = name_of(question.map_word)
    drawn = total if total != rates(shape).state_bytes else np.nan  # else it lies on the state's own line
    said = f"With {name} (d_φ = {max(widths):,}) the same linear layers would keep {human_bytes(total, 3)} of state."
    return {"sizing.curves": {"mapped": np.full(len(STOPS), float(drawn))}, "name": f"state, {name}", "said": said}


@lru_cache(maxsize=64)
def _answer(model: str) -> dict:
    shape, name = load_model(model), models()[model].name
    own, twin_shape = rates(shape), all_softmax_twin(shape)
    twin = rates(twin_shape) if twin_shape not in (None, shape) else None
    T = np.asarray(STOPS)
    curves = {
        "cache": own.kv_bytes(T), "window": own.window_bytes(T), "state": np.full(len(T), float(own.state_bytes)),
        "conv": np.full(len(T), float(own.conv_bytes)), "total": own.total_bytes(T),
        "twin": twin.total_bytes(T) if twin else np.zeros(len(T)),
    }  # fmt: skip
    curves = {key: np.where(values > 0, values, np.nan) for key, values in curves.items()}
    if sum(np.isfinite(values).any() for key, values in curves.items() if key not in ("total", "twin")) == 1:
        curves["total"] = np.full(len(T), np.nan)  # it would lie on the only part there is
    low = np.nanmin([np.nanmin(v) for v in curves.values() if np.isfinite(v).any()]) / 2
    high = np.nanmax([np.nanmax(v) for v in curves.values() if np.isfinite(v).any()]) * 3
    crossings = _crossings(shape, own, twin)
    bills = [bill(shape, int(t)) for t in STOPS]
    native = shape.native_context or 0
    return {
        "range": (low, high),
        "sizing.curves": {"T": T.astype(float), **curves},
        "sizing.reel": {
            "T": T.astype(float),
            "dots_x": np.repeat(T[:, None], 3, axis=1).astype(float),
            "dots_y": np.nan_to_num(np.stack([curves[k] for k in ("cache", "state", "twin")], axis=1), nan=NOWHERE),
            "headline": [_headline(name, b, twin) for b in bills],
            "sentence": [_per_row(shape, b) for b in bills],
            "total": [human_bytes(b.total_bytes) for b in bills],
            "twin_said": [human_bytes(twin.total_bytes(b.tokens)) if twin else "the model itself" for b in bills],
            **{
                f"bytes_{i}": [human_bytes(b.layers[i].bytes) if i < len(b.layers) else "" for b in bills]
                for i in range(ROWS)
            },
        },
        "sizing.meet": crossings[0],
        "sizing.beat": crossings[1],
        "sizing.native": {
            "x": np.array([native * 1.12 if native else NOWHERE]), "y": np.array([low * 1.7]),
            "text": [f"native {native:,}" if native else ""],
        },
        "sizing.props": props(
            [
                ("sizing.y", "start", float(low)),
                ("sizing.y", "end", float(high)),
                ("sizing.limit", "location", float(native or NOWHERE)),
            ]
        ),
        "sizing.texts": texts([*_bill_texts(bills[-1], shape, twin), ("sizing.subject", f" · {name}")]),
        "sizing.math": texts([("sizing.formula", mathml(LATEX)), ("sizing.values", "")]),
    }  # fmt: skip


def _headline(name: str, b: Bill, twin) -> str:
    growing, fixed, T = b.kv_bytes + b.window_bytes, b.fixed_bytes, tokens(b.tokens)
    state = b.state_bytes or fixed
    if not growing:
        return f"{name} at {T} tokens: {human_bytes(fixed, 3)} of state, as at any other length."
    if not fixed:
        return f"{name} at {T} tokens: {human_bytes(growing, 3)} of cache and no state."
    versus = f", not {human_bytes(twin.total_bytes(b.tokens), 3)}" if twin else ""
    return f"{name} at {T} tokens: {human_bytes(growing, 3)} of cache, {human_bytes(state, 3)} of state{versus}."


def _per_row(shape: ModelShape, b: Bill) -> str:
    rows = max((group.family.rows for group in shape.layers if group.family.rows), default=0)
    dtypes = f"{b.options.kv_dtype} cache, {b.options.state_dtype} state, one sequence."
    if not rows:
        return f"{b.options.kv_dtype} cache, one sequence."
    if b.tokens < rows:
        return f"Fewer tokens than the {rows} rows of a state. {dtypes}"
    return f"{tokens(b.tokens / rows)} tokens for each of the {rows} rows of a state. {dtypes}"


def _crossings(shape: ModelShape, own, twin) -> list[dict]:
    """Where the whole model's curves meet: x, y and what is equal there; points that do not exist stand nowhere."""
    meet = model_crossings(shape)
    points = [(NOWHERE, NOWHERE, "")] * 2
    if meet.state and meet.state <= LAST:
        points[0] = (meet.state, own.state_bytes, f"cache = state at {meet.state:,}")
    if twin and meet.twin and meet.twin <= LAST:
        points[1] = (meet.twin, twin.total_bytes(meet.twin), f"beats all softmax from {meet.twin:,}")
    return [{"x": np.array([float(x)]), "y": np.array([float(y)]), "text": [text]} for x, y, text in points]


def _kind(kind: str) -> str:
    return " and ".join(KINDS.get(part, part) for part in kind.split("+"))


def _bill_texts(b: Bill, shape: ModelShape, twin) -> list[tuple[str, str]]:
    said = []
    for i in range(ROWS):
        row = b.layers[i] if i < len(b.layers) else None
        said.append((f"sizing.row.{i}.kind", f"{row.count} × {_kind(row.kind)}" if row else ""))
        said.append(
            (
                f"sizing.row.{i}.arithmetic",
                row.arithmetic.replace(f"{b.tokens:,} tokens", "T").replace(f"{b.tokens:,}", "T") if row else "",
            )
        )
        said.append((f"sizing.row.{i}.keys", " · ".join(row.keys) if row else ""))
    meet = model_crossings(shape)
    said.append(("sizing.meets", f"{meet.state:,} tokens" if meet.state else "never"))
    said.append(("sizing.beats", f"{meet.twin:,} tokens" if meet.twin and twin else "—"))
    said.append(("sizing.assumed", "; ".join(b.assumed.values()) or "nothing"))
    return said


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    fig = plot(
        "sizing.by_t", 188 if compact else 440, (1, EDGE), (1e4, 1e12), x_log=True, y_log=True,
        x_label="context T (tokens)", left=66,
    )  # fmt: skip
    fig.y_range.name = "sizing.y"
    ticks(fig.xaxis[0], {1: "1", 16: "16", 256: "256", 4096: "4K", 65536: "64K", 2**20: "1M"})
    ticks(fig.yaxis[0], UNIT_TICKS)
    curves = sources["sizing.curves"]
    for name in LINES:
        line(
            fig,
            curves,
            "T",
            name,
            slot_of(name),
            line_dash=DASH.get(name, "solid"),
            line_width=1.4 if name in ("total", "conv") else 2.2,
        )
    mark(fig, "sizing.limit", NOWHERE, slot="faint", dash="dashed")
    labels(fig, sources["sizing.native"], "muted", text_font_size="10px")
    mark(fig, "sizing.at", 2**20)
    fig.scatter(
        "x",
        "y",
        source=sources["sizing.dots"],
        size=8,
        fill_color=LIGHT["ink"],
        line_color=LIGHT["ground"],
        line_width=1.2,
    )
    for name, place in (
        ("meet", {"x_offset": 7, "y_offset": 13}),
        ("beat", {"x_offset": -8, "y_offset": -12, "text_align": "right"}),
    ):
        at = sources[f"sizing.{name}"]
        fig.scatter("x", "y", source=at, size=9, fill_color=LIGHT["ground"], line_color=LIGHT["ink"], line_width=1.6)
        labels(fig, at, **place)
    labels(fig, sources["sizing.names"])
    return Drawing(((Cell(fig),),), sources)


VIEW = View(
    word="sizing",
    title="Sizing",
    place=9,
    question="How many bytes does my model keep, and when does the state win?",
    axis="T",
    asks=(),
    span=round(float(np.log(LAST) / np.log(EDGE)), 4),
    reels=REELS,
    draw=draw,
    answer=answer,
    table=ROWS,
    readouts=(
        ("in all", "sizing.total"),
        ("if every layer were softmax", "sizing.twin"),
        ("its cache passes its state at", "sizing.meets"),
        ("cheaper than all softmax from", "sizing.beats"),
        ("assumed", "sizing.assumed"),
    ),
    ribbon=("model", "phi"),
)
