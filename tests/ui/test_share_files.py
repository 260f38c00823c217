"""Share, files and code: what is taken away from a page is opened, run and read back."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
from xml.etree import ElementTree

import numpy as np
import pytest
from asked import VIEWS
from checking import check, expected, same_numbers
from copied import CHECKS, Page, printed_by
from filed import FileTab, asked_by
from sharing import AT, QUESTION, STATE, download, opened, snippet, words_of

from app.export import LARGEST
from app.page import OVERVIEW, figures_of
from components.about import NAME
from components.lesson import Question
from components.view import start_positions

pytestmark = pytest.mark.outside  # texts and files taken to where they belong: minutes in a browser


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
        corner, colours = share.page.evaluate(COLOURS, b64encode(png).decode())
        assert f"#{int.from_bytes(corner.to_bytes(4, 'little')[:3], 'big'):06x}" == whole and colours > 10
        name, svg = download(share, f'[data-still=svg][data-of="{figure}"]')
        root = ElementTree.fromstring(svg)
        assert name == f"{figure}.svg" and root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root[0].tag.endswith("rect") and root[0].get("fill") == ground and len(list(root.iter())) > 5
        band = title_of(root, figure, share)
        width, height = round(box["width"]), round(box["height"]) + band
        assert (float(root.get("width")), float(root.get("height"))) == pytest.approx((width, height), abs=1)
        assert size_of(png) == (2 * int(float(root.get("width"))), 2 * int(float(root.get("height"))))
        assert not re.search(rb"""(?:href|src)\s*=\s*["'](?!data:|#)""", svg)


LINES = {"14px": 19, "12px": 16, "10px": 14}
"""Height of a line of the title by the size of its letters: headline, caption, state."""


def title_of(root, figure: str, share) -> int:
    """The height of what stands over the picture: its headline, its caption, its state, all of them in words."""
    told = [text for text in root if text.tag.endswith("text")]
    said = {px: " ".join(text.text for text in told if text.get("font-size") == px) for px in LINES}
    place = share.page.locator(f'main [data-figure="{figure}"]')
    caption = place.locator("xpath=ancestor::figure[1]/figcaption")
    if not figure.endswith("_sweep"):
        assert said["14px"] == share.text("memory.headline")
    assert said["12px"] == (" ".join(caption.text_content().split()) if caption.count() else "")
    assert said["10px"].startswith(f"{NAME}, memory: ")
    assert all(f"{word} = {value}" in said["10px"] for word, value in STATE.items())
    band = 16 + sum(LINES[text.get("font-size")] for text in told)
    (picture,) = (child for child in root if child.tag.endswith("svg"))
    assert float(picture.get("y")) == band and max(float(text.get("y")) for text in told) < band
    return band


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
    assert name == "bracketing.html" and len(page) <= LARGEST
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
