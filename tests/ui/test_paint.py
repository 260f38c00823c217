"""A figure that was painted in part looks as if it had been painted as a whole."""

from __future__ import annotations

import pytest
from driving import CANVASES

from app.page import pages
from components.palette import SLOTS

PIXELS = """() => {
  CANVASES
  const told = {}
  for (const place of document.querySelectorAll('[data-figure]')) told[place.dataset.figure] = canvases(place)
    .filter(c => c.width && c.height).map(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data)
    .map(data => data.map((value, i) => i % 4 == 3 ? value : value * data[i | 3] / 255))
  const before = window.__pixels, others = {}
  window.__pixels = told
  for (const name in told) others[name] = before && told[name].reduce((sum, data, k) =>
    sum + data.reduce((count, value, i) => count + (Math.abs(value - before[name][k][i]) > 40), 0), 0)
  return others
}""".replace("CANVASES", CANVASES)
"""Of every figure, the channels of pixels that are seen to be others than at the last call.

Chromium rounds the edge of a dashed line in two ways, by what else it paints: about an eighth of full ink.
"""

KEYS = ("End", "ArrowLeft", "ArrowLeft", "Home", "ArrowRight")


def differs_from_a_whole_painting(tab) -> dict[str, int]:
    tab.page.evaluate(PIXELS)
    tab.paint_all()
    return {figure: others for figure, others in tab.page.evaluate(PIXELS).items() if others}


@pytest.mark.outside  # half a minute
@pytest.mark.parametrize("page", pages())
def test_frames_leave_the_picture_that_painting_all_of_it_gives(tab, page):
    tab.open(page)
    rails = tab.page.locator("input[type=range][data-axis]:visible")
    for i in range(rails.count()):
        rails.nth(i).focus()
        for key in KEYS:
            tab.page.keyboard.press(key)
            tab.settle()
        assert differs_from_a_whole_painting(tab) == {}, rails.nth(i).get_attribute("data-axis")


def test_a_frame_after_the_theme_has_changed_shows_no_axis_of_the_old_one(tab):
    tab.open("normaliser")
    slider = tab.slider("tokens")
    slider.focus()
    for key in ("ArrowLeft", "ArrowLeft"):  # now what stands still is kept
        tab.page.keyboard.press(key)
        tab.settle()
    tab.page.evaluate(PIXELS)
    tab.page.evaluate("Explorer.setTheme('dark')")
    tab.settle()
    changed = tab.page.evaluate(PIXELS)
    assert changed and all(changed.values())
    slider.focus()
    tab.page.keyboard.press("ArrowRight")
    tab.settle()
    assert differs_from_a_whole_painting(tab) == {}


EDGES = """ink => {
  CANVASES
  return canvases(document.querySelector('main')).filter(c => c.width && c.height).map(c => {
    const ctx = c.getContext('2d')
    if (ink) ctx.fillRect(0, 0, c.width, c.height)
    return [[1, c.height], [c.width, 1]].map(([w, h]) => ctx.getImageData(0, 0, w, h).data.reduce((a, b) => a + b, 0))
  })
}""".replace("CANVASES", CANVASES)
"""Ink in the first column and row of every canvas, after all of it was filled if so wished."""


def test_a_painting_leaves_nothing_of_the_one_before_at_the_edges(tab):
    tab.open("normaliser")
    clean = tab.page.evaluate(EDGES, False)
    tab.page.evaluate(EDGES, True)
    tab.paint_all()
    assert tab.page.evaluate(EDGES, False) == clean


COUNTED = """async () => {
  const {PlotView} = Bokeh.require('models/plots/plot_canvas'), paint = PlotView.prototype._actual_paint, told = {}
  PlotView.prototype._actual_paint = function() {
    told[this.model.name] = (told[this.model.name] ?? 0) + 1
    return paint.call(this)
  }
  const at_once = async stop => {
    Explorer.seek('N', stop)
    for (let turn = 0; turn < 200; turn++) await null
    return {...told}
  }
  const counts = [await at_once(2), await at_once(3)]
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  PlotView.prototype._actual_paint = paint
  return [...counts, told]
}"""
"""How often each figure was painted: at once after a step, after a second one in the same frame, and a frame later."""


def test_a_step_is_painted_at_once_and_no_figure_twice_in_a_frame(tab):
    tab.open("rank")
    first, second, later = tab.page.evaluate(COUNTED)
    assert set(first) == {"rank.values", "rank.matrix", "rank.by_N"} and set(first.values()) == {1}
    assert second == first
    assert later == {name: 2 for name in first}
    assert differs_from_a_whole_painting(tab) == {}


RESTYLED = """async () => {
  const {InlineStyleSheet} = Bokeh.require('core/dom'), update = InlineStyleSheet.prototype._update
  let written = 0
  InlineStyleSheet.prototype._update = function(css) {
    written += css !== this.el.textContent
    return update.call(this, css)
  }
  Explorer.seek('N', 2)
  for (let turn = 0; turn < 200; turn++) await null
  const at_once = written
  await new Promise(requestIdleCallback)
  InlineStyleSheet.prototype._update = update
  return [at_once, written]
}"""
"""How many parts of figures had their element moved: as long as a step is painted, and once nothing else is to do."""


def test_elements_of_what_a_step_moves_follow_when_it_is_painted(tab):
    tab.open("rank")
    at_once, in_the_end = tab.page.evaluate(RESTYLED)
    assert at_once == 0 and in_the_end > 0


CLICKED = """() => {
  const told = [], button = document.body.appendChild(document.createElement('button'))
  button.addEventListener('click', () => told.push('a click'))
  Paint.seen(() => told.push('what waited'))
  button.click()
  button.remove()
  return told
}"""


def test_what_waits_for_a_picture_is_done_before_the_next_click_which_it_would_undo(tab):
    tab.open("rank")
    assert tab.page.evaluate(CLICKED) == ["what waited", "a click"]


WAITED = """async () => {
  const told = []
  for (const turn of [1, 2]) Paint.seen(() => told.push(turn))
  const at_once = [...told]
  await new Promise(done => Paint.seen(done))
  return [at_once, told]
}"""


def test_what_waits_for_a_picture_is_done_in_its_order_though_none_is_painted(tab):
    tab.open("rank")
    assert tab.page.evaluate(WAITED) == [[], [1, 2]]


OWN_MASKS = """() => {
  const {GlyphRendererView} = Bokeh.require('models/renderers/glyph_renderer')
  GlyphRendererView.prototype._update_masked_indices = function() {
    return this.model.view.masked = this.glyph.mask_data()
  }
}"""
"""Have Bokeh look up by itself what lies in the frame."""


@pytest.mark.parametrize("page", ["memory", "random-features", "sharpness"])
def test_what_lies_beyond_the_frame_is_not_seen_though_it_is_not_looked_up(tab, page):
    tab.open(page, seed=1)
    tab.paint_all()
    tab.page.evaluate(OWN_MASKS)
    assert differs_from_a_whole_painting(tab) == {}


POINTED = """async () => {
  const figure = Bokeh.index.find_one_by_id(Explorer.model('memory.bars').id), source = Explorer.model('memory.pairs')
  const bars = figure.computed_renderer_views.find(view => view.model.glyph?.name == 'memory.bar')
  const told = []
  for (const height of [1, 0.25]) {
    source.data.cosine.fill(height)
    source.change.emit()
    for (let turn = 0; turn < 200; turn++) await null
    const before = bars.glyph._index == null
    const sx = bars.xscale.compute(8)
    const at = y => bars.hit_test({type: 'point', sx, sy: bars.yscale.compute(y)})?.indices.length
    told.push([before, at(0.5), at(0.1)])
  }
  return told
}"""
"""Whether a bar's place is unknown before somebody points, and how many bars are then found high up and low."""


def test_who_points_at_a_glyph_finds_it_where_it_was_painted_last(tab):
    tab.open("memory")
    assert tab.page.evaluate(POINTED) == [[True, 1, 1], [True, 0, 1]]


SIGN = """() => [
  getComputedStyle(document.querySelector('.brand i')).color,
  document.documentElement.style.length,
]"""
"""Colour of the page's sign, and how many properties its root has been given: each would restyle all of the page."""


def test_a_map_colours_the_sign_of_the_page_and_not_its_root(tab):
    tab.open("rank")
    tab.choose("phi", "taylor")
    red, green, blue = bytes.fromhex(SLOTS["taylor"][0].removeprefix("#"))
    assert tab.page.evaluate(SIGN) == [f"rgb({red}, {green}, {blue})", 0]
