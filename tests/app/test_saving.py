"""What the button saves: a page as a file that is published for fetching."""

from __future__ import annotations

import json
import shutil

import pytest
from loading import CHEAP, Loads

from app.files import Published, folder, list_file, publish
from app.outputs import MOST_FILES, saved
from components.lesson import Question

# What the button saves


@pytest.fixture
def published(monkeypatch):
    """No published files but this test's own."""
    monkeypatch.setattr(Published, "_js", [])
    before = set(folder().iterdir())
    yield folder()
    for path in set(folder().iterdir()) - before:
        path.unlink()


def content_of(address: str) -> str:
    return (folder() / address.rpartition("_js/")[2].partition("?")[0]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("link", "kept"),
    [
        ("https://explorer.example/random-features?r=9", "https://explorer.example/random-features?"),
        ('https://explorer.example/"><img src=x onerror=alert(1)>', "https://explorer.example/&#34;&gt;&lt;img"),
        ("javascript:alert(1)", ""),
        ("data:text/html,<script>alert(1)</script>", ""),
        ("//evil.example", ""),
        ({"toString": 1}, ""),
        ("https://" + "x" * 100_000, "https://xxx"),
        (None, ""),
    ],
)
def test_the_link_that_a_browser_names_is_a_link_of_the_web_or_none(link, kept, fixed, published):
    html = content_of(saved(CHEAP, Question(d_k=8), {"link": link, "at": {"r": "4"}}))
    (served,) = [told for told in Loads(html).links if told not in ("",)] or [""]
    assert f'href="{kept}' in html if kept else served == ""
    assert len(served) < 5_000 and "<img" not in html and "javascript:" not in html


@pytest.mark.parametrize(
    "told", [{"at": {"r": "99"}}, {"at": {"nonsense": "1"}}, {"at": {"r": "<b>"}}, {"at": {"n": []}}]
)
def test_a_position_that_is_none_is_refused_and_nothing_is_published(told, published):
    with pytest.raises(ValueError, match=f"^{next(iter(told['at']))} is"):
        saved(CHEAP, Question(), told)
    assert Published._js == []


@pytest.mark.parametrize(("told", "at"), [("short-vectors", "2.828"), ("no-such", "1"), ({"x": 1}, "1")])
def test_a_page_is_saved_where_it_is_also_when_it_began_from_a_preset_and_was_moved(told, at, fixed, published):
    """Back to the default too, which an address leaves out; a preset that is none of the page's is none."""
    link = "https://explorer.example/random-features"
    data = json.loads(
        Loads(content_of(saved(CHEAP, Question(), {"preset": told, "at": {"r": at}, "link": link}))).data["page-data"]
    )
    axis = data["axes"]["r"]
    assert axis["stops"][axis["index"]] == float(at)
    assert data["preset"] == (told if told == "short-vectors" else "")


def test_after_a_hundred_saves_the_newest_are_there_and_no_more(published):
    (published / "static.html").write_text("a copy")
    (published / "lecture").mkdir(exist_ok=True)
    (published / "lecture" / "rank.html").write_text("a copy of a lecture")
    list_file("lecture/rank.html")
    first = publish("memory", ".html", "page 0", most=MOST_FILES)
    for i in range(100):
        last = publish("memory", ".html", f"page {i}", most=MOST_FILES)
        assert publish("memory", ".html", "page 0", most=MOST_FILES) == first
    assert content_of(last) == "page 99" and content_of(first) == "page 0"
    saves = [path for path in published.glob("memory-*.html")]
    assert len(saves) == MOST_FILES and len(Published._js) == MOST_FILES + 1
    assert content_of("_js/lecture/rank.html") == "a copy of a lecture"
    shutil.rmtree(published / "lecture")
