"""What leaves a frame of sharpness is marked at its edge, and names stay clear of each other and of what is drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import VIEWS, shown
from geometry import HIGH

from components.axes import AXES
from components.lesson import Question
from components.sharpness_answer import BELOW_ZERO, HIGHEST, LOWEST, TOP
from components.words import PHIS

STOPS = list(AXES["c"].stops)
FRAME, NOTE_LINE, NOTE_DOWN = 148, 15, 5
"""Height of the kernel's frame, of a line of its note and of the room above it, px."""

some = pytest.mark.parametrize("phi", ["elu", "silu", "trig", "favor", "trig~m~4096"])


def told(question: Question) -> dict:
    return VIEWS["sharpness"].answer(question)


@pytest.mark.parametrize("d_k", [4, 16, 64])
@pytest.mark.parametrize("seed", [0, 3])
def test_every_excursion_of_a_curve_has_its_arrow_at_the_edge_that_it_leaves_by(d_k, seed):
    answer = told(Question(phi="trig", d_k=d_k, seed=seed))
    curves, at = answer["sharpness.curves"], answer["sharpness.leaves"]
    arrows = {(w, STOPS.index(x), m) for w, x, m in zip(at["word"], at["x"], at["marker"]) if np.isfinite(x)}
    assert arrows
    for word in PHIS:
        beyond = {"triangle": curves[word] > HIGHEST, "inverted_triangle": curves[word] < LOWEST}
        for marker, out in beyond.items():
            mine = {i for w, i, m in arrows if (w, m) == (word, marker)}
            assert all(out[i] for i in mine)
            runs = re.finditer("1+", "".join("01"[int(o)] for o in out))
            inner = [run for run in runs if not (run.start() == 0 and run.end() == len(out))]
            assert all(mine & set(range(*run.span())) for run in inner), (word, marker)


@some
def test_a_bar_or_whisker_that_leaves_the_frame_has_an_arrow_and_no_other_has(phi):
    question = Question(phi=phi)
    foot = dict((m, v) for m, p, v in zip(*told(question)["sharpness.props"].values(), strict=True) if p == "start")[
        "sharpness.weight_axis"
    ]
    assert foot in (0, BELOW_ZERO)
    columns = ("weight", "low", "high", "over", "under")
    weight, low, high, over, under = (np.asarray(shown("sharpness", question, "sharpness.bars", c)) for c in columns)
    np.testing.assert_array_equal(over > 0, np.fmax(weight, high) > TOP)
    np.testing.assert_array_equal(under > 0, np.fmin(weight, low) < foot)
    assert phi != "trig" or (over.any() and under.any())


@pytest.mark.parametrize("phi", [phi for phi in PHIS if phi != "softmax"])
def test_names_of_the_two_bars_are_in_the_order_of_their_weights(phi):
    question = Question(phi=phi)
    soft, own = told(question)["sharpness.curves"]["softmax"], told(question)["sharpness.curves"][phi]
    heights = np.asarray(shown("sharpness", question, "sharpness.labels", "y"))
    there = np.isfinite(own) & (abs(soft - own) > 0.005)
    np.testing.assert_array_equal((heights[:, 0] > heights[:, 1])[there & (soft > own)], True)
    if phi == "elu":
        assert soft[0] > own[0] and heights[0, 0] > heights[0, 1]


@pytest.mark.parametrize("phi", PHIS)
def test_the_name_of_the_exponential_is_whole_and_the_note_hides_no_whisker(phi):
    reel = told(Question(phi=phi))["sharpness.reel"]
    bottom, top, at = (np.log(reel[name].astype(float)) for name in ("pair_bottom", "pair_top", "diagonal_y"))
    assert ((at[:, 0] - bottom) / (top - bottom) * FRAME > 4 + HIGH).all()  # it stands 4 px below its place
    np.testing.assert_allclose(at, reel["diagonal_x"], rtol=1e-5)
    note = told(Question(phi=phi))["sharpness.kernel_note"]["text"][0]
    if "range" in note:
        clear = 1 - (NOTE_DOWN + NOTE_LINE * len(note.split("\n"))) / FRAME
        tip = np.log(np.nanmax(reel["most"], axis=1).astype(float))
        roomy = top < np.log(1e38) - 1e-3
        assert ((tip - bottom) / (top - bottom) <= clear)[roomy].all() and roomy.mean() > 0.4


@pytest.mark.parametrize(("phi", "number"), [("favor~m~1024", "m1,024"), ("trig", "m256"), ("dpfp~nu~4", "ν4")])
def test_the_maps_own_knobs_have_their_numbers_in_its_formula(phi, number):
    made = told(Question(phi=phi))["sharpness.math"]
    latex = dict(zip(made["node"], made["text"], strict=True))["sharpness.values"]
    assert number in re.sub(r"<[^>]*>|&#x0002C;", lambda m: "," * m[0].startswith("&"), latex).replace("&#x003BD;", "ν")
