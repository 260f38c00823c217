"""Memory by hand: what stands in the cells of a state of two by two, and where a gate and a correction win together."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from dataclasses import replace

import numpy as np
import pytest
from asked import VIEWS

from components.axes import AXES
from components.lesson import Question
from components.memory import VIEW
from components.memory_by_hand import error_by_hand
from components.reel import last_stop
from compute.memory import WRITE_RULES
from compute.pair_streams import TOPIC


def answer(question):
    return VIEWS["memory"].answer(question)


def test_the_numbers_of_a_state_by_hand_stand_in_its_cells():
    entries = answer(Question(stream="hand"))["memory.states"]["entries"]
    assert entries == [["0"] * 4, ["1", "2", "0", "0"], ["1", "2", "4", "0"], ["1", "5", "4", "4"]]


def test_a_larger_state_has_no_numbers_in_its_cells():
    assert {text for texts in answer(Question())["memory.states"]["entries"] for text in texts} == {""}


@pytest.mark.parametrize("stream", ["topics", "ungated"])
def test_topics_end_where_a_line_says_so(stream):
    told = answer(Question(stream=stream))
    ends = np.flatnonzero(np.diff(told["memory.reel"]["since"]))
    np.testing.assert_array_equal(told["memory.topics"]["x"], ends)
    assert set(np.diff(ends)) == {TOPIC} and np.isnan(answer(Question())["memory.topics"]["x"]).all()


@pytest.mark.parametrize("seed", range(4))
def test_where_topics_end_and_keys_lean_a_gate_and_a_correction_read_best_together(seed):
    asked = Question(keys="correlated", rho=0.3, alpha=1.0, stream="topics", seed=seed)
    means = {rule: answer(replace(asked, rule=rule))["memory.curve"]["mean"] for rule in WRITE_RULES}
    ends = {rule: np.mean(mean[np.arange(TOPIC, 257, TOPIC)]) for rule, mean in means.items()}
    assert max(ends, key=ends.get) == "gated_delta"


def test_half_a_step_down_the_gradient_leaves_half_of_the_error():
    """Keys (1, 0), (0, 1), (0.6, 0.8), values (1, 2), (4, 0), (0, 5): written by halves, key 3 reads (1.9, 0.6)."""
    asked = Question(stream="hand", rule="delta", beta=0.5, pair=3)
    told = answer(asked)
    said = "This write took its error from (−1.9, 4.4) to (−0.95, 2.2)."
    assert [said in str(sentence) for sentence in told["memory.reel"]["sentence"][:4]] == [False, False, False, True]
    values = dict(zip(told["memory.math"]["node"], told["memory.math"]["text"]))["memory.values"]
    beside = "".join("".join(math.itertext()) for math in xml.fromstring(f"<all>{values}</all>"))
    assert "(−1.9,4.4)→β=0.5(−0.95,2.2)" in beside and "11.49→β=0.52.87" in beside
    assert "error" not in str(answer(replace(asked, rule="additive"))["memory.reel"]["sentence"])


def test_at_full_strength_nothing_of_the_error_is_left():
    assert error_by_hand(Question(stream="hand", rule="delta", beta=1, pair=2)).after == ["0", "0"]
    assert error_by_hand(Question(stream="hand", rule="additive", pair=2)) is None


def test_by_hand_the_slider_ends_with_the_last_pair_and_nothing_is_said_of_long_contexts():
    """Also on the overview; random pairs go on to the end of the axis."""
    for view in (VIEW, VIEW.card):
        by_hand, random = view.answer(Question(stream="hand")), view.answer(Question())
        assert [last_stop(view.reels, told, "n") for told in (by_hand, random)] == [3, len(AXES["n"].stops) - 1]
        assert not any(by_hand["memory.load"]["load"]) and all(random["memory.load"]["load"])


@pytest.mark.parametrize(("phi", "wide"), [("elu", 16), ("taylor", 273)])
def test_the_card_says_what_a_chosen_map_would_do_where_keys_are_raw(phi, wide):
    def subject(view, **words):
        return dict(zip(*view.answer(Question(phi=phi, **words))["memory.texts"].values()))["memory.subject"]

    assert subject(VIEW.card) == f" · keys φ(k) would be {wide} wide"
    assert subject(VIEW.card, keys="phi") == subject(VIEW) == ""
    assert "would" not in subject(VIEW.card, stream="hand") + subject(VIEW.card, keys="orthonormal")
