"""Static copies: made by a process of its own, linked when all are there, and never in the way."""

import sys

import pytest
from rendering import page
from visiting import finished

from app import copies
from app.files import Published, folder

MAKES = """
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
folder.mkdir()
for name in ("index", "rank"):
    (folder / f"{name}.html").write_text(name)
"""


@pytest.fixture
def named(monkeypatch):
    """A folder of this test's own among the published ones."""
    monkeypatch.setattr(copies, "NAME", "copies-of-a-test")
    monkeypatch.setattr(copies, "_addresses", {})
    yield folder() / copies.NAME
    Published._js[:] = [name for name in Published._js if not name.startswith(copies.NAME)]


def test_copies_are_linked_from_their_pages_when_they_are_there(named, monkeypatch):
    monkeypatch.setattr(copies, "COMMAND", (sys.executable, "-c", MAKES))
    assert copies.copy_of("rank") == "" and not page("rank").with_attribute("data-static")
    finished(copies.make_copies(0))
    assert copies.copy_of("explorer").endswith("copies-of-a-test/index.html") and copies.copy_of("memory") == ""
    (link,) = page("rank").with_attribute("data-static")
    assert link.attrs["href"] == copies.copy_of("rank")
    assert [name for name in Published._js if "/" in name] == [
        f"{copies.NAME}/{name}.html" for name in ("index", "rank")
    ]


def test_a_failure_to_make_them_is_logged_and_leaves_no_link(named, monkeypatch, caplog):
    monkeypatch.setattr(copies, "COMMAND", (sys.executable, "-c", "import sys; sys.exit('no room')"))
    finished(copies.make_copies(0))
    assert (
        "no static copies: no room" in caplog.text
        and copies.copy_of("rank") == ""
        and not any(name.startswith(copies.NAME) for name in Published._js)
    )


@pytest.mark.parametrize(("said", "made"), [("yes", True), ("no", False), (None, False)])
def test_they_are_made_only_where_they_are_asked_for(said, made, monkeypatch):
    monkeypatch.delenv(copies.ASKED, raising=False)
    if said:
        monkeypatch.setenv(copies.ASKED, said)
    assert copies.wanted() is made
