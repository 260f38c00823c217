"""Times that a named machine took for two forms of attention: two rows of the sweep of measured times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource
from bokeh.plotting import figure

from components.palette import LIGHT
from components.plots import finger, labels, mark, plot, ticks
from components.powers import times
from components.reel import Answer
from components.says import TOKEN_TICKS
from compute.sweeps.form_flops import FLOPS, fewer_from
from compute.sweeps.form_times import CHUNK, dtype_on
from compute.sweeps.shipped import shipped

CLEAR_OF_POINTS, OVER_IT = 0.03, 0.15
"""Heights of the note left of the grey field and of the one where FLOPs cross, in seconds: short contexts take less."""

SLOTS = {"softmax": "cache", "linear": "state"}

FORMS = {"softmax": "softmax", "linear": "chunkwise"}
"""Which form of the sweep a line shows."""

HEADS = (1, 16)
CLEAR = 1.25
"""Ratio of times from which one form is said to be ahead; less may turn from one run to the next."""


@dataclass(frozen=True)
class Series:
    """Times of one way to compute attention: lengths in tokens, and seconds."""

    form: str
    heads: int
    T: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Measured:
    """One machine's times, and between which lengths the two forms' times cross, by number of heads."""

    machine: str
    head: int
    series: tuple[Series, ...]
    crossings: dict[int, tuple[int, int]]


@cache
def measured() -> Measured:
    result = shipped("times")
    about, axes = result.about, result.axes
    day, torch = date.fromisoformat(about["date"]), about["device"]["versions"].partition("torch ")[2]
    ms = {
        (line, heads): result.arrays["ms"][list(axes["form"]).index(form), list(axes["heads"]).index(heads)]
        for line, form in FORMS.items()
        for heads in HEADS
    }
    machine = f"{about['device']['name']}, {dtype_on(about['device']['kind'])}, torch {torch.partition('+')[0]}"
    return Measured(
        f"{machine}, {day.day} {day:%B %Y}",
        about["question"]["d"],
        tuple(
            Series(line, heads, axes["T"][seen].astype(float), took[seen].astype(float) / 1e3)
            for (line, heads), took in ms.items()
            for seen in (np.isfinite(took),)
        ),
        {heads: _crossing(axes["T"], ms["softmax", heads] / ms["linear", heads]) for heads in HEADS},
    )


def _crossing(T: np.ndarray, ratio: np.ndarray) -> tuple[int, int]:
    """The last length at which softmax is clearly ahead, and the first at which it is clearly behind."""
    return int(T[ratio < 1 / CLEAR][-1]), int(T[ratio > CLEAR][0])


def machine() -> str:
    told = measured()
    return (
        f"time, measured on one {told.machine}: softmax (torch) against linear attention in chunks of {CHUNK} (ours), "
        f"causal, always d = d_φ = {told.head}"
    )


def counted_equal() -> int:
    """The length from which on the linear form that is drawn takes fewer FLOPs than the softmax beside it.  The two
    orders cross before it: inside its chunks this form makes scores, too."""
    return fewer_from(FORMS["linear"], measured().head, FORMS["softmax"])


def fewer_at(T: int) -> float:
    """How many times fewer FLOPs the linear form takes at a length."""
    return FLOPS[FORMS["softmax"]](T, measured().head) / FLOPS[FORMS["linear"]](T, measured().head)


def source_of(series: Series) -> str:
    return f"bracketing.{series.form}_{series.heads}"


def measured_times() -> Answer:
    """The measured points; they do not depend on what is asked."""
    told = measured()
    found = {source_of(s): {"T": s.T, "seconds": s.seconds} for s in told.series}
    ends = {source_of(s): (s.T[-1], s.seconds[-1]) for s in told.series}
    names = {
        "bracketing.softmax_1": ("softmax, 1 head", "left", 9, 0),
        "bracketing.softmax_16": ("softmax, 16 heads", "right", -9, 0),
        "bracketing.linear_1": ("linear, 1 head", "left", 9, 0),
        "bracketing.linear_16": ("linear, 16 heads", "left", 9, 0),
    }
    equal, (low, high) = counted_equal(), told.crossings[1]
    later = [times(fewer_at(T)) for T in (low, high)]
    return {
        **found,
        "bracketing.time_names": {
            "x": np.array([ends[source][0] for source in names]),
            "y": np.array([ends[source][1] for source in names]),
            "text": [text for text, *_ in names.values()],
            "align": [align for _, align, *_ in names.values()],
            "right": np.array([float(right) for *_, right, _ in names.values()]),
            "down": np.array([float(down) for *_, down in names.values()]),
        },
        "bracketing.star_note": {
            "x": np.array([float(equal)]),
            "y": np.array([OVER_IT]),
            "text": [f"FLOPs of these two cross at {equal:,}"],
        },
        "bracketing.late": {
            "x": np.array([float(low)]),
            "y": np.array([CLEAR_OF_POINTS]),
            "text": [f"one head crosses in here, {later[0]} to {later[1]} later"],
        },
    }


def clock(sources: dict[str, ColumnDataSource], height: int, x: tuple[float, float], right: int) -> figure:
    """Times of a named machine: points where it was measured, thin lines only to lead the eye."""
    told = measured()
    fig = plot(
        "bracketing.times", height, x, (6e-6, 2), x_log=True, y_log=True,
        x_label="context T (tokens)", y_label="time of one call", right=right,
    )  # fmt: skip
    ticks(fig.xaxis[0], TOKEN_TICKS)
    ticks(fig.yaxis[0], {1e-4: "0.1 ms", 1e-3: "1 ms", 1e-2: "10 ms", 0.1: "0.1 s", 1: "1 s"})
    low, high = told.crossings[1]
    band = BoxAnnotation(name="bracketing.late_band", left=low, right=high, level="underlay", visible=False)
    band.update(fill_color=LIGHT["faint"], fill_alpha=0.22, line_color=None)
    fig.add_layout(band)
    mark(fig, "bracketing.star_then", counted_equal(), slot="faint", dash="dashed")
    finger(fig, "bracketing.now", 2**20)
    for series in told.series:
        source, colour = sources[source_of(series)], LIGHT[SLOTS[series.form]]
        fig.line("T", "seconds", source=source, line_color=colour, line_width=1, line_alpha=0.6)
        fig.scatter(
            "T", "seconds", source=source, size=8, line_color=colour, line_width=1.6,
            fill_color=colour if series.heads == 1 else LIGHT["ground"],
        )  # fmt: skip
    labels(fig, sources["bracketing.time_names"], over=True, x_offset="right", y_offset="down", text_align="align")
    labels(fig, sources["bracketing.star_note"], "muted", x_offset=6, name="bracketing.star_name")
    late = {"x_offset": -6, "text_align": "right", "name": "bracketing.late_name"}
    labels(fig, sources["bracketing.late"], **late).visible = False
    return fig
