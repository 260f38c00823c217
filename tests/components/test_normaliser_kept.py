"""What is kept of the normaliser's draws is what the maps as they are now give, and the page draws it."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS
from damaged import WAYS, damaged

from components import normaliser_draws, normaliser_kept
from components.lesson import Question
from components.normaliser_draws import BFLOAT, SIGNED, computed
from components.normaliser_kept import FILE, agree, beside_of, holds, load, read
from components.normaliser_numbers import computed as numbers
from components.normaliser_ways import STOPS
from components.words import SEEDS, WIDTHS
from compute.feature_maps import EluPlusOne, Silu
from compute.streams import DRAWS


@pytest.mark.parametrize("d_k, seed", [(4, 31), (8, 9), (16, 0), (32, 63), (64, 17), (16, SEEDS - 1)])
def test_what_is_kept_is_what_is_computed(d_k, seed):
    """And not that of another width or draw."""
    told = beside_of(d_k, seed)
    assert holds(d_k) and np.shares_memory(told.signed["silu"].left, load()[0])  # read, not computed
    assert agree(told, computed(d_k, seed))
    assert not agree(read(d_k, (seed + 1) % SEEDS), computed(d_k, seed))


def test_every_draw_that_is_offered_is_kept_in_less_than_a_megabyte():
    assert FILE.stat().st_size < 1_000_000
    for of in load():
        assert of.shape[:2] == (len(WIDTHS), SEEDS) and of.shape[-1] == len(STOPS)
        assert np.isfinite(of).all()
    told = read(16, 3)
    assert tuple(told.signed) == tuple(SIGNED)
    assert all(signed.below.min() >= 0 and signed.below.max() <= DRAWS for signed in told.signed.values())
    assert np.all(np.diff(told.score, axis=0) >= 0) and np.all(np.diff(told.short) >= 0)


@pytest.mark.parametrize("d_k, seed", [(16, SEEDS), (12, 0)])
def test_what_is_not_kept_is_computed(d_k, seed):
    now = computed(d_k, seed)
    np.testing.assert_array_equal(beside_of(d_k, seed).score, now.score)
    assert agree(beside_of(d_k, seed), now)


@pytest.mark.parametrize("slot", SIGNED)
def test_the_page_draws_a_signed_map_from_the_file_as_it_does_when_chosen(slot):
    """Chosen, a map is computed; else it is read."""
    question = Question(phi=SIGNED[slot], d_k=8, seed=12)
    told, found = VIEWS["normaliser"].answer(question)["normaliser.left"], numbers(question.phi, 8, 12)
    np.testing.assert_allclose(told[slot], told["chosen"], rtol=0, atol=1e-4)
    assert np.abs(read(8, 12).signed[slot].below - found.negative).max() <= 1


@pytest.mark.parametrize("phi, sign", [(EluPlusOne, 1), (Silu, -1)])
def test_a_map_that_has_changed_is_not_read_from_the_file(phi, sign, monkeypatch):
    assert holds.__wrapped__(16)
    whole = phi.features
    monkeypatch.setattr(phi, "features", lambda self, x: whole(self, sign * 0.5 * x))
    assert not holds.__wrapped__(16)


@pytest.mark.parametrize("way", WAYS)
def test_without_a_file_in_one_piece_all_is_computed_and_the_log_says_so(way, monkeypatch, tmp_path, caplog):
    file = damaged(normaliser_kept, way, {"BFLOAT": BFLOAT[::-1]}, ("load", "holds"), monkeypatch, tmp_path)
    assert agree(beside_of.__wrapped__(16, 0), normaliser_draws.computed(16, 0))
    assert "at d_k = 16 is computed instead of read" in caplog.text and str(file) in caplog.text


def test_a_file_of_other_draws_is_refused(monkeypatch):
    monkeypatch.setattr(normaliser_kept, "SEEDS", SEEDS - 1)
    with pytest.raises(ValueError, match=r"^beside.npz was made for other stops or maps; run python"):
        load.__wrapped__()
