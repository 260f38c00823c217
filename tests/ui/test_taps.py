"""Pictures that are taken hold of: a pair under a click, the tolerance under the mouse, a preset's two axes."""

from __future__ import annotations

import math

import pytest
from checking import check

from components.axes import AXES
from components.lesson import Question
from components.rank_run import FLOOR

LINE = """() => {
  const {top} = document.querySelector('[data-figure="rank.values"]').getBoundingClientRect()
  const figure = Explorer.model('rank.values'), cut = Explorer.model('rank.cut').location
  return [top + figure.min_border_top, figure.inner_height, cut]
}"""


@pytest.mark.parametrize("figure", ["memory.bars", "memory.shares"])
def test_a_click_on_a_pair_takes_its_read_apart(tab, figure):
    tab.open("memory")
    tab.page.locator(f'[data-figure="{figure}"]').scroll_into_view_if_needed()
    box = tab.page.locator(f'[data-figure="{figure}"]').bounding_box()
    tab.page.mouse.click(box["x"] + 0.35 * box["width"], box["y"] + 40)
    tab.wait("() => new URLSearchParams(location.search).has('pair')")
    pair = int(tab.words["pair"])
    assert 60 < pair < 120 and f"pair {pair} " in tab.text("memory.apart")
    check(tab, "memory", Question(pair=pair))
    field = tab.page.locator('[data-control="pair"] input')
    field.focus()
    tab.page.keyboard.press("ArrowUp")
    tab.answered(pair=str(pair + 1))
    check(tab, "memory", Question(pair=pair + 1))


def test_a_click_beside_the_pairs_says_nothing(tab):
    tab.open("memory")
    box = tab.page.locator('[data-figure="memory.bars"]').bounding_box()
    tab.up.clear()
    tab.page.mouse.click(box["x"] + 12, box["y"] + 40)
    tab.page.wait_for_timeout(200)
    assert tab.patches() == 0 and "pair" not in tab.words


def test_the_tolerance_line_is_dragged_and_nothing_goes_up(tab):
    tab.open("rank")
    top, height, cut = tab.page.evaluate(LINE)
    decade = height / (math.log10(3) - math.log10(FLOOR))
    y = top + decade * (math.log10(3) - math.log10(cut))
    x = tab.page.locator('[data-figure="rank.values"]').bounding_box()["x"] + 200
    tab.up.clear()
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x, y - 3.1 * decade, steps=6)
    tab.page.mouse.up()
    tab.page.wait_for_timeout(200)
    assert tab.up == []
    i = AXES["rtol"].stops.index(7.0)
    assert tab.position("rtol") == i and tab.page.evaluate(LINE)[2] == pytest.approx(1e-7)
    ranks = tab.source("rank.names")["rank"]
    tab.slider("rtol").focus()
    tab.page.keyboard.press("End")
    tab.settle()
    assert tab.source("rank.names")["rank"] != ranks
    assert tab.page.evaluate(LINE)[2] == pytest.approx(10.0 ** -AXES["rtol"].stops[-1])


def test_two_axes_meet_in_one_number(tab):
    """The rank at N = 128 and a tolerance of 10⁻⁶ is that of an address with both words."""
    tab.open("rank", N=128, rtol=6)
    told, headline = tab.source("rank.names")["rank"], tab.text("rank.headline")
    tab.open("rank", N=128)
    assert tab.source("rank.names")["rank"] != told
    slider = tab.slider("rtol")
    slider.focus()
    for _ in range(8):
        tab.page.keyboard.press("ArrowLeft")
    tab.settle()
    assert (tab.source("rank.names")["rank"], tab.text("rank.headline")) == (told, headline)
    tab.drag("N", -0.3)
    tab.drag("N", 0.3)
    assert tab.position("rtol") == AXES["rtol"].stops.index(6.0)


def test_the_slider_of_features_and_the_select_are_one_choice(tab):
    tab.open("sharpness", phi="favor")
    tab.page.locator('[data-control="features"] .noUi-handle').focus()
    tab.page.keyboard.press("ArrowRight")
    tab.answered(phi="favor~m~512")
    check(tab, "sharpness", Question(phi="favor~m~512"))
    tab.open("sharpness", phi="favor~m~100")
    assert tab.words["phi"] == "favor~m~100"  # between two stops: the slider does not move it
