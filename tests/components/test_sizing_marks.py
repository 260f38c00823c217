"""Sizing's marks: words stand clear of lines and of each other, and call lines by what the model's layers keep."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS, said
from geometry import crossed, inside, meets, rectangle

from components.lesson import Question
from components.sizing_lines import EDGE, LINES, T
from components.sizing_marks import FRAMES, LETTER, SMALL
from compute.sizing import load_model, models

answer = VIEWS["sizing"].answer
NATIVE = [word for word in models() if load_model(word).native_context]


def boxes(told, name, frame, low, high, letter):
    """Rectangles of the lines of a mark's words in a frame, px."""
    (width, height), source = frame, told[f"sizing.{name}"]
    lines = source["text"][0].split("\n") if source["text"][0] else []
    x = width * np.log(source["x"][0]) / np.log(EDGE)
    y = height * (1 - np.log(source["y"][0] / low) / np.log(high / low))
    for k, text in enumerate(lines):
        dy = source["dy"][0] + 12 * (k - (len(lines) - 1) / 2)
        yield rectangle(x, y, text, source["align"][0], source["dx"][0], dy, letter)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("model", NATIVE)
def test_the_native_context_is_named_clear_of_axis_lines_and_words(model, frame):
    told = answer(Question(model=model))
    low, high = told["sizing.props"]["value"][told["sizing.props"]["property"].index("start"):][:2]  # fmt: skip
    (name,) = boxes(told, "native", frame, low, high, SMALL)
    assert inside(name, *frame) and name[3] <= frame[1] - 2  # the axis itself is not on the frame's last px
    xs = frame[0] * np.log(T) / np.log(EDGE)
    for line in LINES:
        ys = frame[1] * (1 - np.log(told["sizing.curves"][line] / low) / np.log(high / low))
        assert not crossed(name, xs, ys), line
    for other in ("meet", "beat"):
        assert not any(meets(name, box) for box in boxes(told, other, frame, low, high, LETTER)), other


@pytest.mark.parametrize("model", models())
def test_the_words_at_a_crossing_stay_in_the_frame(model):
    told = answer(Question(model=model))
    low, high = told["sizing.props"]["value"][told["sizing.props"]["property"].index("start"):][:2]  # fmt: skip
    for frame in FRAMES:
        for name in ("meet", "beat"):
            assert all(inside(box, *frame) for box in boxes(told, name, frame, low, high, LETTER)), (name, frame)


@pytest.mark.parametrize(
    ("question", "layers", "line", "alone"),
    [
        (Question(), "if every layer were softmax", "all softmax", "softmax alone 320 GiB"),
        (Question(model="kimi-linear-48b-a3b"), "if every layer kept latents", "all latents", "latents alone 30.4 GiB"),
        (Question(model="kimi-linear-48b-a3b", mla="decompressed"), "if every layer were softmax", "all softmax",
         "softmax alone 5"),
        (Question(model="recurrentgemma-2b"), "if every layer kept windows", "all windows", "windows alone 52 MiB"),
        (Question(model="nemotron-h-8b-base-8k"), "with softmax for every state", "all softmax", "softmax alone 112"),
    ],
)  # fmt: skip
def test_the_model_without_states_is_called_by_what_its_layers_would_keep(question, layers, line, alone):
    told = answer(question)
    texts = dict(zip(told["sizing.texts"]["node"], told["sizing.texts"]["text"]))
    assert texts["sizing.twin_name"] == layers
    assert texts["sizing.beats_name"] == f"model: cheaper than {line} from"
    assert line in told["sizing.names"]["text"] and f"beats {line}\n" in told["sizing.beat"]["text"][0]
    assert any(alone in headline for headline in said("sizing", question, "sizing.headline"))


def test_a_model_that_has_no_such_twin_has_no_words_for_it():
    for model in ("deepseek-v3", "falcon-h1-7b", "gla-7b"):
        told = answer(Question(model=model))
        texts = dict(zip(told["sizing.texts"]["node"], told["sizing.texts"]["text"]))
        assert texts["sizing.twin_name"] == texts["sizing.beats_name"] == told["sizing.beat"]["text"][0] == ""
