"""A beside B, and a page on a projector."""

from __future__ import annotations

import json

import pytest
from checking import check, expected

from app.page import figures_of
from components.axes import AXES
from components.lesson import Question
from components.view import start_positions

pytestmark = pytest.mark.outside  # texts and files taken to where they belong: minutes in a browser


# A beside B, and on a projector


def test_a_snapshot_stands_beside_the_live_page_and_a_sentence_says_what_changed(share):
    share.open("memory", rule="delta")
    share.page.get_by_text("Keep as A").click()
    share.page.locator(".card.kept").wait_for()
    differs = share.page.locator(".differs")
    assert differs.inner_text().startswith("B is still the same as A")
    before = share.page.locator(".card.kept h2").inner_text()
    assert before == share.text("memory.headline")
    kept = share.page.evaluate("[...document.querySelectorAll('.kept img')].map(i => i.src)")
    a, b = (share.page.locator(where).first.bounding_box() for where in (".kept .figure", ".card:not(.kept) .figure"))
    assert a["width"] == pytest.approx(b["width"], abs=1) and a["y"] == pytest.approx(b["y"], abs=1)
    assert len(kept) == len(json.loads(figures_of("memory").json)["roots"])
    share.slider("n").press("ArrowRight")
    label = AXES["n"].label
    assert differs.inner_text() == f"From A to B: {label}, n = 128 → n = 129."
    share.choose("rule", "additive", rule=None)
    share.page.wait_for_function("document.querySelector('.differs').textContent.includes('delta')")
    assert set(differs.inner_text().removeprefix("From A to B: ").rstrip(".").split("; ")) == {
        "write rule of the memory, delta → additive", f"{label}, n = 128 → n = 129",
    }  # fmt: skip
    check(share, "memory", Question(), n=129)
    assert share.page.locator(".card.kept h2").inner_text() == before != share.text("memory.headline")
    assert share.page.evaluate("[...document.querySelectorAll('.kept img')].map(i => i.src)") == kept
    share.page.get_by_text("Let go of A").click()
    assert share.page.locator(".kept, .differs").count() == 0
    check(share, "memory", Question(), n=129)


def test_two_clicks_in_a_row_keep_one_snapshot(share):
    share.open("rank")
    share.page.evaluate("() => { const b = document.querySelector('[data-snapshot]'); b.click(); b.click() }")
    share.page.locator(".card.kept").first.wait_for()
    share.page.wait_for_timeout(400)
    assert share.page.locator(".card.kept").count() == 1 and share.page.locator(".differs").count() == 1


DATUM = """([figure, source, x, y, i]) => {
  const plot = Bokeh.index.find_one_by_id(Explorer.model(figure).id), {data} = Explorer.model(source)
  const {left, top, width} = plot.canvas_view.el.getBoundingClientRect(), canvas = plot.canvas_view.primary.el
  const drawn = width * devicePixelRatio / canvas.width // more than 1 where the painted canvas is stretched
  return [left + drawn * plot.frame.x_scale.compute(data[x][i]), top + drawn * plot.frame.y_scale.compute(data[y][i])]
}"""
TIPS = """() => {
  const deep = node => [node, ...[...(node.shadowRoot?.children ?? []), ...node.children].flatMap(deep)]
  const shown = deep(document.body).filter(e => e.classList.contains('bk-tooltip-row-value') && e.checkVisibility())
  return shown.map(e => e.textContent.trim())
}"""


def test_presenting_enlarges_the_type_and_the_pointer_still_hits_what_it_points_at(share):
    share.open("sharpness")
    figure = figures_of("sharpness").drawings[0][1].rows[0][0].figure.name
    size = f"() => parseFloat(Explorer.model('{figure}').below[0].major_label_text_font_size)"
    before, place = share.page.evaluate(size), share.page.locator(f'[data-figure="{figure}"]').bounding_box()
    share.page.evaluate("Element.prototype.requestFullscreen = Document.prototype.exitFullscreen = async () => {}")
    share.page.locator("button[data-present]").click()
    share.settle()
    assert share.page.evaluate(size) == pytest.approx(1.25 * before)
    assert share.page.locator(f'[data-figure="{figure}"]').bounding_box()["height"] > place["height"]
    told = expected("sharpness", Question(), start_positions())["sharpness.bars"]
    for i in (3, 20, 11):
        x, y = share.page.evaluate(DATUM, [figure, "sharpness.bars", "key", "weight", i])
        share.page.mouse.move(x - 1, y + 1)
        share.page.mouse.move(x, y + 2, steps=3)
        share.page.wait_for_function(f"key => ({TIPS})()[0] == key", arg=str(told["key"][i]))
        _, weight, softmax = share.page.evaluate(TIPS)
        assert weight == f"{100 * told['weight'][i]:.1f} %" and softmax == f"{100 * told['softmax'][i]:.1f} %"
    share.page.mouse.move(5, 5)
    share.page.locator("button[data-present]").click()
    share.settle()
    assert share.page.evaluate(size) == pytest.approx(before, abs=0.02)
    assert share.page.locator(f'[data-figure="{figure}"]').bounding_box()["height"] == pytest.approx(
        place["height"], abs=1
    )


def test_a_preset_is_taken_beside_a_kept_state_whose_links_stay_as_they_were(share):
    share.open("sizing")
    share.page.locator("[data-snapshot]").click()
    led = share.page.locator(".card.kept a.carry").get_attribute("href")
    preset = share.page.locator("[data-preset]").nth(1)
    preset.click()
    share.settle()
    assert share.page.locator(".presets .caption").inner_text() == preset.get_attribute("data-caption")
    assert share.page.locator(".card.kept a.carry").get_attribute("href") == led
