"""Memory: how much fits, and what does a write do to what is already there?"""

from __future__ import annotations

from bokeh.plotting import figure

from components.lesson import Question
from components.memory_answer import STEP, WIDTH, answer
from components.palette import LIGHT, diverging
from components.plots import image_plot, labels, line, mark, plot, ticks
from components.reel import Bind, Reel
from components.view import Cell, Drawing, View

REELS = (
    Reel(
        "memory.reel",
        "n",
        (
            Bind("cosine", source="memory.pairs", pool="memory.reads", start="start", stop="stop", scale=STEP),
            Bind("state", source="memory.state", to="image", pool="memory.states", start="frame", image=True),
            Bind("title", node="memory.frame", pool="memory.states", start="frame"),
            Bind("ends_x", source="memory.ends", to="x"),
            Bind("ends_y", source="memory.ends", to="y"),
            Bind("here", source="memory.here", to="y"),
            Bind("n", source="memory.here", to="x"),
            Bind("here_text", source="memory.here", to="text"),
            Bind("headline", node="memory.headline", phrase="memory.phrases.headline"),
            Bind("sentence", node="memory.sentence", phrase="memory.phrases.sentence"),
        ),
    ),
    Reel("memory.load", "T", (Bind("load", node="memory.aside"),)),
)


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    curve = plot(
        "memory.by_n", 160 if compact else 240, (0, 262), (0, 1.18), x_label="pairs written n", y_label="mean cosine"
    )
    ticks(curve.xaxis[0], {n: str(n) for n in range(0, 257, 32)})
    ticks(curve.yaxis[0], {0: "0", 0.5: "0.5", 1: "1"})
    named = sources["memory.curve"]
    line(curve, named, "n", "law", "muted", line_dash=[5, 4], line_width=1.4)
    if not compact:
        curve.scatter("n", "newest", source=named, size=3, fill_color=LIGHT["muted"], fill_alpha=0.55, line_color=None)
    line(curve, named, "n", "mean", question.rule, line_width=2.4).glyph.name = "memory.mean"
    mark(curve, "memory.room", WIDTH)
    dot = curve.scatter(
        "x",
        "y",
        source=sources["memory.here"],
        size=10,
        fill_color=LIGHT[question.rule],
        line_color=LIGHT["ground"],
        line_width=1.5,
    )
    dot.glyph.name = "memory.dot"
    labels(curve, sources["memory.here"], x_offset=8, y_offset=-11)
    labels(curve, sources["memory.names"], "muted")
    state = image_plot("memory.heat", 160 if compact else 240, sources["memory.state"], (WIDTH, WIDTH), diverging())
    bars = plot(
        "memory.bars",
        100 if compact else 130,
        (0, 262),
        (-0.62, 1.06),
        x_label="stored pair, oldest to newest: cosine of its read now",
    )
    ticks(bars.xaxis[0], {n: str(n) for n in range(0, 257, 32)})
    ticks(bars.yaxis[0], {0: "0", 1: "1"})
    bar = bars.vbar(
        "pair",
        0.82,
        "cosine",
        source=sources["memory.pairs"],
        fill_color=LIGHT[question.rule],
        line_color=None,
        fill_alpha=0.75,
    )
    bar.glyph.name = "memory.bar"
    bars.scatter(
        "x",
        "y",
        source=sources["memory.ends"],
        size=7,
        fill_color=LIGHT["ground"],
        line_color=LIGHT["ink"],
        line_width=1.4,
    )
    rows = [(Cell(curve), Cell(state, width=176 if compact else 250, title_node="memory.frame")), (Cell(bars),)]
    if not compact:
        rows.append((Cell(_energy(sources)),))
    return Drawing(tuple(rows), sources)


def _energy(sources: dict) -> figure:
    fig = plot(
        "memory.crosstalk",
        140,
        (0, 262),
        (0.02, 400),
        y_log=True,
        x_label="pairs written n",
        y_label="crosstalk / signal",
    )
    ticks(fig.xaxis[0], {n: str(n) for n in range(0, 257, 32)})
    ticks(fig.yaxis[0], {0.1: "0.1", 1: "1", 10: "10", 100: "100"})
    line(fig, sources["memory.energies"], "n", "law", "muted", line_dash=[5, 4], line_width=1.4)
    line(fig, sources["memory.energies"], "n", "energy", "ink")
    return fig


VIEW = View(
    word="memory",
    title="Memory",
    place=5,
    question="How much fits, and what does a write do to what is already there?",
    axis="n",
    asks=("keys", "rule"),
    dials=("rho", "alpha", "beta"),
    span=256 / 262,
    reels=REELS,
    draw=draw,
    answer=answer,
    readouts=(
        ("colours of S span", "memory.scale"),
        ("rows of S shown", "memory.rows"),
        ("each write descends", "memory.objective"),
    ),
    player="write one by one",
    ribbon=("phi", "d_k", "seed"),
)
