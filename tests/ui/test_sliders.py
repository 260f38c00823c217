"""Sliders under a hand: every stop can be reached, and round stops hold what comes near them."""

from __future__ import annotations

import pytest

from app.page import OVERVIEW, pages
from components.axes import AXES

REACH = """() => [...document.querySelectorAll('input[type=range][data-axis]')].filter(s => s.offsetParent)
  .map(s => [s.dataset.axis, (s.getBoundingClientRect().width - 16) / +s.max])"""
MILLION = AXES["T"].stops.index(2**20)


@pytest.mark.outside  # every page twice
@pytest.mark.parametrize("width", [1440, 1024])
def test_a_pixel_is_at_most_a_stop_on_every_page(tab, width):
    tab.page.set_viewport_size({"width": width, "height": 900})
    for page in pages():
        tab.open(page)
        tab.page.wait_for_load_state("networkidle")  # what is left in the middle of loading counts as a complaint
        told = tab.page.evaluate(REACH)
        assert told, page
        for axis, pixels in told:
            assert pixels >= (2.5 if axis == "T" else 1), (page, axis, pixels)


@pytest.mark.parametrize("width", [1440, 1024])
@pytest.mark.parametrize("page", [OVERVIEW, "sizing"])
def test_a_drag_that_ends_near_a_power_of_two_ends_on_it_and_the_keyboard_goes_stop_by_stop(tab, page, width):
    tab.page.set_viewport_size({"width": width, "height": 900})
    tab.open(page, T="4096")
    x, y, way = tab.grip("T")
    there = x + way * (MILLION - AXES["T"].stops.index(4096)) / (len(AXES["T"].stops) - 1)
    for off in (-3, -2, 2, 3):
        tab.page.mouse.move(*tab.grip("T")[:2])
        tab.page.mouse.down()
        tab.page.mouse.move(there - 60, y, steps=3)
        tab.page.mouse.move(there + off, y, steps=3)
        tab.release()
        assert AXES["T"].stops[tab.position("T")] == 2**20, off
        tab.page.mouse.click(there - 60, y)
    tab.page.mouse.click(there + off, y)  # so does a click
    tab.wait("stop => +document.querySelector('input[data-axis=T]').value == stop", MILLION)
    tab.slider("T").focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.wait("new URLSearchParams(location.search).get('T') == '881744'")
    assert tab.position("T") == MILLION - 1
