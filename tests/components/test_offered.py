"""What a visitor can reach of the families of feature maps is what the controls show."""

from __future__ import annotations

import pytest

from components.controls import CONTROLS, make_controls
from components.lesson import Lesson
from components.offered import KNOBS, OFFERED, WIDE, slid, turned
from components.words import SOFTMAX, WIDTHS
from compute.feature_maps import FEATURE_MAPS, read_member, spell


@pytest.mark.parametrize("d_k", WIDTHS)
def test_every_member_that_a_knob_shows_has_a_kernel_among_the_defaults_or_the_turned(d_k):
    known = {read_member(word).merged() for word in FEATURE_MAPS} | set(turned(d_k))
    for phi in FEATURE_MAPS:
        knob = CONTROLS["knob"].make(Lesson(phi=phi, d_k=d_k))
        assert {read_member(word).merged() for word in knob.options.values()} <= known
    assert SOFTMAX not in {phi.word for phi in known}


def test_turned_members_are_those_of_the_knobs_but_the_defaults():
    """By hand: Taylor's two forms have one kernel."""
    random = [f"{word}~m~{m}" for word in ("favor", "trig") for m in (16, 64)]
    assert [spell(phi) for phi in turned(16)] == [*random, *(f"dpfp~nu~{nu}" for nu in (1, 2, 4, 5, 6))]


def test_a_member_that_does_not_exist_at_a_width_is_left_out(monkeypatch):
    monkeypatch.setitem(KNOBS, "nu", (1, 8))
    assert [[phi.nu for phi in turned.__wrapped__(d) if phi.word == "dpfp"] for d in (4, 8)] == [[1], [1, 8]]


def test_the_slider_goes_through_the_powers_of_two():
    slider = make_controls(Lesson(phi="favor"), ("features",))["features"]
    stops = [2**i for i in range(slider.start, slider.end + 1)]
    assert (stops[0], stops[-1]) == OFFERED
    assert [phi.m for phi, d_k in slid() if (phi.word, d_k) == ("trig", 4)] == stops
    assert len(slid()) == 2 * len(stops) * len(WIDTHS) and set(slid()) > WIDE
