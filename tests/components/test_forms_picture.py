"""Two modes, the picture: chunks and cells, and that an answer has one shape whatever is asked."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from forms_asked import FIRST, RANDOM_TOKENS, asked, frames, last, questions, text_of

from components.forms import VIEW
from components.forms_frames import PARTS, gap_heights, level, shown
from components.forms_picture import BOXES
from components.forms_run import HAND, RANDOM, run
from components.forms_said import fraction, sci
from components.lesson import Question
from components.words import PITFALLS

every_pitfall = pytest.mark.parametrize("pitfall", PITFALLS)


# The read


@pytest.mark.parametrize("pitfall", [pitfall for pitfall in PITFALLS if pitfall != "eps_inside"])
def test_what_is_drawn_gives_the_numerator_and_the_denominator_that_are_drawn(pitfall):
    for numbers in frames(asked(pitfall=pitfall))["numbers"]:
        drawn = np.array([float(Fraction(text)) if text != "0/0" else np.nan for text in numbers])
        q, S, z, num, den = drawn[8:10], drawn[10:14].reshape(2, 2), drawn[14:16], drawn[16:18], drawn[20]
        assert np.array_equal(S @ q if pitfall == "transposed" else S.T @ q, num)
        assert den == (q.sum() if pitfall == "feature_sum" else z @ q)


@every_pitfall
def test_the_read_is_named_with_the_token_whose_state_it_takes(pitfall):
    named = VIEW.answer(asked(pitfall=pitfall))["forms.reads"]["text"]
    state = {"one_summary": "S₃", "read_first": "Sₜ₋₁"}.get(pitfall, "Sₜ")
    assert named[0] == state and named[2].startswith(state) and not any("_" in text for text in named)


def test_the_formula_with_sizes_is_that_of_the_mistake():
    said = {p: VIEW.answer(asked(example="random", pitfall=p))["forms.math"]["text"][1] for p in PITFALLS}
    assert len({*said.values()}) == len(PITFALLS) - 1  # a state in bfloat16 is read as the right one is
    plain = {p: re.sub("<[^>]+>", "", text).replace("&#x000D7;", "×") for p, text in said.items()}
    assert "16×8" in plain["transposed"] and "16×8" not in plain["none"] and "8×16" in plain["none"]


def test_the_ring_of_the_answer_is_at_what_it_says():
    told = VIEW.answer(asked())["forms.first"]
    assert told["y"].tolist() == [5 / 8, 5 / 8] and "(5/8, 5/8)" in told["text"][0]
    assert np.isnan(VIEW.answer(asked(example="random", phi="softmax"))["forms.first"]["y"]).all()


# What leaves the frame


@pytest.mark.parametrize("pitfall", ["feature_sum", "one_summary", "bf16", "eps_inside", "read_first"])
@pytest.mark.parametrize("phi", ["elu", "relu", "trig"])
def test_what_leaves_the_frame_of_outputs_is_marked_at_its_edge_and_has_a_name(phi, pitfall):
    question = asked(example="random", phi=phi, pitfall=pitfall)
    told, ends = VIEW.answer(question), frames(question)
    props = {(m, p): v for m, p, v in zip(*(told["forms.props"][c] for c in ("model", "property", "value")))}
    low, high = (props["forms.values.y", end] for end in ("start", "end"))
    drawn, below, above = (told["forms.outputs"][c] for c in ("recurrent", "below", "above"))
    for marked, left in ((below, drawn < low), (above, drawn > high)):
        assert np.array_equal(np.isfinite(marked), left) and ((low < marked) & (marked < high))[left].all()
    own, right = (told["forms.outputs"][c].reshape(2, RANDOM + 1)[:, :RANDOM].T for c in ("recurrent", "parallel"))
    for t, texts in enumerate(ends["end_text"]):
        far = np.abs(own[t] - right[t]) > 0.02 * (high - low)
        assert texts == ["oₜ[1]", "oₜ[2]", *(f"recurrent [{i}]" * bool(x) for i, x in zip((1, 2), far))], t
        heights = np.sort([y for y, text in zip(ends["end_y"][t], texts) if text])
        assert low <= heights[0] and heights[-1] <= high and np.diff(heights).min() > 0.13 * (high - low)


def test_of_elu_summed_over_features_something_leaves_the_frame():
    told = VIEW.answer(asked(example="random", pitfall="feature_sum"))["forms.outputs"]
    assert np.isfinite(told["below"]).sum() > 2 and np.isnan(told["above"]).all()
    assert np.isnan(VIEW.answer(RANDOM_TOKENS)["forms.outputs"]["below"]).all()


def test_without_a_state_no_empty_boxes_are_drawn_and_the_temperature_is_said_there():
    told = VIEW.answer(asked(example="random", phi="softmax"))
    assert np.isfinite(told["forms.boxes"]["left"]).sum() == 1
    said = [text for text in told["forms.reads"]["text"] if text]
    assert len(said) == 2 and said[0] == "vₜ" and "54.60, 20.09 times as large" in said[1]
    assert np.isfinite(FIRST["forms.boxes"]["left"]).all() and FIRST["forms.reads"]["text"][-1] == ""


def test_a_tiny_denominator_fits_its_box():
    numbers = frames(asked(example="random", phi="relu", d_k=4, pitfall="eps_inside"))["numbers"]
    told = [row[-1] for row in numbers]
    assert told[3].startswith("≈10⁻") and max(map(len, told)) <= 6, told


# Chunks


@pytest.mark.parametrize("chunk", [1, 10, 16, 37, 64])
def test_the_grid_covers_every_token_once(chunk):
    told = VIEW.answer(asked(example="random", chunk=chunk))["forms.chunks"]
    start, stop = told["start"][~np.isnan(told["start"])], told["stop"][~np.isnan(told["stop"])]
    assert start[0] == 0 and stop[-1] == 1 and np.array_equal(start[1:], stop[:-1])
    assert len(start) == -(-RANDOM // chunk)


def test_the_state_is_handed_on_when_a_chunk_begins():
    told = frames(asked(example="random", chunk=10))
    passed = (~np.isnan(told["handed"])).sum(axis=1)
    assert [int(passed[t]) for t in (0, 9, 10, 19, 20, 36)] == [0, 0, 1, 1, 2, 3]
    assert (
        "3× so far" in told["sentence"][-1]
        and text_of(asked(example="random", chunk=10), "forms.chunks") == "3 × 10 + 7"
    )


def test_what_is_not_read_yet_lies_under_a_cover():
    """It begins between the token read and the next one, and below the row of the matrix."""
    for question, T in ((Question(), HAND), (RANDOM_TOKENS, RANDOM)):
        told, t = frames(question), np.arange(T)
        assert (told["unread"] > t + 1).all() and (told["unread"] < t + 2).all()
        np.testing.assert_allclose(told["bottom"], (t + 1) / T, rtol=1e-6)


@pytest.mark.parametrize("phi", ["elu", "identity", "relu", "taylor"])
def test_the_matrix_is_drawn_cell_by_cell_below_and_on_the_diagonal(phi):
    told = VIEW.answer(asked(example="random", phi=phi))["forms.kernel"]
    rows, columns = (np.rint(told[edge] * RANDOM).astype(int) for edge in ("top", "left"))
    assert sorted(zip(rows, columns)) == [(t, s) for t in range(RANDOM) for s in range(t + 1)]
    kernel = run("random", phi, 16, 0, 16, "none").kernel[rows, columns]
    signs = np.sign(told["value"].astype(int) - 128)
    assert (signs[signs != 0] == np.sign(kernel)[signs != 0]).all() and np.abs(
        told["value"].astype(int) - 128
    ).max() >= 127
    order = np.argsort(kernel)
    assert (np.diff(told["value"][order].astype(int)) >= 0).all()


def test_the_matrix_by_hand_is_drawn_in_thirds_by_square_roots():
    told = {name: x[:6] for name, x in FIRST["forms.kernel"].items()}
    np.testing.assert_allclose(told["left"] * 3, [0, 0, 1, 0, 1, 2], atol=1e-6)
    np.testing.assert_allclose(told["bottom"] * 3, [1, 2, 2, 3, 3, 3], atol=1e-6)
    assert told["value"].tolist() == [round(127.5 + 127.5 * (x / 5) ** 0.5) for x in (3, 5, 4, 4, 5, 3)]
    assert np.isnan(FIRST["forms.kernel"]["left"][6:]).all()


def test_cells_of_the_recurrence_fill_their_boxes():
    for question, shape in ((Question(), (2, 2)), (RANDOM_TOKENS, (16, 8)), (asked(example="random", d_k=4), (4, 8))):
        told, start = VIEW.answer(question)["forms.cells"], 0
        for name, (most_rows, most_columns) in PARTS.items():
            left, top, right, bottom = BOXES[name]
            box = {edge: told[edge][start : start + most_rows * most_columns] for edge in told}
            start += most_rows * most_columns
            there = ~np.isnan(box["left"])
            assert there.sum() == min(shape[0], most_rows) * min(shape[1], most_columns)
            area = ((box["right"] - box["left"]) * (box["bottom"] - box["top"]))[there].sum()
            assert area == pytest.approx((right - left) * (bottom - top), rel=1e-5)
            assert (box["left"][there].min(), box["top"][there].min()) == pytest.approx((left, top))


def test_levels_of_the_cells_follow_the_numbers_by_hand():
    """Step 3: S = (3 2; 2 3) on a scale of 3, v = (1, 1) on one of 1, o = (7/12, 2/3)."""
    cells, at = last(Question(), "cells"), {}
    start = 0
    for name, (rows, columns) in PARTS.items():
        at[name], start = cells[start:], start + rows * columns
    assert at["S"][:4].tolist() == [255, round(127.5 + 85), round(127.5 + 85), 255] and at["S"][4] == 128
    assert at["v"][:2].tolist() == [255, 255] and at["o"][:2].tolist() == [round(127.5 * 19 / 12), round(127.5 * 5 / 3)]


# Form


@pytest.mark.parametrize("question", questions(), ids=str)
def test_an_answer_has_the_same_shape_whatever_is_asked(question):
    """The browser writes into the arrays it has; pools are replaced as a whole."""
    told, pools = VIEW.answer(question), {bind.pool for reel in VIEW.reels for bind in reel.binds}
    assert {name: set(columns) for name, columns in told.items()} == {name: set(c) for name, c in FIRST.items()}
    for name, columns in told.items():
        lengths = {len(column) for column in columns.values()}
        assert len(lengths) == 1, name
        for column, values in columns.items():
            old = FIRST[name][column]
            assert isinstance(values, np.ndarray) == isinstance(old, np.ndarray), (name, column)
            if isinstance(values, np.ndarray):
                assert values.dtype == old.dtype and values.shape[1:] == old.shape[1:], (name, column)
            if name not in pools:
                assert len(values) == len(old), (name, column)
    for name, keys in (("forms.props", ("model", "property")), ("forms.texts", ("node",)), ("forms.math", ("node",))):
        assert all(told[name][key] == FIRST[name][key] for key in keys)
    spoken = [*told["forms.frames"]["headline"], *told["forms.frames"]["sentence"], *told["forms.texts"]["text"]]
    assert not [text for text in spoken if {"nan", "inf", "None"} & set(re.split(r"[\s·,.]+", text))]


def test_the_frames_weigh_little():
    """One choice sends them all."""
    sizes = [
        sum(c.nbytes for c in told.values() if isinstance(c, np.ndarray)) for told in map(frames, questions()[:40])
    ]
    assert max(sizes) < 50_000


@pytest.mark.parametrize("count", [1, 2, 15, 16, 24, 273, 4161])
def test_of_many_rows_sixteen_are_shown_evenly_spread(count):
    rows = shown(count, 16)
    assert len(rows) == min(count, 16) == len(set(rows)) and rows[0] == 0 and rows[-1] < count
    assert set(np.diff(rows)) <= {count // 16, -(-count // 16), 1 if count <= 16 else count // 16}


def test_cells_are_white_at_zero_and_where_nothing_is():
    assert level(np.array([0.0, np.nan, 2.0, -2.0]), 1.0).tolist() == [128, 128, 255, 0]
    assert level(np.zeros(2), 0.0).tolist() == [128, 128]


@pytest.mark.parametrize("gaps", [[0.0, 0.0], [3e-16, 2e-16], [0.5, 1e-16], [1e-12, 1e-11], [np.nan, 0.0]])
def test_labels_of_differences_keep_apart_from_each_other_and_from_the_dashed_line(gaps):
    heights = np.log10(gap_heights(gaps))
    assert abs(heights[0] - heights[1]) > 2.3 and (np.abs(heights - np.log10(2.0**-52)) > 1.9).all()


def test_numbers_are_said_as_fractions_or_powers():
    assert [sci(x) for x in (0.0, 4.4e-16, 0.014, 15.37, np.nan)] == ["0", "4.4·10⁻¹⁶", "0.014", "15.37", "undefined"]
    assert [fraction(x) for x in (2.0, -0.5, np.nan, 1 / 3)] == ["2", "−1/2", "0/0", "0.3333333"]
