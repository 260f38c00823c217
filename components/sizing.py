"""Sizing: how many bytes does my model keep, and when does the state win?"""

from __future__ import annotations

import numpy as np

from components.fitting import ENGINE_LABEL
from components.lesson import Question
from components.palette import LIGHT
from components.plots import labels, line, mark, plot, ticks
from components.reel import Bind, Reel
from components.sizing_answer import EDGE, LINES, NOWHERE, OTHERS, answer
from components.sizing_said import LAST, ROWS
from components.view import Cell, Drawing, View
from compute.sizing import human_bytes

SLOT = {"total": "ink", "twin": "muted", **dict.fromkeys(OTHERS, "muted")}
DASH = {"twin": [6, 4], "mapped": [2, 3], "other1": [10, 3], "other2": [4, 2], "other3": [1, 2]}
UNIT_TICKS = {float(2**p): human_bytes(2**p) for p in range(10, 60, 5)}

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
            Bind("twin_said", node="sizing.twin"),
            Bind("warned", node="sizing.warned"),
            *(Bind(f"bytes_{i}", node=f"sizing.row.{i}.bytes") for i in range(ROWS)),
        ),
    ),
    Reel(
        "sizing.fit", "T", tuple(Bind(name, node=f"sizing.{name}") for name in ("fits", "traffic", "speed", "engine"))
    ),
)


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    fig = plot(
        "sizing.by_t", 188 if compact else 360, (1, EDGE), (1e4, 1e12), x_log=True, y_log=True,
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
            SLOT.get(name, name),
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
    dials=("batch", "kv", "state", "columns", "mla", "tp", "gpu", "gib"),
    span=round(float(np.log(LAST) / np.log(EDGE)), 4),
    reels=REELS,
    draw=draw,
    answer=answer,
    table=ROWS,
    paste=True,
    readouts=(
        ("in all", "sizing.total"),
        ("if every layer were softmax", "sizing.twin"),
        ("its cache passes its state at", "sizing.meets"),
        ("cheaper than all softmax from", "sizing.beats"),
        ("one layer’s state = its cache at", "sizing.layers"),
        ("room for caches and states", "sizing.room"),
        ("sequences that fit, weights aside", "sizing.fits"),
        ("longest context that fits", "sizing.longest"),
        ("moved per decoded token", "sizing.traffic"),
        ("bound by bandwidth, weights aside", "sizing.speed"),
        (ENGINE_LABEL, "sizing.engine"),
        ("assumed", "sizing.assumed"),
        ("keys not used", "sizing.ignored"),
        ("careful", "sizing.warned"),
    ),
    ribbon=("model", "compare", "phi"),
)
