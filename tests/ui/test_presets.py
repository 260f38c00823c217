"""A preset by its address is a preset by its button: what is said of it, its mark, its folds, and where they go."""

from __future__ import annotations

import pytest
from filed import FileTab

from app.export import one_file, write
from app.page import OVERVIEW
from components.teaching import Preset, teaching

SHOWN = """at => {
  const place = document.querySelector(at ? `[data-figure="${at}"], [data-text="${at}"]` : '.card .head')
  const {top, bottom} = place.getBoundingClientRect(), axis = Explorer.page.axis
  Explorer.play(axis, true) // from the first stop, if nobody has put the slider where it is
  const played = Explorer.at[axis]
  Explorer.play(axis, false)
  return {
    said: document.querySelector('.presets .caption').innerText,
    chosen: [...document.querySelectorAll('[data-chosen][data-preset]')].map(button => button.textContent),
    folds: [...document.querySelectorAll('details')].map(fold => fold.open),
    handed: [...document.querySelectorAll('nav a[data-page]')].map(link => link.search),
    seen: top < innerHeight && bottom > 0,
    played,
  }
}"""
MARKED = "[...document.querySelectorAll('[data-chosen][data-preset]')].map(button => button.dataset.slug)"


BACK = """[...document.querySelectorAll('[data-preset][data-left]')].flatMap(button =>
  [button.dataset.slug, document.querySelector('.saying').matches('[data-left]')])"""
HEIGHTS = """['.side', '.caption', '.caption + button'].map(name => {
  const {top, height, width} = document.querySelector(name).getBoundingClientRect()
  return [top + scrollY, height, width]
})"""


def preset(page: str, name: str) -> Preset:
    return next(found for found in teaching(page).presets if found.name == name)


def click(tab, found: Preset):
    button = tab.page.locator("[data-preset]").get_by_text(found.name, exact=True)
    if not button.is_visible():
        tab.page.locator(".presets summary", has_text=found.group).click()
    button.click()
    tab.led(found.words)


def marked(tab) -> tuple[list[str], str]:
    """The chosen buttons, and what is said."""
    return tab.page.evaluate(MARKED), tab.page.locator(".presets .caption").inner_text()


def to(tab, axis: str, stop: int):
    tab.page.evaluate("([axis, stop]) => Explorer.seek(axis, stop)", [axis, stop])
    tab.settle()


def belongs(tab, found: Preset | None):
    assert marked(tab) == (([found.slug], found.caption) if found else ([], ""))


@pytest.mark.parametrize(
    ("page", "called"),
    [
        ("memory", "three pairs by hand"),
        ("memory", "random and full"),  # a position alone
        ("forms", "no temperature"),  # in a group, and leads to a text
        ("bracketing", "published: 4,462 times"),  # in a list that is folded
        ("recall", "trained layers"),  # below the fold
    ],
)
def test_by_its_address_a_preset_shows_what_a_click_shows(tab, page, called):
    found = preset(page, called)
    tab.open(page)
    click(tab, found)
    by_hand = tab.page.evaluate(SHOWN, found.at)
    assert by_hand["said"] == found.caption and by_hand["chosen"] == [called] and by_hand["seen"]
    tab.open(page, preset=found.slug)
    tab.led(found.words)
    assert tab.page.evaluate(SHOWN, found.at) == by_hand
    assert "preset" not in tab.words
    tab.open(page, preset=found.slug)
    tab.led(found.words)
    tab.page.reload()  # scrolled to where it was, by the browser
    tab.settle()
    assert tab.page.evaluate(SHOWN, found.at) | {"seen": True} == by_hand


def test_what_is_said_of_a_preset_follows_its_states_through_history_and_a_reload(tab):
    first, second = preset("memory", "random and full"), preset("memory", "half a step")
    tab.open("memory", preset=first.slug)
    belongs(tab, first)
    tab.choose("rule", "decay")
    belongs(tab, first)  # as after a click
    click(tab, second)
    belongs(tab, second)
    tab.page.reload()
    tab.settle()
    belongs(tab, second)
    tab.page.go_back()
    tab.answered(rule="decay", stream=None)
    belongs(tab, first)
    tab.page.go_back()
    tab.wait("location.search == '?n=32'")
    tab.answered(rule=None)
    belongs(tab, first)
    tab.page.go_forward()
    tab.answered(rule="decay", stream=None)
    tab.page.go_forward()
    tab.led(second.words)
    belongs(tab, second)


def test_back_to_where_no_preset_was_takes_its_words_along(tab):
    """Also from a preset whose position is that of the page: then only what the server computes differs."""
    found = preset("memory", "newest against average")
    tab.open("memory")
    click(tab, found)
    belongs(tab, found)
    tab.page.go_back()
    tab.answered(rule=None, duel=None)
    belongs(tab, None)


@pytest.mark.parametrize("page", ["memory", "sizing", "sharpness", "rank"])
def test_off_its_preset_a_state_sets_mark_and_words_back_until_it_is_there_again(tab, page):
    found = next(p for p in teaching(page).presets if not p.group)
    tab.open(page)
    click(tab, found)
    assert tab.page.evaluate(BACK) == []
    axis = tab.page.evaluate("Explorer.page.axis")
    there, high = tab.position(axis), tab.page.evaluate(HEIGHTS)
    to(tab, axis, there - 1 if there else 1)
    assert tab.page.evaluate(BACK) == [found.slug, True] and tab.page.evaluate(HEIGHTS) == high
    belongs(tab, found)  # it is said of its preset all the same
    to(tab, axis, there)
    assert tab.page.evaluate(BACK) == []


def test_words_and_history_and_a_second_click_count_too(tab):
    found = preset("memory", "random and full")
    tab.open("memory", preset=found.slug)
    assert tab.page.evaluate(BACK) == []
    tab.choose("rule", "delta")
    assert tab.page.evaluate(BACK) == [found.slug, True]
    tab.page.go_back()
    tab.answered(rule=None)
    assert tab.page.evaluate(BACK) == []
    tab.page.go_forward()
    tab.answered(rule="delta")
    assert tab.page.evaluate(BACK) == [found.slug, True]
    tab.page.reload()
    tab.settle()
    assert tab.page.evaluate(BACK) == [found.slug, True]
    click(tab, found)
    assert tab.page.evaluate(BACK) == []
    tab.open("memory", preset=found.slug, seed="1")
    assert tab.page.evaluate(BACK) == [found.slug, True]


def test_a_play_through_counts_only_where_it_comes_to_rest(tab):
    found = preset("memory", "random and full")
    tab.open("memory", preset=found.slug)
    plays, rests = tab.page.evaluate(
        f"() => {{ Explorer.play('n', true); const on = {BACK}; Explorer.play('n', false); return [on, {BACK}] }}"
    )
    assert plays == [] and rests == [found.slug, True]


def test_where_the_words_stand_apart_the_answer_to_the_question_is_no_words_of_the_preset(tab):
    tab.page.set_viewport_size({"width": 1024, "height": 768})
    found = preset("memory", "random and full")
    tab.open("memory", preset=found.slug)
    to(tab, "n", 200)
    assert tab.page.evaluate(BACK) == [found.slug, True]
    tab.page.locator("[data-option]").first.click()
    assert tab.page.evaluate(BACK) == [found.slug, False]


def test_what_was_closed_stays_closed_as_long_as_the_preset_stays(tab):
    tab.page.set_viewport_size({"width": 1024, "height": 768})
    found = preset("memory", "wider without a draw")
    tab.open("memory", preset=found.slug)
    button = tab.page.locator(f'[data-slug="{found.slug}"]').bounding_box()  # the last of their line
    assert tab.page.locator(".saying").is_visible() and button["x"] + button["width"] < 1024
    tab.page.locator("[data-caption-close]").click()
    tab.choose("rule", "decay")
    tab.page.go_back()
    tab.answered(rule=None)
    assert marked(tab) == ([found.slug], "")
    click(tab, found)
    belongs(tab, found)


def test_words_beside_a_preset_come_on_top_and_defaults_have_none(tab):
    found = preset("memory", "a memory that fades")
    tab.open("memory", preset=found.slug, alpha="0.95", theme="dark")
    tab.answered(rule="decay", alpha="0.95")
    belongs(tab, found)
    tab.open("memory", **found.words)
    belongs(tab, None)


def test_the_overview_takes_the_state_of_a_preset_and_has_no_place_for_its_words(tab):
    found = preset("memory", "a memory that fades")
    tab.open(OVERVIEW, preset=found.slug)
    tab.answered(rule="decay", alpha="0.9")
    assert tab.page.evaluate("history.state") is None and not tab.page.evaluate(MARKED)


@pytest.mark.parametrize("hide", ["", "side", "controls"])
def test_in_a_frame_it_is_said_where_presets_are_and_the_page_around_stays_where_it_is(tab, hide):
    """Where a slide leaves them out, there is nothing to see of it; a place below the fold is led to all the same."""
    found = preset("recall", "trained layers")
    tab.page.goto(f"{tab.server}/liveness")
    tab.page.evaluate(
        """src => {
          document.body.replaceChildren(Object.assign(document.createElement('div'), {style: 'height:500px'}))
          document.body.append(Object.assign(document.createElement('iframe'), {src, width: 1200, height: 700}))
        }""",
        f"recall?embed=1&preset={found.slug}&hide={hide}",
    )
    frame = tab.page.frame_locator("iframe")
    frame.locator("html[data-figures=ready]").wait_for()
    tab.page.frames[1].wait_for_function("() => scrollY > 0")
    inside = "at => document.querySelector(`[data-figure='${at}']`).getBoundingClientRect().top < innerHeight"
    assert tab.page.frames[1].evaluate(inside, found.at) and tab.page.evaluate("scrollY") == 0
    assert frame.locator(".presets .caption").text_content() == found.caption
    assert frame.locator(".presets .caption").is_visible() == (not hide)


def test_a_file_of_a_preset_says_what_the_page_says(browser, tmp_path):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_offline(True)
    disk, found = FileTab(context.new_page()), preset("random-features", "short vectors")
    path = tmp_path / "page.html"
    write(path, one_file("random-features", f"preset={found.slug}"))
    disk.opens(path)
    belongs(disk, found)
    other = next(p for p in teaching("random-features").presets if p.name != found.name)
    disk.page.locator(f'[data-slug="{other.slug}"]').click()
    disk.settle()
    belongs(disk, other)
    assert disk.page.evaluate(BACK) == []
    disk.page.evaluate("Explorer.seek('r', Explorer.at.r ? 0 : 1)")
    assert disk.page.evaluate(BACK) == [other.slug, True]
    context.close()
    assert not disk.complaints


def test_a_page_is_saved_with_what_is_said_of_its_preset(share, tmp_path):
    found = preset("random-features", "short vectors")
    share.open("random-features", preset=found.slug)
    share.slider("r").press("ArrowRight")
    at = share.position("r")
    share.page.locator("[data-share]").click()
    share.page.locator('[data-tab="files"]').click()
    with share.page.expect_download() as coming:
        share.page.locator("[data-save]").click()
    coming.value.save_as(tmp_path / "page.html")
    share.page.goto((tmp_path / "page.html").as_uri())
    share.page.wait_for_function("document.documentElement.dataset.session == 'file'")
    belongs(share, found)
    assert share.position("r") == at
    share.complaints = [told for told in share.complaints if "file:///" not in told]
