"""Every page opens, is silent, is painted, and keeps still."""

from __future__ import annotations

import json

import pytest
from checking import check

from app.page import OVERVIEW, figures_of, pages, views_of
from components.lesson import Question
from components.plots import MARGIN

FRAMES = """margin => [...Explorer.models.values()].filter(m => m.type == 'Figure' && m.min_border_left == margin)
  .map(m => [m.name, Math.round(Bokeh.index.find_one_by_id(m.id).frame.bbox.left)])"""


def test_a_page_opens_silent_still_and_painted_with_the_right_numbers(tab, name):
    tab.open(name)
    assert tab.page.evaluate("window.__shift") <= 0.01  # nothing moved while it loaded
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pictures = tab.pictures()
    assert set(pictures) == {root for _, root in json.loads(figures_of(name).json)["roots"]}
    assert all(ink > 1_000 for _, ink in pictures.values()), pictures
    for view in views_of(name):
        assert any(character.isdigit() for character in tab.text(f"{view.word}.headline"))
    frames = dict(tab.page.evaluate(FRAMES, MARGIN))  # axes that stand one over the other, and over their slider
    assert set(frames.values()) <= {MARGIN}, frames
    check(tab, name, Question())
    assert tab.page.url.removeprefix(tab.server) == ("/" if name == OVERVIEW else f"/{name}")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("forms", {"phi": "softmax", "example": "random", "t": "36"}),
        ("sharpness", {"phi": "hedgehog"}),
        ("bracketing", {"phi": "taylor", "T": "4096"}),
    ],
)
def test_a_page_keeps_still_at_a_state_of_its_own_too(tab, page, words):
    """It is painted with the texts of the defaults, which may take other lines; none is seen until its own come."""
    tab.open(page, **words)
    assert tab.page.evaluate("window.__shift") <= 0.01


def test_nothing_goes_up_while_nobody_does_anything(tab):
    tab.open(OVERVIEW)
    tab.up.clear()
    tab.page.wait_for_timeout(600)
    assert tab.up == []


def test_the_navigation_goes_to_every_page_and_takes_the_state_along(tab):
    tab.open(OVERVIEW, phi="taylor", n="64")
    for word in pages():
        if word == OVERVIEW:
            continue
        tab.page.locator("nav a", has_text=pages()[word]).click()
        tab.page.wait_for_url(f"**/{word}?**")
        tab.settle()
        assert tab.words == {"phi": "taylor", "n": "64"} or tab.words == {"phi": "taylor"}
    tab.page.locator("a.brand").click()
    tab.page.wait_for_function("location.pathname == '/explorer'")
    tab.settle()
    assert tab.words["phi"] == "taylor"


def test_reset_goes_back_to_the_defaults(tab):
    tab.open("memory", rule="delta", n="17")
    tab.page.get_by_text("Reset", exact=True).click()
    tab.page.wait_for_function("location.search == ''")
    tab.settle()
    check(tab, "memory", Question())


def test_embedded_a_page_has_no_frame_and_without_controls_none_to_turn(tab):
    tab.open("rank", embed="1")
    assert tab.page.locator("header").count() == 0
    assert tab.page.locator('[data-figure="rank.matrix"]').is_visible()
    assert tab.words == {"embed": "1"}
    tab.open("rank", hide="controls")
    assert tab.page.locator("header").count() == 1
    assert not tab.page.locator('[data-control="phi"]').is_visible()
    assert tab.slider("N").is_visible()


def test_what_is_hidden_stays_hidden_in_the_address_after_a_drag(tab):
    tab.open("memory", embed="1", hide="controls")
    tab.drag("n", -0.25)
    tab.wait("location.search.includes('n=')")
    assert tab.words["embed"] == "1" and tab.words["hide"] == "controls"


# Light and dark


def colours(tab):
    return tab.page.evaluate("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")


def test_the_theme_changes_every_colour_in_the_browser_alone_and_changes_back(tab):
    tab.open(OVERVIEW)
    light, page_light = tab.pictures(), colours(tab)
    tab.up.clear()
    tab.page.locator("[data-theme-switch]").click()
    tab.page.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    tab.settle()
    dark, page_dark = tab.pictures(), colours(tab)
    assert not set(page_light) & set(page_dark)
    assert {figure for figure in light if dark[figure] == light[figure]} <= {
        "memory.heat"
    }  # an image on paper or night
    assert tab.words == {"theme": "dark"}
    tab.page.locator("[data-theme-switch]").click()
    tab.page.wait_for_function("document.documentElement.dataset.theme == 'light'")
    tab.settle()
    assert colours(tab) == page_light and tab.words == {}
    assert tab.up == []
    assert tab.pictures() == light


def test_a_dark_page_stays_dark_through_a_later_choice(tab):
    tab.open("sharpness", theme="dark")
    tab.choose("phi", "taylor")
    check(tab, "sharpness", Question(phi="taylor"), dark=True)
    assert tab.words == {"phi": "taylor", "theme": "dark"}


def test_a_page_opened_dark_is_the_page_switched_to_dark(tab):
    tab.open("rank", theme="dark")
    opened = tab.pictures()
    tab.open("rank")
    tab.page.locator("[data-theme-switch]").click()
    tab.settle()
    assert tab.pictures() == opened


# Bringing a map forward


ALPHAS = """() => Object.fromEntries([...Explorer.models.entries()]
  .filter(([name]) => /^(sharpness|rank)\\.line\\./.test(name))
  .map(([name, line]) => [name, line.glyph.line_alpha?.value ?? line.glyph.line_alpha]))"""


def test_pointing_at_a_map_brings_its_curves_forward_everywhere(tab):
    tab.open(OVERVIEW)
    assert set(tab.page.evaluate(ALPHAS).values()) == {1}
    tab.up.clear()
    for phi in ("dpfp", "taylor"):  # from one button to the next
        tab.option("phi", phi).hover()
        tab.page.wait_for_function(
            f"phi => ({ALPHAS})()[`rank.line.${{phi}}`] == 1 && ({ALPHAS})()['rank.line.relu'] < 1", arg=phi
        )
        forward = tab.page.evaluate(ALPHAS)
        assert forward[f"sharpness.line.{phi}"] == 1
        assert all(alpha < 0.5 for line, alpha in forward.items() if not line.endswith(phi))
    tab.page.mouse.move(720, 5)
    tab.page.wait_for_function(f"() => ({ALPHAS})()['rank.line.relu'] == 1")
    assert set(tab.page.evaluate(ALPHAS).values()) == {1}
    assert tab.patches() <= 2  # what the pointer rests on is computed ahead; coming forward takes no message


@pytest.mark.parametrize("width", [390, 820])
def test_a_narrow_window_is_filled_without_scrolling_sideways(tab, width):
    tab.page.set_viewport_size({"width": width, "height": 844})
    tab.open(OVERVIEW)
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert all(ink > 500 for _, ink in tab.pictures().values())


def test_a_lost_connection_is_told_and_the_sliders_go_on(tab, server):
    tab.open("memory")
    tab.page.evaluate("Bokeh.documents.length")
    lost = tab.page.locator(".lost")
    assert not lost.is_visible()
    tab.page.evaluate("document.documentElement.dataset.session = 'lost'")
    assert lost.is_visible()
    before = tab.pictures()
    tab.drag("n", -0.2, release=False)
    tab.page.mouse.up()
    assert tab.pictures() != before
