"""Bracketing: why do the parentheses matter?"""

from __future__ import annotations

import numpy as np
from bokeh.models import CategoricalColorMapper, ColumnDataSource, Span
from bokeh.plotting import figure

from components.bracketing_answer import EDGE, LAST, NOWHERE, answer
from components.bracketing_orders import TOKENS as TRIED
from components.bracketing_said import MODES
from components.bracketing_times import clock
from components.cases import cases_of, reports_of
from components.lesson import Question
from components.palette import LIGHT
from components.plots import RIGHT, finger, labels, line, mark, names, plot, ticks
from components.powers import raised
from components.reel import Bind, Reel
from components.says import TOKEN_TICKS
from components.view import Cell, Drawing, View

NAMES = 118
"""Right border of both plots, px: the law of a line."""

SLOTS = {"left": "cache", "right": "state"}
"""The left order pays with the matrix that softmax pays with, the right order keeps a state."""

REELS = (
    Reel(
        "bracketing.reel",
        "T",
        (
            Bind("T", model="bracketing.here", property="location"),
            Bind("T", model="bracketing.now", property="location"),
            Bind("dots_x", source="bracketing.dots", to="x"),
            Bind("dots_y", source="bracketing.dots", to="y"),
            Bind("T", source="bracketing.gap", to="x"),
            Bind("gap_y", source="bracketing.gap", to="y"),
            *(Bind(f"gap_{to}", source="bracketing.gap", to=to) for to in ("text", "align", "dx", "dy")),
            *(
                Bind(f"{side}_{short}", source=f"bracketing.{side}_parts", to=to)
                for side in SLOTS
                for short, to in (("w", "width"), ("h", "height"))
            ),
            *(Bind(f"{side}_size", source=f"bracketing.{side}_sizes", to="text") for side in SLOTS),
            Bind("headline", node="bracketing.headline"),
            Bind("sentence", node="bracketing.sentence", phrase="bracketing.phrases.sentence"),
            *(
                Bind(node, node=f"bracketing.{node}")
                for node in (
                    *("left_flops", "right_flops", "product", "doubled", "between", "sums", "decoding", "next"),
                    *("left_title", "right_title"),
                )
            ),
            *(
                Bind(f"{part}_{i}", node=f"bracketing.row.{i}.{part}")
                for i in range(MODES)
                for part in ("bytes", "arithmetic")
            ),
        ),
    ),
)


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    panels = tuple(
        Cell(
            _panel(side, sources, 112 if compact else 146),
            title_node=f"bracketing.{side}_title",
            hint=" (areas to scale, down to a hairline)",
        )
        for side in SLOTS
    )
    flops = Cell(_flops(sources, 196 if compact else 228))
    timed = Cell(clock(sources, 150 if compact else 178, (1, EDGE), NAMES), title_node="bracketing.machine")
    return Drawing((panels, (flops,), (timed,)), sources)


def _panel(side: str, sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Four matrices as rectangles, areas to scale: three are given, the filled one stands between the products."""
    fig = plot(f"bracketing.{side}_order", height, (0, 5.45), (-1.06, 0.56), left=4, right=4)
    fig.xaxis.visible = fig.yaxis.visible = fig.ygrid.visible = False
    parts = sources[f"bracketing.{side}_parts"]
    colours = [LIGHT["faint"], LIGHT[SLOTS[side]]]
    tint = {"field": "kind", "transform": CategoricalColorMapper(factors=["given", "made"], palette=colours)}
    edge = {
        "field": "kind",
        "transform": CategoricalColorMapper(factors=["given", "made"], palette=[LIGHT["muted"], LIGHT[SLOTS[side]]]),
    }
    fig.rect("x", "y", "width", "height", source=parts, fill_color=tint, fill_alpha=0.55, line_color=edge, line_width=1)
    labels(fig, sources[f"bracketing.{side}_names"], bare=True, text_align="center", text_font_size="12px")
    labels(fig, sources[f"bracketing.{side}_signs"], "muted", bare=True, text_align="center", text_font_size="19px")
    labels(fig, sources[f"bracketing.{side}_sizes"], "muted", bare=True, text_align="center",
           text_baseline="top", text_font_size="10px")  # fmt: skip
    if side == "right":
        fig.add_layout(Span(location=0, dimension="height", line_color=LIGHT["faint"], line_width=1))
        labels(fig, sources["bracketing.right_note"], "muted", text_align="center")
    return fig


def _flops(sources: dict[str, ColumnDataSource], height: int) -> figure:
    fig = plot("bracketing.by_t", height, (1, EDGE), (1e2, 1e18), x_log=True, y_log=True, right=NAMES,
               x_label="context T (tokens)", y_label="FLOPs of one head")  # fmt: skip
    fig.y_range.name = "bracketing.y"
    ticks(fig.xaxis[0], TOKEN_TICKS)
    ticks(fig.yaxis[0], {10.0**e: f"10{raised(e)}" for e in range(0, 22, 3)})
    for side, slot in SLOTS.items():
        line(fig, sources["bracketing.curves"], "T", side, slot, line_width=2.4)
        line(fig, sources["bracketing.curves"], "T", slot, slot, line_width=1.4, line_dash="dashed")
    mark(fig, "bracketing.star", NOWHERE, slot="faint", dash="dashed")
    finger(fig, "bracketing.here", 2**20)
    fig.scatter(
        "x", "y", source=sources["bracketing.dots"], size=8,
        fill_color=LIGHT["ink"], line_color=LIGHT["ground"], line_width=1.2,
    )  # fmt: skip
    labels(
        fig, sources["bracketing.gap"], over=True, text_align="align", x_offset="dx", y_offset="dy",
        text_font_size="13px", text_font_style="bold", name="bracketing.ratio",
    )  # fmt: skip
    cross = sources["bracketing.cross"]
    fig.scatter("x", "y", source=cross, size=9, fill_color=LIGHT["ground"], line_color=LIGHT["ink"], line_width=1.6)
    labels(fig, cross, x_offset=-8, y_offset=-19, text_align="right", over=True, name="bracketing.cross_name")
    ends = sources["bracketing.ends"]
    tints = CategoricalColorMapper(factors=list(SLOTS), palette=[LIGHT[slot] for slot in SLOTS.values()])
    names(fig, ends, {"field": "order", "transform": tints})
    return fig


VIEW = View(
    word="bracketing",
    title="Bracketing",
    place=1,
    question="Why do the parentheses matter?",
    axis="T",
    player="let the context grow",
    asks=(),
    span=round(float(np.log(LAST) / np.log(EDGE)), 4),
    room=NAMES - RIGHT,
    reels=REELS,
    draw=draw,
    answer=answer,
    table=MODES,
    readouts=(
        ("left order, FLOPs", "bracketing.left_flops"),
        ("right order, FLOPs", "bracketing.right_flops"),
        ("one of its two products, 2mkn", "bracketing.product"),
        ("for twice the tokens", "bracketing.doubled"),
        (f"outputs of {TRIED} tokens, left − right", "bracketing.same"),
        ("held between the products", "bracketing.between"),
        ("additions for the denominators", "bracketing.sums"),
        ("comparisons to decode T by softmax", "bracketing.decoding"),
        ("the next token: FLOPs by cache or state", "bracketing.next"),
    ),
    lists=(cases_of("bracketing"), reports_of("bracketing")),
    ribbon=("phi", "head"),
)
