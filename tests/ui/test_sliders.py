"""Sliders under a hand: every stop can be reached, and round stops hold what comes near them."""

from __future__ import annotations

import pytest

from app.page import OVERVIEW, pages, view
from components.axes import AXES

REACH = """() => [...document.querySelectorAll('input[type=range][data-axis]')].filter(s => s.offsetParent)
  .map(s => [s.dataset.axis, (s.getBoundingClientRect().width - 16) / +s.max])"""
BOTTOM = """() => {
  const rail = [...document.querySelectorAll('.rail')].find(rail => rail.offsetParent)
  const top = rail.previousElementSibling.getBoundingClientRect().bottom, slider = rail.querySelector('input')
  return top + slider.getBoundingClientRect().bottom - rail.getBoundingClientRect().top
}"""
"""Where the slider of a view ends, stood it under its figures; it may be held in the window meanwhile."""

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


TALL = {
    "forms": [{"t": "2"}, {"example": "random", "phi": "trig", "pitfall": "bf16", "t": "36"}],
    "normaliser": [{}, {"phi": "trig", "way": "retnet", "tokens": "1024"}],
}
"""Views with the most rows of figures: at the start, and in a state of many words."""


@pytest.mark.parametrize("page", TALL)
def test_the_slider_of_a_tall_view_lies_in_a_laptops_window_and_stays_in_a_lower_one(tab, page):
    for words in TALL[page]:
        tab.page.set_viewport_size({"width": 1440, "height": 900})
        tab.open(page, **words)
        assert tab.page.evaluate(BOTTOM) <= 890, words
        tab.page.set_viewport_size({"width": 1024, "height": 768})
        tab.settle()
        box = tab.slider(view(page).axis).bounding_box()
        assert box["y"] + box["height"] <= 768 < tab.page.evaluate(BOTTOM), words
