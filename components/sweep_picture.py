"""The figure of a sweep's picture, built once with HoloViews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.palette import FONT, LIGHT, UNDER_TEXT, rising
from components.plots import LABEL, without_ticks
from components.sweep_columns import CELL, LINES, columns, end, more
from components.sweep_shown import Picture, axis

if TYPE_CHECKING:
    from bokeh.plotting import figure

    from components.reel import Answer
    from compute.sweeps.base import Result

TOP, BOTTOM = 1.2, -0.34


def draw(picture: Picture, result: Result) -> figure:
    """The picture, built once with HoloViews; its sources carry names, so that later results only change columns."""
    import holoviews as hv

    hv.extension("bokeh", logo=False)
    told = columns(picture, result)
    name, further = picture.name, more(picture)
    labels = {picture.panels: "panel", picture.across_label: "x", picture.up_label: "y", picture.value_label: "said"}
    labels |= {label: column for column, label in further.items()}
    cells = told[f"{name}_cells"]
    made = hv.Rectangles(cells, kdims=["left", "bottom", "right", "top"], vdims=[*CELL, *further]).opts(
        color="color",
        cmap=rising(UNDER_TEXT if picture.written else 1),
        clim=(0, 1),
        line_color=None,
        tools=["hover"],
        hover_tooltips=[(label, f"@{column}") for label, column in labels.items()],
    )
    for part, style in (
        ("contours", {"color": LIGHT["ink"], "line_width": 3, "line_alpha": 0.45}),
        ("theory", {"color": LIGHT["ink"], "line_width": 1.3, "line_dash": "dashed"}),
        ("equal", {"color": LIGHT["ink"], "line_width": 1.3, "line_dash": "dotted"}),
    ):
        lines = told[f"{name}_{part}"]
        made *= hv.Path([list(zip(x, y)) for x, y in zip(lines["xs"], lines["ys"])]).opts(**style)
    for part, side in (("texts", "center"), ("ticks", "right")):
        texts = told[f"{name}_{part}"]
        made *= hv.Labels(texts, kdims=["x", "y"], vdims=["text"]).opts(
            text_color=LIGHT["ink"], text_font_size=LABEL, text_align=side
        )
    frame = {
        "xlim": (-0.03, end(picture, len(axis(result, picture, picture.panels)))),
        "ylim": (BOTTOM, TOP),
        "xaxis": None,
        "yaxis": None,
    }
    fig = hv.render(made.opts(toolbar=None, **frame))
    return _dressed(fig, picture, told)


def _room(labels: list[str]) -> int:
    """px left of the first panel for its labels and for what they are values of: about 6 a letter."""
    return 32 + 6 * max(map(len, labels))


def _dressed(fig: figure, picture: Picture, told: Answer) -> figure:
    """The house's frame round HoloViews' figure, and our names and columns in its sources."""
    fig.update(
        name=picture.name, height=picture.height, sizing_mode="stretch_width", background_fill_color=None,
        border_fill_color=None, outline_line_color=None, min_border=0, toolbar_location=None,
    )  # fmt: skip
    room = _room(told[f"{picture.name}_ticks"]["text"])
    fig.min_border_left, up = room, fig.yaxis[0]
    fig.xaxis[0].axis_label = None
    without_ticks(fig)
    up.update(
        visible=True, axis_label=picture.up_label, axis_label_text_font=FONT, axis_label_text_font_size=LABEL,
        axis_label_text_font_style="normal", axis_label_standoff=room - 22,
    )  # fmt: skip
    for made in fig.references():
        if made.name in ("left", "bottom"):  # HoloViews names the range of every figure alike
            made.name = None
    fig.tools = [tool for tool in fig.tools if type(tool).__name__ == "HoverTool"]
    for renderer, part in zip(fig.renderers, ("cells", *LINES, "texts", "ticks"), strict=True):
        source = renderer.data_source
        source.name = f"{picture.name}_{part}"
        source.data = dict(told[source.name])
        if "text" in source.data:
            renderer.glyph.text_font = {"value": FONT}
        renderer.name = f"{source.name}_glyph"
        if part in ("texts", "ticks"):
            renderer.level = "annotation"  # the labels of the first panel stand left of the frame
    return fig
