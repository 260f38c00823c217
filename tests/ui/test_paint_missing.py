"""A Bokeh without a part that the scripts for painting replace is left to paint by itself."""

from __future__ import annotations

from filed import FileTab

from app.export import one_file

NEEDED = "const NEEDED = ["
OTHER = "['core/gone', 'Gone', 'all_of_it'], ['core/dom', 'InlineStyleSheet', '_gone'],"
OWN = """() => {
  const {PlotView} = Bokeh.require('models/plots/plot_canvas')
  return [Paint.missing, PlotView.prototype.repaint.toString(), PlotView.prototype.schedule_paint.toString()]
}"""


def test_a_missing_part_leaves_bokeh_as_it_is_and_the_page_alive(browser, tmp_path):
    """In a saved page, which can be given a longer list of what is needed."""
    html, seen = one_file("random-features"), []
    assert html.count(NEEDED) == 1
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    tab = FileTab(context.new_page())
    for name, text in (("whole", html), ("missing", html.replace(NEEDED, NEEDED + OTHER))):
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        seen.append(tab.opens(path).page.evaluate(OWN))
    assert seen[0][0] == [] and seen[1][0] == ["Gone.all_of_it", "InlineStyleSheet._gone"]
    assert seen[0][1] != seen[1][1] and seen[0][2] != seen[1][2]
    before = tab.pictures()
    tab.slider("r").focus()
    tab.page.keyboard.press("Home")
    tab.settle()
    after = tab.pictures()
    assert after != before and all(ink for _, ink in after.values())
    context.close()
    assert not tab.complaints
