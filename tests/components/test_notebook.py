"""Views in a notebook: what they show, how they follow their state, and the example, executed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from asked import VIEWS
from bokeh.document import Document
from copied import Page

import components
from components.axes import AXES
from components.lesson import Lesson, Question
from components.notebook import Shown, frame, show
from components.notebook_picture import Picture
from components.words import WORDS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "notebook" / "linear_attention.ipynb"
every_view = pytest.mark.parametrize("view", VIEWS)


def drawn(shown: Shown) -> Picture:
    return Picture(shown)


def check(picture: Picture, view: str, question: Question, at: dict) -> None:
    """Figures and words are those of the page at that state."""
    page = Page(view, question, at)
    assert f"<h3>{page.text('headline')}</h3>" in picture.head.text.replace("&#x27;", "'").replace("&amp;", "&")
    for name in picture.drawn:
        for column, values in picture.sources[name].data.items():
            shown = page.column(name.removeprefix(f"{view}."), column)
            for a, b in zip(values, shown, strict=True):
                assert np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"), (name, column)


@every_view
def test_a_view_is_shown_at_the_state_asked_for_and_follows_it(view):
    axis = AXES[VIEWS[view].axis]
    first, last = axis.stops[1], axis.stops[-2]
    shown = show(view, phi="favor", seed=3, **{axis.word: first})
    picture = drawn(shown)
    check(picture, view, Question(phi="favor", seed=3), {axis.word: first})
    shown.turn(**{axis.word: last})
    check(picture, view, Question(phi="favor", seed=3), {axis.word: last})
    shown.lesson.phi = "softmax"
    check(picture, view, Question(phi="softmax", seed=3), {axis.word: last})
    assert shown.words == {"phi": "softmax", "seed": "3", axis.word: WORDS[axis.word].write(last)}


@every_view
def test_nothing_in_a_picture_calls_the_script_of_the_page(view):
    layout = drawn(show(view)).layout.get_root()
    scripts = [model.code for model in layout.references() if hasattr(model, "code")]
    assert scripts and not [code for code in scripts if "Explorer" in code]


def test_a_displayed_picture_is_told_by_messages_that_are_never_alike():
    shown = show("memory")
    picture = drawn(shown)
    document = Document()
    document.add_root(picture.layout.get_root(document))
    before = picture.head.text
    counts = []
    for n in (40, 41, 40):
        shown.turn(n=n)
        message = picture.message.data
        told = {
            (picture.targets[i], prop): value for i, prop, value in zip(*map(message.get, ("at", "property", "value")))
        }
        headline = Page("memory", Question(), {"n": n}).text("headline")
        assert headline in told[picture.head, "text"]
        assert np.array_equal(told[picture.sources["memory.here"], "data"]["x"], [n])
        counts.append(message["count"][0])
    assert picture.head.text == before  # what the page shows is not set in Python: it would come back late
    assert len(set(counts)) == 3


def test_two_displays_follow_one_state_and_their_sliders_go_along():
    shown = show("sharpness")
    one, other = drawn(shown), drawn(shown)
    slider = one.layout[2][1]
    slider.value = 3
    assert shown.at["c"] == 3 and other.layout[2][1].value == 3
    assert one.head.text == other.head.text and one.sources["sharpness.bars"] is not other.sources["sharpness.bars"]
    check(other, "sharpness", Question(), {"c": AXES["c"].stops[3]})


def test_a_config_can_be_shown_as_a_dict():
    config = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    assert "Your llama model" in drawn(show("sizing", own=config)).head.text


@pytest.mark.parametrize(
    "view, words, said",
    [
        ("nonsense", {}, r"view must be one of .*memory"),
        ("memory", {"colour": 1}, r"words must be among phi.*, got 'colour'"),
        ("memory", {"rule": "nonsense"}, r"rule = nonsense is none of additive"),
        ("memory", {"n": 257}, r"n = 257 is outside 0 to 256"),
        ("memory", {"n": True}, r"n = True is not a whole number"),
        ("sharpness", {"phi": "dpfp~nu~31", "d_k": 4}, r"phi = dpfp~nu~31 does not exist at d_k = 4"),
        ("sizing", {"own": {"model_type": "nonsense"}}, r"own = .*"),
    ],
)
def test_a_view_or_word_that_there_is_not_is_refused_in_one_sentence(view, words, said):
    for door in (show, lambda view, **words: frame(view, "http://localhost", **words)):
        with pytest.raises(ValueError, match=said):
            door(view, **words)


def test_reels_are_turned_by_axis_words_only():
    with pytest.raises(ValueError, match="positions must be among"):
        show("memory").turn(phi=3)


def test_a_frame_holds_the_address_of_the_state_and_nothing_that_could_end_it():
    html = frame("random-features", "https://host/lae/", d_k=32, r=4)._repr_html_()
    assert 'src="https://host/lae/random-features?d_k=32&amp;r=4&amp;embed=1"' in html
    assert re.fullmatch(r"<iframe [^<>]*></iframe>", frame("rank", 'http://a"><b>', width='"><b>')._repr_html_())
    with pytest.raises(ValueError, match="server must begin with http"):
        frame("rank", "javascript:alert(1)")


def test_words_of_a_frame_are_those_of_what_is_shown():
    shown = show("memory", rule="delta", n=40)
    assert frame("memory", "http://localhost:5006", **shown.words).url.endswith("/memory?rule=delta&n=40&embed=1")


def test_the_package_imports_nothing_until_it_is_asked():
    code = """
import sys
import components
assert not {"panel", "bokeh", "numpy"} & set(sys.modules), "heavy"
assert "show" in dir(components)
components.show
assert not {"IPython", "ipykernel", "nbclient"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert components.show is show and components.frame is frame
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        components.nonsense  # noqa: B018


# The example

EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def outputs(cell: dict) -> str:
    return json.dumps(cell.get("outputs", []), ensure_ascii=False)


def test_the_example_is_kept_without_outputs():
    cells = json.loads(EXAMPLE.read_text(encoding="utf-8"))["cells"]
    assert len(cells) > 5 and not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]


def test_the_example_runs_and_shows_what_it_says(tmp_path):
    pytest.importorskip("nbclient", reason="the test extra has it")
    pytest.importorskip("ipykernel", reason="the test extra has it")
    made = tmp_path / "executed.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(EXAMPLE), str(made)], cwd=tmp_path, capture_output=True, text=True,
        timeout=110, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cells = [c for c in json.loads(made.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]
    told = [outputs(cell) for cell in cells]
    assert not [text for text in told if "Traceback" in text or '"stderr"' in text]
    lesson, at = Lesson(rule="gated_delta"), {"n": 64}
    cosine = re.search(r"mean cosine: ([\d.]+)", told[3])[1]
    assert f"{float(cosine):.2f}" in Page("memory", lesson.question, at).text("headline")
    assert Page("sharpness", Question(phi="taylor"), {"c": 4}).text("headline") in told[4]
    assert "http://localhost:5006/sharpness?phi=taylor&amp;c=4&amp;embed=1" in told[5]
    shown = "".join(
        json.dumps(o["data"].get("text/html", "")) for cell in cells for o in cell["outputs"] if "data" in o
    )
    assert shown.count("new FontFace(") == 1  # in the output of the first cell that shows a view
    assert not re.findall(r"https?://cdn[\w./-]*", shown)
