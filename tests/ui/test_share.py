"""Share, link and embed: a snippet is pasted where it belongs, opened, and read back."""

from __future__ import annotations

import re
import shutil
import subprocess
from types import SimpleNamespace
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from checking import check
from hosting import PAGE, serving
from sharing import AT, QUESTION, STATE, measured, opened, snippet, words_of

from components.about import NAME
from components.lesson import Question
from components.snippets import SNIPPETS

pytestmark = pytest.mark.outside  # texts and files taken to where they belong: minutes in a browser


# Snippets, pasted where they belong


@pytest.fixture
def elsewhere(browser, tmp_path):
    """Put HTML into somebody else's page, on another site, and wait for the framed page."""
    contexts = []

    def paste(html: str):
        (tmp_path / "page.html").write_text(html if "<html" in html else PAGE.format(frames=html), encoding="utf-8")
        contexts.append(context := browser.new_context(viewport={"width": 1300, "height": 900}))
        page = context.new_page()
        page.goto(f"http://localhost:{port}/page.html")
        frame = page.locator("iframe").element_handle().content_frame()
        frame.wait_for_function("document.documentElement.dataset.session == 'ready'")
        frame.wait_for_function("!('pending' in document.documentElement.dataset)")
        return frame, page.locator("iframe")

    with serving(tmp_path) as port:
        yield paste
        for context in contexts:
            context.close()


def shown_there(frame, name="memory", question=QUESTION, dark=False, **stops):
    check(SimpleNamespace(page=frame), name, question, dark=dark, **(stops or AT))
    assert frame.locator("header").count() == 0 and not frame.locator(".side").is_visible()


def test_the_html_snippet_shows_the_state_in_a_page_of_somebody_else(share, elsewhere):
    opened(share, **STATE)
    frame, element = elsewhere(snippet(share, "iframe"))
    shown_there(frame)
    assert element.get_attribute("title") == f"Memory · {NAME}"
    box = element.bounding_box()
    assert (box["width"], box["height"]) == (pytest.approx(1200, abs=1.5), pytest.approx(760, abs=1.5))


def test_the_link_and_the_markdown_snippet_lead_to_the_state_with_its_frame(share, server):
    opened(share, **STATE)
    link, markdown = snippet(share, "link"), snippet(share, "markdown")
    title, url = re.fullmatch(r"\[([^\]]*)\]\(([^)\s]*)\)", markdown).groups()
    assert url == link and title == f"Memory · {NAME}" and words_of(link) == STATE
    share.page.goto(link)
    share.settle()
    check(share, "memory", QUESTION, **AT)
    assert share.page.locator("header").count() == 1


@pytest.mark.outside
def test_the_quarto_snippet_is_a_block_of_html_that_shows_the_state(share, elsewhere):
    """Rendered by pandoc, which is what Quarto renders with, where it is installed."""
    opened(share, **STATE)
    text = snippet(share, "quarto")
    if shutil.which("pandoc"):
        said = ["pandoc", "-f", "markdown", "-t", "html"]
        html = subprocess.run(said, input=text, capture_output=True, text=True, check=True, timeout=60).stdout
    else:
        html = re.fullmatch(r"```\{=html\}\n(.*)\n```", text, re.DOTALL)[1]
    shown_there(elsewhere(html)[0])


@pytest.mark.outside
def test_the_jupyter_snippet_runs_in_ipython_and_its_output_shows_the_state(share, elsewhere):
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    opened(share, **STATE)
    shell = InteractiveShell.instance()
    result = shell.run_cell(snippet(share, "jupyter"))
    result.raise_error()
    frame, element = elsewhere(shell.display_formatter.format(result.result)[0]["text/html"])
    shown_there(frame)
    assert element.bounding_box()["width"] == pytest.approx(1200, abs=1.5)


DECK = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>deck</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="reveal.js/dist/reveal.css"></head>
<body><div class="reveal"><div class="slides">{slide}</div></div><script src="reveal.js/dist/reveal.js"></script>
<script>Reveal.initialize({{width: 1300, height: 850}})</script></body></html>"""


@pytest.mark.outside
def test_the_reveal_snippet_is_a_slide_that_shows_the_state(share, elsewhere, reveal, tmp_path):
    shutil.copytree(reveal, tmp_path / "reveal.js")
    opened(share, **STATE)
    frame, _ = elsewhere(DECK.format(slide=snippet(share, "reveal")))
    shown_there(frame)


# The link builder


def test_every_field_of_the_builder_ends_in_the_address_and_works(share, elsewhere):
    opened(share, n="17")
    form = share.page.locator("dialog form")
    form.locator("[name=view]").select_option("rank")
    form.locator("[name=theme]").select_option("dark")
    form.locator("[name=size]").select_option(label="column, 680 × its own height")
    for part in ("controls", "rail"):
        form.locator(f'[name=hide][value="{part}"]').check()
    form.locator("[name=reveal]").check()
    form.locator("[name=host]").fill("https://slides.example/")
    html = snippet(measured(share), "iframe")
    url = re.search(r'src="([^"]*)"', html)[1].replace("&amp;", "&")
    assert urlsplit(url).path == "/rank"
    assert words_of(url) == {
        "n": "17", "theme": "dark", "embed": "1", "hide": "controls,side,below,rail", "reveal": "locked",
        "host": "https://slides.example",
    }  # fmt: skip
    assert words_of(snippet(share, "link")) == {"n": "17", "theme": "dark"}
    frame, element = elsewhere(html)
    shown_there(frame, "rank", Question(), dark=True, n=17)
    assert element.bounding_box()["width"] == 680 and not frame.locator('input[data-axis="N"]').is_visible()
    assert not frame.locator('[data-control="phi"]').is_visible()
    assert frame.locator("[data-text='page.notice']").inner_text() == ""


def test_hostile_text_in_the_builder_ends_no_attribute_and_no_line(share):
    opened(share)
    evil = '"><script>alert(1)</script>\n`` ]( ""\\'
    share.page.locator("dialog [name=host]").fill(evil)
    for part in SNIPPETS:
        told = snippet(share, part.word)
        assert "<script" not in told and told.count("\n") == part.text.count("\n")
    assert compile(snippet(share, "jupyter"), "cell", "exec")
    html = ElementTree.fromstring(snippet(share, "iframe").replace(" loading", " loading", 1))
    html = html.find("iframe") if html.tag == "div" else html
    assert set(html.attrib) == {"src", "title", "width", "height", "style", "allow", "loading"}


def test_every_copy_button_puts_its_text_on_the_clipboard(share):
    opened(share, **STATE)
    share.page.wait_for_function("document.querySelector('[data-snippet=cite]').textContent")
    share.page.wait_for_function("document.querySelector('[data-snippet=code]').textContent")
    copied = {}
    for button in share.page.locator("[data-copy]").all():
        word = button.get_attribute("data-copy")
        tab = button.locator("xpath=ancestor::section").get_attribute("data-panel")
        share.page.locator(f'[data-tab="{tab}"]').click()
        button.click()
        share.page.wait_for_function("button => button.textContent == 'copied'", arg=button.element_handle())
        copied[word] = share.page.evaluate("navigator.clipboard.readText()")
        assert copied[word] == snippet(share, word) != ""
    assert set(copied) == {part.word for part in SNIPPETS} | {"code", "cite"}
