"""Random features: axes go as far as what is drawn, at every length, and say how far."""

from __future__ import annotations

import numpy as np
import pytest
from asked import shown

from app.page import view
from components.axes import AXES
from components.lesson import Question
from components.plots import RIGHT
from components.random_features_answer import EDGE, ERRORS, FEATURES
from components.random_features_bands import RATIO_TICKS, RATIOS
from components.random_features_said import D_PHI, KINDS
from components.random_features_sweep import WIDTHS, stored

VIEW = view("random-features")
STOPS = AXES["r"].stops


def at(length: float) -> int:
    return AXES["r"].index(length)


def units() -> np.ndarray:
    """What the axis of trigonometric estimates counts in, at every stop: where it ends, over its end in units."""
    return VIEW.answer(Question())["random-features.reel"]["trig_top"] / RATIOS[1]


def test_the_axis_of_trigonometric_estimates_holds_the_middle_half_of_the_draws_at_every_length():
    """By powers of ten, as few as do; where it goes stands at its ticks and in the title of the figure."""
    reel, usual = VIEW.answer(Question())["random-features.reel"], WIDTHS.index(D_PHI)
    middle = stored()[0]["trig"].quantiles[:, usual, [1, 3]]
    for k, unit in enumerate(units()):
        low, high = reel["trig_bottom"][k], reel["trig_top"][k]
        assert low <= middle[k, 0] and middle[k, 1] <= high and low / high == pytest.approx(RATIOS[0] / RATIOS[1])
        assert unit == pytest.approx(1) or middle[k, 0] < low / 10 or middle[k, 1] > high / 10
        inside = [tick for value, tick in RATIO_TICKS.items() if low <= value <= high]
        assert f"axis to {inside[-1]} " in reel["trig_title"][k]
    assert "axis to 4 " in reel["trig_title"][at(2.0)] and "axis to 4·10⁴ " in reel["trig_title"][at(4.757)]
    assert RATIO_TICKS[-2000.0] == "−2,000" and RATIO_TICKS[4e13] == "4·10¹³"


def test_the_ticks_of_the_axis_of_estimates_are_those_that_bokeh_draws_in_it():
    """Two of a power of ten at a time, whatever the power: each has its text."""
    (fig,) = (
        cell.figure
        for row in VIEW.draw(Question(), False).rows
        for cell in row
        if cell.figure.name == "random-features.trig_ratio"
    )
    ticker, told = fig.yaxis[0].ticker, fig.yaxis[0].major_label_overrides
    assert ticker.mantissas == [2] and ticker.base == 10
    for unit in set(units()):
        assert {float(round(k * unit)) for k in (-2, 0, 2, 4)} <= set(told)


def test_every_line_of_the_errors_is_in_its_frame_at_every_length():
    reel = VIEW.answer(Question())["random-features.reel"]
    for k, top in enumerate(reel["error_top"]):
        drawn = [shown("random-features", Question(), "random-features.errors", kind)[k] for kind in KINDS]
        assert ERRORS[0] < np.nanmin(drawn) and np.nanmax(drawn) < top
        names = np.sort(np.log10(reel["error_names"][k]))
        assert (np.diff(names) > 0.13 * np.log10(top / ERRORS[0])).all()
        half = 0.065 * np.log10(top / ERRORS[0])  # of a name, in a frame of 92 px
        assert names[0] - half > np.log10(ERRORS[0]) and names[-1] + half < np.log10(top)
    assert list(np.diff(np.unique(reel["error_top"], return_index=True)[1]) > 0) == [True]  # it grows once
    assert reel["error_top"][at(4.0)] == ERRORS[1]


def test_the_curve_of_features_and_its_point_are_in_their_frame_at_every_length():
    told = VIEW.answer(Question())
    for needed in (told["random-features.needed"]["features"], told["random-features.reel"]["dot_y"]):
        assert FEATURES[0] < needed.min() and needed.max() < FEATURES[1] / 30


def test_names_of_heads_stand_right_of_all_that_crosses_the_figure():
    """The finger goes to the last stop, lines end there; a name fits into the border and stands by itself."""
    answer, heights = VIEW.answer(Question()), []
    for name in ("ladder", "widest"):
        rungs = answer[f"random-features.{name}"]
        assert (rungs["to"] == EDGE).all() and STOPS[-1] < EDGE
        assert max(len(text) for text in rungs["text"]) * 5.4 + 6 <= VIEW.room + RIGHT
        heights += list(np.log(rungs["beside"]) / np.log(FEATURES[1] / FEATURES[0]))
    assert np.diff(heights).min() > 0.11


def test_the_number_at_the_point_on_the_curve_is_not_cut_where_the_figure_begins():
    """On the narrowest figure, 690 px from 0.25 to 8.6, a figure of the number 8 px wide."""
    rows = [shown("random-features", Question(), "random-features.dot", c) for c in ("x", "text", "align", "dx")]
    for x, text, align, dx in zip(*rows):
        left = np.log(x / 0.25) / np.log(8.6 / 0.25) * 690 + dx - (8 * len(text) if align == "right" else 0)
        assert left >= 0, (x, text)
