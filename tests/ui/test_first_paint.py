"""What is painted before any script has run: the head is whole, and nothing in it moves when the widgets arrive."""

from __future__ import annotations

import pytest

BOX = """home => {
  const {x, y, width, height} = home.lastElementChild.getBoundingClientRect()
  return [x, y, width, height]
}"""


@pytest.mark.parametrize("page", ["", "sizing", "memory", "forms"])
def test_the_controls_are_painted_where_they_will_be_without_any_script(browser, server, tab, page):
    context = browser.new_context(viewport={"width": 1440, "height": 900}, java_script_enabled=False)
    still = context.new_page()
    still.goto(f"{server}/{page}?phi=taylor")
    homes = still.locator("[data-control]:has(> .slot > .waiting)").all()
    seen = {h.get_attribute("data-control"): [*h.locator(".waiting").bounding_box().values()] for h in homes}
    context.close()
    tab.open(page or "explorer", phi="taylor")
    assert len(seen) >= 4
    for word, box in seen.items():
        now = tab.page.locator(f'[data-control="{word}"] .slot').evaluate(BOX)
        assert now == pytest.approx(box, abs=1.1), word
    assert not tab.page.locator(".waiting:visible").count()
