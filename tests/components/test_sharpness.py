"""Sharpness: bars, curves and limits are what compute says, and the headline says what the bars show."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import DEFAULT, VIEWS, relevant, said, shown
from scipy import special, stats

from components.axes import AXES
from components.lesson import Question
from components.sharpness_run import STEP
from components.sharpness_spread import SEEDS, band_of, load, name_of
from components.words import PHIS, SOFTMAX, WIDTHS
from compute.feature_maps import FEATURE_MAPS, read_member
from compute.sharpness import UNDEFINED_BELOW, match_weights, spread_over_seeds
from compute.toys import queries_and_keys

STOPS = np.asarray(AXES["c"].stops, dtype=float)
SOME_SHARPNESS = [Question(phi=phi, d_k=d_k, seed=seed) for phi in PHIS for d_k, seed in ((16, 0), (4, 7))]


def answer(question=DEFAULT):
    return VIEWS["sharpness"].answer(question)


def percentages(text):
    """Shares that a sentence says, with the half unit of their last digit; below a thousandth only a bound."""
    found = []
    for under, number in re.findall(r"(under )?(−?\d+(?:\.\d+)?) %", text):
        value, digits = float(number.replace("−", "-")) / 100, len(number.partition(".")[2])
        found.append((0.0005, 0.0005) if under else (value, 0.5001 * 10.0 ** (-2 - digits)))
    return found


def bars(question, column="weight"):
    return np.asarray(shown("sharpness", question, "sharpness.bars", column), dtype=float)


@pytest.mark.parametrize("question", SOME_SHARPNESS, ids=lambda q: f"{q.phi}-{q.d_k}")
def test_the_bars_are_the_weights_that_compute_gives(question):
    K = queries_and_keys(question.d_k, question.seed)[1][:32]
    w, left = match_weights(question.map, K[11], K, STOPS, draws=10)
    w = np.where((left < UNDEFINED_BELOW)[..., None], np.nan, w)
    drawn = bars(question)
    if w.ndim == 2:
        np.testing.assert_allclose(drawn, w, rtol=1e-5, atol=1e-7)
        return
    whole = ~np.isnan(w).any(axis=(0, 2))  # stops at which all ten draws are defined
    ordered = np.sort(w, axis=0)
    assert np.all(drawn[whole] >= ordered[4][whole] - 1e-6) and np.all(drawn[whole] <= ordered[5][whole] + 1e-6)


def test_the_softmax_bars_are_scipys_softmax():
    K = queries_and_keys(16, 0)[1][:32]
    by_scipy = special.softmax(STOPS[:, None] * (K @ K[11]) / 4, axis=1)
    np.testing.assert_allclose(bars(Question(phi="favor"), "softmax"), by_scipy, rtol=2e-6, atol=STEP)


@pytest.mark.parametrize("word", [word for word, kind in FEATURE_MAPS.items() if not kind.random])
def test_the_bars_of_a_map_are_products_of_features(word):
    defined = 0
    for seed in range(4):
        phi, K = read_member(word), queries_and_keys(16, seed)[1][:32]
        kernel = phi(STOPS[:, None] * K[11] / 2) @ phi(K / 2).T
        drawn = bars(Question(phi=word, seed=seed))
        there = ~np.isnan(drawn).any(axis=1)
        expected = kernel / kernel.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(drawn[there], expected[there], rtol=1e-4, atol=1e-6)
        defined += there.sum()
    assert defined >= len(STOPS)


def test_a_row_of_the_kernel_matrix_becomes_the_query():
    Q, K = queries_and_keys(16, 0)
    by_scipy = special.softmax(STOPS[:, None] * (K[:32] @ Q[101]) / 4, axis=1)
    told = answer(Question(phi=SOFTMAX, row=101))
    np.testing.assert_allclose(bars(Question(phi=SOFTMAX, row=101)), by_scipy, rtol=2e-6, atol=STEP)
    match = int(np.argmax(K[:32] @ Q[101]))
    np.testing.assert_allclose(told["sharpness.curves"][SOFTMAX], by_scipy[:, match], rtol=2e-6)


@pytest.mark.parametrize("question", SOME_SHARPNESS, ids=lambda q: f"{q.phi}-{q.d_k}")
def test_a_curve_is_the_height_of_the_matching_bar(question):
    told = answer(question)
    np.testing.assert_allclose(told["sharpness.curves"][question.map_word], bars(question)[:, 11], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        told["sharpness.curves"][SOFTMAX], bars(question, "softmax")[:, 11], rtol=1e-6, atol=STEP
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("phi", PHIS)
def test_a_curve_tends_to_its_dashed_end(phi, seed):
    """At c = 16 a curve that has a limit is near it, a flat curve is on it, and no curve has no end."""
    told = answer(Question(phi=phi, seed=seed))
    limit = told["sharpness.ends"]["limit"][PHIS.index(phi)]
    last = told["sharpness.curves"][phi][-1]
    if np.isfinite(limit):
        assert last == pytest.approx(limit, abs=1e-6 if phi != SOFTMAX and FEATURE_MAPS[phi].homogeneity else 0.08)


@pytest.mark.parametrize("match", [0.0, 0.5, 0.8])
def test_the_match_says_how_far_the_query_leans_towards_its_key(match):
    """Softmax weights of ρk + √(1−ρ²)·noise by scipy, the noise an independent query of the same draw."""
    Q, K = queries_and_keys(16, 0)
    query = match * K[11] + (1 - match**2) ** 0.5 * Q[11]
    by_scipy = special.softmax(STOPS[:, None] * (K[:32] @ query) / 4, axis=1)
    np.testing.assert_allclose(bars(Question(phi=SOFTMAX, match=match)), by_scipy, rtol=2e-6, atol=STEP)
    row = Question(phi=SOFTMAX, row=5, match=match)  # a row of the matrix is its own query
    np.testing.assert_array_equal(bars(row), bars(Question(phi=SOFTMAX, row=5)))


@pytest.mark.parametrize("word", ["favor", "trig"])
def test_a_single_draw_is_one_of_the_ten(word):
    K = queries_and_keys(16, 0)[1][:32]
    w, left = match_weights(read_member(word), K[11], K, STOPS, draws=10)
    for single in (1, 10):
        told = Question(phi=word, single=single)
        expected = np.where(left[single - 1][:, None] < UNDEFINED_BELOW, np.nan, w[single - 1])
        np.testing.assert_allclose(bars(told), expected, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(bars(told, "low"), bars(Question(phi=word), "low"))
    assert bars(Question(phi="elu", single=4)).tolist() == bars(Question(phi="elu")).tolist()


@pytest.mark.parametrize("word", [SOFTMAX, "elu", "relu", "taylor", "dpfp"])
def test_the_kept_band_is_what_its_script_gives(word):
    member = None if word == SOFTMAX else read_member(word)
    told = spread_over_seeds(member, 8, STOPS, seeds=SEEDS)
    band = band_of(member, 8)
    np.testing.assert_allclose(band.quantiles, told.quantiles, atol=0.51e-4)
    assert band.seeds == SEEDS == 200
    drawn = answer(Question(phi=word, d_k=8))["sharpness.band"]
    np.testing.assert_allclose(drawn["low"], told.quantiles[0], atol=1e-4)
    np.testing.assert_allclose(drawn["high"], told.quantiles[2], atol=1e-4)


def test_every_map_that_a_visitor_can_choose_has_its_band_in_the_file():
    for d_k in WIDTHS:
        for word in (*PHIS, "favor~m~16", "trig~m~4096", "dpfp~nu~6"):
            member = None if word == SOFTMAX else read_member(word)
            try:
                if member is not None:
                    member.d_phi(d_k)
            except ValueError:
                continue
            assert str(d_k) in load()["bands"][name_of(member)]
    assert band_of(read_member("favor"), 16, 0.5).seeds < SEEDS  # another match is computed, from fewer draws


def test_the_range_over_draws_is_what_each_draw_misplaces():
    """Total variation against scipy's softmax, of each of the ten; and the order of the weights is scipy's."""
    question = Question(phi="favor~m~512~orthogonal~false")
    K = queries_and_keys(16, 0)[1][:32]
    w = match_weights(question.map, K[11], K, STOPS, draws=10).w
    soft = special.softmax(STOPS[:, None] * (K @ K[11]) / 4, axis=1)
    wrong = np.abs(w - soft).sum(axis=-1) / 2
    for i in (0, AXES["c"].index(1.0), 72):
        numbers = percentages(said("sharpness", question, "sharpness.misplaced")[i])
        for (number, half), expected in zip(numbers[1:], (wrong[:, i].min(), wrong[:, i].max()), strict=True):
            assert number == pytest.approx(expected, abs=half)
        order = float(said("sharpness", Question(phi="taylor"), "sharpness.order")[i].replace("−", "-"))
        assert order == pytest.approx(stats.spearmanr(bars(Question(phi="taylor"))[i], K @ K[11]).statistic, abs=0.0051)


def test_where_signs_cancel_a_strip_stands_instead_of_weights():
    told = answer(Question(phi="identity"))
    lost = np.isfinite(told["sharpness.band"]["lost"])
    np.testing.assert_array_equal(lost, np.isnan(bars(Question(phi="identity"))[:, 11]))
    assert lost.any() and "denominator" in told["sharpness.lost_name"]["text"][0]
    assert not np.isfinite(answer()["sharpness.band"]["lost"]).any() and answer()["sharpness.lost_name"]["text"] == [""]


def test_flat_maps_are_called_flat():
    names = dict(zip(PHIS, answer()["sharpness.ends"]["text"], strict=True))
    assert {word for word, text in names.items() if "flat" in text} == {"relu", "dpfp"}  # identity is undefined here
    for word in ("relu", "dpfp"):
        assert np.ptp(answer()["sharpness.curves"][word]) < 1e-6


@pytest.mark.parametrize(
    "question", relevant("sharpness"), ids=lambda q: f"{q.phi}-{q.d_k}-{q.seed}-{q.row}-{q.match:g}-{q.single}"
)
def test_the_sharpness_headline_says_the_heights_of_the_bars(question):
    match = 11 if question.row is None else int(np.argmax(_scores(question)))
    soft, own = bars(question, "softmax")[:, match], bars(question)[:, match]
    for i, text in enumerate(said("sharpness", question, "sharpness.headline")):
        expected = [soft[i]] if question.phi == SOFTMAX or np.isnan(own[i]) else [soft[i], own[i]]
        numbers = percentages(text)
        assert len(numbers) == len(expected), text
        for (number, half), height in zip(numbers, expected, strict=True):
            assert number == pytest.approx(height, abs=half + STEP), (text, height)


def _scores(question):
    Q, K = queries_and_keys(question.d_k, question.seed)
    return K[:32] @ Q[question.row]


@pytest.mark.parametrize("phi", PHIS)
def test_the_read_outs_of_sharpness_are_entropy_and_largest_weight(phi):
    question = Question(phi=phi)
    drawn = bars(question)
    for i in (0, len(drawn) // 2, len(drawn) - 1):
        row = drawn[i]
        entropy = said("sharpness", question, "sharpness.entropy")[i].partition("·")[0]
        if np.isnan(row).any() or (row < 0).any():
            assert "undefined" in entropy
        else:
            proper = row / row.sum() if abs(row.sum() - 1) < 1e-3 else None
            if proper is not None:
                assert float(entropy.split()[0]) == pytest.approx(stats.entropy(proper), abs=0.0051)
        top = percentages(said("sharpness", question, "sharpness.top")[i])
        if not np.isnan(row).any():
            assert top[0][0] == pytest.approx(row.max(), abs=top[0][1])
