"""Rank: how many independent things can the past tell the future?"""

from __future__ import annotations

import math
from dataclasses import replace

from bokeh.models import CategoricalColorMapper, ColumnDataSource, CustomJS, TapTool
from bokeh.plotting import figure

from components.card import card_of
from components.cases import cases_of
from components.lesson import Question
from components.palette import FONT, LIGHT, rising
from components.plots import LABEL, RIGHT, finger, hover, image_plot, labels, line, mark, names, plot, ticks
from components.rank_answer import ALL_N, END, FAR_END, NOWHERE, answer, answer_at_default
from components.rank_run import FLOOR, TOLERANCE
from components.rank_values import LARGEST, STOPS, TOLERANCES
from components.reel import Bind, Reel
from components.view import Cell, Drawing, View
from components.words import PHIS

NAMES = 118
"""Right border of both plots, px: the longest name, and a count beside it."""

REELS = (
    Reel(
        "rank.reel",
        "N",
        (
            *(
                Bind(w, source="rank.spectrum", pool=f"rank.spectra_{w}", start=f"start_{w}", stop=f"stop_{w}")
                for w in PHIS
            ),
            Bind("rank", source="rank.names", pool="rank.counts", also="rtol"),
            Bind("names_y", source="rank.names", to="y"),
            Bind("picture", source="rank.kernel", to="image", pool="rank.pictures", start="frame", image=True),
            Bind("extent", source="rank.kernel", to="dw"),
            Bind("extent", source="rank.kernel", to="dh"),
            Bind("N", model="rank.matrix.x", property="end"),
            Bind("N", model="rank.matrix.y", property="start"),
            Bind("N", model="rank.here", property="location"),
            Bind("N", source="rank.outline", to="bottom"),
            Bind("half", source="rank.outline", to="right"),
            Bind("half", source="rank.outline", to="top"),
            Bind("frame_title", node="rank.frame"),
            Bind("bound", model="rank.bound", property="location"),
            Bind("headline", node="rank.headline", pool="rank.counts", also="rtol", phrase="rank.phrases.headline"),
            Bind("sentence", node="rank.sentence", pool="rank.counts", also="rtol", phrase="rank.phrases.sentence"),
            Bind("limit", node="rank.limit"),
            Bind("own", node="rank.own", pool="rank.counts", also="rtol", phrase="rank.phrases.own"),
            Bind("block", node="rank.block", pool="rank.counts", also="rtol", phrase="rank.phrases.own"),
        ),
    ),
    Reel(
        "rank.tolerance",
        "rtol",
        (
            Bind("location", model="rank.cut", property="location"),
            Bind("location", source="rank.below", to="top"),
            Bind("location", source="rank.cut_name", to="y"),
            Bind("cut_text", source="rank.cut_name", to="text"),
            *(Bind(f"growth_{w}", source="rank.growth", to=w) for w in PHIS),
            Bind("far", source="rank.far", to="rank"),
            Bind("ends_y", source="rank.ends", to="y"),
        ),
    ),
)


def draw(question: Question, compact: bool = False) -> Drawing:
    """The page: spectra with a tolerance to drag, the matrix, and rank against the number of tokens."""
    sources = VIEW.sources(question)
    fig = _spectra(sources, 312, 32)
    fig.quad(left=0, right="right", bottom=FLOOR, top="top", source=sources["rank.below"], fill_color=LIGHT["band"],
             line_color=None, level="underlay")  # fmt: skip
    cut = finger(fig, "rank.cut", TOLERANCE, dimension="width", dash="solid")
    cut.editable, cut.line_width = True, 1.6
    # The line may be put anywhere; it settles at the nearest stop, whose counts are known.
    cut.js_on_change("location", CustomJS(args={"stops": TOLERANCES.tolist()}, code=NEAREST_STOP))
    labels(fig, sources["rank.cut_name"], "muted", text_baseline="top", y_offset=3)
    heat = _matrix(sources, 312)
    grid = (
        (Cell(fig, least=400), Cell(heat, width=330, title_node="rank.frame", hint=" · click a row to ask with it")),
        (Cell(_growth(sources)),),
    )
    return Drawing(grid, sources)


NEAREST_STOP = """
  const away = k => Math.abs(Math.log(stops[k] / cb_obj.location))
  const near = stops.reduce((best, _, k) => away(k) < away(best) ? k : best, 0)
  if (Explorer.at.rtol != near || stops[near] != cb_obj.location) Explorer.seek('rtol', near)
"""


def draw_card(question: Question, compact: bool = True) -> Drawing:
    sources = VIEW.card.sources(question)
    fig = _spectra(sources, 172, 64)
    fig.quad(left=0, right=LARGEST + 2, bottom=FLOOR, top=TOLERANCE, fill_color=LIGHT["band"],
             line_color=None, level="underlay")  # fmt: skip
    below = ColumnDataSource({"x": [6], "y": [6e-12], "text": ["below 10⁻¹⁰ σ₁"]})
    labels(fig, below, "muted", text_font_size="10px")
    heat = _matrix(sources, 172)
    cell = Cell(heat, width=188, title_node="rank.frame", hint=" · click a row to ask with it")
    return Drawing(((Cell(fig, least=300), cell),), sources)


def _colours() -> dict:
    mapper = CategoricalColorMapper(factors=list(PHIS), palette=[LIGHT[w] for w in PHIS])
    return {"field": "word", "transform": mapper}


def _spectra(sources: dict, height: int, every: int) -> figure:
    fig = plot("rank.values", height, (0, END), (FLOOR, 3), y_log=True, x_label="singular value, largest first",
               y_label="σᵢ / σ₁", right=NAMES)  # fmt: skip
    ticks(fig.xaxis[0], {n: str(n) for n in range(0, LARGEST + 1, every)})
    ticks(fig.yaxis[0], {1: "1", 1e-4: "10⁻⁴", 1e-8: "10⁻⁸", 1e-12: "10⁻¹²"})
    fig.yaxis[0].name = "rank.values_axis"
    drawn = []
    for word in reversed(PHIS):
        renderer = line(fig, sources["rank.spectrum"], "index", word, word, line_width=1.4)
        renderer.glyph.name, renderer.name = f"rank.curve.{word}", f"rank.line.{word}"
        drawn.append(renderer)
    named = sources["rank.names"]
    names(fig, named, _colours())
    fig.text("x", "y", "rank", source=named, text_align="right", text_baseline="middle", text_font_size=LABEL,
             text_font={"value": FONT}, text_color=LIGHT["ink"], x_offset=NAMES - 10, level="annotation")  # fmt: skip
    mark(fig, "rank.bound", NOWHERE, slot="muted", dash="dashed")
    _hovered(fig, drawn)
    return fig


def _matrix(sources: dict, height: int) -> figure:
    heat = image_plot("rank.matrix", height, sources["rank.kernel"], (LARGEST, LARGEST), rising(),
                      x_label="key s", y_label="query t")  # fmt: skip
    heat.line("x", "y", source=sources["rank.diagonal"], line_color=LIGHT["ink"], line_alpha=0.55, line_dash=[4, 3])
    block = heat.quad(left="left", right="right", bottom="bottom", top="top", source=sources["rank.outline"],
                      fill_color=None, line_color=LIGHT["ink"], line_width=1.6)  # fmt: skip
    block.name = "rank.block"
    heat.segment("x", "y", "right", "y", source=sources["rank.chosen"], line_color=LIGHT["dpfp"], line_width=2)
    heat.add_tools(TapTool(renderers=[]))
    heat.js_on_event("tap", CustomJS(code="Explorer.tapRow?.(cb_obj)"))
    return heat


def _growth(sources: dict) -> figure:
    fig = plot("rank.by_N", 204, (STOPS[0], FAR_END), (0.9, 1500), x_log=True, y_log=True,
               x_label="queries and keys N", y_label="rank", right=NAMES)  # fmt: skip
    ticks(fig.xaxis[0], {N: f"{N:,}" for N in ALL_N if N & (N - 1) == 0})
    ticks(fig.yaxis[0], {n: f"{n:,}" for n in (1, 4, 16, 64, 256, 1024)})
    fig.yaxis[0].name = "rank.growth_axis"
    limits = sources["rank.limits"]
    line(fig, limits, "N", "full", "muted", line_dash=[2, 3], line_width=1.2)
    line(fig, limits, "N", "bound", "muted", line_dash=[5, 4], line_width=1.4).name = "rank.bounds"
    drawn = []
    for word in reversed(PHIS):
        renderer = line(fig, sources["rank.growth"], "N", word, word, line_width=1.4)
        renderer.glyph.name, renderer.name = f"rank.grows.{word}", f"rank.growing.{word}"
        drawn.append(renderer)
    fig.scatter("N", "rank", source=sources["rank.far"], size=6, line_color=_colours(), line_width=1.4,
                fill_color=LIGHT["ground"], name="rank.far.points")  # fmt: skip
    names(fig, sources["rank.ends"], _colours())
    finger(fig, "rank.here", LARGEST)
    asked = sources["rank.predicted"]  # shown with the answer to the question
    line(fig, asked, "x", "y", "ink", line_width=5, line_alpha=0.25, name="rank.predicted.line").visible = False
    labels(fig, asked, name="rank.predicted.text", text_baseline="bottom", y_offset=-5).visible = False
    _hovered(fig, drawn)
    return fig


def _hovered(fig: figure, drawn: list) -> None:
    for renderer in drawn:
        hover(fig, [renderer], [], callback=CustomJS(code="Explorer.hover?.(cb_data)")).tooltips = None


VIEW = View(
    word="rank",
    title="Rank",
    place=6,
    question="How many independent things can the past tell the future?",
    axis="N",
    player="add queries and keys",
    asks=(),
    dials=("mask", "precision"),
    rails=("rtol",),
    span=round(math.log(LARGEST / STOPS[0]) / math.log(FAR_END / STOPS[0]), 4),
    room=NAMES - RIGHT,
    reels=REELS,
    draw=draw,
    answer=answer,
    readouts=(
        ("rank at this tolerance", "rank.own"),
        ("rank of the block below the diagonal", "rank.block"),
        ("features of the map", "rank.limit"),
        ("singular values", "rank.found"),
        ("N = 512 and 1,024", "rank.made"),
    ),
    lists=(cases_of("rank"),),
)


LEFT_OUT = frozenset(
    f"rank.{name}"
    for name in (
        *("tolerance", "below", "cut", "cut_name", "growth", "limits", "predicted", "far", "ends", "here"),
        *("growth_axis", "own", "block", "found", "made", "cases", "cases_title", *(f"grows.{w}" for w in PHIS)),
    )
)

ONE_TOLERANCE = tuple(
    replace(reel, binds=tuple(replace(b, also="", start="row") if b.also else b for b in reel.binds))
    for reel in REELS
    if reel.axis == "N"
)

VIEW = replace(
    VIEW,
    card=card_of(
        replace(VIEW, reels=ONE_TOLERANCE, answer=answer_at_default),
        draw_card,
        LEFT_OUT,
        ask=lambda question: replace(question, mask="none", precision="float64"),
    ),
)
