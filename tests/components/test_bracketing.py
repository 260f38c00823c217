"""Bracketing: what is drawn and said is what the costs are, and a machine's times are those of the shipped sweep."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from asked import said, shown

from app.page import view
from components.axes import AXES
from components.bracketing_answer import NAME
from components.bracketing_said import equal_cost, width
from components.bracketing_times import CLEAR, clock, measured
from components.lesson import Question
from components.powers import times
from components.teaching import teaching
from components.view import start_positions
from components.words import HEADS, PHIS
from compute.sweeps.form_flops import FLOPS
from compute.sweeps.form_times import CHUNK
from compute.sweeps.shipped import shipped

STOPS = AXES["T"].stops
VIEW = view("bracketing")
every_head = pytest.mark.parametrize("head", HEADS)


def at(T: int) -> int:
    assert T in STOPS
    return STOPS.index(T)


def told(question: Question, node: str, T: int) -> str:
    return said("bracketing", question, f"bracketing.{node}")[at(T)]


def props(question: Question) -> dict:
    rows = VIEW.answer(question)["bracketing.props"]
    return {(m, p): v for m, p, v in zip(rows["model"], rows["property"], rows["value"], strict=True)}


# FLOPs


def test_at_65536_tokens_and_width_128_the_right_order_saves_a_factor_512():
    """2.199·10¹² against 4.295·10⁹, by hand: 2·T²·256 and 4·T·128²."""
    headline = told(Question(), "headline", 65536)
    assert "512 times fewer" in headline and "4.3·10⁹" in headline and "2.2·10¹²" in headline
    curves = VIEW.answer(Question())["bracketing.curves"]
    assert curves["left"][at(65536)] == 2 * 65536**2 * 256 and curves["right"][at(65536)] == 4 * 65536 * 128**2


def test_one_token_more_costs_twice_over_twice_the_cache_and_the_same_from_the_state():
    """4·T·128 over the cache, 4·128² from the state, by hand; softmax has no state."""
    curves = VIEW.answer(Question())["bracketing.curves"]
    assert curves["cache"][at(65536)] == 4 * 65536 * 128 and set(curves["state"]) == {4 * 128**2}
    assert f"{curves['cache'][at(65536)]:,.0f} or {curves['state'][0]:,.0f}" == told(Question(), "next", 65536)
    assert np.isnan(VIEW.answer(Question(phi="softmax"))["bracketing.curves"]["state"]).all()


@every_head
def test_equal_cost_is_said_at_the_width_of_the_head_and_cheaper_only_beyond(head):
    question = Question(head=head)
    assert "both orders" in told(question, "headline", head)
    assert "left order" in told(question, "headline", head // 2)
    assert "right order" in told(question, "headline", 2 * head)
    assert props(question)["bracketing.star", "location"] == head + 1
    aside = dict(zip(*VIEW.answer(question)["bracketing.texts"].values(), strict=True))["bracketing.aside"]
    assert f"T* = {head} exactly" in aside and f"from {head + 1}" in aside


def test_a_crossing_between_two_lengths_is_not_called_equal():
    """d_φ = 256, d_v = 128: T* = 170 and two thirds."""
    question = Question(phi="favor", head=128)
    assert equal_cost(256, 128) == Fraction(512, 3)
    aside = dict(zip(*VIEW.answer(question)["bracketing.texts"].values(), strict=True))["bracketing.aside"]
    assert "Equal" not in aside and "171" in aside


def test_doubling_the_length_makes_one_line_four_times_as_high_and_the_other_twice():
    curves = VIEW.answer(Question())["bracketing.curves"]
    powers_of_two = [at(2**p) for p in range(2, 23)]
    for name, factor in (("left", 4), ("right", 2)):
        assert all(curves[name][b] == factor * curves[name][a] for a, b in pairwise(powers_of_two))


@pytest.mark.parametrize("phi", PHIS)
def test_the_dots_lie_on_the_lines_and_inside_the_axis(phi):
    question = Question(phi=phi)
    curves, (low, high) = (
        VIEW.answer(question)["bracketing.curves"],
        (props(question)["bracketing.y", end] for end in ("start", "end")),
    )
    for i, (x, y) in enumerate(
        zip(
            shown("bracketing", question, "bracketing.dots", "x"),
            shown("bracketing", question, "bracketing.dots", "y"),
            strict=True,
        )
    ):
        assert list(x) == [STOPS[i]] * 2
        for k, name in enumerate(("left", "right")):
            if np.isfinite(curves[name][i]):
                assert y[k] == curves[name][i] and low < y[k] < high


def test_the_ratio_stands_between_the_two_dots():
    question = Question()
    heights = shown("bracketing", question, "bracketing.gap", "y")
    words = shown("bracketing", question, "bracketing.gap", "text")
    dots = shown("bracketing", question, "bracketing.dots", "y")
    assert words[at(65536)] == "512×" and words[at(128)] == words[at(16)] == ""
    for height, word, (left, right) in zip(heights, words, dots, strict=True):
        assert not word or right < height < left
    places = [shown("bracketing", question, "bracketing.gap", to) for to in ("align", "dx")]
    assert [p[at(4096)] for p in places] == ["left", 8] and [p[-1] for p in places] == ["right", -8]  # clear of names


# Softmax


def test_softmax_has_no_right_order():
    question = Question(phi="softmax")
    answer = VIEW.answer(question)
    assert np.isnan(answer["bracketing.curves"]["right"]).all()
    assert answer["bracketing.curves"]["left"][at(16)] == 2 * 16 * 16 * (128 + 128)
    assert np.isnan(answer["bracketing.reel"]["right_w"]).all() and answer["bracketing.right_note"]["text"][0]
    assert answer["bracketing.ends"]["text"][1] == answer["bracketing.cross"]["text"][0] == ""
    assert told(question, "right_flops", 16) == "not possible"
    assert props(question)["bracketing.star", "location"] < 1  # left of the axis
    assert all("right order" not in text for text in said("bracketing", question, "bracketing.headline"))


def test_softmax_can_only_be_run_in_parallel():
    ways = [told(Question(phi="softmax"), f"row.{i}.bytes", 65536) for i in range(3)]
    assert ways[0] == ways[2] == "not possible" and ways[1].endswith("FLOPs")


# Rectangles


@pytest.mark.parametrize(
    "question", [Question(), Question(head=16), Question(phi="taylor")], ids=["wide", "narrow", "taylor"]
)
def test_rectangles_are_to_scale_and_fill_their_height(question):
    """Sides in proportion to rows and columns, except where a side would be thinner than a hairline."""
    d_phi, _ = width(question.phi, question.head)
    answer = VIEW.answer(question)["bracketing.reel"]
    for i in (at(16), at(256), at(65536)):
        T, v = STOPS[i], question.head
        unit = max(T, d_phi, v)
        for side, matrices in {
            "left": [(d_phi, T), (T, d_phi), (T, T), (v, T)],
            "right": [(d_phi, T), (v, d_phi), (T, d_phi), (v, T)],
        }.items():
            for k, (wide, high) in enumerate(matrices):
                drawn = answer[f"{side}_w"][i, k], answer[f"{side}_h"][i, k]
                assert drawn == pytest.approx([max(wide / unit, 0.025), max(high / unit, 0.025)])


def test_products_fit_one_beside_the_other():
    """Columns of the first factor are rows of the second, at every stop."""
    sizes = VIEW.answer(Question(phi="taylor"))["bracketing.reel"]
    for left, right in zip(sizes["left_size"], sizes["right_size"], strict=True):
        (q, k, made, v), (q2, state, k2, v2) = ([re.split(r" ×\s", s) for s in row] for row in (left, right))
        assert q[1] == k[0] and made == [q[0], k[1]] and made[1] == v[0]
        assert k2[1] == v2[0] and state == [k2[0], v2[1]] and q2[1] == state[0]


@every_head
@pytest.mark.parametrize("phi", PHIS)
def test_names_of_lines_stand_clear_of_each_other_and_of_the_ends(phi, head):
    answer = VIEW.answer(Question(phi=phi, head=head))
    props, ends = answer["bracketing.props"], answer["bracketing.ends"]
    axis = {prop: value for model, prop, value in zip(*props.values()) if model == "bracketing.y"}
    low, high = np.log10([axis["start"], axis["end"]])
    named = [bool(text) for text in ends["text"]]
    at = (np.sort(np.log10(ends["y"][named])) - low) / (high - low)
    assert (np.diff(at) > NAME * 0.999).all() and at[0] > NAME * 0.499 and at[-1] < 1 - NAME * 0.499


def test_what_lies_between_the_products_is_said_in_bytes():
    """float32: 4·65,536² bytes are 16 GiB, 4·128² are 64 KiB."""
    assert told(Question(), "between", 65536) == "16 GiB or 64 KiB"
    assert "16 GiB" in told(Question(), "left_title", 65536) and "64 KiB" in told(Question(), "right_title", 65536)


# Modes and decoding


def test_the_modes_trade_steps_for_numbers_kept():
    rows = [told(Question(), f"row.{i}.arithmetic", 4096) for i in range(3)]
    assert rows[0].startswith("4,096 steps") and "16,512 numbers" in rows[0]
    assert rows[1].startswith("1 step ") and "16,777,216 numbers" in rows[1]
    assert rows[2].startswith("64 steps") and [row.partition("; for ")[2][:8] for row in rows] == [
        "decoding",
        "short se",
        "training",
    ]


def test_decoding_by_softmax_compares_with_all_that_came_before():
    assert told(Question(), "decoding", 16) == "136"  # 1 + 2 + … + 16


# What a machine took


def test_times_are_those_of_the_shipped_sweep_and_the_page_names_the_machine():
    result, answer = shipped("times"), VIEW.answer(Question())
    axes, about = result.about["axes"], result.about
    for line, form in (("softmax", "softmax"), ("linear", "chunkwise")):
        for heads in (1, 16):
            drawn = answer[f"bracketing.{line}_{heads}"]
            at = dict(
                zip(axes["T"], result.arrays["ms"][axes["form"].index(form), axes["heads"].index(heads)].tolist())
            )
            known = {T: ms for T, ms in at.items() if ms == ms}
            assert list(drawn["T"]) == list(known) and list(drawn["seconds"] * 1e3) == pytest.approx([*known.values()])
    caption = dict(zip(*answer["bracketing.texts"].values(), strict=True))["bracketing.machine"]
    for part in (about["device"]["name"], "bfloat16", "torch 2", about["date"][:4], str(about["question"]["d"])):
        assert part in caption
    assert "+cu" not in caption


@pytest.mark.parametrize("heads", (1, 16))
def test_the_stated_crossing_starts_where_softmax_is_clearly_ahead_and_ends_where_it_is_clearly_behind(heads):
    points = {s.form: dict(zip(s.T, s.seconds, strict=True)) for s in measured().series if s.heads == heads}
    ratio = {T: points["softmax"][T] / points["linear"][T] for T in points["softmax"] if T in points["linear"]}
    low, high = measured().crossings[heads]
    assert all(r < 1 / CLEAR for n, r in ratio.items() if n <= low)
    assert all(r > CLEAR for n, r in ratio.items() if n >= high)
    assert all(1 / CLEAR <= r <= CLEAR for n, r in ratio.items() if low < n < high)


def test_what_the_page_says_of_the_crossings_in_time_is_what_was_measured():
    asked, head = teaching("bracketing").question, measured().head
    low, high = measured().crossings[1]
    first, last = (times(FLOPS["softmax"](T, head) / FLOPS["chunkwise"](T, head)) for T in (low, high))
    assert f"{first} to {last}" in VIEW.answer(Question())["bracketing.late"]["text"][0]
    took = {s.form: dict(zip(s.T, s.seconds, strict=True)) for s in measured().series if s.heads == 1}
    faster = {T: took["softmax"][T] / took["linear"][T] for T in (65536, 2**20)}
    ms = [f"{1e3 * took[form][65536]:.2g} ms" for form in ("linear", "softmax")]
    assert asked.because.startswith(f"{ms[0]} against {ms[1].replace('2 ms', '2.0 ms')}: {faster[65536]:.1f} times.")
    assert f"At 1,048,576 tokens it is {faster[2**20]:.0f} times faster" in asked.because
    assert f"up to {low:,} tokens" in asked.because and asked.options[asked.right] == f"about {faster[65536]:.0f} times"
    fewer = FLOPS["softmax"](65536, head) // FLOPS["chunkwise"](65536, head)
    assert f"in chunks of {CHUNK}, takes {fewer} times fewer FLOPs" in asked.question
    low, high = measured().crossings[16]
    assert asked.because.endswith(f"between {low:,} and {high:,}.")


@pytest.mark.parametrize("phi", ["elu", "softmax", "taylor"])
def test_the_rule_over_the_times_is_where_the_two_that_are_drawn_take_equal_flops(phi):
    """2·T²·256 against T·(2·128·256 + 4·128²), by hand: equal at 256; and the same pair is drawn whatever φ is."""
    assert 2 * 256**2 * 256 == 256 * (2 * 128 * 256 + 4 * 128**2)
    (rule,) = clock(VIEW.sources(Question()), 150, (1, 2e7), 118).select({"name": "bracketing.star_then"})
    note = VIEW.answer(Question(phi=phi))["bracketing.star_note"]
    assert rule.location == note["x"][0] == 257 and note["text"] == ["FLOPs of these two cross at 257"]


# Every question


def test_a_map_that_does_not_exist_at_this_width_is_counted_as_its_family_and_says_so():
    question = Question(phi="dpfp~nu~100", d_k=64, head=16)
    assert width(question.phi, 16)[0] == 2 * 3 * 16
    texts = dict(zip(*VIEW.answer(question)["bracketing.texts"].values(), strict=True))
    assert "does not exist" in texts["bracketing.aside"]


@pytest.mark.parametrize("phi", [*PHIS, "favor~m~4096", "taylor~symmetric~true"])
@every_head
def test_every_question_is_answered_in_the_same_columns(phi, head):
    first, now = VIEW.answer(Question()), VIEW.answer(Question(phi=phi, head=head))
    assert now.keys() == first.keys()
    for name, columns in now.items():
        for column, values in columns.items():
            assert len(values) == len(first[name][column])
            if isinstance(values, np.ndarray):
                assert values.dtype == first[name][column].dtype and values.shape == first[name][column].shape


def test_the_first_picture_is_at_a_million_tokens():
    assert STOPS[start_positions()["T"]] == 2**20
