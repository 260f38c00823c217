"""Memory: how much fits, and what does a write do to what is already there?"""

from __future__ import annotations

from dataclasses import replace

from components.card import card_of
from components.cases import cases_of
from components.lesson import Question
from components.memory_answer import answer, small_answer
from components.memory_idle import idle, instead
from components.memory_load import FAR
from components.memory_names import END
from components.memory_picture import (
    BARS,
    answer_taps,
    draw_bars,
    draw_curve,
    draw_energy,
    draw_heat,
    draw_split,
    pair_axis,
)
from components.memory_run import STEP
from components.palette import LIGHT
from components.plots import labels, line
from components.reel import Bind, Reel
from components.view import Cell, Drawing, View

REELS = (
    Reel(
        "memory.reel",
        "n",
        (
            Bind("cosine", source="memory.pairs", pool="memory.reads", start="start", stop="stop", scale=STEP),
            Bind(
                "rival", source="memory.pairs", pool="memory.rivals", start="rival_start", stop="rival_stop", scale=STEP
            ),
            Bind(
                "weight",
                source="memory.split",
                pool="memory.splits",
                start="split_start",
                stop="split_stop",
                scale=STEP,
            ),
            Bind(
                "title",
                node="memory.apart",
                pool="memory.splits_said",
                start="split_frame",
                phrase="memory.phrases.apart",
            ),
            Bind("signal", source="memory.signal", to="weight"),
            Bind("state", source="memory.state", to="image", pool="memory.states", start="frame", image=True),
            Bind("title", node="memory.frame", pool="memory.states", start="frame"),
            Bind("entries", source="memory.entries", to="text", pool="memory.states", start="frame"),
            Bind("named", node="memory.named", pool="memory.states", start="frame"),
            Bind("since", source="memory.stale", to="right"),
            Bind("ends_x", source="memory.ends", to="x"),
            Bind("ends_y", source="memory.ends", to="y"),
            Bind("here", source="memory.here", to="y"),
            Bind("n", source="memory.here", to="x"),
            Bind("here_text", source="memory.here", to="text"),
            Bind("here_align", source="memory.here", to="align"),
            Bind("here_dx", source="memory.here", to="dx"),
            Bind("here_dy", source="memory.here", to="dy"),
            Bind("headline", node="memory.headline", phrase="memory.phrases.headline"),
            Bind("sentence", node="memory.sentence", phrase="memory.phrases.sentence"),
        ),
        end="memory.state.end",
    ),
    Reel("memory.load", "T", (Bind("load", node="memory.aside"),)),
)


def draw(question: Question, compact: bool = False) -> Drawing:
    """The page: curves and state, every pair's read, and one read taken apart."""
    sources, axis, ticker = VIEW.sources(question), *pair_axis()
    curve = draw_curve(sources, question, axis, ticker, 226)
    line(curve, sources["memory.curve"], "n", "best", "faint", line_dash=[1, 3], line_width=1.6).name = "memory.best"
    rival = line(curve, sources["memory.curve"], "n", "rival", "muted", line_width=2)
    rival.glyph.name = "memory.rival"
    curve.scatter("n", "newest", source=sources["memory.curve"], size=3, fill_color=LIGHT["muted"], fill_alpha=0.55,
                  line_color=None, name="memory.newest")  # fmt: skip
    curve.vspan("x", source=sources["memory.topics"], line_color=LIGHT["faint"], line_width=1, level="underlay")
    curve.yaxis[0].axis_label = "cosine: mean, · newest"
    labels(curve, sources["memory.best_name"], "muted")
    labels(curve, sources["memory.duel"], x_offset=-2, text_align="right")
    labels(curve, sources["memory.far"], "muted", name="memory.far.load", text_align="right")
    asked = sources["memory.predicted"]  # shown with the answer to the question
    curve.scatter("x", "y", source=asked, size=13, fill_color=None, line_color=LIGHT["ink"], line_width=1.6,
                  name="memory.predicted.point", visible=False)  # fmt: skip
    labels(curve, asked, name="memory.predicted.text", x_offset=9, y_offset=-13).visible = False
    energy = draw_energy(sources, axis, ticker)
    state = draw_heat(sources, 206)
    labels(state, sources["memory.entries"], bare=True, text_align="center", text_font_size="15px")
    bars = draw_bars(sources, question, axis, ticker, 122)
    bars.quad(left="left", right="right", bottom=BARS[0], top=BARS[1], source=sources["memory.stale"],
              fill_color=LIGHT["band"], line_color=None, level="underlay", name="memory.stale.band")  # fmt: skip
    gap = bars.segment("pair", "cosine", "pair", "rival", source=sources["memory.pairs"], line_color=LIGHT["muted"])
    gap.glyph.name = "memory.gap"
    bars.scatter("pair", "rival", source=sources["memory.pairs"], marker="dash", size=4, line_color=LIGHT["ink"])
    bars.scatter("x", "y", source=sources["memory.asked"], marker="triangle", size=8, line_color=None,
                 fill_color=LIGHT["ink"], name="memory.asked.mark")  # fmt: skip
    labels(bars, sources["memory.asked"], text_align="align", x_offset="dx", y_offset=1)
    bars.xaxis[0].axis_label += "; a dash: what the rule against it reads"
    answer_taps(bars)
    rows = (
        (Cell(curve, grow=3), Cell(energy, grow=2), Cell(state, width=216, title_node="memory.frame")),
        (Cell(bars),),
        (Cell(draw_split(sources, question, axis, ticker), title_node="memory.apart", hint=" · click another pair"),),
    )
    return Drawing(rows, sources)


def draw_card(question: Question, compact: bool = True) -> Drawing:
    sources, axis, ticker = VIEW.card.sources(question), *pair_axis()
    curve = draw_curve(sources, question, axis, ticker, 160)
    state = draw_heat(sources, 160)
    bars = draw_bars(sources, question, axis, ticker, 100)
    return Drawing(((Cell(curve), Cell(state, width=176, title_node="memory.frame")), (Cell(bars),)), sources)


VIEW = View(
    word="memory",
    title="Memory",
    place=5,
    question="How much fits, and what does a write do to what is already there?",
    axis="n",
    asks=("keys", "rule"),
    dials=("stream", "duel", "d_v", "pair", "rho", "alpha", "beta"),
    span=256 / END,
    reels=REELS,
    draw=draw,
    answer=answer,
    idle=idle,
    instead=instead,
    readouts=(
        ("nearest stored value is the right one", "memory.named"),
        ("squared cosine of two keys", "memory.overlap"),
        ("S, rows × columns", "memory.shape"),
        ("colours of S span", "memory.scale"),
        (f"{FAR.tokens:,} pairs in {FAR.width} rows, by the law", "memory.far"),
        ("this write is met in", "memory.used"),
        ("each write descends", "memory.objective"),
    ),
    lists=(cases_of("memory"),),
    player="write one by one",
    ribbon=("phi", "d_k", "seed"),
)

LEFT_OUT = frozenset(
    f"memory.{name}"
    for name in (
        *(
            "split",
            "splits",
            "splits_said",
            "signal",
            "asked",
            "predicted",
            "best_name",
            "stale",
            "duel",
            "far",
            "entries",
            "topics",
            "rivals",
        ),
        *("curve.newest", "curve.best", "curve.rival", "written", "rival", "gap", "own"),
        *("apart", "named", "sentence", "cases", "cases_title"),
    )
)
"""Of sources, models and nodes: what the overview does without."""

VIEW = replace(
    VIEW,
    card=card_of(
        replace(VIEW, answer=small_answer),
        draw_card,
        LEFT_OUT,
        ask=lambda question: replace(question, duel="none", pair=20),
    ),
)
