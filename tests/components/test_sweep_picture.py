"""Pictures of sweeps: every cell where its value belongs, whatever grid a run has."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from components.sweep_columns import CELL, SCALE_PANEL, STEP, columns
from components.sweep_picture import draw
from components.sweep_pictures import PICTURES
from components.sweep_shown import Panel, axis, said, slab
from components.sweep_theory import LEVELS
from components.sweep_times import clocked
from compute.memory_laws import mean_cosine
from compute.sweeps.base import Result
from compute.sweeps.places import find
from compute.sweeps.registry import SWEEPS
from compute.sweeps.running import run
from compute.sweeps.shipped import shipped

SMALL = {
    "crosstalk": {"widths": (8, 16), "trials": 8, "load": 4},
    "recall": {"widths": (8, 16), "values": (16, 64), "pairs": (4, 8, 16), "trials": 8},
    "random-features": {"kinds": ("positive", "trig"), "lengths": (0.5, 1.0), "widths": (16, 64), "draws": 200},
    "trained-recall": {"mixers": ("additive",), "widths": (4, 8), "pairs": (4, 8), "steps": 10},
    "times": {"forms": ("left", "chunkwise"), "heads": (1,), "tokens": (256, 512), "d": 16},
    "rank": {"lengths": (16, 32), "widths": (4,), "draws": 2},
}


@pytest.fixture(scope="module", params=PICTURES)
def shown(request):
    picture = PICTURES[request.param]
    sweep = SWEEPS[picture.sweep]
    return picture, run(sweep, replace(sweep.quick, **SMALL[picture.sweep]), find("cpu"))


def test_every_cell_lies_in_its_panel_row_and_column_and_says_its_value(shown):
    picture, result = shown
    values, cells = slab(result, picture), columns(picture, result)[f"{picture.name}_cells"]
    panels, up, across = (axis(result, picture, name) for name in (picture.panels, picture.up, picture.across))
    rows = [*zip(*(cells[c] for c in ("left", "bottom", "panel", "x", "y", "said")))]
    rows = [row for row in rows if row[2] != SCALE_PANEL]
    assert len(rows) == np.isfinite(values).sum() > 0
    for left, bottom, panel, x, y, told in rows:
        p = int((left + 1e-9) // STEP)
        i, j = round((left - p * STEP) * len(across)), round(bottom * len(up))
        assert (panel, x, y) == (picture.heading(panels[p]), picture.tick(across[i]), picture.tick(up[j]))
        assert told == picture.shown(float(values[p, j, i]))


def test_cells_say_their_values_or_a_scale_of_colours_behind_the_last_panel_does(shown):
    picture, result = shown
    values, told = slab(result, picture), columns(picture, result)
    cells, texts = told[f"{picture.name}_cells"], told[f"{picture.name}_texts"]
    shades = [k for k, panel in enumerate(cells["panel"]) if panel == SCALE_PANEL]
    if picture.written:
        written = [picture.shown(float(value)) for value in values[np.isfinite(values)]]
        assert not shades and not Counter(written) - Counter(texts["text"])
        return
    assert len(shades) > 10 and (np.diff(cells["color"][shades]) > 0).all()
    assert cells["left"][shades].min() > cells["right"][: shades[0]].max()
    for mark in picture.marks:  # stands at the height whose shade its value has
        at = [y for y, text in zip(texts["y"], texts["text"]) if text == f"{mark:g}"]
        assert any(y == pytest.approx(np.clip(picture.level(np.asarray(mark)), 0, 1)) for y in at)


def test_colours_rise_with_the_value_and_stay_on_the_scale(shown):
    picture, result = shown
    values = np.linspace(np.nanmin(slab(result, picture)), np.nanmax(slab(result, picture)), 20)
    assert (np.diff(picture.level(values)) > 0).all()
    colours = columns(picture, result)[f"{picture.name}_cells"]["color"]
    assert colours.min() >= 0 and colours.max() <= 1


def test_the_figure_holds_the_columns_of_its_result_under_their_names(shown):
    picture, result = shown
    fig, told = draw(picture, result), columns(picture, result)
    assert {renderer.data_source.name for renderer in fig.renderers} == set(told)
    for renderer in fig.renderers:
        given = told[renderer.data_source.name]
        assert set(renderer.data_source.data) == set(given)
        for column, values in given.items():
            assert list(renderer.data_source.data[column]) == list(values)


def test_contours_run_where_the_value_crosses_the_level():
    picture = PICTURES["memory.crosstalk_sweep"]
    result = run(SWEEPS["crosstalk"], replace(SWEEPS["crosstalk"].quick, **SMALL["crosstalk"]), find("cpu"))
    values, lines = slab(result, picture), columns(picture, result)["memory.crosstalk_sweep_contours"]
    n = values.shape[2]
    for xs, ys in zip(lines["xs"], lines["ys"]):
        p = int(xs[0] // STEP)
        places = (np.asarray(xs) - p * STEP) * n - 0.5
        row = np.asarray(ys) * values.shape[1] - 0.5
        for x, y in zip(places, row):
            if abs(y - round(y)) < 1e-9:  # on a row of cells: between two columns that straddle a level
                low, high = values[p, round(y), int(np.floor(x))], values[p, round(y), min(n - 1, int(np.ceil(x)))]
                assert any(min(low, high) - 1e-9 <= level <= max(low, high) + 1e-9 for level in LEVELS)


def test_the_theory_of_the_additive_rule_is_the_law_at_its_level():
    across, up = tuple((i + 1) / 4 for i in range(32)), (16, 64, 256)
    theory, values = PICTURES["memory.crosstalk_sweep"].theory, np.ones((3, 32))
    lines = theory(Panel("additive", across, up, values))
    assert theory(Panel("delta", across, up, values)) == [] and len(lines) == len(LEVELS)
    for level, (loads, widths) in zip(LEVELS, lines):
        for load, d in zip(loads, widths):
            if np.isnan(load):
                assert not mean_cosine(8 * d, 1 / d) < level < mean_cosine(max(1, d / 4), 1 / d)
            else:
                assert mean_cosine(load * d, 1 / d) == pytest.approx(level, abs=2e-3)


def test_the_dashed_line_of_random_features_is_where_their_relative_variance_is_one():
    across, up = (0.25, 1.0, 2.0, 3.0), (16, 4096)
    theory = PICTURES["random-features.random-features_sweep"].theory
    ((lengths, widths),) = theory(Panel("positive", across, up, np.ones((2, 4))))
    np.testing.assert_allclose(np.expm1(lengths**2) / widths, 1.0)
    assert theory(Panel("trig", across, up, np.ones((2, 4)))) == []


def test_a_result_says_its_device_its_date_its_seed_and_what_is_missing(shown):
    result = shown[1]
    about = result.about
    told = said(result)
    assert about["device"]["name"] in told and about["date"] in told and f"seed {about['question']['seed']}" in told
    half = replace(result, about={**about, "finished": 1, "points": 4})
    assert "1 of 4 points" in said(half) and "points" not in told


def test_a_cell_has_what_the_hover_shows():
    assert set(CELL) == {"color", "panel", "x", "y", "said"}


@pytest.mark.parametrize(("up", "many"), [(tuple(f"form_{i}" for i in range(12)), 12), (tuple(range(12)), 4)])
def test_every_word_of_an_axis_is_written_and_of_many_numbers_a_few(up, many):
    picture = PICTURES["bracketing.times_sweep"]
    about = {"axes": {"heads": (1,), "form": up, "T": (16, 64)}, "dims": {"ms": ["heads", "form", "T"]}}
    picture = replace(picture, turns=lambda panel: [], more={})  # such forms are none, and nothing is counted of them
    ticks = columns(picture, Result({"ms": np.ones((1, 12, 2))}, about))["bracketing.times_sweep_ticks"]
    assert len(ticks["text"]) == many and ticks["text"][-1] == picture.tick(up[-1])


@pytest.mark.parametrize("name", PICTURES)
def test_ticks_of_a_panel_do_not_touch(name):
    """A digit of 11 px is 6.4 wide; a page 1440 wide leaves its panels 1,000 or less."""
    picture = PICTURES[name]
    told = columns(picture, shipped(picture.sweep))[f"{name}_texts"]
    panels = len(axis(shipped(picture.sweep), picture, picture.panels))
    row = sorted((x, text) for x, y, text in zip(told["x"], told["y"], told["text"]) if y == -0.09)
    for (x, left), (to, right) in pairwise(row):
        assert (to - x) * 900 / (panels * STEP) > 6.4 * (len(left) + len(right)) / 2 + 4, (left, right)


def test_a_time_has_two_digits_and_the_unit_that_keeps_it_short():
    times = (0.0534, 0.09951, 0.112, 2.03, 99.4, 112.0, 428.3, 550.8)
    assert [clocked(ms) for ms in times] == [
        "53 µs", "0.1 ms", "0.11 ms", "2 ms", "99 ms", "112 ms", "428 ms", "0.55 s",
    ]  # fmt: skip
