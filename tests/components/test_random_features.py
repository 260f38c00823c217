"""Random features: bands come from the stored draws and agree with fresh ones, numbers in words with what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from asked import said, shown

from app.page import view
from components.axes import AXES
from components.lesson import Question
from components.palette import LIGHT
from components.random_features_answer import VALUES
from components.random_features_bands import FAR, RATIOS, SHARES_AT, units
from components.random_features_said import D_PHI, little
from components.random_features_sweep import AT, LENGTHS, WIDTHS, compute, stored
from components.says import percent
from components.teaching import teaching
from components.words import WIDTHS as HEADS
from compute.feature_error import ratio_draws

VIEW = view("random-features")
STOPS = AXES["r"].stops
KINDS = ("positive", "trig")
every_kind = pytest.mark.parametrize("kind", KINDS)


def at(length: float) -> int:
    return AXES["r"].index(length)


def texts(question: Question) -> dict[str, str]:
    return dict(zip(*VIEW.answer(question)["random-features.texts"].values(), strict=True))


def preset(name: str):
    return next(p for p in teaching("random-features").presets if p.name == name)


# The stored draws


def test_the_file_was_made_for_the_stops_and_widths_that_are_drawn():
    spreads, made = stored()
    assert made["lengths"] == list(LENGTHS) == list(STOPS) and made["widths"] == list(WIDTHS) and made["at"] == list(AT)
    for spread in spreads.values():
        assert spread.quantiles.shape == (len(LENGTHS), len(WIDTHS), len(AT))
        assert spread.share.shape == spread.error.shape == (len(LENGTHS), len(WIDTHS))


def test_the_page_says_how_many_draws_when_and_with_what():
    made, told = stored()[1], texts(Question())["random-features.made"]
    assert all(part in told for part in (f"{made['draws']:,} draws", made["date"], made["numpy"]))


def test_fresh_draws_agree_with_the_stored_ones():
    """Another seed, 400 draws: as many fresh draws lie below a stored quantile as it says, within chance."""
    where = [at(r) for r in (0.5, 1.0, 2.0, 2.828, 4.0)]
    for kind, directions in (("positive", WIDTHS), ("trig", [m // 2 for m in WIDTHS])):
        fresh = ratio_draws([STOPS[i] for i in where], directions, kind=kind, draws=400, seed=77)
        for k, level in enumerate(AT):
            below = np.mean(fresh < stored()[0][kind].quantiles[where][:, None, :, k], axis=1)
            chance = 4.5 * np.sqrt(level * (1 - level) * (1 / 400 + 1 / 10_000))
            assert np.abs(below - level).max() < chance, (kind, level)


@every_kind
def test_the_stored_error_is_the_mean_distance_from_one(kind):
    """Where tails are short the plain mean over fresh draws shows it; no positive one errs by over 2."""
    directions = WIDTHS if kind == "positive" else [m // 2 for m in WIDTHS]
    fresh = ratio_draws([0.5, 1.0], directions, kind=kind, draws=2000, seed=78)
    np.testing.assert_allclose(np.abs(fresh - 1).mean(axis=1), stored()[0][kind].error[[at(0.5), at(1.0)]], rtol=0.12)
    assert kind == "trig" or stored()[0][kind].error.max() <= 2


def test_a_sweep_of_few_draws_has_the_shape_of_the_stored_one():
    for kind, parts in compute(draws=2, seed=5).items():
        for name, values in parts.items():
            assert values.shape == getattr(stored()[0][kind], name).shape


# Bands and the visitor's own draw


@every_kind
def test_bands_are_the_stored_quantiles_as_far_as_they_can_be_seen(kind):
    far = FAR * units()[kind][:, None]
    for k, column in enumerate(("q05", "q25", "q50", "q75", "q95")):
        drawn = np.array(shown("random-features", Question(), f"random-features.{kind}_band", column))
        np.testing.assert_allclose(drawn, np.clip(stored()[0][kind].quantiles[..., k], -far, far), rtol=1e-5)


def test_positive_estimates_are_never_negative():
    assert stored()[0]["positive"].quantiles.min() >= 0
    assert np.nanmin(shown("random-features", Question(seed=3), "random-features.positive_band", "own")) > 0


@every_kind
def test_redrawing_changes_the_thin_line_and_nothing_of_the_bands(kind):
    one, two = VIEW.answer(Question())["random-features.reel"], VIEW.answer(Question(seed=1))["random-features.reel"]
    assert not np.array_equal(one[f"{kind}_own"], two[f"{kind}_own"])
    for column in ("q05", "q25", "q50", "q75", "q95"):
        assert one[f"{kind}_{column}"] is two[f"{kind}_{column}"]
    names = {text.strip("↑↓ ") for row in two[f"{kind}_said"] for text in row}
    assert "draw 1" in names and "draw 0" not in names


@every_kind
@pytest.mark.parametrize("seed", [0, 1, 4, 99])
def test_names_of_lines_stand_apart_and_inside_the_frame(kind, seed):
    placed = shown("random-features", Question(seed=seed), f"random-features.{kind}_names", "y")
    for row in np.array(placed) / units()[kind][:, None]:
        assert np.diff(np.sort(row)).min() > 0.45 and row.min() > -2.2 and row.max() < 4.2


@every_kind
@pytest.mark.parametrize("seed", [0, 1])
def test_names_stand_in_the_order_of_their_lines_and_say_which_have_left_the_axis(kind, seed):
    told = VIEW.answer(Question(seed=seed))["random-features.reel"]
    directions = [m // (1 if kind == "positive" else 2) for m in WIDTHS]
    drawn = ratio_draws(STOPS, directions, kind=kind, draws=1, seed=seed)[:, 0, -1]
    q05, _, q50, _, q95 = np.moveaxis(stored()[0][kind].quantiles[:, -1], -1, 0)
    for k, unit in enumerate(units()[kind]):
        ends = {"95 % lie below": q95[k], "true value": 1.0, "median": q50[k], "5 % lie below": q05[k]}
        ends[f"draw {seed}"] = drawn[k]
        heights, texts = told[f"{kind}_names"][k], told[f"{kind}_said"][k]
        upward = [texts[i].strip("↑↓ ") for i in np.argsort(heights)]
        assert [ends[text] for text in upward] == sorted(ends.values())
        for text in texts:
            y = ends[text.strip("↑↓ ")]
            assert (text[0] == "↑", text[0] == "↓") == (y > RATIOS[1] * unit, y < RATIOS[0] * unit), text
    own = told[f"{kind}_own"] / units()[kind][:, None]
    assert np.nanmax(own) <= RATIOS[1] and np.nanmin(own) >= RATIOS[0]


# What is said


def test_at_the_usual_length_of_16_the_typical_draw_reads_too_little():
    """‖q+k‖² = 8: e⁸ − 1 is 2,980, so 2,973 at the stop 2.828; three draws in four are too low."""
    headline = said("random-features", Question(), "random-features.headline")[at(2.828)]
    sentence = said("random-features", Question(), "random-features.sentence")[at(2.828)]
    spread, k = stored()[0]["positive"], WIDTHS.index(256)
    assert little(spread.quantiles[at(2.828), k, 2]) in headline and percent(spread.share[at(2.828), k]) in headline
    assert "2,980/256 = 11.64" in sentence and "usual at d_k = 16" in sentence
    assert 0.6 < spread.quantiles[at(2.828), k, 2] < 0.72 and 0.72 < spread.share[at(2.828), k] < 0.78


@every_kind
def test_shares_written_into_the_plot_are_those_of_its_draws(kind):
    spread, texts_now = (
        stored()[0][kind],
        shown("random-features", Question(), f"random-features.{kind}_shares", "text"),
    )
    for i in (at(1.0), at(2.828), at(4.0)):
        assert [t.split(" %")[0] + " %" for t in texts_now[i]] == [
            percent(spread.share[i, WIDTHS.index(m)]) for m in SHARES_AT
        ]


def test_a_longer_sum_makes_typical_draws_worse_at_every_width():
    spread = stored()[0]["positive"]
    stops = [at(r) for r in (1.0, 2.0, 2.828, 4.0, 4.757, 5.657, 8.0)]
    assert np.all(np.diff(spread.quantiles[stops][..., 2], axis=0) < 0) and np.all(spread.share > 0.49)
    assert np.all(np.diff(spread.share[stops], axis=0) > 0)


def test_four_times_the_features_do_not_halve_the_error_of_long_vectors():
    left = [float(text.split()[0]) for text in said("random-features", Question(), "random-features.four")]
    assert left[at(0.25)] == 50 and left[at(2.828)] > 60 and left[at(4.0)] > 80 and left[-1] > 99


# Exact curves


@pytest.mark.parametrize("d_k, features", [(16, 2979.96), (64, 8886109.5), (128, 6.7e9), (256, 7.9e13)])
def test_the_ladder_gives_the_features_of_an_error_as_large_as_the_value(d_k, features):
    """e⁸ − 1, e¹⁶ − 1, e^22.627 − 1 and e³² − 1, the lesson's numbers."""
    answer = VIEW.answer(Question())
    rungs = {}
    for name in ("ladder", "widest"):
        rung = answer[f"random-features.{name}"]
        rungs |= {text.split(":")[0]: (x, y) for x, y, text in zip(rung["x"], rung["y"], rung["text"], strict=True)}
    x, y = rungs[f"d_k = {d_k}"]
    assert x**2 == pytest.approx(2 * d_k**0.5) and y == pytest.approx(features, rel=0.01)


def test_a_head_of_256_is_shown_only_once_the_question_is_answered():
    marks = teaching("random-features").question.marks
    figures = {m.name: m for row in VIEW.draw(Question(), False).rows for cell in row for m in cell.figure.renderers}
    assert marks and not any(figures[name].visible for name in marks)
    assert all(figures[name].visible for n in teaching("random-features").notices for name in n.marks)


@pytest.mark.parametrize("d_k", HEADS)
def test_orthogonal_directions_gain_most_near_one_and_nothing_beyond_four(d_k):
    kept = VIEW.answer(Question(head=d_k))["random-features.orthogonal"]["own"]
    assert kept.max() <= 1 and 1 < STOPS[int(np.argmin(kept))] < 1.5
    assert np.all(kept[at(4.0) :] > 0.999) and kept.min() < 0.9
    assert f"d_k = {d_k}" in texts(Question(head=d_k))["random-features.orthogonal_title"]


def test_as_the_true_value_falls_only_trigonometric_errors_grow():
    positive, trig = (shown("random-features", Question(), "random-features.errors", kind)[at(2.828)] for kind in KINDS)
    seen = np.isfinite(positive)
    assert np.all(np.diff(positive[seen]) > 0) and np.all(np.diff(trig[seen]) < 0)
    assert positive[0] == pytest.approx(VALUES[0] * np.sqrt(np.expm1(2.828**2) / D_PHI), rel=1e-4)
    assert not seen[np.exp(2.828**2 / 4) * 1.01 < VALUES].any()


def test_the_chosen_width_marks_its_usual_length():
    rows = VIEW.answer(Question(head=64))["random-features.props"]
    assert dict(zip(rows["model"], rows["value"], strict=True))["random-features.typical"] == pytest.approx(4.0)
    assert "16 at d_k = 64" in texts(Question(head=64))["random-features.aside"]


# What the presets claim


def test_what_presets_say_is_what_the_draws_show():
    positive, trig = (stored()[0][kind] for kind in KINDS)
    usual = WIDTHS.index(256)
    low, *_, high = positive.quantiles[at(1.0), usual]
    assert low > 0.85 and high < 1.15 and "within 15 %" in preset("short vectors").caption
    assert trig.share[at(2.828), usual] == pytest.approx(0.4, abs=0.03)
    assert positive.share[at(4.0), usual] == pytest.approx(0.9, abs=0.03)
    assert positive.quantiles[at(4.757), usual, 2] == pytest.approx(1 / 20, abs=0.005)
    assert positive.quantiles[at(4.757), WIDTHS.index(4096), 2] == pytest.approx(1 / 5, abs=0.02)


def test_estimates_wear_the_colours_of_their_maps():
    lines = {
        fig.name: {r.glyph.line_color for r in fig.renderers if hasattr(r.glyph, "line_color")}
        for row in VIEW.draw(Question(), False).rows
        for fig in (cell.figure for cell in row)
    }
    assert LIGHT["favor"] in lines["random-features.positive_ratio"]
    assert LIGHT["trig"] in lines["random-features.trig_ratio"]
