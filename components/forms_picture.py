"""Two modes, the figures: the recurrence as boxes, the masked matrix under its chunk grid, and what the forms give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from bokeh.transform import linear_cmap

from components.forms_frames import CEILING, FLOOR, HIGH, LOW, PARTS
from components.forms_run import ONES
from components.forms_said import SUBSCRIPTS
from components.palette import LIGHT, UNDER_TEXT, diverging
from components.plots import finger, hover, labels, mark, plot, ticks, without_ticks
from components.view import Cell

Sources = Mapping[str, ColumnDataSource]

SLOT = {"recurrent": "state", "parallel": "cache", "chunkwise": "conv"}
"""Colours of the forms, from the kinds of bytes: what holds a state, what holds every key, and what holds some."""

BOXES = {
    # name: (left, top, right, bottom) in hundredths of the picture, downwards
    "v": (9, 12, 37, 23),
    "phi_k": (1, 31, 7, 74),
    "write": (9, 31, 37, 74),
    "phi_q": (51, 31, 57, 74),
    "S": (59, 31, 87, 74),
    "z": (89, 31, 95, 74),
    "num": (59, 77, 87, 87),
    "den": (89, 77, 95, 87),
    "o": (59, 90, 87, 100),
}
NAMES = (
    (8, 17.5, "vₜ", "right"),
    (4, 26.5, "φ(kₜ)", "center"),
    (23, 26.5, "write φ(kₜ) vₜᵀ", "center"),
    (23, 82, "of rank one: every\nrow is vₜ, scaled", "center"),
    (44, 54, "⟶", "center"),
    (54, 26.5, "φ(qₜ)", "center"),
    (58, 95, "oₜ, their quotient", "right"),
)


class Read(NamedTuple):
    """What the picture says of a read, {T} being the last token: what is read of it, both products, when the write is
    added; and the boxes that a mistake touches."""

    state: str = "Sₜ"
    total: str = "zₜ"
    numerator: str = "Sₜᵀφ(qₜ)"
    denominator: str = "zₜ·φ(qₜ)"
    added: str = "added"
    touched: tuple[str, ...] = ()


READS = {
    "none": Read(),
    "one_summary": Read("S{T}", "z{T}", "S{T}ᵀφ(qₜ)", "z{T}·φ(qₜ)", "all added", ("S", "z")),
    "read_first": Read("Sₜ₋₁", "zₜ₋₁", "Sₜ₋₁ᵀφ(qₜ)", "zₜ₋₁·φ(qₜ)", "added last", ("S", "z")),
    "transposed": Read(numerator="Sₜφ(qₜ)", touched=("S", "num")),
    "feature_sum": Read(denominator="1·φ(qₜ)", touched=("den",)),
    "eps_inside": Read(touched=("phi_k", "phi_q")),
    "bf16": Read(touched=("S", "z")),
}


WITHOUT_STATE, NOTHING_AT = ("v",), (52, 50, "center")
"""The boxes that are left where there is no state, and where that is said."""


def read_names(pitfall: str, T: int, nothing: str = "") -> dict[str, object]:
    """Texts of the recurrence, each at its box.  nothing: what is said where there is no state."""
    places = ((73, 26.5, "center"), (92, 26.5, "center"), (58, 82, "right"), (88.5, 92.5, "left"), (44, 46, "center"))
    x, y, align = zip(*places, *((x, y, align) for x, y, _, align in NAMES), NOTHING_AT)
    said = [text.format(T=str(T).translate(SUBSCRIPTS)) for text in READS[pitfall][:-1]]
    said += [text for _, _, text, _ in NAMES]
    if nothing:
        said = [text if text == NAMES[0][2] else "" for text in said]
    said.append(nothing)
    return {"x": np.array(x, dtype=float), "y": np.array(y, dtype=float), "text": said, "align": list(align)}


def number_places() -> tuple[np.ndarray, np.ndarray]:
    """Where the numbers of a 2 × 2 example stand, in the order in which they are said."""
    shapes = {"phi_k": (2, 1), "v": (1, 2), "write": (2, 2), "phi_q": (2, 1), "S": (2, 2), "z": (2, 1), "num": (1, 2)}
    places = []
    for name, (rows, columns) in {**shapes, "o": (1, 2), "den": (1, 1)}.items():
        left, top, right, bottom = BOXES[name]
        for i, j in np.ndindex(rows, columns):
            places.append((left + (right - left) * (j + 0.5) / columns, top + (bottom - top) * (i + 0.5) / rows))
    return tuple(np.array(places).T)


def cell_places(shape: tuple[int, int]) -> dict[str, np.ndarray]:
    """Edges of every cell of the boxes for a state of this many rows and columns, NaN where a box has room for more."""
    edges = []
    for name, (most_rows, most_columns) in PARTS.items():
        left, top, right, bottom = BOXES[name]
        rows, columns = min(shape[0], most_rows), min(shape[1], most_columns)
        i, j = (at.ravel() for at in np.indices((rows, columns)))
        wide, high = (right - left) / columns, (bottom - top) / rows
        given = np.stack([left + j * wide, left + (j + 1) * wide, top + i * high, top + (i + 1) * high])
        edges.append(np.pad(given, ((0, 0), (0, most_rows * most_columns - rows * columns)), constant_values=np.nan))
    return dict(zip(("left", "right", "top", "bottom"), np.concatenate(edges, axis=1).astype(np.float32)))


def outlines(names: Sequence[str]) -> dict[str, np.ndarray]:
    """Edges of the boxes of these names, one row for each box there is, NaN for the others."""
    edges = np.array([BOXES[name] if name in names else [np.nan] * 4 for name in BOXES], dtype=float).T
    return dict(zip(("left", "top", "right", "bottom"), edges))


def draw_recurrence(sources: Sources, height: int) -> figure:
    fig = _bare("forms.recurrence", height, (0, 104), (101, 8))
    sides = ("left", "right", "top", "bottom")
    fig.quad(*sides, source=sources["forms.cells"], fill_color=_signed(), line_color=None)
    line = {"fill_color": None, "line_color": LIGHT["faint"]}
    fig.quad(*sides, source=sources["forms.boxes"], **line)
    line = {"fill_color": None, "line_color": LIGHT["ink"], "line_width": 2.6}
    fig.quad(*sides, source=sources["forms.broken"], **line)
    labels(fig, sources["forms.reads"], "muted", bare=True, text_align={"field": "align"})
    labels(fig, sources["forms.numbers"], bare=True, text_align="center", text_font_size="12px")
    return fig


def _signed() -> dict:
    return linear_cmap("value", diverging(UNDER_TEXT), 0, 255)


def draw_matrix(sources: Sources, height: int) -> figure:
    """The matrix is a square of side 1.  What is not reached yet lies under a cover, the grid above it."""
    fig = _bare("forms.matrix", height, (-0.01, 1.25), (1.012, -0.012), x_label="key s", y_label="query t")
    sides = ("left", "right", "top", "bottom")
    fig.quad(*sides, source=sources["forms.kernel"], fill_color=_signed(), line_color=None)
    labels(fig, sources["forms.matrix_numbers"], bare=True, text_align="center", text_font_size="12px")
    grid, ground, here = sources["forms.chunks"], LIGHT["ground"], sources["forms.row"]
    skipped = {"fill_color": ground, "fill_alpha": 0.62, "line_color": None, "name": "forms.skipped"}
    fig.quad("zero", "start", "start", "stop", source=grid, **skipped)
    # The cover's own border hides what antialiasing would let through of the next row.
    fig.quad(-0.02, 1.02, "bottom", 1.02, source=here, fill_color=ground, line_color=ground, line_width=1.5)
    outline = {"fill_color": None, "line_color": LIGHT["muted"], "name": "forms.blocks"}
    fig.quad("start", "stop", "start", "stop", source=grid, **outline)
    style = {"size": 7, "fill_color": LIGHT["ink"], "line_color": ground, "name": "forms.dots"}
    fig.scatter("start", "start", source=sources["forms.handed"], **style).glyph.name = "forms.dot"
    outline = {"fill_color": None, "line_color": LIGHT["ink"], "line_width": 1.6, "name": "forms.rowmark"}
    fig.quad(0, "bottom", "top", "bottom", source=here, **outline)
    labels(fig, here, name="forms.sum", x_offset=5)
    return fig


def draw_outputs(sources: Sources, height: int) -> figure:
    fig = plot("forms.values", height, (0.5, 4), (-1, 1), y_label="output oₜ",
               x_label="token t; line recurrent, ring parallel, dot chunkwise")  # fmt: skip
    named = sources["forms.outputs"]
    fig.y_range.name = "forms.values.y"
    fig.line("t", "recurrent", source=named, line_color=LIGHT[SLOT["recurrent"]], line_width=2.4)
    _dots(fig, named, "recurrent", "recurrent", 5)  # an output between two undefined ones has no line
    _rings(fig, named, "parallel")
    _dots(fig, named, "chunkwise", "chunkwise", 3)
    for side, marker in (("below", "inverted_triangle"), ("above", "triangle")):  # what has left the frame
        _dots(fig, named, side, "recurrent", 8, marker=marker)
    _cover(fig, sources, -1e9, 1e9)
    labels(fig, sources["forms.ends"], x_offset=9, over=True)
    style = {"fill_color": None, "line_color": LIGHT["ink"], "line_width": 1.8, "visible": False}
    fig.scatter("x", "y", source=sources["forms.first"], size=15, name="forms.asked", **style)
    labels(fig, sources["forms.first"], name="forms.asked_text", x_offset=12, y_offset=-3).visible = False
    return fig


def draw_differences(sources: Sources, height: int) -> figure:
    fig = plot("forms.differences", height, (0.5, 4), (FLOOR / 20, CEILING), y_log=True, x_label="token t",
               y_label="largest difference")  # fmt: skip
    ticks(fig.yaxis[0], {FLOOR: "0", 1e-16: "10⁻¹⁶", 1e-8: "10⁻⁸", 1: "1"})
    mark(fig, "forms.rounding", 2.0**-52, dimension="width", slot="muted", dash="dashed")
    named = sources["forms.checks"]
    for form, size in (("recurrent", 6), ("chunkwise", 4)):
        dots = _dots(fig, named, f"gap_{form}", form, size)
        shown = [("token", "@t"), (form, f"@gap_{form}{{%.1e}}")]
        hover(fig, [dots], shown, formatters={f"@gap_{form}": "printf"})
    fig.scatter("t", "undefined", source=named, marker="x", size=9, line_color=LIGHT["ink"], line_width=2)
    _cover(fig, sources, FLOOR / 100, CEILING * 100)
    labels(fig, sources["forms.gap_ends"], x_offset=9)
    labels(fig, sources["forms.trouble"])
    return fig


def draw_constants(sources: Sources, height: int) -> figure:
    """Of the whole sequence at once: a check is not read token by token, and a figure at rest costs a step nothing."""
    fig = plot(
        "forms.constants",
        height,
        (0.5, 4),
        (LOW / 1.8, HIGH),
        y_log=True,
        x_label="token t; dot recurrent, ring parallel",
        y_label="oₜ if v = 1",
    )
    ticks(fig.yaxis[0], {LOW: "≤ 0.1", 1: "1", 10: "10", 100: "100"})
    mark(fig, "forms.one", 1.0, dimension="width", slot="muted", dash="dashed")
    _dots(fig, sources["forms.checks"], "ones_recurrent", "recurrent", 5)
    _rings(fig, sources["forms.checks"], "ones_parallel")
    labels(fig, sources["forms.constant_end"], x_offset=7, y_offset=-9)
    return fig


def draw_sums(sources: Sources, height: int) -> figure:
    fig = plot("forms.stall", height, (0, ONES * 1.02), (0, ONES * 1.06), x_label="ones added", y_label="sum")
    ticks(fig.xaxis[0], {n: str(n) for n in range(0, ONES + 1, 128)})
    ticks(fig.yaxis[0], {n: str(n) for n in (0, 256, 512)})
    named = sources["forms.sums"]
    fig.line("n", "exact", source=named, line_color=LIGHT["muted"], line_dash=[5, 4], line_width=1.4)
    fig.line("n", "bf16", source=named, line_color=LIGHT["ink"], line_width=2)
    labels(fig, sources["forms.sum_names"], text_align="right")
    return fig


def share_tokens(*figures: figure) -> None:
    """One range and one ticker, which an answer sets to the tokens of its example."""
    shared, ticker = Range1d(0.5, 4, name="forms.tokens"), FixedTicker(ticks=[1], name="forms.ticks")
    for fig in figures:
        fig.x_range = shared
        fig.xaxis[0].ticker = ticker


def captioned(fig: figure) -> Cell:
    return Cell(fig, title_node=fig.name.replace("forms.", "forms.caption."))


def _bare(name: str, height: int, x: tuple[float, float], y: tuple[float, float], **options: str) -> figure:
    fig = plot(name, height, x, y, left=4, right=4, **options)
    without_ticks(fig)
    return fig


def _cover(fig: figure, sources: Sources, low: float, high: float) -> None:
    """Hides the tokens that are still to be read: one edge moves, the curves stay; and a mark at the last one read."""
    ground = {"fill_color": LIGHT["ground"], "line_color": None}
    fig.quad("left", 1e3, high, low, source=sources["forms.unread"], **ground)
    finger(fig, f"{fig.name}.here", 1.0)


def _dots(fig: figure, named: ColumnDataSource, column: str, form: str, size: int, **style: str):
    return fig.scatter("t", column, source=named, size=size, fill_color=LIGHT[SLOT[form]], line_color=None, **style)


def _rings(fig: figure, named: ColumnDataSource, column: str):
    """The parallel form, drawn round the others so that agreement shows."""
    style = {"fill_color": None, "line_color": LIGHT[SLOT["parallel"]], "line_width": 1.4}
    return fig.scatter("t", column, source=named, size=9, **style)
