"""The map itself, two small figures of sharpness: what φ makes of the query's entries, and of a query and a key."""

from __future__ import annotations

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from components.palette import LIGHT
from components.plots import hover, labels, line, plot
from components.reel import Bind
from components.sharpness_frames import FEATURES

LEFT, RIGHT = 44, 8

ENTRY, PAIR = "sharpness.entry", "sharpness.pair"
IN_ENTRY, IN_PAIR = "sharpness.entry_windows", "sharpness.pair_windows"
EDGES = ("left", "right", "bottom", "top")

BINDS = (
    *(
        Bind(f"{name}_{edge}", model=f"sharpness.{name}.{'x' if edge in EDGES[:2] else 'y'}",
             property="start" if edge in ("left", "bottom") else "end")
        for name in ("entry", "pair")
        for edge in EDGES
    ),
    *(Bind(f"entry_{to}", source="sharpness.entries", to=to) for to in ("x", "value")),
    *(
        Bind(to, source="sharpness.feature_marks", pool=IN_ENTRY, start="entry_window")
        for to in ("x", "value", "text")
    ),
    *(
        Bind(f"name_{to}", source="sharpness.feature_names", to=to, pool=IN_ENTRY, start="entry_window")
        for to in ("x", "y")
    ),
    *(Bind(column, source="sharpness.pairs") for column in ("score", "kernel", "filled", "least", "most")),
    *(
        Bind(to, source="sharpness.kernel_marks", pool=IN_PAIR, start="pair_window")
        for to in ("score", "kernel", "merged", "text")
    ),
    *(Bind(f"diagonal_{to}", source="sharpness.kernel_name", to=to) for to in ("x", "y")),
    Bind("pair_left", source="sharpness.kernel_note", to="x"),
    Bind("pair_top", source="sharpness.kernel_note", to="y"),
    *(Bind(f"beyond_{to}", source="sharpness.beyond", to=to) for to in ("x", "y")),
    Bind("beyond", source="sharpness.beyond", to="text"),
    Bind("entry_title", node="sharpness.entry_title", phrase="sharpness.phrases.entry"),
    Bind("pair_title", node="sharpness.pair_title", phrase="sharpness.phrases.pair"),
)  # fmt: skip
"""What a step of c moves in them."""


def entry(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """φ of one number: each feature a curve, the entries of the query on it."""
    fig = plot(ENTRY, height, (-2, 4), (-1, 5), x_label="entry x of c·q", y_label="φ of x", left=LEFT, right=RIGHT)
    _named_ranges(fig)
    curves = sources["sharpness.features"]
    for column in reversed(FEATURES):
        drawn = line(fig, curves, "x", column, "elu", line_width=2 if column == FEATURES[0] else 1.4)
        drawn.glyph.name, drawn.tags = f"sharpness.feature.{column}", []
    dots = _dots(fig, sources["sharpness.entries"], "x", "value", "sharpness.entry_dots")
    hover(fig, [dots], [("entry", "@x{0.00}"), ("φ", "@value{0.00}")])
    marked = sources["sharpness.feature_marks"]
    fig.scatter("x", "value", source=marked, size=8, fill_color=None, line_color=LIGHT["ink"], line_width=1.4)
    labels(fig, marked, y="value", **_PLACED)
    labels(fig, sources["sharpness.feature_names"], "muted", **_PLACED)
    return fig


def pair(sources: dict[str, ColumnDataSource], height: int) -> figure:
    """κ(q, k) against the score of the pair: softmax's is the dashed diagonal e^s."""
    fig = plot(PAIR, height, (-6, 12), (1e-3, 1e5), y_log=True, x_label="score s = c·q·k / √d_k", y_label="kernel κ",
               left=LEFT, right=RIGHT)  # fmt: skip
    _named_ranges(fig)
    curve, pairs = sources["sharpness.kernel_curve"], sources["sharpness.pairs"]
    line(fig, curve, "score", "softmax", "muted", line_dash=[5, 4], line_width=1.4, name="sharpness.exponential")
    line(fig, curve, "score", "own", "elu", line_width=2, name="sharpness.kernel_line").glyph.name = "sharpness.kernel"
    fig.select_one({"name": "sharpness.kernel_line"}).tags = []
    whisker = fig.segment("score", "least", "score", "most", source=pairs, line_color=LIGHT["elu"], line_width=1)
    whisker.glyph.name = "sharpness.kernel_whisker"
    dots = _dots(fig, pairs, "score", "kernel", "sharpness.kernel_dots", fill_alpha="filled")
    hover(fig, [dots], [("key", "@key"), ("score", "@score{0.00}"), ("|κ|", "@kernel{%.3g}")],
          formatters={"@kernel": "printf"})  # fmt: skip
    marked = sources["sharpness.kernel_marks"]
    for column, size in (("kernel", 9), ("merged", 3)):
        fig.scatter("score", column, source=marked, size=size, line_width=1.2, line_color=LIGHT["ink"],
                    fill_color=LIGHT["ink"] if column == "merged" else None)  # fmt: skip
    labels(fig, marked, x="score", y="kernel", **_PLACED)
    labels(fig, sources["sharpness.kernel_name"], "muted", x_offset=8, y_offset=4)
    labels(fig, sources["sharpness.kernel_note"], "muted", x_offset=5, y_offset=5, text_baseline="top")
    labels(fig, sources["sharpness.beyond"], "muted", text_align="right", x_offset=-4, y_offset="dy")
    return fig


_PLACED = {"text_align": "align", "x_offset": "dx", "y_offset": "dy"}


def _named_ranges(fig: figure) -> None:
    fig.x_range.name, fig.y_range.name = f"{fig.name}.x", f"{fig.name}.y"
    fig.xaxis[0].ticker.desired_num_ticks = fig.yaxis[0].ticker.desired_num_ticks = 5


def _dots(fig: figure, source: ColumnDataSource, x: str, y: str, name: str, **style):
    dots = fig.scatter(x, y, source=source, size=6, fill_color=LIGHT["elu"], line_color=LIGHT["elu"], **style)
    dots.glyph.name = name
    return dots
