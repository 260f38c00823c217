"""Random features: why do they not keep softmax's quality?"""

from __future__ import annotations

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, NoOverlap
from bokeh.plotting import figure

from components.cases import cases_of
from components.lesson import Question
from components.palette import LIGHT
from components.plots import MARGIN, RIGHT, finger, labels, line, mark, names, plot, ticks
from components.powers import raised
from components.random_features_answer import BESIDE, EDGE, ERRORS, FEATURES, answer
from components.random_features_bands import NAME_AT, RATIO_TICKS, RATIOS
from components.random_features_said import D_PHI, KINDS, STOPS
from components.reel import Bind, Reel
from components.view import Cell, Drawing, View

SLOTS = {"positive": "favor", "trig": "trig"}
NAMES, HEADS = 104, 112
"""Right borders, px: what a line of the bands is called, and a head."""

LENGTHS = {0.25: "0.25", 0.5: "0.5", 1: "1", 2: "2", 4: "4", 8: "8"}
QUANTILES = ("q05", "q25", "q50", "q75", "q95")

REELS = (
    Reel(
        "random-features.reel",
        "r",
        (
            *(
                Bind(f"{kind}_{column}", source=f"random-features.{kind}_band", to=column)
                for kind in KINDS
                for column in (*QUANTILES, "own", "typical")
            ),
            *(
                Bind(f"{kind}_{column}", source=f"random-features.{kind}_names", to=to)
                for kind in KINDS
                for column, to in (("ends", "end"), ("names", "y"), ("said", "text"))
            ),
            *(Bind(f"{kind}_shares", source=f"random-features.{kind}_shares", to="text") for kind in KINDS),
            *(Bind(f"error_{kind}", source="random-features.errors", to=kind) for kind in KINDS),
            *(Bind(f"{kind}_shares_y", source=f"random-features.{kind}_shares", to="y") for kind in KINDS),
            Bind("trig_bottom", model="random-features.trig_axis", property="start"),
            Bind("trig_top", model="random-features.trig_axis", property="end"),
            Bind("trig_title", node="random-features.trig_title"),
            Bind("error_top", model="random-features.error_axis", property="end"),
            Bind("error_names", source="random-features.error_names", to="y"),
            Bind("r", source="random-features.dot", to="x"),
            Bind("dot_y", source="random-features.dot", to="y"),
            Bind("dot_text", source="random-features.dot", to="text"),
            Bind("dot_align", source="random-features.dot", to="align"),
            Bind("dot_dx", source="random-features.dot", to="dx"),
            Bind("dot_dy", source="random-features.dot", to="dy"),
            Bind("r", model="random-features.here", property="location"),
            Bind("r", model="random-features.there", property="location"),
            Bind("headline", node="random-features.headline", phrase="random-features.phrases.headline"),
            Bind("sentence", node="random-features.sentence", phrase="random-features.phrases.sentence"),
            *(
                Bind(node, node=f"random-features.{node}")
                for node in ("variance", "needed", "low", "negative", "four", "kept")
            ),
        ),
    ),
)


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    bands = tuple(
        Cell(_band(kind, sources, 150 if compact else 196), title_node=f"random-features.{kind}_title")
        for kind in KINDS
    )
    small = (
        Cell(_errors(sources, 120 if compact else 146), title_node="random-features.error_title"),
        Cell(_orthogonal(sources, 120 if compact else 146), title_node="random-features.orthogonal_title"),
    )
    needed = Cell(_needed(sources, 120 if compact else 180), title_node="random-features.needed_title")
    return Drawing((bands, small, (needed,)), sources)


def _band(kind: str, sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Estimate over true value against the number of features: bands over draws, their median, and one draw."""
    fig = plot(
        f"random-features.{kind}_ratio",
        height,
        (16, NAME_AT),
        RATIOS,
        x_log=True,
        left=MARGIN if kind == "trig" else 48,
        right=NAMES,
        x_label="features d_φ",
        y_label="estimate ÷ true value",
    )
    ticks(fig.xaxis[0], {16: "16", 64: "64", 256: "256", 1024: "1,024", 4096: "4,096"})
    fig.yaxis[0].ticker = BasicTicker(mantissas=[2], desired_num_ticks=3, num_minor_ticks=0)
    fig.yaxis[0].major_label_overrides = RATIO_TICKS
    fig.y_range.name = f"random-features.{kind}_axis"
    source, slot = sources[f"random-features.{kind}_band"], SLOTS[kind]
    for low, high, alpha in (("q05", "q95", 0.2), ("q25", "q75", 0.32)):
        fig.varea("d_phi", low, high, source=source, fill_color=LIGHT[slot], fill_alpha=alpha)
    fig.line([16, 4096], [1, 1], line_color=LIGHT["muted"], line_dash=[5, 4], line_width=1.4)
    fig.line([16, 4096], [0, 0], line_color=LIGHT["faint"], line_width=1)
    line(fig, source, "d_phi", "own", "ink", line_width=1)
    line(fig, source, "d_phi", "typical", slot, line_width=2.4, line_dash="solid")
    ends = sources[f"random-features.{kind}_names"]
    fig.segment("from", "end", "x", "y", source=ends, line_color=LIGHT["faint"], line_width=0.8)
    names(fig, ends)
    labels(
        fig,
        sources[f"random-features.{kind}_shares"],
        text_align="align",
        x_offset="shift",
        name=f"random-features.{kind}_shares_said",
    )
    return fig


def _errors(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Root mean square error against the true value: below the dashed line an estimate is worth something."""
    fig = plot(
        "random-features.by_value", height, (3e-6, 30), ERRORS, x_log=True, y_log=True, left=48,
        x_label="true value exp(q·k)", y_label="error",
    )  # fmt: skip
    ticks(fig.xaxis[0], {1e-3: "0.001", 1e-2: "0.01", 0.1: "0.1", 1: "1", 10: "10"})
    ticks(fig.yaxis[0], {10.0**e: f"10{raised(e)}" if e else "1" for e in (-3, 0, 3, 9, 15)})
    fig.yaxis[0].major_label_policy = NoOverlap(min_distance=2)
    fig.y_range.name = "random-features.error_axis"
    source = sources["random-features.errors"]
    line(fig, source, "value", "value", "muted", line_dash=[5, 4], line_width=1.4)
    for kind in KINDS:
        line(fig, source, "value", kind, SLOTS[kind], line_width=2.2, line_dash="solid")
    labels(fig, sources["random-features.error_names"], text_align="right")
    return fig


def _orthogonal(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Variance with orthogonal directions as a share of that with independent ones."""
    fig = plot("random-features.gain", height, (0.25, 8.6), (0.62, 1.04), x_log=True, x_label="length ‖q+k‖",
               y_label="variance left", left=54)  # fmt: skip
    ticks(fig.xaxis[0], LENGTHS)
    ticks(fig.yaxis[0], {0.7: "70 %", 0.8: "80 %", 0.9: "90 %", 1: "100 %"})
    for d in BESIDE:
        line(fig, sources["random-features.orthogonal_beside"], "r", f"d_{d}", "faint", line_width=1.4)
    line(fig, sources["random-features.orthogonal"], "r", "own", "favor", line_width=2.4)
    names = sources["random-features.orthogonal_names"]
    labels(fig, names, text_align="right", name="random-features.orthogonal_said")
    finger(fig, "random-features.there", STOPS[0])
    return fig


def _needed(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Features at which the standard error equals the value, with heads of growing width on it."""
    fig = plot(
        "random-features.by_r", height, (0.25, EDGE), FEATURES, x_log=True, y_log=True, right=HEADS,
        x_label="length ‖q+k‖", y_label="features d_φ",
    )  # fmt: skip
    ticks(fig.xaxis[0], LENGTHS)
    ticks(fig.yaxis[0], {10.0**e: f"10{raised(e)}" if e else "1" for e in range(0, 28, 9)})
    line(fig, sources["random-features.needed"], "r", "features", "favor", line_width=2.4)
    mark(fig, "random-features.performer", D_PHI, dimension="width", slot="muted", dash="dashed")
    mark(fig, "random-features.typical", STOPS[0], slot="faint", dash="dashed")
    finger(fig, "random-features.here", STOPS[0])
    for name in ("ladder", "widest"):
        at = sources[f"random-features.{name}"]
        dots = fig.scatter(
            "x", "y", source=at, size=8, fill_color=LIGHT["ground"], line_color=LIGHT["ink"], line_width=1.6,
            name=f"random-features.{name}_dots",
        )  # fmt: skip
        thread = fig.segment("x", "y", "to", "beside", source=at, line_color=LIGHT["faint"], line_width=0.8,
                             name=f"random-features.{name}_threads")  # fmt: skip
        said = labels(
            fig, at, bare=True, over=True, x="to", y="beside", x_offset=6, name=f"random-features.{name}_said"
        )
        for drawn in (dots, thread, said):
            drawn.visible = name != "widest"
    dot = sources["random-features.dot"]
    fig.scatter("x", "y", source=dot, size=9, fill_color=LIGHT["favor"], line_color=LIGHT["ground"], line_width=1.4)
    labels(fig, dot, x_offset="dx", y_offset="dy", text_align="align", text_font_style="bold")
    labels(fig, sources["random-features.usual"], "muted", over=True, text_align="align", x_offset="dx", y_offset="dy",
           name="random-features.usual_said")  # fmt: skip
    return fig


VIEW = View(
    word="random-features",
    title="Random features",
    place=4,
    question="Why do random features not keep softmax’s quality?",
    axis="r",
    player="lengthen the vectors",
    asks=(),
    span=round(float(np.log(STOPS[-1] / STOPS[0]) / np.log(EDGE / STOPS[0])), 4),
    room=HEADS - RIGHT,
    reels=REELS,
    draw=draw,
    answer=answer,
    readouts=(
        (f"relative variance at d_φ = {D_PHI}", "random-features.variance"),
        ("features for an error of 100 %", "random-features.needed"),
        ("draws below the true value", "random-features.low"),
        ("trigonometric draws below zero", "random-features.negative"),
        ("mean error left by four times as many", "random-features.four"),
        ("variance left by orthogonal directions", "random-features.kept"),
        ("bands from", "random-features.made"),
    ),
    lists=(cases_of("random-features"),),
    ribbon=("head", "seed"),
)
