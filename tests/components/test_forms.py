"""Two modes: what the page says of the three forms, and of a recurrence that was broken on purpose."""

from __future__ import annotations

import re

import numpy as np
import pytest
from forms_asked import FIRST, RANDOM_TOKENS, asked, curves, frames, last, questions, text_of

from app.session import same
from components.controls import CONTROLS
from components.forms import VIEW
from components.forms_frames import CEILING, FLOOR
from components.forms_picture import BOXES, READS
from components.forms_run import HAND, RANDOM, long_sums
from components.lesson import Lesson, Question
from components.teaching import teaching
from components.words import EXAMPLES, PHIS, PITFALLS, WORDS
from compute.attention import softmax_attention
from compute.feature_maps import FEATURE_MAPS
from compute.pitfalls import PITFALLS as MISTAKES
from compute.toys import queries_and_keys

every_pitfall = pytest.mark.parametrize("pitfall", PITFALLS)


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
    for phi, name in (("elu", "elu+1"), ("taylor", "Taylor")):  # what is greyed, said where everybody reads it
        said = text_of(asked(phi=phi), "forms.aside")
        assert said.startswith("φ, d_k and draw rest: these three bring their own") and f"take {name}." in said


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


# Words, controls, teaching


def test_every_pitfall_of_the_address_is_a_mistake_with_an_explanation():
    assert tuple(MISTAKES) == PITFALLS == tuple(READS)
    for word, mistake in MISTAKES.items():
        assert set(READS[word].touched) <= set(BOXES)
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
