"""Singular values that are kept are those of the maps as they are now, and rank as these do."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS

from components import rank_kept
from components.lesson import Question
from components.rank_kept import (
    DRAWS,
    EVERY,
    FILE,
    MEMBERS,
    NEAR,
    STEPS,
    holds,
    is_kept,
    kept,
    load,
    steps_of,
    values_at,
)
from components.rank_run import TOLERANCES, ranks, values_of
from components.rank_values import computed
from components.words import PHIS, SOFTMAX, WIDTHS, WORDS
from compute.feature_maps import EluPlusOne, read_member


@pytest.mark.parametrize(
    "d_k, seed", [(4, 31), (8, 9), (16, 0), (32, EVERY - 1), (64, 17), (16, EVERY), (16, DRAWS - 1)]
)
def test_what_is_kept_is_what_is_computed(d_k, seed):
    """The same values, zeros and gaps, and as many above each tolerance as roundoff leaves open."""
    for phi, word in MEMBERS.items():
        assert is_kept(phi, d_k, seed), word
        told, now = kept(phi, d_k, seed), computed(phi, d_k, seed, "float64")
        np.testing.assert_array_equal(np.isnan(told), np.isnan(now), word)
        clear = now > 1e-11
        np.testing.assert_allclose(told[clear], now[clear], rtol=NEAR)
        assert np.all(told[~clear & ~np.isnan(now)] < 2e-11), word
        assert np.all(_counted(0.98 * now) <= ranks(told)) and np.all(ranks(told) <= _counted(1.02 * now)), word


def _counted(values):
    return np.sum(values[:, None, :] > TOLERANCES[:, None], axis=-1)


def test_a_step_ranks_as_the_values_on_it():
    """By hand: a step is 10^(1/600) wide, and a tolerance lies between two."""
    values = np.array([1, 0.5, 1.0001e-1, 1e-1, 0.9999e-1, 1.001e-10, 0.999e-10, 1.001e-13, 1e-15, 0])
    told = values_at(steps_of(values))
    np.testing.assert_array_equal(ranks(told), ranks(values))
    np.testing.assert_allclose(told[:-2], values[:-2], rtol=10 ** (0.5 / STEPS) - 1 + 1e-12)
    assert told[0] == 1 and told[-1] == told[-2] == 0


def test_pages_read_what_is_kept_and_say_so():
    for question, where in (
        (Question(seed=5), f"computed {load()['date']}, kept to 0.2 %"),
        (Question(phi=SOFTMAX, d_k=64), f"computed {load()['date']}, kept to 0.2 %"),
        (Question(seed=DRAWS - 1), f"computed {load()['date']}, kept to 0.2 %"),
        (Question(seed=EVERY, d_k=4), "computed now"),
        (Question(phi="favor~m~64"), "computed now"),
        (Question(mask="causal"), "computed now"),
        (Question(precision="float32"), "computed now"),
    ):
        texts = VIEWS["rank"].answer(question)["rank.texts"]
        assert texts["text"][texts["node"].index("rank.found")] == where, question
        if question.mask == "none":
            now = computed(question.map, question.d_k, question.seed, question.precision)
            drawn = values_of(question.map, question.d_k, question.seed, question.precision)
            assert np.allclose(drawn, now, rtol=0, atol=1e-6, equal_nan=True) == (where == "computed now")


def test_every_map_is_kept_at_every_width_in_less_than_a_megabyte():
    assert tuple(MEMBERS.values()) == PHIS
    assert all(holds(word, d_k) for word in PHIS for d_k in WIDTHS)
    assert FILE.stat().st_size < 1_000_000
    assert WORDS["seed"].read("99") == DRAWS - 1 and is_kept(None, 16, DRAWS - 1)
    assert not is_kept(None, 16, DRAWS) and not is_kept(None, 8, EVERY)
    assert not is_kept(read_member("favor~m~64"), 16, 0)


def test_a_map_that_has_changed_is_not_read_from_the_file(monkeypatch):
    assert holds.__wrapped__("elu", 16)
    monkeypatch.setattr(EluPlusOne, "features", lambda self, x: np.maximum(x, 0))
    assert not holds.__wrapped__("elu", 16)


def test_a_map_that_is_wider_now_is_not_read_from_the_file(monkeypatch):
    assert holds.__wrapped__("favor", 16)
    monkeypatch.setattr(rank_kept, "MEMBERS", {read_member("favor~m~64"): "favor"})
    assert not holds.__wrapped__("favor", 16)


@pytest.mark.parametrize("broken", ["missing", "empty", "cut", "of other stops"])
def test_without_a_file_in_one_piece_values_are_computed_and_the_log_says_so(broken, monkeypatch, tmp_path, caplog):
    file = tmp_path / "spectra.npz"
    if broken == "of other stops":
        monkeypatch.setattr(rank_kept, "STEPS", STEPS + 1)
        file = FILE
    elif broken != "missing":
        file.write_bytes(FILE.read_bytes()[:100_000] if broken == "cut" else b"")
    monkeypatch.setattr(rank_kept, "FILE", file)
    monkeypatch.setattr(rank_kept, "load", load.__wrapped__)
    monkeypatch.setattr(rank_kept, "_steps", rank_kept._steps.__wrapped__)
    monkeypatch.setattr(rank_kept, "readable", rank_kept.readable.__wrapped__)
    assert not is_kept(read_member("elu"), 16, 0)
    assert "draw 0 is computed instead of read" in caplog.text and str(file) in caplog.text


def test_a_file_of_other_stops_is_refused(monkeypatch):
    monkeypatch.setattr(rank_kept, "STOPS", (16, 32))
    with pytest.raises(ValueError, match=r"^spectra.npz was made for other stops; run python -m components.rank_kept"):
        load.__wrapped__()
