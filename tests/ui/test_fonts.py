"""Texts, formulas and figures are drawn with the fonts that the page brings along, from the first painting on."""

from __future__ import annotations

import pytest
from filed import FileTab

from app.export import one_file
from app.page import NOTES, OVERVIEW, pages
from components.fonts import shipped
from components.palette import FONT

OURS = {kept["family"] for kept in shipped().values()}
DIGITS = 1328 / 2048
"""Width of any digit of Inter, in ems."""

MONO = ("TEXTAREA", "PRE", "SMALL", "CODE")


def _own_text(node):
    return any(child["nodeType"] == 3 and child["nodeValue"].strip() for child in node.get("children", ()))


def _below(node, mono=False):
    """Every element with a text of its own that is not set in a font of equal widths."""
    mono = mono or node["nodeName"].upper() in MONO or "folded" in node.get("attributes", ())
    if not mono and node["nodeType"] == 1 and _own_text(node):
        yield node
    for child in (*node.get("children", ()), *node.get("shadowRoots", ())):
        yield from _below(child, mono)


def drawn_with(page) -> dict[str, set[str]]:
    """Fonts that the browser drew with, and texts where it did; a machine's own are marked."""
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]
    told: dict[str, set[str]] = {}
    for node in _below(root):
        used = session.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})["fonts"]
        for font in used:
            name = font["familyName"] + ("" if font["isCustomFont"] else " of this machine")
            told.setdefault(name, set()).add("".join(child.get("nodeValue", "") for child in node["children"])[:60])
    session.detach()
    return told


@pytest.mark.parametrize("address", [*pages(), NOTES])
def test_no_text_and_no_formula_is_drawn_with_a_font_of_the_machine(tab, address):
    if address == NOTES:
        tab.page.goto(f"{tab.server}/{address}")
    else:
        tab.open(address)
    told = drawn_with(tab.page)
    assert not {font: texts for font, texts in told.items() if font.endswith("machine")}
    assert len(told) >= (1 if address == NOTES else 2)  # text and formulas


def test_the_fonts_are_there_before_anything_else_and_hold_their_digits_still(tab):
    tab.page.add_init_script("""document.addEventListener('DOMContentLoaded', () => {
      window.early = [...document.fonts].map(face => `${face.family} ${face.status}`)
    })""")
    tab.open(OVERVIEW)
    assert tab.page.evaluate("window.early") == [f"{kept['family']} loaded" for kept in shipped().values()]
    told = tab.page.evaluate(
        """font => ['400', '700'].flatMap(weight => ['0000000000', '1111111111'].map(text => {
          const pen = document.createElement('canvas').getContext('2d'), node = document.createElement('span')
          pen.font = node.style.font = `${weight} 20px ${font}`
          node.textContent = text
          document.body.append(node)
          return [pen.measureText(text).width, node.getBoundingClientRect().width, weight]
        }))""",
        FONT,
    )
    for canvas, page, weight in told:
        assert canvas == pytest.approx(page, abs=0.1)
        if weight == "400":
            assert page == pytest.approx(10 * DIGITS * 20, abs=0.1)


def test_a_figure_is_laid_out_once_with_the_font_that_it_keeps(tab):
    tab.open("rank")
    first = tab.pictures()
    tab.page.evaluate("document.fonts.ready")
    tab.page.evaluate("""() => {
      for (const model of Explorer.models.values()) Bokeh.index.find_one_by_id(model.id)?.invalidate_layout?.()
    }""")
    tab.settle()
    assert tab.pictures() == first


def test_the_fonts_are_fetched_once_for_all_pages(tab):
    tab.open(OVERVIEW)
    fetched = """() => performance.getEntriesByType('resource').filter(entry => entry.name.includes('/fonts-'))
      .map(entry => entry.transferSize)"""
    (once,) = tab.page.evaluate(fetched)
    assert once > 50_000
    tab.page.locator("nav a", has_text="Memory").click()
    tab.page.wait_for_url("**/memory")
    tab.settle()
    assert tab.page.evaluate(fetched) == [0]


def test_a_file_brings_its_fonts_along(browser, tmp_path):
    path = tmp_path / "forms.html"
    path.write_text(one_file("forms"), encoding="utf-8")
    context = browser.new_context()
    tab = FileTab(context.new_page())
    tab.opens(path)
    told = drawn_with(tab.page)
    context.close()
    assert not {font: texts for font, texts in told.items() if font.endswith("machine")}
    assert not tab.complaints


def test_a_saved_picture_is_drawn_with_the_font_of_the_page(tab):
    tab.open("rank")
    tab.page.evaluate("""() => {
      const {set, get} = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'src')
      window.drawn = []
      const told = {get, set(text) { drawn.push(text); set.call(this, text) }}
      Object.defineProperty(HTMLImageElement.prototype, 'src', told)
    }""")
    tab.page.evaluate("Stills.png(Stills.figures()[0])")
    (picture,) = tab.page.evaluate("drawn.map(decodeURIComponent)")
    assert "@font-face{font-family:'Inter'" in picture
    saved = tab.page.evaluate("Stills.svg(Stills.figures()[0])")
    assert FONT.split(",")[0] in saved and "Helvetica" in saved and "@font-face" not in saved
