"""Two modes: what the page says of the three forms, and of a recurrence that was broken on purpose."""

from __future__ import annotations

import re

import numpy as np
import pytest

from app.session import same
from components.controls import CONTROLS
from components.forms import VIEW
from components.forms_frames import CEILING, FLOOR, PARTS, gap_heights, level, shown
from components.forms_picture import BOXES, READS
from components.forms_run import HAND, RANDOM, long_sums, run
from components.forms_said import fraction, sci
from components.lesson import Lesson, Question
from components.teaching import teaching
from components.words import EXAMPLES, PHIS, PITFALLS, WORDS
from compute.attention import softmax_attention
from compute.feature_maps import FEATURE_MAPS
from compute.pitfalls import PITFALLS as MISTAKES
from compute.toys import queries_and_keys

RANDOM_TOKENS = Question(example="random")
every_pitfall = pytest.mark.parametrize("pitfall", PITFALLS)
FIRST = VIEW.answer(Question())


def asked(**words) -> Question:
    return Question(**words)


def frames(question: Question) -> dict:
    """The frames of the tokens that there are."""
    T = HAND if question.example == "hand" else RANDOM
    return {name: column[:T] for name, column in VIEW.answer(question)["forms.frames"].items()}


def last(question: Question, column: str):
    return frames(question)[column][-1]


def curves(question: Question) -> dict:
    """Everything drawn against t, channel by channel."""
    told = VIEW.answer(question)
    channels = {
        f"{form}_{i + 1}": told["forms.outputs"][form].reshape(2, RANDOM + 1)[i, :RANDOM]
        for form in ("recurrent", "parallel", "chunkwise")
        for i in range(2)
    }
    T = HAND if question.example == "hand" else RANDOM
    drawn = {**channels, **{name: x for name, x in told["forms.checks"].items() if name != "t"}}
    assert all(np.isnan(x[T:]).all() for x in drawn.values())
    return {name: x[:T] for name, x in drawn.items()}


def text_of(question: Question, node: str) -> str:
    told = VIEW.answer(question)["forms.texts"]
    return told["text"][told["node"].index(node)]


def questions() -> list[Question]:
    found = [asked(example=e, pitfall=p, chunk=c) for e in EXAMPLES for p in PITFALLS for c in (1, 2, 10, 64)]
    found += [asked(example="random", phi=phi, d_k=d_k, pitfall=p) for phi in PHIS for d_k in (4, 64) for p in PITFALLS]
    found += [asked(phi="softmax"), asked(phi="taylor", d_k=64, seed=99)]
    return found


# What the hand example says


def test_three_tokens_are_read_with_exact_fractions():
    said = frames(Question())["headline"]
    assert [re.search(r"o. = (\(.*?\))", text)[1] for text in said] == ["(1, 0)", "(5/9, 4/9)", "(7/12, 2/3)"]
    assert said[-1].startswith("All three tokens are read")


@pytest.mark.parametrize("example, T", [("hand", HAND), ("random", RANDOM)])
def test_later_stops_hold_still_at_the_last_token(example, T):
    told = VIEW.answer(asked(example=example))
    turned = [told["forms.frames"]["headline"][row] for row in told["forms.reel"]["last"]]
    assert len(turned) == 64 and turned[:T] == frames(asked(example=example))["headline"]
    assert set(turned[T - 1 :]) == {turned[T - 1]} != {turned[T - 2]}
    assert told["forms.frames"]["token"].tolist()[T - 1 :] == [T] * (RANDOM - T + 1)


def test_nothing_that_a_frame_is_found_by_depends_on_the_question():
    """A turn while an answer is still coming in would miss its row."""
    for question in questions():
        told = VIEW.answer(question)
        assert all(np.array_equal(told["forms.reel"][c], FIRST["forms.reel"][c]) for c in FIRST["forms.reel"])
        assert {len(c) for name in ("forms.frames", "forms.checks") for c in told[name].values()} == {RANDOM}


def test_every_number_of_the_three_steps_stands_in_the_picture():
    """φ(k), v, write, φ(q), S, z, numerator, output, denominator, by hand."""
    by_hand = (
        "2 1  1 0  2 0 1 0  1 1  2 0 1 0  2 1  3 0  1 0  3",
        "1 2  0 1  0 1 0 2  2 1  2 1 1 2  3 3  5 4  5/9 4/9  9",
        "1 1  1 1  1 1 1 1  1 2  3 2 2 3  4 4  7 8  7/12 2/3  12",
    )
    assert frames(Question())["numbers"] == [text.split() for text in by_hand]


def test_the_kernel_matrix_shows_all_nine_entries_and_brackets_the_masked_ones():
    told = VIEW.answer(Question())["forms.matrix_numbers"]["text"]
    assert told == ["3", "(3)", "(2)", "5", "4", "(3)", "4", "5", "3"]
    assert frames(Question())["sum"] == ["Σ 3", "Σ 9", "Σ 12"]
    assert set(VIEW.answer(RANDOM_TOKENS)["forms.matrix_numbers"]["text"]) == {""}


def test_the_second_query_is_compared_with_softmax():
    said = frames(Question())["sentence"][1]
    assert "0.73 and 0.27" in said and "0.56 and 0.44" in said


def test_by_hand_the_forms_agree_exactly():
    told = frames(Question())
    assert set(told["recurrent_gap"]) == set(told["chunkwise_gap"]) == {"0"}
    assert told["denominator"] == ["3 · 3", "9 · 9", "12 · 12"]


def test_the_hand_example_has_a_map_of_its_own_and_says_so():
    other = VIEW.answer(asked(phi="taylor", d_k=64, seed=7))
    for name in FIRST:
        if name != "forms.texts":
            assert all(same(other[name][column], values) for column, values in FIRST[name].items()), name
    assert text_of(asked(phi="taylor"), "forms.aside").startswith("These three stay with elu+1")


# Agreement and mistakes


@pytest.mark.parametrize("chunk", [1, 7, 16, 36, 37, 64])
@pytest.mark.parametrize("phi", ["elu", "favor", "taylor", "hedgehog", "dpfp"])
def test_three_forms_of_random_tokens_agree_to_rounding(phi, chunk):
    told = curves(asked(example="random", phi=phi, chunk=chunk))
    for form in ("recurrent", "chunkwise"):
        assert np.nanmax(told[f"gap_{form}"]) < 1e-13
        np.testing.assert_allclose(told[f"{form}_1"], told["parallel_1"], atol=1e-6)


def test_the_forms_are_computed_separately():
    """Forms that share their arithmetic would not differ in the last digit."""
    told = curves(asked(example="random", chunk=10))
    assert (told["gap_recurrent"] > FLOOR).any() and (told["gap_chunkwise"] > FLOOR).any()
    assert (told["gap_recurrent"] != told["gap_chunkwise"]).any()


def test_gradients_agree_and_are_said():
    for node in ("forms.loop_gradients", "forms.chunk_gradients"):
        assert re.fullmatch(r"\d\.\d·10⁻¹[⁵⁶⁷⁸⁹]", text_of(RANDOM_TOKENS, node))


@pytest.mark.parametrize(
    "pitfall, example, least",
    [
        ("read_first", "hand", 0.1),
        ("read_first", "random", 0.5),
        ("transposed", "hand", 0.3),
        ("feature_sum", "hand", 1),
        ("feature_sum", "random", 10),
        ("eps_inside", "hand", 1e-9),
        ("eps_inside", "random", 1e-9),
        ("bf16", "random", 1e-4),
    ],
)
def test_a_mistake_stands_far_above_rounding_and_leaves_the_other_forms_alone(pitfall, example, least):
    told = curves(asked(example=example, pitfall=pitfall))
    assert np.nanmax(told["gap_recurrent"]) > least
    assert np.nanmax(told["gap_chunkwise"]) < 1e-14
    right = curves(asked(example=example))
    assert all(same(told[name], right[name]) for name in ("parallel_1", "chunkwise_1", "ones_parallel"))


def test_reading_first_is_undefined_at_the_first_token_by_hand_and_hidden_by_eps_elsewhere():
    told, drawn = VIEW.answer(asked(pitfall="read_first")), curves(asked(pitfall="read_first"))
    assert np.isnan(drawn["recurrent_1"][0]) and drawn["undefined"][0] == CEILING / 10
    assert "0/0" in told["forms.frames"]["headline"][0] and told["forms.frames"]["gap_text"][0][0] == "recurrent 0/0"
    assert told["forms.frames"]["recurrent_gap"][:3] == ["0/0", "0/0, then 0.44", "0/0, then 0.44"]
    told = VIEW.answer(asked(example="random", pitfall="read_first"))
    drawn = curves(asked(example="random", pitfall="read_first"))
    assert drawn["recurrent_1"][0] == 0 and "hides 0/0" in told["forms.frames"]["sentence"][0]


def test_a_transposed_state_goes_unnoticed_by_hand_and_does_not_fit_unequal_widths():
    said = frames(asked(pitfall="transposed"))["headline"]
    assert "instead of (1, 0)" in said[0] and all("right all the same" in text for text in said[1:])
    question = asked(example="random", pitfall="transposed")
    told = VIEW.answer(question)
    assert "16 features do not fit 8 values" in last(question, "headline")
    assert np.isnan(curves(question)["recurrent_1"]).all() and told["forms.trouble"]["text"] != [""]
    square = asked(example="random", pitfall="transposed", d_k=8)
    assert np.nanmax(curves(square)["gap_recurrent"]) > 0.1
    assert VIEW.answer(square)["forms.trouble"]["text"] == [""]


@pytest.mark.parametrize(
    "pitfall, passes", [("none", True), ("feature_sum", False), ("eps_inside", True), ("bf16", True)]
)
def test_constant_values_catch_the_sum_over_features_only(pitfall, passes):
    ones = curves(asked(example="random", pitfall=pitfall))["ones_recurrent"]
    assert np.allclose(ones, 1, atol=1e-4) == passes
    end = VIEW.answer(asked(example="random", pitfall=pitfall))["forms.constant_end"]
    assert end["text"] == ["1.00" if passes else "38.38"] and end["y"][0] == pytest.approx(ones[-1], rel=1e-6)
    refused = VIEW.answer(asked(example="random", pitfall="transposed"))["forms.constant_end"]
    assert refused["text"] == [""]


def test_an_eps_inside_the_map_gives_queries_without_features_an_average():
    question = asked(example="random", phi="relu", d_k=4, pitfall="eps_inside")
    told = curves(question)
    empty = np.argmax(told["gap_recurrent"])
    assert told["parallel_1"][empty] == 0 != told["recurrent_1"][empty] and "only ε" in last(question, "sentence")


def test_what_bfloat16_loses_is_drawn_and_said():
    sums = FIRST["forms.sums"]
    assert sums["bf16"].max() == 256 and sums["exact"][-1] == 512
    assert "stops at 256" in FIRST["forms.sum_names"]["text"][0]
    assert (
        long_sums()[2] == pytest.approx(0.78, abs=0.01)
        and text_of(Question(), "forms.long") == "78 % short after 4,096"
    )
    said = last(asked(example="random", pitfall="bf16"), "sentence")
    assert "stalls at 256" in said and "0.01 at 4" in said and "16,777,216" in said


def test_softmax_has_no_state_and_no_pitfall():
    question = asked(example="random", phi="softmax", pitfall="bf16")
    drawn = curves(question)
    assert np.isnan(drawn["recurrent_1"]).all() and np.isfinite(drawn["parallel_1"]).all()
    assert "no state of fixed width" in frames(question)["headline"][5]
    assert text_of(question, "forms.chunks") == "1 × 37"
    Q, K = (x[:RANDOM] for x in queries_and_keys(16, 0))
    V = np.random.default_rng([0, 1]).standard_normal((RANDOM, 8))
    np.testing.assert_allclose(drawn["parallel_2"], softmax_attention(Q, K, V)[:, 1], rtol=1e-5)


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


# Words, controls, teaching


def test_every_pitfall_of_the_address_is_a_mistake_with_an_explanation():
    assert tuple(MISTAKES) == PITFALLS == tuple(READS)
    for word, mistake in MISTAKES.items():
        assert set(READS[word][2]) <= set(BOXES)
        if word != "none":
            told = text_of(asked(example="random", pitfall=word), "forms.aside")
            assert told == f"{mistake.why} {mistake.caught_by}" and len(mistake.why) > 60


@pytest.mark.parametrize("word", ("example", "chunk", "pitfall"))
def test_a_control_of_this_page_and_its_word_follow_each_other(word):
    assert word in VIEW.asks
    lesson = Lesson()
    widget = CONTROLS[word].make(lesson)
    options = list(widget.options.values()) if hasattr(widget, "options") else [widget.start, widget.end]
    assert widget.value == WORDS[word].default
    for value in options:
        widget.value = value
        assert getattr(lesson, word) == value and WORDS[word].read(WORDS[word].write(value)) == value
    setattr(lesson, word, WORDS[word].default)
    assert widget.value == WORDS[word].default


def test_presets_are_legal_and_visit_both_examples_and_every_mistake():
    seen = {"example": {"hand"}, "pitfall": {"none"}}
    for preset in teaching("forms").presets:
        for word, text in preset.words.items():
            value = WORDS[word].read(text)
            if word in seen:
                seen[word].add(value)
    assert seen == {"example": set(EXAMPLES), "pitfall": set(PITFALLS)}


def test_marks_and_boxes_of_the_notices_and_the_question_are_drawn():
    drawing = VIEW.draw(Question(), False)
    named = {m.name for row in drawing.rows for cell in row for m in cell.figure.references() if m.name}
    told = teaching("forms")
    assert len(told.notices) == 3 and all(notice.marks for notice in told.notices)
    assert {*(mark for notice in told.notices for mark in notice.marks), *told.question.marks} <= named


def test_every_node_that_is_spoken_is_shown():
    spoken = {bind.node for reel in VIEW.reels for bind in reel.binds if bind.node} | set(FIRST["forms.texts"]["node"])
    captions = {cell.title_node for row in VIEW.draw(Question(), False).rows for cell in row}
    frame = {f"forms.{part}" for part in ("headline", "sentence", "subject", "aside")}
    assert spoken == {*VIEW.side_nodes, *captions, *frame} - {"forms.values"}


def test_signed_maps_say_how_near_to_zero_their_denominators_came():
    for phi in PHIS:
        if phi in FEATURE_MAPS and FEATURE_MAPS[phi].positivity == "no":
            assert "Nearest to zero" in last(asked(example="random", phi=phi), "sentence")
