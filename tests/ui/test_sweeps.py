"""Sweeps on the pages: the shipped picture at once, a quick run with progress, a cancel, and the way back."""

from components.sweep_pictures import PICTURES
from components.sweep_shown import said
from compute.sweeps.shipped import shipped

CELLS = "name => Explorer.model(`${name}_cells`).data.said.length"


def section(tab, name: str):
    return tab.page.locator(f'[data-sweep-of="{name}"]')


def test_a_quick_run_replaces_the_shipped_picture_and_back_brings_it_again(tab):
    name = "memory.crosstalk_sweep"
    tab.open("memory")
    part, came = section(tab, name), said(shipped(PICTURES[name].sweep))
    cells = tab.page.evaluate(CELLS, name)
    assert part.locator("[role=status]").inner_text() == came
    part.locator("[data-sweep=run]").click()
    part.locator("[data-sweep=cancel]").wait_for()
    assert part.locator("progress").is_visible()
    # The page answers and its reels turn while the worker computes.
    tab.page.locator("input[data-axis=n]:visible").focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.wait_for_function("Explorer.at.n == 127")
    part.locator("[data-sweep=back]").wait_for()
    assert not part.locator("progress").is_visible() and part.locator("[role=status]").inner_text() != came
    assert tab.page.evaluate(CELLS, name) != cells
    part.locator("[data-sweep=back]").click()
    tab.page.wait_for_function(
        "([name, n]) => Explorer.model(`${name}_cells`).data.said.length == n", arg=[name, cells]
    )
    tab.page.wait_for_function(
        "([name, came]) => document.querySelector(`[data-text='${name}_said']`).textContent == came", arg=[name, came]
    )


def test_a_run_is_cancelled_at_once_and_the_other_picture_is_left_alone(tab):
    name, other = "recall.trained-recall_sweep", "recall.recall_sweep"
    tab.open("recall")
    part, before = section(tab, name), tab.page.evaluate(CELLS, other)
    part.locator("[data-sweep=run]").click()
    part.locator("[data-sweep=cancel]").click()
    tab.page.wait_for_function(
        "name => !document.querySelector(`[data-sweep-of='${name}'] [data-sweep=run]`).hidden", arg=name
    )
    assert (
        "ancel" in part.locator("[role=status]").inner_text() or "points" in part.locator("[role=status]").inner_text()
    )
    assert tab.page.evaluate(CELLS, other) == before
