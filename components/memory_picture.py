"""The figures of the memory: curves over the pairs written, the state, a bar a pair, one read taken apart."""

from __future__ import annotations

from bokeh.models import CustomJS, FixedTicker, Range1d, TapTool
from bokeh.plotting import figure

from components.lesson import Question
from components.memory_names import END, NOWHERE, TICKS, TOP
from components.memory_run import CELLS, WIDTH
from components.palette import LIGHT, diverging
from components.plots import image_plot, labels, line, mark, plot, ticks

BARS = (-0.62, 1.2)
"""Ends of the axis of bars: a ring at the height of 1 is not cut."""


def draw_heat(sources: dict, height: int) -> figure:
    """The state: a row for each number of a key, a column for each of a value."""
    return image_plot("memory.heat", height, sources["memory.state"], (CELLS, CELLS), diverging(),
                      x_label="numbers of a value", y_label="numbers of a key")  # fmt: skip


def pair_axis() -> tuple[Range1d, FixedTicker]:
    """One axis of pairs for all figures; three pairs by hand need a shorter one."""
    return Range1d(0, END, name="memory.axis"), FixedTicker(ticks=TICKS, name="memory.ticks")


def _plot(name: str, height: int, y: tuple[float, float], axis: Range1d, ticker: FixedTicker, **options) -> figure:
    fig = plot(name, height, (axis.start, axis.end), y, **options)
    fig.x_range, fig.xaxis[0].ticker = axis, ticker
    return fig


def draw_curve(sources: dict, question: Question, axis: Range1d, ticker: FixedTicker, height: int) -> figure:
    curve = _plot("memory.by_n", height, (0, TOP), axis, ticker, x_label="pairs written n", y_label="mean cosine")
    ticks(curve.yaxis[0], {0: "0", 0.5: "0.5", 1: "1"})
    named = sources["memory.curve"]
    line(curve, named, "n", "law", "muted", line_dash=[5, 4], line_width=1.4)
    line(curve, named, "n", "mean", question.rule, line_width=2.4).glyph.name = "memory.mean"
    mark(curve, "memory.room", WIDTH)
    dot = curve.scatter("x", "y", source=sources["memory.here"], size=10, fill_color=LIGHT[question.rule],
                        line_color=LIGHT["ground"], line_width=1.5)  # fmt: skip
    dot.glyph.name = "memory.dot"
    labels(curve, sources["memory.here"], text_align="align", x_offset="dx", y_offset="dy")
    labels(curve, sources["memory.names"], "muted")
    return curve


def draw_energy(sources: dict, axis: Range1d, ticker: FixedTicker) -> figure:
    fig = _plot("memory.energy", 226, (0.02, 400), axis, ticker, y_log=True, x_label="pairs written n",
                y_label="crosstalk energy / ‖v‖²")  # fmt: skip
    ticks(fig.yaxis[0], {0.1: "0.1", 1: "1", 10: "10", 100: "100"})
    line(fig, sources["memory.energies"], "n", "law", "muted", line_dash=[5, 4], line_width=1.4)
    line(fig, sources["memory.energies"], "n", "least", "faint", line_dash=[1, 3], line_width=1.6)
    line(fig, sources["memory.energies"], "n", "energy", "ink")
    fig.scatter(
        "n", "energy", source=sources["memory.energies"], size=2.4, color=LIGHT["ink"]
    )  # a stop alone has no line
    labels(fig, sources["memory.energy_names"], "muted", text_align="right")
    return fig


def draw_bars(sources: dict, question: Question, axis: Range1d, ticker: FixedTicker, height: int) -> figure:
    bars = _plot("memory.bars", height, BARS, axis, ticker,
                 x_label="stored pair, oldest to newest", y_label="cosine now")  # fmt: skip
    ticks(bars.yaxis[0], {0: "0", 1: "1"})
    bar = bars.vbar("pair", 0.82, "cosine", source=sources["memory.pairs"], fill_color=LIGHT[question.rule],
                    line_color=None, fill_alpha=0.75)  # fmt: skip
    bar.glyph.name = "memory.bar"
    bars.scatter("x", "y", source=sources["memory.ends"], size=7, fill_color=LIGHT["ground"], line_color=LIGHT["ink"],
                 line_width=1.4)  # fmt: skip
    return bars


def draw_split(sources: dict, question: Question, axis: Range1d, ticker: FixedTicker) -> figure:
    fig = _plot("memory.shares", 122, BARS, axis, ticker, x_label="stored pair, oldest to newest",
                y_label="share in read")  # fmt: skip
    ticks(fig.yaxis[0], {0: "0", 1: "1"})
    fig.vbar("pair", 0.82, "weight", source=sources["memory.split"], fill_color=LIGHT["muted"], fill_alpha=0.6,
             line_color=None)  # fmt: skip
    own = fig.vbar("pair", 0.82, "weight", source=sources["memory.signal"], fill_color=LIGHT[question.rule],
                   line_color=LIGHT["ink"])  # fmt: skip
    own.glyph.name, own.name = "memory.own", "memory.signal.bar"
    mark(fig, "memory.written", NOWHERE)
    answer_taps(fig)
    return fig


def answer_taps(fig: figure) -> None:
    fig.add_tools(TapTool(renderers=[]))  # the tap is all we want: nothing is selected, nothing fades
    fig.js_on_event("tap", CustomJS(code="Explorer.tapPair?.(cb_obj)"))
