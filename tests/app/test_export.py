"""Pages as files, without a browser: what the command line says, what it writes, and what it leaves when it fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from loading import CHEAP, Loads

from app import choices, export
from app.page import OVERVIEW, pages, views_of
from components.lesson import Lesson
from components.snippets import SNIPPETS

ROOT = Path(__file__).resolve().parents[2]


def read(path: Path) -> Loads:
    return Loads(path.read_text(encoding="utf-8"))


def run(*arguments: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "app.export", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, **more
    )


def refusal(capsys, *arguments: str) -> str:
    """The one line that a run on these arguments ends with."""
    assert export.main(list(arguments)) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1
    return told.err.strip()


# What is refused, and what is left behind


def test_from_a_terminal_a_refusal_is_one_line_and_its_status_is_one(tmp_path):
    done = run("nonsense", "--out", str(tmp_path / "x.html"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"view 'nonsense' is none of {', '.join(pages())}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["../explorer", "", "EXPLORER", "rank.html", "<b>"])
def test_what_is_no_page_is_named_and_no_file_made(name, tmp_path, capsys):
    assert refusal(capsys, name, "--out", str(tmp_path / "x.html")).startswith(f"view {name!r} is none of")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("d_k=17&phi=nonsense&n=5", ("d_k = 17 ", "phi = nonsense ")),
        ("nonsense=1", ("nonsense is not a word",)),
        ("preset=no-such", ("preset = no-such ",)),
        ("phi=dpfp~nu~31&d_k=4", ("phi = dpfp~nu~31 does not exist at d_k = 4",)),
        ("phi", ("is no query such as",)),
        ("&".join(f"x{i}=1" for i in range(101)), ("is no query such as",)),
        ("n=5&n=6", ("n stands 2 times",)),
        ("theme=<script>", ("theme = <script> ",)),
    ],
)
def test_words_that_are_refused_are_named_one_by_one_and_no_file_made(state, told, tmp_path, capsys):
    said = refusal(capsys, "memory", "--state", state, "--out", str(tmp_path / "x.html"))
    assert said.startswith("state") and all(part in said for part in told)
    assert not list(tmp_path.iterdir())


def test_a_state_goes_with_one_view_only(tmp_path, capsys):
    assert refusal(capsys, "all", "--state", "n=5", "--out", str(tmp_path / "d")).startswith(
        "--state goes with one view"
    )
    assert not (tmp_path / "d").exists()


def test_a_theme_that_is_none_is_refused_by_the_parser(tmp_path, capsys):
    with pytest.raises(SystemExit):
        export.main(["rank", "--theme", "purple", "--out", str(tmp_path / "x.html")])
    assert "invalid choice: 'purple'" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["a file is in the way", "a folder is in the way", "an endless name"])
def test_where_nothing_can_be_written_it_says_so_and_leaves_no_half_file(where, tmp_path, capsys, fixed):
    (tmp_path / "file").write_text("here before")
    (tmp_path / "folder.html").mkdir()
    out = tmp_path / {"a file is in the way": "file/x.html", "a folder is in the way": "folder.html"}.get(
        where, "x" * 300
    )
    said = refusal(capsys, CHEAP, "--out", str(out))
    assert said.startswith(f"{out} cannot be written: ")
    assert {path.name for path in tmp_path.rglob("*")} == {"file", "folder.html"}
    assert (tmp_path / "file").read_text() == "here before"


def test_a_disk_that_fills_up_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    (tmp_path / "x.html").write_text("the last good one")

    def full(path, text, encoding):
        with path.open("w") as half:
            half.write(text[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(export.ExportError, match="cannot be written: No space left on device"):
        export.write(tmp_path / "x.html", "the next one, longer than ten")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]
    assert (tmp_path / "x.html").read_text() == "the last good one"


def test_a_page_over_the_limit_is_refused_with_its_size_and_no_file_made(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(export, "LARGEST", 1_000_000)
    said = refusal(capsys, CHEAP, "--out", str(tmp_path / "x.html"))
    assert re.fullmatch(rf"{CHEAP} would take 1,\d\d\d,\d\d\d bytes, more than 1,000,000", said)
    assert not list(tmp_path.iterdir())


# What is written


def live(html: str) -> dict:
    return json.loads(Loads(html).data["page-data"])["live"]


@pytest.mark.outside  # half a minute of answers
def test_choices_stay_live_only_as_far_as_they_fit(monkeypatch):
    """The same page with less and less room: fewer choices, the others said to be fixed, never over the limit."""
    roomy = export.one_file(CHEAP)
    with monkeypatch.context() as patch:
        patch.setattr(choices, "MOST_ANSWERS", 1)
        least = len(export.one_file(CHEAP).encode())
    assert live(roomy)["words"] == ["head"] and "head width d <b>" not in roomy
    # A little too much, once the buttons and the table of choices are counted; then hardly room for anything.
    for limit in (len(roomy.encode()) - 1_000, least + 2_000):
        monkeypatch.setattr(export, "LARGEST", limit)
        tight = export.one_file(CHEAP)
        assert len(tight.encode()) <= limit and set(live(tight)["words"]) < set(live(roomy)["words"])
    assert live(tight)["words"] == []
    assert re.search(r"Fixed in this file: .*head width d <b>128</b>", tight)


@pytest.mark.outside  # half a minute of answers
def test_every_combination_of_live_choices_has_its_answer():
    told = live(export.one_file("forms"))
    keys = [""]
    for word in told["words"]:
        keys = [f"{key}|{option}".lstrip("|") for key in keys for option in told["options"][word]]
    assert len(keys) > 10 and set(told["table"]) == set(keys)
    assert set(told["now"]) == set(told["words"])


def test_a_file_offers_no_choice_that_changes_nothing_and_does_not_call_it_fixed(monkeypatch):
    monkeypatch.setattr(choices, "MOST_ANSWERS", 4)
    html = export.one_file("memory", "stream=hand")
    fixed = re.search(r"Fixed in this file: (.*?)</p>", html)[1]
    assert live(html)["words"] == ["rule"]
    assert "feature map" not in fixed and "key width" not in fixed and "value width" not in fixed
    assert "take apart" in fixed


def test_a_file_knows_which_of_its_choices_change_nothing_beside_which():
    lesson = Lesson()
    told = {control.word: control for control in choices.file_controls(lesson, ("keys", "phi"))}
    few = [
        replace(told[word], options=tuple(o for o in told[word].options if o.text in texts))
        for word, texts in (("keys", ("random", "phi")), ("phi", ("elu", "softmax")))
    ]
    made = choices._choices(views_of("memory"), lesson, few)
    assert {key for key, why in made.idle.items() if "phi" in why} == {"random|softmax", "random|elu"}
    assert not made.rests("phi") and not made.rests("keys")


def test_a_state_and_a_theme_are_what_the_file_opens_with(tmp_path, fixed):
    out = tmp_path / "deep" / "down" / "memory.html"
    assert export.main(["memory", "--state", "?rule=delta&n=17", "--theme", "dark", "--out", str(out)]) == 0
    page = read(out)
    data = json.loads(page.data["page-data"])
    assert data["server"] == {"rule": "delta"} and data["axes"]["n"]["stops"][data["axes"]["n"]["index"]] == 17
    assert 'data-theme="dark"' in out.read_text(encoding="utf-8")[:200]


def test_hostile_text_in_a_link_or_a_neighbour_stays_text(fixed):
    evil = '"><img src=x onerror=alert(1)></script><script>alert(2)</script>'
    html = export.one_file(CHEAP, nav=[(evil, evil)], link=f"https://x/{evil}")
    assert "<img" not in html and "<script>alert(2)" not in html
    assert Loads(html).loads == Loads(export.one_file(CHEAP)).loads


FETCHES = re.compile(r"""(?:fetch|importScripts|import|Worker|EventSource|WebSocket)\(\s*["'`](?:https?:|wss?:|//)""")


def check_alone(page: Loads):
    """Nothing in the page loads anything: no element, no style, none of its own scripts."""
    assert all(address.startswith(("data:", "#")) for address in page.loads), page.loads
    for style in page.styles:
        assert "@import" not in style
        assert all(url.startswith(("data:", "#")) for url in re.findall(r"url\(\s*[\"']?([^)\"']*)", style))
    assert not [found for script in page.scripts for found in FETCHES.findall(script)]


def check_pack(folder: Path, made: list[Path]):
    names = {("index" if name == OVERVIEW else name) + export.SUFFIX for name in pages()}
    assert {path.name for path in made} == {path.name for path in folder.iterdir()} == names
    for path in made:
        assert 500_000 < path.stat().st_size <= export.LARGEST
        page = read(path)
        check_alone(page)
        inside = {link for link in page.links if link and not link.startswith("http")}  # without one: this page anew
        assert inside >= names and all((folder / link).is_file() for link in inside), inside - names
        assert {link for link in page.links if link.startswith("http")} == set()


@pytest.mark.outside  # half a minute of answers
def test_the_pack_is_every_page_linked_with_the_others_and_nothing_is_loaded(tmp_path, fixed):
    check_pack(tmp_path / "pack", export.pack(tmp_path / "pack", ""))


@pytest.mark.outside
def test_the_pack_with_all_its_choices_keeps_the_limit(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "app.export", "all", "--theme", "dark", "--out", str(tmp_path / "pack")],
        cwd=ROOT, capture_output=True, text=True, timeout=1_200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = [Path(line.split("  ")[0]) for line in done.stdout.splitlines()]
    check_pack(tmp_path / "pack", made)
    for path in made:
        assert live(path.read_text(encoding="utf-8"))["words"], f"{path.name} has no live choice"


# The texts that put a page elsewhere


def test_every_snippet_fills_with_the_gaps_it_names():
    gaps = {"url", "title", "url_html", "title_html", "url_py", "width", "height"}
    gaps |= {"inner_width", "inner_height", "scaled", "box", "box_end"}  # of a view that is higher than its room
    for snippet in SNIPPETS:
        named = set(re.findall(r"\{(\w+)\}", snippet.text))
        assert named <= gaps and named & {"url", "url_html", "url_py"}, snippet.word
    assert len({snippet.word for snippet in SNIPPETS}) == len(SNIPPETS)
