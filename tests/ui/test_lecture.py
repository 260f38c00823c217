"""The sample deck, installed and packed as its README says, opened with the network off and stepped through."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from checking import check
from driving import PATIENCE, given_up
from hosting import serving

from app.page import pages
from components.lesson import Question
from components.words import WORDS

ROOT = Path(__file__).resolve().parents[2]
DECK = ROOT / "examples" / "lecture"
FILES = ("index.html", "deck.js", "deck.css", "package.json", "package-lock.json")
SHOWN = {
    "sharpness": [({}, {}), ({}, {"c": 6.3}), ({"phi": "taylor"}, {"c": 6.3}), ({"phi": "favor"}, {"c": 6.3})],
    "memory": [
        ({}, {"n": 32}), ({}, {"n": 32}), None, None,
        ({"keys": "correlated"}, {"n": 64}), ({"keys": "correlated", "rule": "delta"}, {"n": 64}),
    ],
    "rank": [({}, {"N": 16}), ({}, {"N": 32}), ({}, {}), ({"phi": "taylor"}, {})],
}  # fmt: skip
"""Question and stops after every step of each slide; None while it plays or has been stopped."""


# What is written


class Markup(HTMLParser):
    def __init__(self, html: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def elements() -> list[tuple[str, dict]]:
    return Markup((DECK / "index.html").read_text(encoding="utf-8")).elements


def test_the_deck_fetches_nothing_from_another_host():
    loaded = [told.get("src") or told.get("href") or "" for _, told in elements()]
    assert not [address for address in loaded if re.match(r"(?:\w+:)?//", address)]
    assert "url(" not in (DECK / "deck.css").read_text() and "@import" not in (DECK / "deck.css").read_text()


def test_its_library_is_pinned_and_no_registry_is_named():
    package, lock = (json.loads((DECK / name).read_text()) for name in ("package.json", "package-lock.json"))
    for name, version in package["dependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert not [entry for entry in lock["packages"].values() if "resolved" in entry]
    assert all(entry.get("integrity", "sha512-").startswith("sha512-") for entry in lock["packages"].values())


def test_every_step_is_a_message_with_words_of_the_explorer():
    steps = [json.loads(told["data-send"]) for _, told in elements() if "data-send" in told]
    starts = [json.loads(told["data-start"]) for _, told in elements() if "data-start" in told]
    assert {step["explorer"] for step in steps} >= {"set", "step", "play", "pause", "reveal"}
    for words in [*starts, *(step["words"] for step in steps if step["explorer"] == "set")]:
        for word, text in words.items():
            WORDS[word].read(text)
    framed = [told["data-page"] for _, told in elements() if "data-page" in told]
    assert len(framed) == 3 and set(framed) <= set(pages()) and set(framed) == set(SHOWN)


# What happens


@pytest.fixture(scope="module")
def deck(reveal, tmp_path_factory) -> Path:
    """A copy of the example, with its library and its pages."""
    folder = tmp_path_factory.mktemp("examples") / "lecture"
    folder.mkdir()
    for name in FILES:
        shutil.copy(DECK / name, folder)
    (folder / "node_modules").mkdir()
    shutil.copytree(reveal, folder / "node_modules" / "reveal.js")
    script = (DECK / "pack.sh").read_text().replace("cd ../..", f"cd '{ROOT}'")
    (folder / "pack.sh").write_text(script)
    told = {**os.environ, "PYTHON": sys.executable}
    subprocess.run(["sh", "pack.sh"], cwd=folder, env=told, check=True, capture_output=True, text=True, timeout=600)
    assert {path.stem for path in (folder / "views").iterdir()} == set(SHOWN)
    return folder


@pytest.fixture
def stage(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    told = SimpleNamespace(context=context, page=context.new_page(), complaints=[], asked=[])
    told.page.set_default_timeout(PATIENCE)
    told.page.on("console", lambda m: m.type in ("error", "warning") and told.complaints.append(m.text))
    told.page.on("pageerror", lambda error: told.complaints.append(str(error)))
    told.page.on("requestfailed", lambda r: given_up(r) or told.complaints.append(r.url))
    told.page.on("request", lambda request: told.asked.append(request.url))
    yield told
    context.close()
    assert not told.complaints


def frame_of(page):
    return page.locator("section.present iframe").element_handle().content_frame()


def shows(page, name: str, step: int):
    """The framed page of this slide has the numbers of this step, once it has heard of it."""
    frame = frame_of(page)
    if SHOWN[name][step] is None:
        return frame
    words, stops = SHOWN[name][step]
    told = {**words, **{word: f"{value:g}" for word, value in stops.items()}}
    frame.wait_for_function(
        """told => window.Explorer && document.documentElement.dataset.session &&
        !('pending' in document.documentElement.dataset) &&
        JSON.stringify(Object.entries(Explorer.told()).sort()) == JSON.stringify(Object.entries(told).sort())""",
        arg=told,
    )
    check(SimpleNamespace(page=frame), name, Question(**words), **stops)
    return frame


def step_through(page):
    """All steps of all slides forward with the right arrow, then back to the first with the left one."""
    page.wait_for_function("Reveal.isReady()")
    for name, steps in SHOWN.items():
        for step in range(len(steps)):
            if (name, step) != ("sharpness", 0):
                page.keyboard.press("ArrowRight")
            frame = shows(page, name, step)
            if name == "memory":
                marked = frame.evaluate("Explorer.model('memory.predicted.point').visible")
                frame.wait_for_function("on => Explorer.model('memory.predicted.point').visible == on", arg=step >= 1)
                assert step >= 1 or not marked
                if step == 2:
                    frame.wait_for_function("Explorer.at.n > 36")
                if step == 3:
                    frame.wait_for_function("!Explorer.plays('n')")
                    assert 36 < frame.evaluate("Explorer.at.n") < 256
    assert page.locator("section.present .state").inner_text() == "phi = taylor"
    for name, steps in reversed(SHOWN.items()):
        for step in reversed(range(len(steps))):
            if (name, step) != ("rank", len(SHOWN["rank"]) - 1):
                page.keyboard.press("ArrowLeft")
            shows(page, name, step)


@pytest.mark.outside
def test_opened_as_a_file_with_the_network_off_the_deck_steps_its_pages(deck, stage):
    stage.context.set_offline(True)
    stage.page.goto((deck / "index.html").as_uri())
    step_through(stage.page)
    assert all(url.startswith((deck.as_uri(), "data:", "blob:")) for url in stage.asked)


@pytest.mark.outside
def test_from_a_plain_web_server_the_deck_steps_its_pages(deck, stage):
    with serving(deck) as port:
        stage.page.goto(f"http://localhost:{port}/index.html")
        step_through(stage.page)
        assert all(url.startswith((f"http://localhost:{port}/", "data:", "blob:")) for url in stage.asked)


@pytest.mark.outside
def test_with_its_one_constant_set_the_deck_steps_a_served_explorer(deck, stage, server):
    text = (deck / "deck.js").read_text(encoding="utf-8")
    served = text.replace("const EXPLORER = ''", f"const EXPLORER = '{server}/'")
    assert served != text
    (deck / "deck.js").write_text(served, encoding="utf-8")
    try:
        with serving(deck) as port:
            stage.page.goto(f"http://localhost:{port}/index.html")
            step_through(stage.page)
    finally:
        (deck / "deck.js").write_text(text, encoding="utf-8")
