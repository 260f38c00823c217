"""Bokeh figures with the house's look.  Axis and grid colours come from the page's CSS (--bk-* variables)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    GlyphRenderer,
    HoverTool,
    LinearColorMapper,
    NoOverlap,
    Range1d,
    Span,
    Text,
)
from bokeh.plotting import figure

from components.palette import DASHES, FONT, LIGHT

LABEL = "11px"
MARGIN = 66
"""Left border of every plot, px: figures stacked in a card share their y axis line, and the slider starts there."""

RIGHT = 14


def plot(
    name: str,
    height: int,
    x: tuple[float, float],
    y: tuple[float, float],
    *,
    x_label: str = "",
    y_label: str = "",
    x_log: bool = False,
    y_log: bool = False,
    left: int = MARGIN,
    right: int = RIGHT,
    **options: Any,
) -> figure:
    """An empty figure of fixed height that fills its column, without toolbar, with fixed ranges."""
    fig = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        x_range=Range1d(*x),
        y_range=Range1d(*y),
        x_axis_type="log" if x_log else "linear",
        y_axis_type="log" if y_log else "linear",
        tools="",
        toolbar_location=None,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_left=left,
        min_border_right=right,
        min_border_top=6,
        min_border_bottom=8,
        **options,
    )
    fig.xgrid.visible = False
    for axis, label in ((fig.xaxis[0], x_label), (fig.yaxis[0], y_label)):
        axis.axis_label = label or None
        axis.axis_label_text_font = axis.major_label_text_font = FONT
        axis.axis_label_text_font_size = axis.major_label_text_font_size = LABEL
        axis.axis_label_text_font_style = "normal"
        axis.minor_tick_line_color = None
        axis.major_tick_line_color = None
        axis.axis_label_standoff = 4
        axis.major_label_standoff = 6
    fig.xaxis[0].major_label_policy = NoOverlap(min_distance=6)  # a figure at half its width shows fewer ticks
    fig.yaxis[0].axis_line_color = None
    fig.yaxis[0].major_tick_out = 0  # a tick that is not seen took the room of a letter, and the frame left its margin
    return fig


def ticks(axis: Any, at: Mapping[float, str]) -> None:
    """Exactly these ticks with exactly these words."""
    axis.ticker = FixedTicker(ticks=sorted(at))
    axis.major_label_overrides = dict(at)


def line(
    fig: figure, source: ColumnDataSource, x: str, y: str, slot: str, *, name: str = "", **style: Any
) -> GlyphRenderer:
    """A line in the colour of a slot; a slot without a colour of its own is dashed."""
    style.setdefault("line_width", 2)
    style.setdefault("line_dash", DASHES.get(slot, "solid"))
    renderer = fig.line(x, y, source=source, line_color=LIGHT[slot], name=name or None, **style)
    renderer.tags = [f"slot:{slot}"]  # by which hovering a map brings its lines forward
    return renderer


def labels(
    fig: figure,
    source: ColumnDataSource,
    slot: str = "ink",
    *,
    name: str = "",
    bare: bool = False,
    over: bool = False,
    **style: Any,
) -> GlyphRenderer:
    """Texts at (x, y, text) of a source, each on a piece of ground that hides most of a line; `bare` without.
    `over`: above the finger's rule too, and not cut at the frame."""
    ground = {} if bare else {"background_fill_color": LIGHT["ground"], "background_fill_alpha": 0.92}
    style = {"text_font_size": LABEL, "text_baseline": "middle", "text_color": LIGHT[slot], **ground, **style}
    glyph = Text(**{"x": "x", "y": "y", "text": "text", "text_font": {"value": FONT}, **style})
    made = fig.add_glyph(source, glyph, name=name or None)
    if over:
        made.level = "annotation"
    return made


def names(
    fig: figure, source: ColumnDataSource, colour: Any = None, *, x: str = "x", tick: str = "tick", name: str = ""
) -> GlyphRenderer:
    """Names of lines in the right border, whose pixels they keep however narrow the figure: (x, y, text) of a source,
    x at the frame's end.  With a colour also tick and dash: a piece from tick to x, drawn like the line it names."""
    if colour is not None:
        fig.segment(tick, "y", x, "y", source=source, line_color=colour, line_dash={"field": "dash"}, line_width=2.4)
    return labels(fig, source, name=name, bare=True, over=True, x=x, x_offset=6)


def mark(
    fig: figure,
    name: str,
    at: float,
    *,
    dimension: str = "height",
    slot: str = "ink",
    dash: str = "dotted",
    level: str = "underlay",
) -> Span:
    """A named rule across the figure, a limit, under the lines and the names."""
    span = Span(
        name=name,
        level=level,
        location=at,
        dimension=dimension,
        line_color=LIGHT[slot],
        line_dash=dash,
        line_width=1.2,
        line_alpha=0.8,
    )
    fig.add_layout(span)
    return span


def finger(fig: figure, name: str, at: float, **options: Any) -> Span:
    """The rule that the finger moves.  It is drawn last: what comes before it is not painted anew at every step."""
    return mark(fig, name, at, level="annotation", **options)


def hover(
    fig: figure, renderers: Sequence[GlyphRenderer], tooltips: Sequence[tuple[str, str]], **options: Any
) -> HoverTool:
    tool = HoverTool(renderers=list(renderers), tooltips=list(tooltips), **options)
    fig.add_tools(tool)
    return tool


def glyphs(fig: figure) -> list[GlyphRenderer]:
    """All that is drawn from sources, also what is painted after the marks in the figure's centre."""
    return [part for part in (*fig.renderers, *fig.center) if isinstance(part, GlyphRenderer)]


def without_ticks(fig: figure) -> None:
    """Leaves of the axes what they are called."""
    fig.grid.visible = False
    for axis in (fig.xaxis[0], fig.yaxis[0]):
        axis.ticker, axis.axis_line_alpha, axis.major_label_standoff = FixedTicker(ticks=[]), 0, 0
        axis.visible = axis.axis_label is not None


def image_plot(
    name: str, height: int, source: ColumnDataSource, shape: tuple[int, int], palette: Sequence[str], **options: Any
) -> figure:
    """An image of uint8 values, first row on top, without ticks.  Its source has columns image, dw, dh; its ranges are
    named `name.x` and `name.y`, so that a reel can zoom."""
    rows, columns = shape
    fig = plot(name, height, (0, columns), (rows, 0), left=4, right=4, **options)
    without_ticks(fig)
    fig.x_range.name, fig.y_range.name = f"{name}.x", f"{name}.y"
    mapper = LinearColorMapper(palette=list(palette), low=0, high=255)
    fig.image("image", source=source, x=0, y=0, dw="dw", dh="dh", color_mapper=mapper, name=f"{name}.image")
    return fig


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights moved as little as possible (least squares) so that neighbours are `gap` apart inside [low, high].

    The order is kept.  If there is no room for the gap, the labels share what there is.
    """
    n = len(heights)
    if not n:
        return []
    gap = min(gap, (high - low) / max(1, n - 1))
    order = np.argsort(heights, kind="stable").tolist()
    # With the wanted gaps taken out, "apart and in order" becomes "not descending": isotonic regression.
    blocks: list[tuple[float, int]] = []  # mean, size
    for k, place in enumerate(order):
        mean, size = float(heights[place]) - gap * k, 1
        while blocks and blocks[-1][0] > mean:
            above, more = blocks.pop()
            mean, size = (above * more + mean * size) / (more + size), more + size
        blocks.append((mean, size))
    out, top, k = [0.0] * n, high - gap * (n - 1), 0
    for mean, size in blocks:
        for _ in range(size):
            out[order[k]] = min(max(mean, low), top) + gap * k
            k += 1
    return out
