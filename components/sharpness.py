"""Sharpness: can the layer select, or only average?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bokeh.models import CategoricalColorMapper, CustomJS
from bokeh.plotting import figure

from components.card import card_of
from components.cases import cases_of, reports_of
from components.lesson import Question
from components.palette import LIGHT
from components.plots import RIGHT, finger, hover, labels, line, names, plot, ticks
from components.reel import Bind, Reel
from components.sharpness_answer import EDGE, END, HIGHEST, LOWEST, TOP, answer, weights_answer
from components.sharpness_map import BINDS, entry, pair
from components.sharpness_run import KEYS, STEP, STOPS
from components.view import Cell, Drawing, View
from components.words import PHIS

NAMES = 138
"""Right border of the curves, px: the longest name."""

PERCENTS = {0: "0 %", 0.5: "50 %", 1: "100 %"}

REELS = (
    Reel(
        "sharpness.reel",
        "c",
        (
            Bind("weight", source="sharpness.bars"),
            Bind("low", source="sharpness.bars"),
            Bind("high", source="sharpness.bars"),
            Bind("over", source="sharpness.bars"),
            Bind("under", source="sharpness.bars"),
            Bind("softmax", source="sharpness.bars", scale=STEP),
            Bind("label", source="sharpness.labels", to="text"),
            Bind("label_y", source="sharpness.labels", to="y"),
            Bind("c", model="sharpness.here", property="location"),
            Bind("headline", node="sharpness.headline", phrase="sharpness.phrases.headline"),
            Bind("sentence", node="sharpness.sentence", phrase="sharpness.phrases.sentence"),
            Bind("entropy", node="sharpness.entropy", phrase="sharpness.phrases.beside"),
            Bind("effective", node="sharpness.effective", phrase="sharpness.phrases.beside"),
            Bind("top", node="sharpness.top"),
            Bind("misplaced", node="sharpness.misplaced"),
            Bind("order", node="sharpness.order"),
            *BINDS,
        ),
    ),
)


def draw(question: Question, compact: bool = False) -> Drawing:
    sources = VIEW.sources(question)
    top = (
        Cell(_weights(sources, 236), width=330, least=330),
        Cell(entry(sources, 204), width=230, least=230, title_node="sharpness.entry_title", lines=2),
        Cell(pair(sources, 204), width=270, least=270, title_node="sharpness.pair_title", lines=2),
    )
    below = _by_c(sources, 318)
    asked = sources["sharpness.predicted"]  # shown with the answer to the question
    below.scatter("x", "y", source=asked, size=13, fill_color=None, line_color=LIGHT["ink"], line_width=1.6,
                  name="sharpness.predicted.point", visible=False)  # fmt: skip
    labels(below, asked, name="sharpness.predicted.text", x_offset=10, y_offset=-12).visible = False
    return Drawing((top, (Cell(below),)), sources)


def draw_card(question: Question, compact: bool = True) -> Drawing:
    sources = VIEW.card.sources(question)
    return Drawing(((Cell(_weights(sources, 146)),), (Cell(_by_c(sources, 172)),)), sources)


def _weights(sources: dict, height: int) -> figure:
    top = plot("sharpness.weights", height, (-0.7, KEYS - 0.3), (0, TOP), x_label="key s", y_label="weight")
    ticks(top.xaxis[0], {k: str(k) for k in (0, 5, 10, 15, 20, 25, 30)})
    ticks(top.yaxis[0], {-0.5: "−50 %", **PERCENTS})
    top.y_range.name = "sharpness.weight_axis"
    bars_source = sources["sharpness.bars"]
    top.vbar(
        "key",
        0.82,
        "softmax",
        source=bars_source,
        fill_color=LIGHT["faint"],
        fill_alpha=0.28,
        line_color=LIGHT["softmax"],
        line_width=1,
    )
    own = top.vbar("key", 0.52, "weight", source=bars_source, fill_color=LIGHT["elu"], line_color=None)
    own.glyph.name = "sharpness.weight"
    whisker = top.segment("key", "low", "key", "high", source=bars_source, line_color=LIGHT["elu"], line_width=1.4,
                          line_alpha=0.6)  # fmt: skip
    whisker.glyph.name = "sharpness.whisker"
    for edge, size, marker in (("head", "over", "triangle"), ("foot", "under", "inverted_triangle")):
        arrow = top.scatter("key", edge, size=size, marker=marker, source=bars_source, line_color=None)
        arrow.glyph.update(name=f"sharpness.{size}", fill_color=LIGHT["elu"])
    labels(top, sources["sharpness.labels"]).glyph.name = "sharpness.names"
    hover(top, [own], [("key", "@key"), ("weight", "@weight{0.0 %}"), ("softmax", "@softmax{0.0 %}")], mode="vline")
    return top


def _by_c(sources: dict, height: int) -> figure:
    below = plot(
        "sharpness.by_c", height, (0.25, EDGE), (LOWEST, HIGHEST), x_log=True,
        x_label="sharpness c: the query is c·q", y_label="weight on the match", right=NAMES,
    )  # fmt: skip
    ticks(below.xaxis[0], {0.25: "0.25", 0.5: "0.5", 1: "1", 2: "2", 4: "4", 8: "8", 16: "16"})
    ticks(below.yaxis[0], PERCENTS)
    curves, band = sources["sharpness.curves"], sources["sharpness.band"]
    shade = below.varea(
        "c", "low", "high", source=band, fill_color=LIGHT["elu"], fill_alpha=0.14, name="sharpness.shading"
    )
    shade.glyph.name = "sharpness.shade"
    line(below, band, "c", "lost", "muted", line_width=5, line_alpha=0.6, name="sharpness.lost")
    drawn = []
    for word in reversed(PHIS):
        renderer = line(below, curves, "c", word, word, line_width=1.6)
        renderer.glyph.name, renderer.name = f"sharpness.curve.{word}", f"sharpness.line.{word}"
        drawn.append(renderer)
    labels(below, sources["sharpness.lost_name"], "muted")
    colours = CategoricalColorMapper(factors=list(PHIS), palette=[LIGHT[w] for w in PHIS])
    tick = {"field": "word", "transform": colours}
    ends = sources["sharpness.ends"]
    below.segment("from", "limit", "to", "limit", source=ends, line_color=tick, line_dash=[3, 3], line_width=1.6,
                  name="sharpness.limits")  # fmt: skip
    below.segment("to", "limit", "tick", "y", source=ends, line_color=LIGHT["faint"], line_width=0.8)
    names(below, ends, tick)
    below.scatter("x", "y", size=6, marker={"field": "marker"}, source=sources["sharpness.leaves"], fill_color=tick,
                  line_color=None, name="sharpness.leaving")  # fmt: skip
    finger(below, "sharpness.here", 1.6)
    for renderer in drawn:
        hover(below, [renderer], [], callback=CustomJS(code="Explorer.hover?.(cb_data)")).tooltips = None
    return below


VIEW = View(
    word="sharpness",
    title="Sharpness",
    place=3,
    question="Can the layer select, or only average?",
    axis="c",
    player="sharpen the query",
    asks=(),
    dials=("match", "single", "features"),
    span=round(float(np.log(END / STOPS[0]) / np.log(EDGE / STOPS[0])), 4),
    room=NAMES - RIGHT,
    reels=REELS,
    draw=draw,
    answer=answer,
    readouts=(
        ("entropy", "sharpness.entropy"),
        ("effective keys", "sharpness.effective"),
        ("largest weight", "sharpness.top"),
        ("misplaced, against softmax", "sharpness.misplaced"),
        ("rises with q·k, rank correlation", "sharpness.order"),
        ("queries and keys are multiplied by", "sharpness.temperature"),
    ),
    lists=(cases_of("sharpness"), reports_of("sharpness")),
)

OF_THE_MAP = frozenset(target for bind in BINDS for target in (bind.source, bind.model, bind.node) if target)
"""What only moves in the two figures of the map itself: the overview shows four views, and leaves them to the page."""

VIEW = replace(VIEW, card=card_of(replace(VIEW, answer=weights_answer), draw_card, OF_THE_MAP))
