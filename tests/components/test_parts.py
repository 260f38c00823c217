"""Small parts that views share: how numbers are said, how labels are spread, controls, colours, formulas."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components.axes import AXES
from components.controls import CONTROLS, make_controls, variables
from components.formula import at_stops, mathml, under_finger
from components.lesson import SERVER, Lesson, Question
from components.offered import KNOBS
from components.palette import LIGHT, SLOTS, diverging, rising
from components.plots import spread
from components.reel import fill
from components.says import decimals, each_decimals, each_row, percent, tokens
from components.words import KEYS, PHIS, WIDTHS
from compute.feature_maps import FEATURE_MAPS
from compute.memory import WRITE_RULES

heights = st.lists(st.floats(-5, 5, allow_nan=False), min_size=1, max_size=14)

# Labels


@given(heights, st.floats(0.001, 2))
def test_spread_labels_do_not_overlap_and_keep_their_order(given_heights, gap):
    low, high = -3.0, 3.0
    placed = spread(given_heights, gap, low, high)
    room = min(gap, (high - low) / max(1, len(placed) - 1))
    order = np.argsort(given_heights, kind="stable")
    rising_labels = np.asarray(placed)[order]
    assert np.all(np.diff(rising_labels) >= room * 0.98 - 1e-9)
    assert rising_labels[0] >= low - 1e-9 and rising_labels[-1] <= high + 1e-9


@given(heights)
def test_labels_with_room_enough_stay_where_they_are(given_heights):
    apart = sorted({round(h) for h in given_heights})
    assert spread([float(h) for h in apart], 0.5, -5, 5) == [float(h) for h in apart]


def test_two_equal_labels_part_evenly():
    assert spread([0.5, 0.5], 0.2, 0, 1) == pytest.approx([0.4, 0.6])


def test_no_labels_need_no_room():
    assert spread([], 0.1, 0, 1) == []


# Numbers


@given(st.floats(-2, 2))
@example(0.996)
@example(0.0009)
@example(-0.2)
def test_a_percentage_is_not_rounded_to_a_falsehood(share):
    """Nothing small is said to be nothing, and only all is all."""
    text = percent(share)
    assert text.endswith(" %") and "-" not in text
    if text.startswith(("under", "about")):
        assert 0 < abs(share) < 0.001 and text.startswith("under") == (share > 0)
        return
    number = float(text.removesuffix(" %").replace("−", "-"))
    assert number == pytest.approx(100 * share, abs=0.5001)
    assert (number == 100) <= (share >= 0.9995) and (number == 0) <= (abs(share) < 1e-12)
    if abs(share) < 0.01:
        assert number == pytest.approx(100 * share, abs=0.0501)


def test_tokens_of_a_row_by_hand():
    assert [each_row(x) for x in (8192, 10.4, 8, 2.375, 0.5)] == ["8,192", "10", "8", "2.4", "0.50"]


def test_percentages_by_hand():
    assert [percent(x) for x in (0.756, 0.04, 0.003, 0.0002, 0.0, 1.0, math.nan)] == [
        "76 %",
        "4 %",
        "0.3 %",
        "under 0.1 %",
        "0 %",
        "100 %",
        "undefined",
    ]


@given(st.floats(-1e6, 1e6, allow_nan=False))
@example(7.7e-5)
@example(-3e-7)
def test_decimals_are_plain_numbers_that_a_reader_can_read(value):
    text = decimals(value)
    assert "e" not in text.split()[-1] and "-" not in text, text
    if re.fullmatch(r"−?\d+(\.\d+)?", text):
        number = float(text.replace("−", "-"))
        assert number == pytest.approx(value, rel=0.0501, abs=1e-3)
        assert not (number == 0 and text.startswith("−"))


def test_tokens_are_grouped_by_thousands():
    assert tokens(2**20) == "1,048,576" and tokens(8192.0) == "8,192"


def test_gaps_of_a_phrase_are_filled_in_order():
    assert fill("{} of {}", ["3", "4"]) == "3 of 4"


# Controls


def choices_of(widget):
    """All options, or the middle and both ends of a range."""
    options = getattr(widget, "options", None)
    return (
        list(options.values() if isinstance(options, dict) else options)
        if options
        else [widget.value, widget.start, widget.end]
    )


FOUND = ("model", "compare")
"""Words whose control finds an entry and is empty again."""


@pytest.mark.parametrize("word", [word for word in CONTROLS if word in SERVER and word not in ("phi", *FOUND)])
def test_a_control_and_its_word_follow_each_other(word):
    lesson = Lesson()
    widget = make_controls(lesson, (word,))[word]
    assert widget.value == getattr(lesson, word) == SERVER[word].default
    choices = choices_of(widget)
    widget.value = choices[-1]
    assert getattr(lesson, word) == choices[-1]
    setattr(lesson, word, choices[0])
    assert widget.value == choices[0]


@pytest.mark.parametrize("word, stops", [("phi", PHIS), ("d_k", WIDTHS), ("keys", KEYS), ("rule", tuple(WRITE_RULES))])
def test_a_control_offers_exactly_the_values_of_its_word(word, stops):
    assert tuple(make_controls(Lesson(), (word,))[word].options.values()) == stops


@pytest.mark.parametrize("word", [word for word in CONTROLS if word in SERVER])
def test_every_value_a_control_offers_is_legal_in_the_address(word):
    widget = make_controls(Lesson(), (word,))[word]
    for value in choices_of(widget):
        assert SERVER[word].read(SERVER[word].write(value)) == value


@pytest.mark.parametrize("d_k", WIDTHS)
@pytest.mark.parametrize("phi", PHIS)
def test_the_knobs_offered_fit_the_width(phi, d_k):
    """A map without a choice shows its width, disabled."""
    widget = make_controls(Lesson(phi=phi, d_k=d_k), ("knob",))["knob"]
    assert widget.disabled == (len(widget.options) < 2) and widget.value == phi
    if phi in FEATURE_MAPS:
        assert widget.disabled != bool(set(KNOBS) & set(FEATURE_MAPS[phi].__dataclass_fields__))
    for text, value in widget.options.items():
        assert SERVER["phi"].read(value) == value
        if phi in FEATURE_MAPS:
            assert text.partition(" ")[0] == f"{Question(phi=value, d_k=d_k).map.d_phi(d_k):,}"


def test_choosing_a_family_forgets_the_knobs_of_the_last_one():
    lesson = Lesson()
    widgets = make_controls(lesson, ("phi", "knob"))
    widgets["phi"].value = "favor"
    widgets["knob"].value = "favor~m~16"
    assert lesson.phi == "favor~m~16" and widgets["phi"].value == "favor"
    widgets["phi"].value = "relu"
    assert lesson.phi == "relu" and widgets["knob"].value == "relu" and widgets["knob"].disabled


def test_dials_show_only_while_they_are_of_use():
    lesson = Lesson()
    widgets = make_controls(lesson, ("rho", "alpha", "beta"))
    assert [w.visible for w in widgets.values()] == [False, False, False]
    lesson.rule, lesson.keys = "gated_delta", "correlated"
    assert [w.visible for w in widgets.values()] == [True, True, True]
    lesson.rule = "decay"
    assert [w.visible for w in widgets.values()] == [True, True, False]


# Colours and formulas


def test_no_two_slots_share_a_colour_within_or_across_themes():
    values = [value for pair in SLOTS.values() for value in pair]
    assert len(set(values)) == len(values)
    assert all(re.fullmatch("#[0-9a-f]{6}", value) for value in values)


def test_every_map_and_rule_has_a_slot_and_a_css_variable():
    assert {*PHIS, *WRITE_RULES} <= set(LIGHT)
    css = variables()
    for slot, (light, dark) in SLOTS.items():
        assert css.count(f"--slot-{slot}:") == 2 and f"--slot-{slot}:{light}" in css and f"--slot-{slot}:{dark}" in css


@pytest.mark.parametrize("palette", [diverging(), rising()])
def test_image_palettes_have_one_colour_a_byte(palette):
    assert len(palette) == 256 and all(re.fullmatch("#[0-9a-f]{8}", colour) for colour in palette)


@pytest.mark.parametrize("latex", [m.latex for m in FEATURE_MAPS.values()] + [r.latex for r in WRITE_RULES.values()])
def test_formulas_become_well_formed_mathml(latex):
    assert xml.fromstring(mathml(latex)).tag.endswith("math")
    assert "\\" not in "".join(xml.fromstring(mathml(latex)).itertext())


def test_both_bars_of_a_norm_keep_their_size_though_one_carries_the_exponent():
    bars = re.findall("<mo[^>]*>&#x02016;", mathml(r"\tfrac{1}{2}\lVert S\rVert^2"))
    assert len(bars) == 2 and all('stretchy="false"' in bar for bar in bars)


def test_what_an_answer_says_of_a_stop_stands_under_its_symbol():
    formula = mathml(rf"{under_finger('x', 'tokens', 'some-view.reel.size')} + 1")
    told = {"some-view.reel": {"size": ["7", "1.2·10⁶"]}}
    for i, number in enumerate(told["some-view.reel"]["size"]):
        assert "".join(xml.fromstring(at_stops(formula, {"tokens": i}, told)).itertext()) == f"x{number}+1"


@pytest.mark.parametrize("axis", [axis for axis in AXES if axis != "rtol"])
def test_every_stop_has_a_number_that_stands_under_its_symbol_and_no_pairs_have_none(axis):
    formula = mathml(rf"{under_finger('x', axis)} + 1")
    for i, stop in enumerate(AXES[axis].stops):
        number = AXES[axis].number(i)
        if axis == "n" and stop == 0:
            assert number == "none yet"  # which no formula takes for a number
        else:
            assert float(number.replace(",", "")) == pytest.approx(stop + (axis == "t"), rel=1e-5)  # t counts from 1
        assert "".join(xml.fromstring(at_stops(formula, {axis: i})).itertext()) == f"x{number}+1"


@pytest.mark.parametrize("places", [1, 2, 3])
def test_many_numbers_are_said_as_each_by_itself(places):
    """At random, on halves where the last bit decides, where the number of places changes, and what is no number."""
    rng = np.random.default_rng(0)
    halves = np.arange(-2000, 2000) / 2000
    near = np.array([0.1, 0.01, 0.0995, 0.00995, 1e-4, 1e-9, 100, 99.995])
    odd = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, 12345.678])
    beside = np.concatenate([near, -near, np.nextafter(near, 0), np.nextafter(near, 200)])
    values = np.concatenate([rng.uniform(-1.1, 1.1, 5000), rng.uniform(0, 0.2, 2000), halves, beside, odd])
    values = np.concatenate([values, np.nextafter(halves, 2), 30 * rng.standard_normal(2000)])
    assert each_decimals(values, places) == [decimals(value, places) for value in values]
