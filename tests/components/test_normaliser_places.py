"""Numbers beside the normaliser's dots, and names of its lines: what stands in a figure hides nothing of it."""

from __future__ import annotations

import numpy as np
import pytest
from asked import shown
from geometry import crossed, inside, letter_of, meets, rectangle

from app.page import view
from components.axes import AXES
from components.lesson import Question
from components.normaliser_names import EDGE, LEFT, MOST, WIDE
from components.normaliser_places import FRAMES, SHARES, TOKENS_END
from components.words import PHIS

VIEW = view("normaliser")
T = np.array(AXES["tokens"].stops)
WIDTH, HEIGHT = FRAMES[0]
every_map = pytest.mark.parametrize("phi", PHIS)


def columns(source: str, **words) -> dict:
    return VIEW.answer(Question(**words))[f"normaliser.{source}"]


def px(values, low, high, length):
    return np.log(np.asarray(values, dtype=float) / low) / np.log(high / low) * length


@pytest.mark.parametrize("width, height", FRAMES)
@pytest.mark.parametrize("phi", PHIS)
def test_a_number_beside_a_dot_is_never_cut_and_lies_on_no_line_that_it_belongs_to(phi, width, height):
    """At every number of tokens: all of it inside the frame; and clear of its curve wherever that is smooth."""
    question, told = Question(phi=phi), VIEW.answer(Question(phi=phi))
    ends = dict(zip(zip(told["normaliser.props"]["model"], told["normaliser.props"]["property"]),
                    told["normaliser.props"]["value"]))  # fmt: skip
    xs = px(T, 1, TOKENS_END, width)
    for dot, curve, low, high in (
        ("den_dot", np.abs(np.nan_to_num(columns("sums", phi=phi)["own"], nan=np.nan)),
         ends["normaliser.denominator_y", "start"], ends["normaliser.denominator_y", "end"]),
        ("share_dot", columns("shares", phi=phi)["mid"], *SHARES),
    ):  # fmt: skip
        rows = [shown("normaliser", question, f"normaliser.{dot}", c) for c in ("y", "text", "align", "dx", "dy")]
        ys = height - px(curve, low, high, height)
        for x, (y, text, align, dx, dy) in zip(xs, zip(*rows)):
            if not text or not low <= y <= high:
                continue
            box = rectangle(x, height - px(y, low, high, height), text, align, dx, dy, 7.1)
            assert inside(box, width, height), (dot, text, box)
            if phi in ("elu", "taylor", "hedgehog", "softmax"):
                assert not crossed(box, xs, ys), (dot, text, box)


@every_map
def test_the_numbers_of_two_dots_do_not_lie_on_each_other(phi):
    told = VIEW.answer(Question(phi=phi))["normaliser.props"]
    ends = dict(zip(zip(told["model"], told["property"]), told["value"]))
    low, high = (ends["normaliser.derivative_y", end] for end in ("start", "end"))
    rows = [
        shown("normaliser", Question(phi=phi), "normaliser.move_dots", c) for c in ("y", "text", "align", "dx", "dy")
    ]
    for x, row in zip(px(T, 1, TOKENS_END, WIDTH), zip(*rows)):
        boxes = [rectangle(x, HEIGHT - px(y, low, high, HEIGHT), *rest, 7.1) for y, *rest in zip(*row) if rest[0]]
        assert len(boxes) < 2 or not meets(*boxes), (x, row)
        assert all(inside(box, WIDTH, HEIGHT) for box in boxes), (x, row)


def derivatives(phi, width=WIDTH, height=HEIGHT):
    """The figure of two derivatives: what stands at (x, y), in px from the top left corner."""
    told = VIEW.answer(Question(phi=phi))
    ends = dict(zip(zip(told["normaliser.props"]["model"], told["normaliser.props"]["property"]),
                    told["normaliser.props"]["value"]))  # fmt: skip
    low, high = (ends["normaliser.derivative_y", end] for end in ("start", "end"))
    rows = [
        shown("normaliser", Question(phi=phi), "normaliser.move_dots", c) for c in ("y", "text", "align", "dx", "dy")
    ]
    return lambda x, y: (px(x, 1, TOKENS_END, width), height - px(y, low, high, height)), list(zip(*rows)), told


@pytest.mark.parametrize("phi", ["elu", "softmax", "taylor", "favor", "dpfp", "hedgehog", "relu", "silu", "trig"])
def test_the_upper_number_is_that_of_the_upper_dot(phi):
    place, stops, _ = derivatives(phi)
    for t, row in zip(T, stops):
        dots = sorted((place(t, y)[1], dy) for y, text, _, _, dy in zip(*row) if text)
        if len(dots) == 2:
            (upper, above), (lower, below) = dots
            assert upper + above < (upper + lower) / 2 < lower + below, (t, row)


@every_map
def test_no_name_lies_on_a_dot(phi):
    place, stops, told = derivatives(phi)
    named = told["normaliser.derivative_names"]
    boxes = [
        rectangle(*place(x, y), text, align, 0, 0, 6.2)
        for x, y, text, align in zip(*(named[c] for c in ("x", "y", "text", "align")))
    ]
    for t, row in zip(T, stops):
        for x, y in (place(t, y) for y, text, *_ in zip(*row) if text):
            assert not any(left < x < right and top < y < bottom for left, right, top, bottom in boxes), (t, row)


WIDTHS_AND_SEEDS = [(16, 0), (16, 3), (4, 50), (64, 7)]


@pytest.mark.parametrize("d_k, seed", WIDTHS_AND_SEEDS)
@every_map
def test_what_is_said_in_the_lowest_figure_lies_on_no_line_and_not_on_each_other(phi, d_k, seed):
    """Where lines leave room; of all the places the name of the grey band has one."""
    told = VIEW.answer(Question(phi=phi, d_k=d_k, seed=seed))
    (width, height), left = WIDE[0], told["normaliser.left"]

    def place(t, y):
        return px(t, 1, EDGE, width), height * (LEFT[1] - np.asarray(y, dtype=float)) / (LEFT[1] - LEFT[0])

    boxes = []
    for name, text in (("zero_name", told["normaliser.zero_name"]["text"][0]), ("most_negative", MOST)):
        (x,), (y,) = (told[f"normaliser.{name}"][axis] for axis in "xy")
        boxes.append(rectangle(*place(x, y), text, "left", 0, 0, letter_of(text)))
    assert inside(boxes[0], width, height) and not meets(*boxes)
    for line in ("chosen", "identity", "silu", "trig"):
        assert not crossed(boxes[0], *place(left["tokens"], left[line])), line


@every_map
def test_the_name_of_the_sums_law_leaves_the_corner_to_the_number_at_the_end(phi):
    """There the number stands over its own line, and no other's lies between."""
    rows = [shown("normaliser", Question(phi=phi), "normaliser.den_dot", c)[-1] for c in ("align", "dx", "dy")]
    assert columns("sum_names", phi=phi)["x"][0] < T[-1] / 4
    if phi == "elu":  # whose sum in few digits ends below
        assert rows[0] == "right" and rows[2] < 0


def test_names_are_painted_after_the_rule_of_the_finger():
    """It moves through all of a figure; of one level, what is in the centre comes last and in its order."""
    for cell in (cell for row in VIEW.draw(Question(), False).rows for cell in row):
        centre = [part for part in cell.figure.center if part.level == "annotation"]
        named = [part for part in centre if hasattr(part, "glyph")]
        assert named and centre.index(cell.figure.select_one(f"{cell.figure.name}_here")) < centre.index(named[0])
        assert all(part.glyph.background_fill_alpha == 1 for part in named)
