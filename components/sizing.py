"""Sizing: how many bytes does my model keep, and when does the state win?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from bokeh.models import BoxAnnotation, CategoricalColorMapper, ColumnDataSource

from components.card import card_of
from components.cases import cases_of
from components.fitting import BOTH_WAYS
from components.lesson import Question
from components.palette import LIGHT
from components.plots import RIGHT, finger, labels, line, mark, names, plot, ticks
from components.reel import Bind, Reel
from components.says import TOKEN_TICKS
from components.sizing_answer import answer
from components.sizing_bill import ROWS
from components.sizing_idle import idle
from components.sizing_lines import DASH, EDGE, LINES, MAPPED, NOWHERE
from components.sizing_marks import CARD
from components.sizing_said import LAST
from components.view import Cell, Drawing, View
from compute.sizing import human_bytes

SLOT = {"total": "ink", "twin": "muted", "whole": "cache"}
NAMES = 142
"""Right border, px: the name of a model."""

LEFT = 74
"""Left border, px: bytes have a unit."""

UNIT_TICKS = {float(2**p): human_bytes(2**p) for p in range(10, 60, 5)}

FIT = ("fits", "traffic", "speed", "both", "fill")

REELS = (
    Reel(
        "sizing.reel",
        "T",
        (
            Bind("T", model="sizing.at", property="location"),
            Bind("dots_x", source="sizing.dots", to="x"),
            Bind("dots_y", source="sizing.dots", to="y"),
            Bind("headline", node="sizing.headline", phrase="sizing.phrases.headline"),
            Bind("sentence", node="sizing.sentence", phrase="sizing.phrases.sentence"),
            Bind("load", node="sizing.load"),
            Bind("total", node="sizing.total"),
            Bind("twin_said", node="sizing.twin"),
            Bind("warned", node="sizing.warned"),
            *(Bind(f"bytes_{i}", node=f"sizing.row.{i}.bytes") for i in range(ROWS)),
        ),
    ),
    Reel("sizing.fit", "T", tuple(Bind(name, node=f"sizing.{name}") for name in FIT)),
)


def draw(question: Question, compact: bool = False) -> Drawing:
    sources = VIEW.sources(question)
    drawing = _drawing(sources, 360, "")
    fig = drawing.rows[0][0].figure
    asked = sources["sizing.predicted"]  # shown with the answer to the question
    fig.scatter("x", "y", source=asked, size=15, fill_color=None, line_color=LIGHT["ink"], line_width=1.6,
                name="sizing.predicted.point", visible=False)  # fmt: skip
    labels(fig, asked, name="sizing.predicted.text", over=True, x_offset=14, y_offset=62).visible = False
    return drawing


def draw_card(question: Question, compact: bool = True) -> Drawing:
    return _drawing(VIEW.card.sources(question), 188, CARD)


def _drawing(sources: Mapping[str, ColumnDataSource], height: int, begins: str) -> Drawing:
    """begins: with what the columns begin that say where words stand (`components.sizing_marks`)."""
    fig = plot(
        "sizing.by_t", height, (1, EDGE), (1e4, 1e12), x_log=True, y_log=True,
        x_label="context T (tokens)", y_label="bytes kept", left=LEFT, right=NAMES,
    )  # fmt: skip
    fig.y_range.name = "sizing.y"
    ticks(fig.xaxis[0], TOKEN_TICKS)
    ticks(fig.yaxis[0], UNIT_TICKS)
    curves = sources["sizing.curves"]
    for name in LINES:
        width = 1.4 if name in ("total", "conv") else 2.2
        for slot in MAPPED if name == "mapped" else (SLOT.get(name, name),):
            made = line(fig, curves, "T", name, slot, line_dash=DASH.get(name, "solid"), line_width=width)
            if name == "mapped":
                made.name, made.visible = f"sizing.mapped_{slot}", slot == "mapped"
    below = BoxAnnotation(
        name="sizing.below", right=NOWHERE, fill_color=LIGHT["state"], fill_alpha=0.07, line_color=None
    )
    fig.add_layout(below)
    mark(fig, "sizing.limit", NOWHERE, slot="faint", dash="dashed")
    finger(fig, "sizing.at", 2**20)
    fig.scatter(
        "x",
        "y",
        source=sources["sizing.dots"],
        size=8,
        fill_color=LIGHT["ink"],
        line_color=LIGHT["ground"],
        line_width=1.2,
        name="sizing.here",
    )
    place = {"text_align": f"{begins}align", "x_offset": f"{begins}dx", "y_offset": f"{begins}dy"}
    labels(fig, sources["sizing.native"], "muted", over=True, text_font_size="10px", **place)
    for name in ("meet", "beat"):
        at = sources[f"sizing.{name}"]
        fig.scatter("x", "y", source=at, size=9, fill_color=LIGHT["ground"], line_color=LIGHT["ink"], line_width=1.6,
                    name=f"sizing.{name}.point")  # fmt: skip
        labels(fig, at, over=True, name=f"sizing.{name}.text", **place)
    factors = list(dict.fromkeys((*LINES, *MAPPED)))
    colours = CategoricalColorMapper(factors=factors, palette=[LIGHT[SLOT.get(name, name)] for name in factors])
    colour = {"field": "line", "transform": colours}
    fig.segment("end", "end_y", "tick", "y", source=sources["sizing.names"], line_color=colour, name="sizing.leaders")
    names(fig, sources["sizing.names"], colour)
    return Drawing(((Cell(fig),),), sources)


VIEW = View(
    word="sizing",
    title="Sizing",
    place=10,
    question="How many bytes does my model keep, and when does the state win?",
    axis="T",
    player="let the context grow",
    asks=(),
    dials=("batch", "exact", "engine", "gpu", "gib", "kv", "state"),
    more=("tp", "conv", "columns", "mla"),
    span=round(float(np.log(LAST) / np.log(EDGE)), 4),
    left=LEFT,
    room=NAMES - RIGHT,
    reels=REELS,
    draw=draw,
    answer=answer,
    idle=idle,
    table=ROWS,
    paste=True,
    readouts=(
        ("At this length", ""),
        ("in all", "sizing.total"),
        ("at the length entered", "sizing.exact"),
        ("sizing.twin_name", "sizing.twin"),
        (BOTH_WAYS, "sizing.both"),
        ("fixed, at any length", "sizing.fixed"),
        ("growing", "sizing.rate"),
        ("tokens for each row of a state", "sizing.load", "n", "sizing.fill"),
        ("careful", "sizing.warned"),
        ("Where the lines cross", ""),
        ("model: its cache passes its state at", "sizing.meets"),
        ("sizing.beats_name", "sizing.beats"),
        ("one layer: the cache equals the state at", "sizing.layers"),
        ("… with its convolution window", "sizing.with_conv"),
        ("What fits, weights aside", ""),
        ("room for caches and states", "sizing.room"),
        ("sequences of this length", "sizing.fits"),
        ("longest context", "sizing.longest"),
        ("Each decoded token, weights aside", ""),
        ("cache read, state read and written", "sizing.traffic"),
        ("bound by the bandwidth", "sizing.speed"),
    ),
    folded=(
        ("sizing.used_count", "sizing.used"),
        ("sizing.assumed_count", "sizing.assumed"),
        ("sizing.ignored_count", "sizing.ignored"),
    ),
    lists=(cases_of("sizing"),),
    ribbon=("model", "compare", "phi"),
)
VIEW = replace(VIEW, card=card_of(VIEW, draw_card, frozenset({*VIEW.side_nodes, "sizing.predicted"})))
