"""Share: what is taken away from a page is pasted where it belongs, opened, run and read back."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from asked import VIEWS
from copied import CHECKS, Page, printed_by
from driving import AXES, OVERVIEW, Question, Tab, check, expected, same_numbers, start_positions
from filed import FileTab, asked_by
from hosting import PAGE, serving

from app.page import figures_of
from components.about import NAME
from components.snippets import SNIPPETS

pytestmark = pytest.mark.outside  # texts and files taken to where they belong: minutes in a browser

STATE = {"phi": "favor~m~64", "rule": "delta", "n": "17"}
QUESTION, AT = Question(phi="favor~m~64", rule="delta"), {"n": 17}


@pytest.fixture
def share(browser, server):
    """A visitor who may use the clipboard."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    tab = Tab(context.new_page(), server)
    yield tab
    context.close()
    assert not tab.complaints


def opened(tab: Tab, name: str = "memory", panel: str = "embed", **words) -> Tab:
    tab.open(name, **words)
    tab.page.locator("[data-share]").click()
    tab.page.locator(f'[data-tab="{panel}"]').click()
    assert tab.page.locator(f'[data-panel="{panel}"]').is_visible()
    return tab


def snippet(tab: Tab, word: str) -> str:
    return tab.page.locator(f'[data-snippet="{word}"]').text_content()


def words_of(url: str) -> dict[str, str]:
    return {word: texts[0] for word, texts in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}


def download(tab: Tab, button: str) -> tuple[str, bytes]:
    with tab.page.expect_download() as got:
        tab.page.locator(button).click()
    return got.value.suggested_filename, Path(got.value.path()).read_bytes()


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
    assert (element.bounding_box()["width"], element.bounding_box()["height"]) == (1200, 760)


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
    assert element.bounding_box()["width"] == 1200


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
    form.locator("[name=size]").select_option(label="column, 680 × 900")
    for part in ("controls", "rail"):
        form.locator(f'[name=hide][value="{part}"]').check()
    form.locator("[name=reveal]").check()
    form.locator("[name=host]").fill("https://slides.example/")
    html = snippet(share, "iframe")
    url = re.search(r'src="([^"]*)"', html)[1].replace("&amp;", "&")
    assert urlsplit(url).path == "/rank"
    assert words_of(url) == {
        "n": "17", "theme": "dark", "embed": "1", "hide": "controls,side,rail", "reveal": "locked",
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


# Pictures and numbers


def size_of(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


COLOURS = """async base64 => {
  const image = new Image()
  image.src = 'data:image/png;base64,' + base64
  await image.decode()
  const canvas = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height})
  const draw = canvas.getContext('2d', {willReadFrequently: true})
  draw.drawImage(image, 0, 0)
  const pixels = new Uint32Array(draw.getImageData(0, 0, image.width, image.height).data.buffer)
  return [pixels[0], new Set(pixels).size]
}"""


@pytest.mark.parametrize("theme", [pytest.param("light", marks=pytest.mark.outside), "dark"])
def test_pictures_are_the_figures_at_twice_their_size_on_the_theme_s_ground(share, theme):
    from base64 import b64encode

    opened(share, "memory", "files", theme=theme, **STATE)
    roots = [name for _, name in json.loads(figures_of("memory").json)["roots"]]
    assert [b.get_attribute("data-of") for b in share.page.locator("[data-still=png]").all()] == roots
    ground = share.page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()")
    whole = ground if len(ground) == 7 else "#" + "".join(2 * digit for digit in ground[1:])
    for figure in roots:
        name, png = download(share, f'[data-still=png][data-of="{figure}"]')
        box = share.page.locator(f'main [data-figure="{figure}"]').bounding_box()
        assert name == f"{figure}.png"
        assert size_of(png) == pytest.approx((2 * box["width"], 2 * box["height"]), abs=2)
        corner, colours = share.page.evaluate(COLOURS, b64encode(png).decode())
        assert f"#{int.from_bytes(corner.to_bytes(4, 'little')[:3], 'big'):06x}" == whole and colours > 10
        name, svg = download(share, f'[data-still=svg][data-of="{figure}"]')
        root = ElementTree.fromstring(svg)
        assert name == f"{figure}.svg" and root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root[0].tag.endswith("rect") and root[0].get("fill") == ground and len(list(root.iter())) > 5
        assert not re.search(rb"""(?:href|src)\s*=\s*["'](?!data:|#)""", svg)


STOPS = {"memory": {"n": 17}, "sizing": {"T": 4096}}


@pytest.mark.parametrize(
    "view", ["memory", *(pytest.param(v, marks=pytest.mark.outside) for v in ("sizing", OVERVIEW))]
)
def test_numbers_carry_state_axes_and_units_and_are_those_of_the_named_sources(share, view):
    words = {"phi": "taylor", **{word: str(value) for word, value in STOPS.get(view, {}).items()}}
    opened(share, view, "files", **words)
    question, at = asked_by({"phi": "taylor"}), start_positions(STOPS.get(view, {}))
    wanted = expected(view, question, at)
    file, told = download(share, "[data-table=json]")
    told = json.loads(told)
    assert file == f"{view}.json" and told["program"] == NAME and told["view"] == view and told["state"] == words
    assert any(character.isdigit() for character in told["says"][0])
    axes = {figure.name: figure for _, drawing in figures_of(view).drawings
            for row in drawing.rows for figure in (cell.figure for cell in row)}  # fmt: skip
    seen = 0
    for figure in told["figures"]:
        if figure["figure"].endswith("_sweep"):
            continue  # what it shows is no answer
        plot = axes.pop(figure["figure"])
        assert figure["across"] == (plot.below[0].axis_label or "" if plot.below else "")
        for series in figure["series"]:
            for column, cells in series["columns"].items():
                same_numbers(cells["values"], wanted[series["source"]][column], f"{series['source']}.{column}")
                assert cells["axis"] in (figure["across"], figure["up"], "")
                assert cells["unit"] == "".join(re.findall(r"\(([^()]*)\)$", cells["axis"] or ""))
                seen += np.size(wanted[series["source"]][column])
    assert not axes and seen > 500
    file, text = download(share, "[data-table=csv]")
    same_in_csv(text.decode(), told)


def same_in_csv(text: str, told: dict):
    head = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("# "))
    assert (
        head["view"] == told["view"]
        and json.loads(head["state"]) == told["state"]
        and head["version"] == told["version"]
    )
    rows = csv.DictReader(io.StringIO("\n".join(line for line in text.splitlines() if not line.startswith("# "))))
    table: dict[tuple, list] = {}
    for row in rows:
        table.setdefault((row["figure"], row["source"], row["glyph"], row["column"]), []).append(row)
    flat = lambda v: [x for item in v for x in flat(item)] if isinstance(v, list) else [v]  # noqa: E731
    for figure in told["figures"]:
        for series in figure["series"]:
            for column, cells in series["columns"].items():
                values = [value for value in flat(cells["values"]) if value is not None]
                mine = table.get((figure["figure"], series["source"], series["glyph"], column), [])
                assert len(mine) >= len(values)
                for value, row in zip(values, mine):
                    assert (
                        row["value"] == value if isinstance(value, str) else float(row["value"]) == pytest.approx(value)
                    )
                    assert row["axis"] == cells["axis"] and row["unit"] == cells["unit"]


# Code, citation, one file


@pytest.mark.parametrize(
    "view", ["memory", *(pytest.param(v, marks=pytest.mark.outside) for v in VIEWS if v in CHECKS and v != "memory")]
)
def test_the_script_of_the_panel_runs_and_prints_what_the_page_shows(share, view):
    opened(share, view, "code")
    for plain in (False, True):
        if plain:
            share.page.locator("[data-plain]").check()
            share.page.wait_for_function(
                "!/import compute|from compute/.test(document.querySelector('[data-snippet=code]').textContent)"
            )
        else:
            share.page.wait_for_function(
                "document.querySelector('[data-snippet=code]').textContent.includes('compute')"
            )
        CHECKS[view](printed_by(snippet(share, "code")), Page(view, Question(), {}), plain)


@pytest.mark.outside
def test_script_and_citation_are_those_of_the_state(share, server):
    opened(share, "memory", "code", **STATE)
    share.page.wait_for_function("document.querySelector('[data-snippet=cite]').textContent")
    share.page.wait_for_function("document.querySelector('[data-snippet=code]').textContent")
    CHECKS["memory"](printed_by(snippet(share, "code")), Page("memory", QUESTION, AT), False)
    cite = snippet(share, "cite")
    url = re.search(r"url = \{(.*)\}", cite)[1]
    assert url.startswith(f"{server}/memory?") and words_of(url) == STATE and re.search(r"state [0-9a-f]{10}", cite)


def test_the_button_makes_a_file_of_the_state_that_works_without_the_server(share, browser, tmp_path):
    opened(share, "bracketing", "files", phi="taylor", T="4096", theme="dark")
    name, page = download(share, "[data-save]")
    assert name == "bracketing.html" and len(page) <= 2_500_000
    assert share.page.locator("[data-text='page.saving']").inner_text() == "made"
    assert share.page.locator("[data-save]").is_enabled()
    (tmp_path / name).write_bytes(page)
    context = browser.new_context()
    context.set_offline(True)
    file = FileTab(context.new_page()).opens(tmp_path / name)
    check(file, "bracketing", Question(phi="taylor"), dark=True, T=4096)
    file.takes("phi", "elu")
    check(file, "bracketing", Question(), dark=True, T=4096)
    if file.page.locator(".fixed a").count():
        assert words_of(file.page.locator(".fixed a").get_attribute("href")) == {
            "phi": "taylor",
            "T": "4096",
            "theme": "dark",
        }
    assert file.loaded == [(tmp_path / name).as_uri()] and not file.complaints
    context.close()


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
