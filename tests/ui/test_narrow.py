"""Where the side column lies under the view: what is said of a choice and its picture are in sight together."""

from __future__ import annotations

import pytest

from app.page import OVERVIEW
from components.teaching import teaching

NARROW = {"width": 1024, "height": 768}
SEEN = """at => {
  const box = node => node.getBoundingClientRect()
  const figure = at ? `[data-figure="${at}"], [data-text="${at}"]` : '.card .row [data-figure]'
  const said = box(document.querySelector('.presets .caption')), shown = box(document.querySelector(figure))
  return {
    said: said.height > 0 && said.top >= 0 && said.bottom <= innerHeight,
    shown: shown.height > 0 && shown.top >= 0 && shown.top + shown.height / 2 <= said.top,
  }
}"""
WHOLE = {"said": True, "shown": True}


def said(tab) -> str:
    return tab.page.locator(".presets .caption").inner_text()


def take(tab, preset):
    button = tab.page.locator("[data-preset]").get_by_text(preset.name, exact=True)
    if preset.group and not button.is_visible():
        tab.page.locator(".presets summary", has_text=preset.group).click()
    button.click()
    tab.led(preset.words)


@pytest.mark.parametrize("page", ["memory", "forms"])
def test_each_preset_is_in_sight_with_what_is_said_of_it(tab, page):
    tab.page.set_viewport_size(NARROW)
    tab.open(page)
    for preset in teaching(page).presets:
        take(tab, preset)
        assert said(tab) == preset.caption
        assert tab.page.evaluate(SEEN, preset.at) == WHOLE, preset.name
    tab.page.locator("[data-caption-close]").click()
    assert said(tab) == "" and not tab.page.locator(".saying").is_visible()


def test_the_answer_to_the_question_is_in_sight_with_its_reason(tab):
    tab.page.set_viewport_size(NARROW)
    tab.open("memory")
    tab.page.locator("[data-option]").first.click()
    tab.settle()
    assert said(tab) == tab.page.locator(".because").inner_text() != ""
    assert tab.page.evaluate(SEEN, "") == WHOLE


def test_embedded_the_presets_stay_in_their_column(tab):
    tab.page.set_viewport_size(NARROW)
    tab.open("memory", embed="1")
    assert tab.page.locator(".presets").bounding_box()["y"] > tab.page.locator(".side").bounding_box()["y"]


def test_after_a_preset_that_leads_to_a_sweep_the_next_leads_back_to_the_head(tab):
    tab.open("recall")
    first, away = (next(p for p in teaching("recall").presets if bool(p.at) == far) for far in (False, True))
    head = "document.querySelector('.card .head').getBoundingClientRect().top"
    for preset, back in ((away, False), (first, True)):
        take(tab, preset)
        tab.page.evaluate("back => back || scrollBy(0, 400)", back)
        assert (tab.page.evaluate(head) >= 0) == back


def test_the_overview_has_its_figures_and_sliders_on_one_screen(tab):
    tab.page.set_viewport_size({"width": 1440, "height": 960})
    tab.open(OVERVIEW)
    found = "[...document.querySelectorAll('.card [data-figure], .card input[type=range]')]"
    ends = tab.page.evaluate(f"{found}.map(node => node.getBoundingClientRect().bottom)")
    assert len(ends) >= 8 and max(ends) <= 960
