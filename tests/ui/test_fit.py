"""Views in frames of other people's sizes: nothing is cut unseen, and Share knows the height that each asks for."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.outside  # half a minute

SLIDES = ((1200, 760), (960, 540))
STATE = """() => {
  const root = document.documentElement, said = document.querySelector('.beyond')
  return {tall: Math.ceil(document.body.getBoundingClientRect().height), room: innerHeight,
    over: 'over' in root.dataset,
    scrolls: getComputedStyle(root).overflowY != 'hidden' && root.scrollHeight > innerHeight, told: !said.hidden,
    empty: [...document.querySelectorAll('.row [data-figure]')].filter(home => home.clientHeight < 30).length}
}"""


def test_a_frame_shows_all_of_a_view_or_says_that_there_is_more(tab, name):
    for width, height in SLIDES:
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.open(name, embed="1", hide="side,below")
        seen = tab.page.evaluate(STATE)
        assert seen["over"] == seen["scrolls"] == seen["told"] == (seen["tall"] > seen["room"]), (width, seen)
        assert not seen["empty"]
        if seen["over"]:
            tab.page.mouse.move(width / 2, height / 2)
            tab.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            tab.page.wait_for_function("document.querySelector('.beyond').hidden")


def test_a_frame_that_becomes_lower_and_higher_again_leaves_no_trace(tab):
    tab.page.set_viewport_size({"width": 1200, "height": 900})
    tab.open("memory", embed="1", hide="side,below")
    before, tall = tab.pictures(), tab.page.evaluate(STATE)["tall"]
    drawn = tab.page.evaluate("Explorer.model('memory.by_n').height")
    tab.page.set_viewport_size({"width": 1200, "height": tall - 40})
    tab.wait("document.documentElement.hasAttribute('data-tight')")
    tab.wait("drawn => Explorer.model('memory.by_n').height < drawn", drawn)
    tab.page.set_viewport_size({"width": 1200, "height": 900})
    tab.wait("!document.documentElement.hasAttribute('data-tight')")
    tab.wait("drawn => Explorer.model('memory.by_n').height == drawn", drawn)
    assert tab.pictures() == before


@pytest.mark.parametrize("page", ["explorer", "recall"])
def test_share_offers_the_height_that_the_view_has_in_its_frame(tab, browser, server, page):
    from driving import Tab

    tab.open(page)
    tab.page.locator("[data-share]").click()
    tab.wait("/px/.test(document.querySelector('.fits').textContent)")
    for hide in ("side,below", "controls,side,below,head,rail"):
        if hide.startswith("controls"):
            tab.page.locator("[data-figure-only]").click()
        tab.page.locator("[name=size]").select_option(index=1)
        tab.wait("document.querySelector('.fits').textContent.includes('nothing is cut')")
        offered = int(tab.page.locator("[name=height]").input_value())
        width = int(tab.page.locator("[name=width]").input_value())
        assert f'width="{width}" height="{offered}"' in tab.page.locator('[data-snippet="iframe"]').text_content()
        context = browser.new_context(viewport={"width": width, "height": offered})
        framed = Tab(context.new_page(), server)
        framed.open(page, embed="1", hide=hide)
        seen = framed.page.evaluate(STATE)
        context.close()
        assert seen["tall"] == offered and not seen["over"]
    tab.page.locator("[name=height]").fill("240")
    tab.page.locator("[name=height]").press("Tab")
    tab.wait("/scale it to/.test(document.querySelector('.fits').textContent)")
    inner = tab.page.locator('[data-snippet="iframe"]').text_content()
    inner = inner.partition("<iframe")[2]
    width, height, scale = (
        float(re.search(f'{what}[=:(]"?([\\d.]+)', inner)[1]) for what in ("width", "height", "scale")
    )
    assert height * scale == pytest.approx(240, abs=1)
    context = browser.new_context(viewport={"width": round(width), "height": round(height)})
    framed = Tab(context.new_page(), server)
    framed.open(page, embed="1", hide=hide)
    assert not framed.page.evaluate(STATE)["over"]
    context.close()
