"""What sizing says: bytes of every part at every context length, crossings, the bill, and what fits where."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from components import fitting
from components.axes import AXES
from components.formula import mathml
from components.lesson import Question
from components.plots import spread
from components.reel import Answer
from components.sizing_bill import keys_texts, row_sizes, row_texts
from components.sizing_said import (
    LAST,
    Sums,
    at_length,
    crossings,
    exactly,
    headline,
    loads,
    make_bill,
    parts,
    sentence,
    state_rows,
)
from components.view import props, texts
from components.words import SOFTMAX
from compute.feature_maps import FEATURE_MAPS
from compute.sizing import (
    ModelShape,
    Options,
    all_softmax_twin,
    human_bytes,
    load_model,
    model_crossings,
    models,
    with_feature_map,
)
from compute.sizing.options import ARITHMETIC
from compute.sizing.sums import sums

STOPS = AXES["T"].stops
T = np.asarray(STOPS)
WORDS_OF_STOPS = [f"{t:,}" for t in STOPS]
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
        question.batch, question.kv, question.state, question.conv, question.columns, question.mla, question.tp,
        question.engine,
    )  # fmt: skip


@lru_cache(maxsize=256)
def counted(shape: ModelShape, options: Options) -> tuple[Options, str]:
    """The options under which the model can be billed, and in one sentence why they are not those that were asked."""
    try:
        sums(shape, options)
    except ValueError as reason:
        if options.engine != ARITHMETIC:
            plain, note = counted(shape, replace(options, engine=ARITHMETIC))
            return plain, f"{name_in(str(reason))}: this is the arithmetic. {note}"
        return replace(options, mla="latent"), "The file does not give the widths of decompressed heads. "
    return options.counted, ""


def name_in(reason: str) -> str:
    """A refusal with the model for its subject."""
    return reason.replace("shape has", "The model has")


def answer(question: Question) -> Answer:
    shape, name = shape_of(question)
    options, note = counted(shape, options_of(question))
    own = _answer(shape, name, options, note)
    mapped = _mapped(shape, question.phi, options)
    others = _others(question.compare, options_of(question))
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
                *own["sizing.texts"],
                ("sizing.aside", mapped["said"]),
                ("sizing.subject", f" · {name}"),
                ("sizing.exact", at_length(sums(shape, options), question.exact)),
                ("sizing.longest", fitting.context(shape, question, options)),
                ("sizing.room", fitting.room(question)),
            ]
        ),
    }


@lru_cache(maxsize=64)
def _answer(shape: ModelShape, name: str, options: Options, note: str) -> dict:
    own, twin = sums(shape, options), twin_rates(shape, options)
    drawn, exact, growing = _curves(own, twin)
    phrase, gaps = headline(name, own, twin, options)
    twins = [human_bytes(int(n), 3) for n in drawn["twin"]] if twin else [""] * len(STOPS)
    caches = [human_bytes(n, 3) for n in growing]
    bill = make_bill(shape, LAST, options)
    said, spelled = row_texts(bill, shape, options)
    native = shape.native_context or LAST
    careful = "; ".join(make_bill(shape, min(native, LAST), options).warnings)
    beyond = "; ".join(bill.warnings)
    load, basis = loads(shape, STOPS), sentence(shape, options, note)
    return {
        "sizing.curves": {"T": T.astype(float), **_seen(drawn)},
        "sizing.phrases": {"headline": [phrase], "sentence": [basis]},
        "sizing.reel": {
            "T": T.astype(float),
            "dots_x": np.repeat(T[:, None], 3, axis=1).astype(float),
            "dots_y": np.stack([np.where(drawn[k] > 0, drawn[k], NOWHERE) for k in ("cache", "state", "twin")], axis=1),
            "headline": [list(gap) for gap in zip(*[WORDS_OF_STOPS, caches, twins][:gaps])],
            "sentence": [[n] for n in load] if state_rows(shape) else [basis] * len(STOPS),
            "load": load,
            "total": [exactly(n) for n in exact],
            "twin_said": [human_bytes(twin.total_bytes(t)) for t in STOPS] if twin else [""] * len(STOPS),
            "warned": [careful if t <= native else beyond.replace(f"{LAST:,}", f"{t:,}") for t in STOPS],
            **row_sizes(shape, options, STOPS),
        },
        "sizing.texts": [*said, *keys_texts(bill), *crossings(shape, options), *parts(own, options)],
        "sizing.math": texts([("sizing.formula", mathml(LATEX)), *spelled]),
        "sizing.meet": _point(model_crossings(shape, options).state, own.state_bytes, "cache = state at {:,}"),
        "sizing.beat": _beat(shape, options, twin),
    }


def _curves(own: Sums, twin: Sums | None) -> tuple[dict[str, np.ndarray], list[int], list[int]]:
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


def _seen(drawn: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What has nothing to show is not drawn, nor a total that would lie on the only part there is."""
    curves = {name: np.where(values > 0, values, np.nan) for name, values in drawn.items()}
    parts = [name for name, values in curves.items() if name not in ("total", "twin") and np.isfinite(values).any()]
    if len(parts) == 1:
        curves["total"] = np.full(len(T), np.nan)
    return curves


def twin_rates(shape: ModelShape, options: Options) -> Sums | None:
    """Rates of the all-softmax twin; None where there is none or it is the model itself."""
    twin = all_softmax_twin(shape)
    return sums(twin, options) if twin not in (None, shape) else None


@lru_cache(maxsize=256)
def _fit(question: Question, shape: ModelShape, options: Options) -> dict[str, list[str]]:
    return {
        "fits": fitting.sequences(shape, question, options, STOPS),
        "traffic": [fitting.traffic(shape, options, t) for t in STOPS],
        "speed": [fitting.speed(shape, question, options, t) for t in STOPS],
        "both": fitting.both_ways(shape, options, STOPS),
        "fill": _fill(shape, question),
    }


def _fill(shape: ModelShape, question: Question) -> list[str]:
    """Pairs at which a memory of the chosen width is as full as the model's states; the most it takes, if fewer."""
    rows, most = state_rows(shape), AXES["n"].stops[-1]
    if not rows:
        return [""] * len(STOPS)
    width = question.map.d_phi(question.d_k) if question.map else question.d_k
    return [f"{min(max(1, round(t * width / rows)), most)}" for t in STOPS]


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

    name = FEATURE_MAPS[question.map_word].label
    try:
        total = with_feature_map(shape, width, options.tp)
    except ValueError:
        return {**nothing, "said": f"{name} does not exist at this model’s head width."}
    if total is None:
        return nothing
    total *= options.batch
    said = f"With {name} (d_φ = {max(widths):,}) the same linear layers would keep {human_bytes(total, 3)} of state."
    if total == sums(shape, options).state_bytes:  # it would lie on the state's own line
        return {**nothing, "said": said}
    return {"curve": np.full(len(STOPS), float(total)), "name": f"state, {name}", "said": said}


@lru_cache(maxsize=64)
def _others(compare: str, options: Options) -> dict:
    """Totals of the models drawn beside the chosen one."""
    curves, names = {}, {}
    words = [word for word in compare.split(",") if word]
    for slot, word in zip(OTHERS, [*words, "", "", ""]):
        values, name = np.zeros(len(T)), ""
        if word:
            shape = load_model(word)
            own, note = counted(shape, options)
            values, name = sums(shape, own).total_bytes(T), models()[word].name + (" (arithmetic)" if note else "")
        curves[slot], names[slot] = np.where(values > 0, values, np.nan), name
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


def _beat(shape: ModelShape, options: Options, twin: Sums | None) -> dict:
    at = model_crossings(shape, options).twin if twin else None
    return _point(at, twin.total_bytes(at) if twin and at else 0, "beats all softmax from {:,}")
