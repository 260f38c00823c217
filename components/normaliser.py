"""The normaliser: why did modern layers drop the denominator?"""

from __future__ import annotations

import math

from bokeh.models import BoxAnnotation, CategoricalColorMapper, ColumnDataSource, GlyphRenderer
from bokeh.plotting import figure

from components.cases import cases_of
from components.lesson import Question
from components.normaliser_answer import BOUND, answer
from components.normaliser_hand import ROWS
from components.normaliser_names import EDGE, LEFT
from components.normaliser_numbers import T
from components.normaliser_places import SHARES, TOKENS_END
from components.normaliser_ways import SIZES
from components.palette import LIGHT
from components.plots import MARGIN, RIGHT, finger, labels, line, mark, names, plot, ticks
from components.powers import raised
from components.reel import Bind, Reel
from components.view import Cell, Drawing, View
from components.words import PHIS, WAYS
from compute.sharpness import UNDEFINED_BELOW

NAMES = 92
"""Right border of the lowest plot, px: the longest name."""

TOKENS = {1: "1", 16: "16", 256: "256", 4096: "4,096"}
FIGURES = ("denominators", "share", "derivative", "crossing", *(f"way_{i}" for i in range(len(WAYS))))
COLUMNS = tuple(range(len(WAYS)))

REELS = (
    Reel(
        "normaliser.reel",
        "tokens",
        (
            *(Bind("tokens", model=f"normaliser.{name}_here", property="location") for name in FIGURES),
            *(Bind("tokens", source=f"normaliser.{dot}", to="x") for dot in ("den_dot", "share_dot")),
            *(
                Bind(f"{line}_{to}", source=f"normaliser.{dot}", to=to)
                for dot, line in (("den_dot", "rise"), ("share_dot", "fall"), ("move_dots", "moves"))
                for to in ("align", "dx", "dy")
            ),
            Bind("den", source="normaliser.den_dot", to="y"),
            Bind("den_text", source="normaliser.den_dot", to="text"),
            Bind("share", source="normaliser.share_dot", to="y"),
            Bind("share_text", source="normaliser.share_dot", to="text"),
            Bind("moves_x", source="normaliser.move_dots", to="x"),
            Bind("moves", source="normaliser.move_dots", to="y"),
            Bind("moves_text", source="normaliser.move_dots", to="text"),
            *(Bind("moves_x", source=f"normaliser.read_{i}_dots", to="x") for i in COLUMNS),
            *(Bind(f"way_{i}", source=f"normaliser.read_{i}_dots", to="y") for i in COLUMNS),
            Bind("walks", source="normaliser.most_negative", to="text"),
            Bind("headline", node="normaliser.headline"),
            Bind("sentence", node="normaliser.sentence", phrase="normaliser.phrases.sentence"),
            *(
                Bind(node, node=f"normaliser.{node}")
                for node in (
                    "spread",
                    "newest",
                    "near",
                    "kernel",
                    "score",
                    "negative",
                    "lost",
                    "below",
                    "short",
                    "size",
                    "held",
                )
            ),
        ),
    ),
)


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    top, middle, low = (158, 122, 122) if compact else (208, 156, 148)
    return Drawing(
        (
            (
                Cell(_denominators(sources, top), title_node="normaliser.denominator_title"),
                Cell(_shares(sources, top), title_node="normaliser.share_title"),
                Cell(_derivatives(sources, top), title_node="normaliser.derivative_title"),
            ),
            tuple(Cell(_way(i, sources, middle), least=150, title_node=f"normaliser.way_{i}_title") for i in COLUMNS),
            (Cell(_crossing(sources, low), title_node="normaliser.crossing_title"),),
        ),
        sources,
    )


def _over_tokens(name: str, height: int, y: tuple[float, float], **options) -> figure:
    """A figure over the number of tokens, with the rule under the finger."""
    options = {"left": 54, "y_log": True, "x_right": TOKENS_END, "x_label": "tokens so far", **options}
    fig = plot(f"normaliser.{name}", height, (1, options.pop("x_right")), y, x_log=True, **options)
    ticks(fig.xaxis[0], TOKENS)
    finger(fig, f"normaliser.{name}_here", 256)
    return fig


def _decade_ticks(fig: figure, every: int = 2) -> None:
    ticks(fig.yaxis[0], {10.0**e: f"10{raised(e)}" if e else "1" for e in range(-12, 13, every)})


def _dot(fig: figure, source: ColumnDataSource) -> None:
    fig.scatter("x", "y", source=source, size=7, fill_color=LIGHT["ink"], line_color=LIGHT["ground"], line_width=1.2)
    labels(fig, source, text_align="align", x_offset="dx", y_offset="dy", text_font_style="bold")


def _over(fig: figure, named: GlyphRenderer) -> None:
    """Names hide a piece of the finger's rule: within a level what is in a figure's centre is painted after glyphs."""
    named.glyph.background_fill_alpha = 1
    fig.renderers.remove(named)
    fig.center.append(named)


def _denominators(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """The sum of kernel values: band over draws, one draw, the law, and the same sum in few digits."""
    fig = _over_tokens("denominators", height, (1, 1e6), y_label="denominator z·φ(q)")
    fig.y_range.name = "normaliser.denominator_y"
    _decade_ticks(fig)
    source = sources["normaliser.sums"]
    band = fig.varea("tokens", "low", "high", source=source, fill_color=LIGHT["elu"], fill_alpha=0.22)
    band.glyph.name = "normaliser.sums_band"
    line(fig, source, "tokens", "law", "muted", line_dash=[5, 4], line_width=1.4)
    line(fig, source, "tokens", "bf16", "ink", line_width=1.4, line_dash="dotted", name="normaliser.bf16")
    line(fig, source, "tokens", "own", "elu", line_width=2.2).glyph.name = "normaliser.sums_own"
    dots = fig.scatter(
        "tokens", "negative", source=source, size=5, fill_color=LIGHT["ground"], line_color=LIGHT["elu"], line_width=1.4
    )
    dots.glyph.name = "normaliser.negative_dots"
    _over(fig, labels(fig, sources["normaliser.sum_names"], text_align="align", over=True))
    _dot(fig, sources["normaliser.den_dot"])
    return fig


def _shares(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Weight on the newest token and on the 64 newest, with what equal weights would give: lines and a band over draws,
    and of the draw that the headline speaks of a dot at every stop, on which the finger's dot goes."""
    fig = _over_tokens(
        "share", height, SHARES, y_label="weight", left=62, x_label="tokens so far; lines median, dots this draw"
    )
    ticks(fig.yaxis[0], {1e-4: "0.01 %", 1e-3: "0.1 %", 1e-2: "1 %", 0.1: "10 %", 1: "100 %"})
    source = sources["normaliser.shares"]
    band = fig.varea("tokens", "low", "high", source=source, fill_color=LIGHT["elu"], fill_alpha=0.22)
    band.glyph.name = "normaliser.share_band"
    for law in ("law", "near_law"):
        line(fig, source, "tokens", law, "muted", line_dash=[5, 4], line_width=1.4)
    line(fig, source, "tokens", "near", "elu", line_width=1.4).glyph.name = "normaliser.near_line"
    line(fig, source, "tokens", "mid", "elu", line_width=2.2).glyph.name = "normaliser.share_mid"
    dots = fig.scatter("tokens", "own", source=source, size=3, fill_color=LIGHT["elu"], line_color=None)
    dots.glyph.name = "normaliser.share_own"
    _over(fig, labels(fig, sources["normaliser.share_names"], text_align="align", over=True))
    _dot(fig, sources["normaliser.share_dot"])
    return fig


def _derivatives(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Two derivatives that are not the same thing: of a weight by a kernel value, and by a score."""
    fig = _over_tokens("derivative", height, (1e-6, 10), y_label="derivative of a weight")
    fig.y_range.name = "normaliser.derivative_y"
    _decade_ticks(fig)
    source = sources["normaliser.derivatives"]
    for name, slot, alpha in (("score", "softmax", 0.14), ("kernel", "elu", 0.22)):
        band = fig.varea(
            "tokens", f"{name}_low", f"{name}_high", source=source, fill_color=LIGHT[slot], fill_alpha=alpha
        )
        band.glyph.name = f"normaliser.{name}_band"
        line(fig, source, "tokens", f"{name}_mid", slot, line_width=2).glyph.name = f"normaliser.{name}_mid"
    line(fig, source, "tokens", "bound", "muted", line_dash=[2, 3], line_width=1.4, name="normaliser.bound")
    mark(fig, "normaliser.quarter", BOUND, dimension="width", slot="muted", dash="dashed")
    _over(fig, labels(fig, sources["normaliser.derivative_names"], text_align="align", over=True))
    _dot(fig, sources["normaliser.move_dots"])
    return fig


def _way(i: int, sources: dict[str, ColumnDataSource], height: int) -> figure:
    """Size of a read and the newest value's factor in it, on one scale in all panels."""
    fig = _over_tokens(f"way_{i}", height, SIZES, left=48, right=6, y_label="median size")
    ticks(fig.xaxis[0], {1: "1", 64: "64", 4096: "4,096"})
    ticks(fig.yaxis[0], {1e-3: "10⁻³", 1e-2: "", 0.1: "0.1", 1: "1", 10: "10"})
    source = sources[f"normaliser.read_{i}"]
    fig.varea("tokens", "low", "high", source=source, fill_color=LIGHT["ink"], fill_alpha=0.13)
    for column, slot in (("mid", "ink"), ("newest", "additive")):
        line(fig, source, "tokens", column, slot).glyph.name = f"normaliser.way_{i}_{column}"
    _over(fig, labels(fig, sources[f"normaliser.read_{i}_names"], text_align="right", over=True))
    fig.scatter(
        "x", "y", source=sources[f"normaliser.read_{i}_dots"], size=6, fill_color=LIGHT["ink"],
        line_color=LIGHT["ground"], line_width=1,
    )  # fmt: skip
    return fig


def _crossing(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """What signs leave of a sum: one for positive features; signed ones walk through zero."""
    fig = _over_tokens(
        "crossing", height, LEFT, y_log=False, x_right=EDGE, y_label="Σκ / Σ|κ|", left=MARGIN, right=NAMES
    )
    ticks(fig.yaxis[0], {-1: "−1", 0: "0", 1: "1"})
    source = sources["normaliser.left"]
    fig.add_layout(
        BoxAnnotation(
            bottom=-UNDEFINED_BELOW, top=UNDEFINED_BELOW, fill_color=LIGHT["faint"], fill_alpha=0.35, line_color=None,
            level="underlay", name="normaliser.nothing_left",
        )
    )  # fmt: skip
    for slot in ("identity", "silu", "trig"):
        line(fig, source, "tokens", slot, slot, line_width=1.5)
    line(fig, source, "tokens", "chosen", "elu", line_width=2.6).glyph.name = "normaliser.chosen_left"
    colours = CategoricalColorMapper(factors=list(PHIS), palette=[LIGHT[word] for word in PHIS])
    names(fig, sources["normaliser.left_names"], {"field": "word", "transform": colours})
    _over(fig, labels(fig, sources["normaliser.zero_name"], "muted", name="normaliser.zero_said", over=True))
    labels(fig, sources["normaliser.most_negative"], name="normaliser.most_said").visible = False
    return fig


VIEW = View(
    word="normaliser",
    title="Normaliser",
    place=8,
    question="Why did modern layers drop the denominator?",
    axis="tokens",
    player="read on",
    asks=("way",),
    span=round(math.log(T[-1]) / math.log(EDGE), 4),
    room=NAMES - RIGHT,
    reels=REELS,
    draw=draw,
    answer=answer,
    readouts=(
        ("size of the read in this way", "normaliser.size"),
        ("of the newest value in it", "normaliser.held"),
        ("denominator, nine draws in ten", "normaliser.spread"),
        ("weight on the newest token", "normaliser.newest"),
        ("powers of t of these two", "normaliser.power"),
        ("weight on the 64 newest", "normaliser.near"),
        ("a kernel value moves a weight by", "normaliser.kernel"),
        ("a softmax score, by", "normaliser.score"),
        ("denominators below zero", "normaliser.negative"),
        ("too little left to divide by", "normaliser.lost"),
        ("below zero of 32", "normaliser.below"),
        ("z kept in bfloat16", "normaliser.short"),
        ("reported spread of gradients, not computed here", "normaliser.quoted"),
        ("By hand", ""),
        *ROWS,
    ),
    lists=(cases_of("normaliser"),),
)
