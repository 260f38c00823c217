"""Recall: how much recall does a byte of state buy?"""

from __future__ import annotations

import math

from bokeh.models import CategoricalColorMapper, ColumnDataSource
from bokeh.plotting import figure

from components.axes import AXES
from components.cases import cases_of, reports_of
from components.lesson import Question
from components.palette import LIGHT
from components.plots import RIGHT, finger, labels, line, mark, names, plot, ticks
from components.recall_answer import BYTES, FLUSHED, PAIRS_END, SLOTS, answer
from components.recall_found import NINE, rules
from components.reel import Bind, Reel
from components.view import Cell, Drawing, View

SHARES = {0: "0", 0.5: "50 %", NINE: "90 %", 1: "100 %"}
SIZES = {2**10: "1 KiB", 2**13: "8 KiB", 2**16: "64 KiB", 2**19: "512 KiB"}
PAIRS = {4: "4", 16: "16", 64: "64", 256: "256", 1024: "1,024"}
FIRST, LAST = AXES["pairs"].stops[0], AXES["pairs"].stops[-1]
NAMES = 92
"""Right border of the plot over pairs, px: the longest name."""

ROOM = 40
"""That of the plot over bytes, whose lines end before it does: on a phone the names reach into it."""

REELS = (
    Reel(
        "recall.reel",
        "pairs",
        (
            *(Bind(rule, source="recall.by_bytes") for rule in rules()),
            Bind("ends", source="recall.names", to="end"),
            Bind("names", source="recall.names", to="y"),
            Bind("least", source="recall.least", to="x"),
            Bind("least_share", source="recall.least", to="y"),
            Bind("cache", source="recall.cache", to="x"),
            Bind("cache", source="recall.cache_name", to="x"),
            Bind("cache_said", source="recall.cache_name", to="text"),
            Bind("cache_align", source="recall.cache_name", to="align"),
            Bind("pairs", model="recall.here", property="location"),
            Bind("title", node="recall.bytes_title"),
            Bind("headline", node="recall.headline"),
            Bind("sentence", node="recall.sentence"),
        ),
    ),
)


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    return Drawing(
        (
            (
                Cell(_by_bytes(sources), grow=3, title_node="recall.bytes_title"),
                Cell(_flushed(sources), title_node="recall.flushed_title"),
            ),
            (Cell(_by_pairs(sources), title_node="recall.pairs_title"),),
        ),
        sources,
    )


def _shares(name: str, height: int, x: tuple[float, float], x_label: str, right: int) -> figure:
    fig = plot(f"recall.{name}", height, x, (-0.03, 1.14), x_log=True, x_label=x_label, y_label="recall", right=right)
    ticks(fig.yaxis[0], SHARES)
    return fig


def _lines(fig: figure, source: ColumnDataSource, x: str, where: str) -> None:
    for rule in rules():
        dash = "dashed" if rule in SLOTS else "solid"
        renderer = line(fig, source, x, rule, SLOTS.get(rule, rule), line_dash=dash, line_width=1.6)
        renderer.glyph.name = f"recall.{where}_{rule}"


def _by_bytes(sources: dict[str, ColumnDataSource]) -> figure:
    fig = _shares("bytes", 300, BYTES, "bytes per head, float32: lines the state, circle the cache", ROOM)
    ticks(fig.xaxis[0], SIZES)
    nine = mark(fig, "recall.nine", NINE, dimension="width")
    nine.line_alpha = 0.5
    asked, curves = sources["recall.predicted"], sources["recall.predicted_lines"]  # shown with the answer
    for column in ("once", "twice"):
        line(fig, curves, "bytes", column, "ink", line_width=1, line_dash=[2, 2],
             name=f"recall.predicted.{column}").visible = False  # fmt: skip
    _lines(fig, sources["recall.by_bytes"], "bytes", "by_bytes")
    for rule in rules():  # what was computed; between, a line only joins
        colour = LIGHT[SLOTS.get(rule, rule)]
        fig.scatter("bytes", rule, source=sources["recall.by_bytes"], size=4, fill_color=colour, line_color=None)
    fig.scatter("x", "y", source=sources["recall.least"], size=11, fill_color=None, line_color=LIGHT["ink"],
                line_width=1.6, name="recall.least_ring")  # fmt: skip
    fig.scatter(
        "x",
        "y",
        source=sources["recall.cache"],
        size=9,
        fill_color=LIGHT["ground"],
        line_color=LIGHT["cache"],
        line_width=2,
    )
    labels(fig, sources["recall.cache_name"], text_align="align", name="recall.cache_label")
    fig.scatter("x", "y", source=asked, size=13, fill_color=None, line_color=LIGHT["ink"], line_width=1.6,
                name="recall.predicted.point", visible=False)  # fmt: skip
    said = sources["recall.predicted_said"]
    labels(fig, said, name="recall.predicted.text", text_align="right").visible = False
    _names(fig, sources["recall.names"])
    return fig


def _flushed(sources: dict[str, ColumnDataSource]) -> figure:
    """What a small memory reads that was emptied in time, beside a large one that keeps all."""
    fig = plot("recall.flushed", 300, (0.5, 2.5), (0, 1.14), x_label="memory", y_label="mean cosine", left=50)
    ticks(fig.yaxis[0], {0: "0", 0.5: "0.5", 1: "1"})
    source = sources["recall.flushed_bars"]
    ticks(fig.xaxis[0], dict(zip(source.data["x"].tolist(), FLUSHED, strict=True)))
    fig.vbar("x", 0.5, "cosine", source=source, fill_color=LIGHT["decay"], fill_alpha=0.75, line_color=None)
    labels(fig, source, text_align="center", y_offset=-9)
    return fig


def _by_pairs(sources: dict[str, ColumnDataSource]) -> figure:
    fig = _shares("pairs", 220, (FIRST, PAIRS_END), "pairs n", NAMES)
    ticks(fig.xaxis[0], PAIRS)
    _lines(fig, sources["recall.by_pairs"], "n", "by_pairs")
    finger(fig, "recall.here", 64)
    labels(fig, sources["recall.meaning"], "muted", over=True, name="recall.meaning_label")
    _names(fig, sources["recall.pair_names"])
    return fig


def _names(fig: figure, ends: ColumnDataSource) -> None:
    """Names beside the ends of their lines, each at a thread of its own."""
    colours = CategoricalColorMapper(factors=list(rules()), palette=[LIGHT[SLOTS.get(rule, rule)] for rule in rules()])
    fig.segment("from", "end", "tick", "y", source=ends, line_color=LIGHT["faint"], line_width=0.8)
    names(fig, ends, {"field": "rule", "transform": colours})


VIEW = View(
    word="recall",
    title="Recall",
    place=9,
    question="The dial: how much recall does a byte of state buy?",
    axis="pairs",
    player="store more pairs",
    asks=("rule", "d_v"),
    reels=REELS,
    draw=draw,
    answer=answer,
    readouts=(
        ("width d_φ of the keys", "recall.width"),
        ("width d_v of the values", "recall.value_width"),
        ("state of one head", "recall.state"),
        ("computed", "recall.from"),
    ),
    span=math.log(LAST / FIRST) / math.log(PAIRS_END / FIRST),
    room=NAMES - RIGHT,
    lists=(cases_of("recall"), reports_of("recall")),
    ribbon=("d_k",),
)
