"""The memory page's picture as HoloViews would have it: a DynamicMap a figure, redrawn in Python for every choice.

Served beside the product by `python -m benchmarks ask`, to see what an answer saves.
"""

from __future__ import annotations

import holoviews as hv
import numpy as np
import panel as pn

from components.lesson import Question
from components.memory import VIEW
from components.palette import diverging
from components.reel import frame_columns
from components.view import start_positions
from compute.memory import WRITE_RULES

hv.extension("bokeh")


def columns(rule: str) -> dict:
    told = VIEW.answer(Question(rule=rule))
    framed = frame_columns(VIEW.reels, told, start_positions())
    return {name: {**told.get(name, {}), **framed.get(name, {})} for name in (*told, *framed)}


def curve(rule: str) -> hv.Overlay:
    told = columns(rule)
    c, here = told["memory.curve"], told["memory.here"]
    return (
        hv.Curve((c["n"], c["law"]), "pairs written n", "mean cosine").opts(line_dash="dashed")
        * hv.Scatter((c["n"], c["newest"]), "pairs written n", "mean cosine").opts(size=3)
        * hv.Curve((c["n"], c["mean"]), "pairs written n", "mean cosine").opts(line_width=2.4)
        * hv.VLine(len(told["memory.state"]["image"][0]))
        * hv.Scatter((here["x"], here["y"]), "pairs written n", "mean cosine").opts(size=10)
        * hv.Labels((here["x"], here["y"], here["text"]), ["pairs written n", "mean cosine"])
    ).opts(height=240, responsive=True, xlim=(0, 262), ylim=(0, 1.18))


def state(rule: str) -> hv.Image:
    image = np.asarray(columns(rule)["memory.state"]["image"][0])
    rows, width = image.shape
    return hv.Image(image, bounds=(0, 0, width, rows)).opts(width=250, height=240, cmap=diverging(), clim=(0, 255))


def bars(rule: str) -> hv.Overlay:
    told = columns(rule)
    ends = told["memory.ends"]
    cosines = np.nan_to_num(told["memory.pairs"]["cosine"])
    edges = np.arange(len(cosines) + 1) + 0.5
    read = hv.Histogram((edges, cosines), kdims="stored pair", vdims="cosine")
    return (read * hv.Scatter((ends["x"], ends["y"]), "stored pair", "cosine").opts(size=7)).opts(
        height=130, responsive=True, xlim=(0, 262), ylim=(-0.62, 1.06)
    )


def energy(rule: str) -> hv.Overlay:
    told = columns(rule)["memory.energies"]
    return (
        hv.Curve((told["n"], told["law"]), "pairs written n", "crosstalk / signal").opts(line_dash="dashed")
        * hv.Curve((told["n"], told["energy"]), "pairs written n", "crosstalk / signal")
    ).opts(height=140, responsive=True, xlim=(0, 262), ylim=(0.02, 400), logy=True)


class Rules(pn.widgets.RadioButtonGroup):
    _debounce = 0


chosen = Rules(options={rule.replace("_", " "): rule for rule in WRITE_RULES}, value="additive")
maps = [
    hv.DynamicMap(draw, streams=[hv.streams.Params(chosen, ["value"], rename={"value": "rule"})])
    for draw in (curve, state, bars, energy)
]
pn.Column(chosen, *maps).servable()
