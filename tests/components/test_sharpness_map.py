"""The map itself: curves, entries, pairs and marks are what compute's functions give, worked out here anew."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from asked import VIEWS, said, shown
from scipy import special

from components.axes import AXES
from components.lesson import Question
from components.sharpness_map_answer import signed
from components.words import PHIS, SOFTMAX
from compute.feature_maps import FEATURE_MAPS
from compute.toys import queries_and_keys

STOPS = np.asarray(AXES["c"].stops, dtype=float)
SOME = [Question(phi=phi, d_k=d_k, seed=seed) for phi in PHIS for d_k, seed in ((16, 0), (4, 7), (64, 2))]
each = pytest.mark.parametrize("question", SOME, ids=lambda q: f"{q.phi}-{q.d_k}-{q.seed}")
EDGES = {"x": ("left", "right"), "y": ("bottom", "top")}


def column(question, source, name):
    return np.asarray(shown("sharpness", question, f"sharpness.{source}", name), dtype=float)


def toy(question):
    return queries_and_keys(question.d_k, question.seed)[1][:32]


def kernels(question):
    """κ of the query and every key at every stop, by features alone; for a random map of all ten draws."""
    K = toy(question) * question.d_k**-0.25
    Q = STOPS[:, None] * K[11]
    if question.phi == SOFTMAX:
        return np.exp(Q @ K.T)
    phi = question.map
    with np.errstate(over="ignore", invalid="ignore"):
        return np.stack([m(Q) @ m(K).T for m in map(phi.redraw, range(10))]) if phi.random else phi(Q) @ phi(K).T


@each
def test_dots_lie_at_the_scores_and_at_the_kernel_values_of_the_pairs(question):
    K = toy(question)
    np.testing.assert_allclose(
        column(question, "pairs", "score"), STOPS[:, None] * (K @ K[11]) / math.sqrt(question.d_k), rtol=1e-6, atol=1e-6
    )
    value = kernels(question)
    if value.ndim == 3:
        value = np.sort(value, axis=0)[4]
    drawn, above = column(question, "pairs", "kernel"), column(question, "pairs", "filled")
    there = np.isfinite(value) & (abs(value) > 1e-30) & (abs(value) < 1e30)
    assert there.mean() > 0.3
    np.testing.assert_allclose(drawn[there], abs(value[there]), rtol=3e-4)
    np.testing.assert_array_equal(above[there], value[there] > 0)
    assert np.isnan(drawn[value == 0]).all()


@pytest.mark.parametrize("phi", ["favor", "trig"])
def test_lines_reach_over_the_ten_draws(phi):
    question = Question(phi=phi)
    value = kernels(question)
    least, most = (column(question, "pairs", name) for name in ("least", "most"))
    early = STOPS < 3
    low, high = value.min(axis=0)[early], value.max(axis=0)[early]
    np.testing.assert_allclose(most[early], np.maximum(abs(low), abs(high)), rtol=1e-4)
    same = low > 0
    np.testing.assert_allclose(least[early][same], low[same], rtol=1e-4)
    assert (least[early][~same & (high > 0)] < 1e-37).all()
    assert np.isnan(column(Question(phi="elu"), "pairs", "least")).all()


def test_a_single_draw_is_drawn_alone():
    question = Question(phi="favor", single=3)
    early = STOPS < 3
    np.testing.assert_allclose(column(question, "pairs", "kernel")[early], kernels(question)[2][early], rtol=1e-5)


@each
def test_entries_are_the_query_s_and_lie_on_the_curve_of_their_feature(question):
    x = STOPS[:, None] * toy(question)[11, :16] * question.d_k**-0.25
    drawn = column(question, "entries", "x")
    np.testing.assert_allclose(drawn, x, rtol=1e-6)
    by_hand = {
        "identity": lambda x: x, "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x * special.expit(x),
        "elu": lambda x: np.where(x < 0, np.exp(np.minimum(x, 0)), x + 1),
    }.get(question.phi, np.zeros_like)  # fmt: skip
    np.testing.assert_allclose(column(question, "entries", "value"), by_hand(x), rtol=1e-5, atol=1e-6)
    curves = VIEWS["sharpness"].answer(question)["sharpness.features"]
    if question.phi in ("identity", "relu", "silu", "elu"):
        np.testing.assert_allclose(curves["f0"], by_hand(curves["x"]), rtol=1e-5)
        assert np.isnan(curves["f1"]).all()


@each
def test_windows_hold_what_they_frame_and_say_what_is_beyond(question):
    told = VIEWS["sharpness"].answer(question)["sharpness.reel"]
    for name, points in (("entry", told["entry_x"]), ("pair", told["score"])):
        assert (points >= told[f"{name}_left"][:, None]).all() and (points <= told[f"{name}_right"][:, None]).all()
    value = kernels(question)
    value = abs(np.sort(value, axis=0)[4] if value.ndim == 3 else value)
    for i in range(0, len(STOPS), 6):
        if np.isnan(value[i]).any():
            continue  # beyond any float
        above, below = (
            (value[i] > told["pair_top"][i]).sum(),
            ((value[i] < told["pair_bottom"][i]) & (value[i] > 0)).sum(),
        )
        texts = [f"▲ {above} further up" if above else "", f"▼ {below} further down" if below else ""]
        assert told["beyond"][i] == texts


@pytest.mark.parametrize("phi", [p for p in PHIS if p not in ("favor", "trig")])
def test_the_captions_say_the_ends_of_what_is_drawn(phi):
    question = Question(phi=phi)
    value, K = kernels(question), toy(question)
    for i in (0, 37, 72):
        score = STOPS[i] * (K @ K[11]) / 4
        text = said("sharpness", question, "sharpness.pair_title")[i]
        numbers = [_number(x) for x in re.findall(r"−?\d[\d,]*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?", text)]
        own = [] if phi == SOFTMAX else [value[i].min(), value[i].max()]
        expected = [32, score.min(), score.max(), *own, math.exp(score.min()), math.exp(score.max())]
        np.testing.assert_allclose(numbers[: len(expected)], expected, rtol=0.03, atol=0.006)
        x = STOPS[i] * K[11, :16] / 2
        entries = said("sharpness", question, "sharpness.entry_title")[i]
        assert f"{x.min():.2f} to {x.max():.2f}".replace("-", "−") in entries
        if phi in FEATURE_MAPS:
            assert f"16 → {FEATURE_MAPS[phi]().d_phi(16)} {'products' if phi == 'dpfp' else 'numbers'}" in entries


def _number(text: str) -> float:
    mantissa, _, power = text.strip(",").replace(",", "").partition("·10")
    return float(mantissa.replace("−", "-")) * 10.0 ** int(
        power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")) or 0
    )


def test_marks_of_taylor_are_its_polynomial_and_of_softmax_the_exponential():
    for c in (0.25, 1.6):
        i = AXES["c"].index(c)
        score, kernel, merged = (
            column(Question(phi="taylor"), "kernel_marks", n)[i] for n in ("score", "kernel", "merged")
        )
        np.testing.assert_allclose(kernel[:5], 1 + score[:5] + score[:5] ** 2 / 2, rtol=1e-12)
        np.testing.assert_allclose(merged[:5], kernel[:5], rtol=1e-12)
        assert kernel[5] == pytest.approx(math.exp(score[5])) and score[5] == 10
        score, kernel = (column(Question(phi=SOFTMAX), "kernel_marks", n)[i][:3] for n in ("score", "kernel"))
        np.testing.assert_allclose(kernel, np.exp(score), rtol=1e-12)


def test_the_curve_of_a_kernel_is_drawn_where_the_score_makes_it_and_nowhere_else():
    for phi in PHIS:
        told = VIEWS["sharpness"].answer(Question(phi=phi))["sharpness.kernel_curve"]
        s = told["score"]
        np.testing.assert_allclose(told["softmax"], np.exp(s), rtol=1e-12)
        expected = {SOFTMAX: np.exp(s), "taylor": 1 + s + s * s / 2, "identity": np.where(s == 0, np.nan, abs(s))}
        np.testing.assert_allclose(told["own"], expected.get(phi, np.full(len(s), np.nan)), rtol=1e-9)


def test_numbers_beyond_any_float_are_said_by_their_powers():
    assert signed(1000.0, -1) == "−2.0·10⁴³⁴" and signed(-1000.0) == "5.1·10⁻⁴³⁵"
    assert signed(0.0) == "1" and signed(5.0, 0) == "0" and signed(math.log(25.42), -1) == "−25.4"


def test_the_card_of_the_overview_has_none_of_it():
    card = VIEWS["sharpness"].card
    told = card.answer(Question())
    assert not [name for name in told if "pair" in name or "entr" in name or "kernel" in name or "feature" in name]
    assert {"score", "kernel", "entry_x"}.isdisjoint(told["sharpness.reel"])
    assert [cell.figure.name for row in card.draw(Question(), True).rows for cell in row] == [
        "sharpness.weights", "sharpness.by_c",
    ]  # fmt: skip
