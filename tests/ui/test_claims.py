"""From the notes to a view and back: what a link of a claim opens, marks and gives the focus to."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.outside  # half a minute

MARKED = """() => [...document.querySelectorAll('.claimed')].map(e =>
  [e.dataset.claim ?? e.dataset.text ?? e.dataset.figure, e.getBoundingClientRect().top >= 0 &&
   e.getBoundingClientRect().bottom <= innerHeight && e.checkVisibility(), e == document.activeElement])"""


def come(tab, number: str):
    """Click the link of a claim in the notes."""
    tab.page.goto(f"{tab.server}/notes#{number}")
    tab.page.locator(f"#{number} a[data-see]").click()
    tab.settle()
    tab.wait("document.querySelector('.claimed')")


def test_a_line_of_a_folded_list_is_opened_marked_in_sight_and_has_the_focus(tab):
    come(tab, "C095")  # of Taylor's list, which an answer brings
    assert tab.page.evaluate(MARKED) == [["C095", True, True]]
    assert tab.page.locator(".claimed-says").inner_text().startswith("C095")
    assert "second-order" in tab.page.locator(".claimed").inner_text()


def test_a_figure_and_a_text_are_marked_too(tab):
    come(tab, "C118")
    assert tab.page.evaluate(MARKED) == [["memory.by_n", True, True]]
    assert "wide values" in tab.page.locator(".claimed-says small").inner_text()  # the condition stands beside it
    come(tab, "C116")
    assert tab.page.evaluate(MARKED) == [["memory.energy", True, True]]
    come(tab, "C096")
    assert tab.page.evaluate(MARKED) == [["sharpness.pair", True, True]]
    come(tab, "C006")
    assert tab.page.evaluate(MARKED) == [["bracketing.headline", True, True]]


def test_a_line_leads_to_its_row_of_the_notes_by_keyboard(tab):
    come(tab, "C131")
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/notes*#C131")
    tab.page.wait_for_function("document.activeElement.id == 'C131'")
    assert tab.page.locator("tr:target").get_attribute("id") == "C131"


def test_the_mark_goes_with_the_state_and_comes_back_with_it(tab):
    come(tab, "C116")
    tab.page.locator("[data-theme-switch]").click()
    tab.settle()
    assert tab.page.evaluate(MARKED) and tab.page.url.endswith("theme=dark#C116")
    tab.choose("rule", "delta")
    tab.wait("!document.querySelector('.claimed')")
    assert "#" not in tab.page.url and not tab.page.locator(".claimed-says").is_visible()
    tab.page.go_back()
    tab.wait("document.querySelector('.claimed')")
    assert tab.page.url.endswith("#C116")


def test_it_can_be_closed_and_a_strange_part_of_the_address_marks_nothing(tab):
    come(tab, "C116")
    tab.page.locator(".claimed-says button").click()
    assert not tab.page.evaluate(MARKED) and tab.page.url.endswith("n=64")
    tab.page.goto(f"{tab.server}/rank#constructor")
    tab.settle()
    assert not tab.page.evaluate(MARKED) and not tab.page.locator(".claimed-says").is_visible()
