"""Pages as sent: navigation, text nodes, escaping.  Nothing here needs a browser or a server."""

from __future__ import annotations

import json
import re
from collections import Counter
from html import escape
from pathlib import Path

import panel as panel_package
import pytest
from rendering import document, page

import app
from app.page import NOTES, OVERVIEW, figures_address, figures_of, pages, view, views_of
from app.session import answers
from components.axes import AXES
from components.controls import CONTROLS, make_controls
from components.lesson import Lesson, Question
from components.reel import is_drawn
from components.sweep_pictures import pictures_of
from components.words import WORDS

MARKUP = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(2)</script>"
EDGES = {
    "dk-and-nu": {"phi": "dpfp~nu~31", "d_k": "4"},
    "zero-features": {"phi": "relu", "d_k": "4", "keys": "phi"},
    "no-write": {"rule": "delta", "beta": "0"},
    "wide": {"phi": "favor~m~4096", "d_k": "64", "keys": "phi"},
}

every_page = pytest.mark.parametrize("name", pages())


# Navigation


def test_the_pages_are_the_files_of_the_folder():
    folder = Path(app.__file__).parent / "pages"
    assert {*pages(), NOTES} == {path.stem for path in folder.glob("*.py")}
    assert next(iter(pages())) == OVERVIEW


def test_views_stand_in_the_order_of_their_places():
    places = [view(word).place for word in pages() if word != OVERVIEW]
    assert places == sorted(set(places))
    assert all(view(word).word == word for word in pages() if word != OVERVIEW)


@every_page
def test_the_navigation_leads_to_every_page_and_marks_this_one(name):
    tree = page(name)
    links = {
        e.attrs["href"]: e
        for e in tree.elements
        if e.tag == "a" and "data-page" in e.attrs and e.text in pages().values()
    }
    assert set(links) == set(pages())  # by name: `/` is the overview only where the server was told so
    assert [href for href, e in links.items() if e.attrs.get("aria-current") == "page"] == [name]


def test_every_card_of_the_overview_opens_its_own_page():
    """Once from the navigation, once from the card."""
    tree = page(OVERVIEW)
    for v in views_of(OVERVIEW):
        assert sum(e.attrs.get("href") == v.word and e.tag == "a" for e in tree.elements) >= 2


def test_the_overview_asks_what_the_pages_ask_that_it_does_not_show():
    shown = {v.word for v in views_of(OVERVIEW)} | {OVERVIEW}
    asked = {e.attrs["href"]: e.text for e in page(OVERVIEW).elements if e.tag == "a" and "data-page" in e.attrs}
    for word in pages().keys() - shown:
        assert asked[word] == f"{view(word).title} {view(word).question}"
    assert not any(view(word).question in page(OVERVIEW, embed="1").html for word in pages().keys() - shown)


# What a page holds


@every_page
def test_every_text_an_answer_or_a_reel_says_has_a_node(name):
    nodes, views = page(name).texts(), views_of(name)
    for v in views:
        told = v.answer(Question())
        said = {bind.node for reel in v.reels for bind in reel.binds if bind.node}
        said |= {
            node
            for source, columns in told.items()
            if not is_drawn(source) and "node" in columns
            for node in columns["node"]
        }
        quiet = set(v.side_nodes) if name == OVERVIEW else set()
        assert said - quiet <= set(nodes)


@every_page
def test_a_text_node_is_spoken_to_by_somebody(name):
    """A node that no answer and no reel knows stays empty for ever."""
    views = views_of(name)
    known = {bind.node for v in views for reel in v.reels for bind in reel.binds if bind.node}
    known |= {n for columns in answers(views, Question()).values() if "node" in columns for n in columns["node"]}
    for v in views:
        known |= {f"{picture.name}_{part}" for picture in pictures_of(v.word) for part in ("said", "finding")}
    own = {node for node in page(name).texts() if not node.startswith("page.")}
    assert own <= known | {
        f"{v.word}.{part}" for v in views for part in ("subject", "aside", "formula", "values", "sentence")
    }


@every_page
def test_every_figure_has_its_place_and_every_place_its_figure(name):
    places = [e.attrs["data-figure"] for e in page(name).with_attribute("data-figure")]
    roots = [root_name for _, root_name in json.loads(figures_of(name).json)["roots"]]
    assert sorted(places) == sorted(roots) and len(set(roots)) == len(roots)


@every_page
def test_sliders_say_what_they_are_and_where_they_stand(name):
    sliders = [e for e in page(name).elements if e.tag == "input" and e.attrs.get("type") == "range"]
    assert sliders
    for slider in sliders:
        axis = AXES[slider.attrs["data-axis"]]
        i = int(slider.attrs["value"])
        assert slider.attrs["aria-label"] and slider.attrs["aria-valuetext"] == axis.say(axis.stops[i])
        last = 2 if axis.word == "t" else len(axis.stops) - 1  # the example by hand has three tokens
        assert int(slider.attrs["max"]) == last and axis.stops[i] == WORDS[axis.word].default


@every_page
def test_the_page_is_right_before_any_script_runs(name):
    tree = page(name)
    for v in views_of(name):
        assert any(character.isdigit() for character in tree.texts()[f"{v.word}.headline"])
    words = Counter(e.attrs["data-text"] for e in tree.with_attribute("data-text"))
    assert max(words.values()) == 1


@every_page
def test_an_id_stands_once(name):
    ids = Counter(e.attrs["id"] for e in page(name).with_attribute("id"))
    assert max(ids.values()) == 1


@every_page
def test_the_session_knows_what_every_button_stands_for(name):
    doc = document(name)
    (heard,) = doc.get_model_by_name("page.event")._callbacks["data"]
    shown = {root.name.removeprefix("control."): root.labels for root in doc.roots if hasattr(root, "labels")}
    assert shown.keys() == heard.__self__.offered.keys() and shown.keys() <= WORDS.keys()
    for word, values in heard.__self__.offered.items():
        assert len(values) == len(shown[word])
        assert all(WORDS[word].read(WORDS[word].write(value)) == value for value in values)


@every_page
def test_every_control_has_its_place_and_a_name(name):
    tree = page(name)
    placed = [e.attrs["data-control"] for e in tree.with_attribute("data-control")]
    assert placed and len(set(placed)) == len(placed)
    roots = {root.name for root in tree.doc.roots}
    assert {f"control.{word}" for word in placed} == roots - {"page.carrier"} and set(placed) <= set(CONTROLS)


@every_page
def test_scripts_and_styles_come_from_this_server(name):
    for element in page(name).elements:
        for key in ("src", "href"):
            value = element.attrs.get(key) or ""
            assert not value.startswith(("//", "http:", "https:")), (element.tag, value)


def test_no_page_fetches_tables_and_panel_asks_of_them_only_what_stands_in_their_place():
    """`assets/tables.js` stands in for BokehJS' tables: Panel may name nothing of them but the class of a column."""
    tree = page(OVERVIEW)
    assert not any("bokeh-tables" in (e.attrs.get("src") or "") for e in tree.elements)
    assert tree.html.index("bokeh-widgets") < tree.html.index("register_plugin({") < tree.html.index("panel.min.js")
    panel = (Path(panel_package.__file__).parent / "dist" / "panel.min.js").read_text(encoding="utf-8")
    (module,) = (part for part in re.split(r'\n"[0-9a-f]+": ', panel) if "@bokehjs/models/widgets/tables" in part)
    (name,) = re.findall(r'\b(\w+)=\w+\("@bokehjs/models/widgets/tables"\)', module)
    assert set(re.findall(rf"\b{name}\.(\w+)", module)) == {"TableColumn"}


# The address


@every_page
def test_browser_words_are_in_the_page_that_is_sent(name):
    used = {e.attrs["data-axis"] for e in page(name).with_attribute("data-axis")}
    for word, text in (("c", "4"), ("n", "17"), ("N", "64"), ("T", "4096")):
        if word in used:
            slider = next(
                e for e in page(name, **{word: text}).with_attribute("data-axis") if e.attrs["data-axis"] == word
            )
            assert slider.attrs["aria-valuetext"] == AXES[word].say(WORDS[word].read(text))


@every_page
def test_server_words_make_the_figures_wait_and_browser_words_do_not(name):
    assert "data-pending" in page(name, phi="relu").elements[0].attrs
    assert "data-pending" not in page(name, n="3", theme="dark").elements[0].attrs
    assert "data-pending" not in page(name).elements[0].attrs


def test_theme_embed_and_hide_are_in_the_page_that_is_sent():
    root = page(OVERVIEW, theme="dark", embed="1", hide="controls")
    assert root.elements[0].attrs["data-theme"] == "dark" and "data-embed" in root.elements[0].attrs
    assert root.elements[0].attrs["data-hide"] == "controls"
    assert not [e for e in root.elements if e.tag == "header"]


@pytest.mark.parametrize("text", [MARKUP, SCRIPT, "'\"`{{7*7}}{%raw%}", "9" * 10_000, "\0<b>"])
@every_page
def test_a_hostile_address_is_shown_escaped_named_and_makes_no_element(name, text):
    clean, hostile = page(name), page(name, **{word: text for word in WORDS}, **{f"{MARKUP}{text[:20]}": "1"})
    assert Counter(e.tag for e in hostile.elements) == Counter(e.tag for e in clean.elements)
    assert not [e for e in hostile.elements if any(key.startswith("on") and key != "onclick" for key in e.attrs)]
    assert (
        MARKUP not in hostile.html
        and "<b>" not in hostile.html
        and "49" not in hostile.texts()["page.notice"].replace("0.49", "")
    )
    notice = hostile.texts()["page.notice"]
    for word in WORDS:
        assert f"{word} = " in notice or f"{word} is" in notice, word
    assert "Traceback" not in hostile.html and len(notice) < 6_000
    if len(text) < 40 and "\0" not in text:
        assert escape(text) in hostile.html.replace("&#34;", "&quot;").replace("&#39;", "&#x27;")


def test_the_data_for_the_script_cannot_end_the_script(monkeypatch):
    """What stands in a script element ends at the first closing tag, whatever it is quoted with."""
    monkeypatch.setattr("app.context.SLOTS", {SCRIPT: ("#000000", "#ffffff")})
    assert SCRIPT in json.loads(page("rank").data())["slots"]


def test_a_repeated_word_is_named():
    notice = page(OVERVIEW, n=[b"3", b"4"]).texts()["page.notice"]
    assert notice.startswith("n stands 2 times")


def test_a_position_between_two_stops_is_told():
    assert "T = 1000 lies between stops" in page("sizing", T="1000").texts()["page.notice"]
    assert page("sizing", T="1024").texts()["page.notice"] == ""


@pytest.mark.parametrize("words", EDGES.values(), ids=EDGES)
@every_page
def test_words_that_are_legal_one_by_one_make_a_page_together(name, words):
    """The page is sent, and the session can answer or says what it refused."""
    tree = page(name, **words)
    assert "Traceback" not in tree.html
    question = Question(**{word: WORDS[word].read(text) for word, text in words.items()})
    if not tree.texts()["page.notice"]:
        for v in views_of(name):
            assert v.answer(question)


def test_controls_show_what_the_address_says():
    doc = document(
        "memory", rule="gated_delta", keys="correlated", rho="0.9", alpha="0.5", beta="0", seed="7", phi="favor~m~64"
    )
    shown = {root.name.partition(".")[2]: root for root in doc.roots}
    assert [shown[word].value for word in ("rho", "alpha", "beta", "seed")] == [0.9, 0.5, 0.0, 7]
    for word, value in (("rule", "gated_delta"), ("keys", "correlated"), ("phi", "favor")):
        options = list(make_controls(Lesson(), (word,))[word].options.values())
        assert shown[word].active == options.index(value)


# Files


@every_page
def test_a_page_file_is_drawn_once_and_named_by_its_content(name):
    address = figures_address(name)
    assert figures_of(name) is figures_of(name) and address.rpartition("=")[2] in address.partition("?")[0]
    assert json.loads(figures_of(name).json)["document"]["roots"]


def test_published_files_are_served_by_panels_own_route_and_nothing_else_is():
    from panel.io.server import ComponentResourceHandler

    handler = ComponentResourceHandler.__new__(ComponentResourceHandler)
    for name in pages():
        route = figures_address(name).partition("?")[0].removeprefix("components/")
        assert Path(handler.parse_url_path(route)).read_text(encoding="utf-8") == figures_of(name).json
    with pytest.raises(Exception, match=r"40[34]"):
        handler.parse_url_path("explorer_files/Published/_js/../../../../etc/passwd")
