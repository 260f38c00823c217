"""Sizing's marks: words stand clear of lines and of each other, and call lines by what the model's layers keep."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS, said
from geometry import crossed, inside, meets, rectangle

from components.lesson import Question
from components.palette import SLOTS
from components.sizing import SLOT
from components.sizing_lines import DASH, EDGE, LINES, NOWHERE, OTHERS, T
from components.sizing_marks import FRAMES, LETTER, SMALL, STEP
from compute.sizing import load_model, models

answer = VIEWS["sizing"].answer
NATIVE = [word for word in models() if load_model(word).native_context]


EVERYWHERE = [(begins, frame) for begins, frames in FRAMES.items() for frame in frames]


def boxes(told, name, where, low, high, letter):
    """Rectangles of the lines of a mark's words in a frame, px."""
    (begins, (width, height)), source = where, told[f"sizing.{name}"]
    align, dx, dy = (source[begins + column][0] for column in ("align", "dx", "dy"))
    lines = source["text"][0].split("\n") if source["text"][0] else []
    x = width * np.log(source["x"][0]) / np.log(EDGE)
    y = height * (1 - np.log(source["y"][0] / low) / np.log(high / low))
    for k, text in enumerate(lines):
        yield rectangle(x, y, text, align, dx, dy + STEP * (k - (len(lines) - 1) / 2), letter)


def drawn(told, frame):
    """The ends of the axis of bytes, and the lines in a frame, px."""
    low, high = told["sizing.props"]["value"][told["sizing.props"]["property"].index("start"):][:2]  # fmt: skip
    xs = frame[0] * np.log(T) / np.log(EDGE)
    heights = {line: np.log(told["sizing.curves"][line] / low) / np.log(high / low) for line in LINES}
    return low, high, xs, {line: frame[1] * (1 - ys) for line, ys in heights.items()}


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("model", NATIVE)
def test_the_native_context_is_named_clear_of_axis_lines_and_words(model, where):
    told, (_, frame) = answer(Question(model=model)), where
    low, high, xs, lines = drawn(told, frame)
    (name,) = boxes(told, "native", where, low, high, SMALL)
    assert inside(name, *frame) and name[3] <= frame[1] - 2  # the axis itself is not on the frame's last px
    for line, ys in lines.items():
        assert not crossed(name, xs, ys), line
    for other in ("meet", "beat"):
        assert not any(meets(name, box) for box in boxes(told, other, where, low, high, LETTER)), other


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("model", models())
def test_the_words_at_a_crossing_stay_in_the_frame_and_clear_of_lines(model, where):
    """Above, the words that say where the model is cheaper; below, those of its own cache and state, but where the flat
    line of a convolution passes on a card, too near to stand between."""
    _, frame = where
    for phi in ("elu", "taylor", "softmax"):
        told = answer(Question(model=model, phi=phi))
        low, high, xs, lines = drawn(told, frame)
        for name in ("meet", "beat"):
            for box in boxes(told, name, where, low, high, LETTER):
                assert inside(box, *frame), name
                assert not {line for line, ys in lines.items() if crossed(box, xs, ys)}, (name, phi)


@pytest.mark.parametrize("model", models())
def test_what_is_said_of_two_crossings_stands_on_two_sides(model):
    told = answer(Question(model=model))
    alone = not told["sizing.beat"]["text"][0]
    for begins in FRAMES:
        assert told["sizing.beat"][f"{begins}dy"][0] < 0
        assert alone or told["sizing.meet"][f"{begins}dy"][0] > 0


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


BESIDE = Question(model="kimi-linear-48b-a3b", phi="taylor", compare="qwen3.8-27b,jamba-v0.1,llama-3.1-8b")


def test_every_name_is_tied_to_the_end_of_its_line():
    """A name that was moved out of another's way has a thin line of its own from where the drawn one ends."""
    told = answer(BESIDE)
    curves, named = told["sizing.curves"], told["sizing.names"]
    moved = 0
    for i, line in enumerate(LINES):
        if not named["text"][i]:
            assert named["end_y"][i] == named["y"][i] == NOWHERE
            continue
        assert (named["end"][i], named["end_y"][i]) == (curves["T"][-1], curves[line][-1])
        assert named["end"][i] < named["tick"][i] < named["x"][i]
        moved += not np.isclose(np.log(named["y"][i]), np.log(named["end_y"][i]), atol=0.1)
    assert moved > 3  # or nothing was asked of them
    assert all(named["text"][LINES.index(line)] for line in OTHERS)


@pytest.mark.parametrize("theme", [0, 1])
def test_models_beside_each_other_are_told_apart_by_colour_and_by_dash(theme):
    drawn = [line for line in LINES if line != "mapped"]  # that one wears the colour of its map
    colours = {line: SLOTS[SLOT.get(line, line)][theme] for line in drawn}
    for i, line in enumerate(OTHERS):
        for other in (*OTHERS[:i], *(name for name in drawn if name not in OTHERS)):
            assert DASH[line] != DASH.get(other) and far(colours[line], colours[other]) > 0.08, other


def far(one, other):
    """How far apart two colours look: their distance in OKLab (Ottosson 2020), where 0.02 is just seen."""
    return float(np.linalg.norm(lab(one) - lab(other)))


def lab(colour):
    rgb = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = np.cbrt(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
        @ linear
    )
    return (
        np.array(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ]
        )
        @ cones
    )
