"""What the normaliser keeps of random maps of thousands of features is what the maps as they are now give."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from asked import VIEWS
from damaged import WAYS, damaged

from components import normaliser_answer, normaliser_numbers, normaliser_wide
from components.lesson import Question
from components.normaliser_numbers import computed
from components.normaliser_ways import STOPS
from components.normaliser_wide import FILE, PAIRS, holds, load, numbers
from components.offered import WIDE
from components.words import WIDTHS
from compute.feature_maps import PositiveRandom, Trigonometric, spell

SOME = [("favor~m~4096", 16), ("favor~m~2048", 4), ("trig~m~1024", 16), ("trig~m~4096", 64)]


def test_maps_are_kept_that_have_many_directions_or_features():
    """By hand: 2,048 features are as many directions of positive features, and half as many of waves."""
    found = {(phi.word, phi.m, d_k) for phi, d_k in PAIRS}
    wide = {("favor", m, d_k) for m in (2048, 4096) for d_k in WIDTHS} | {("favor", 1024, 64)}
    assert found == wide | {("trig", m, d_k) for m in (1024, 2048, 4096) for d_k in WIDTHS}
    assert set(PAIRS) > WIDE and len(PAIRS) == len(found)
    assert FILE.stat().st_size < 200_000


@pytest.mark.parametrize("word, d_k", SOME)
def test_what_is_kept_is_what_is_computed(word, d_k, monkeypatch):
    """In float32: where signs nearly cancel, another processor's sums are others by more than roundoff."""
    now = computed(word, d_k, 0)
    monkeypatch.setattr(normaliser_wide, "computed", lambda *_: pytest.fail("computed, not read"))
    told = numbers.__wrapped__(word, d_k, 0)
    size = now.gross[-1] / len(STOPS)
    for name in {field.name for field in fields(now)} - {"ways", "bands", "sizes"}:
        found, want = np.asarray(getattr(told, name)), np.asarray(getattr(now, name))
        assert found.shape == want.shape, name
        atol = 1e-6 * size if name in ("net", "mean", "law") else 2 if name in ("lost", "negative") else 1e-3
        assert np.mean(np.isclose(found, want, rtol=1e-3, atol=atol, equal_nan=True)) > 0.95, name
    np.testing.assert_allclose(told.sizes, now.sizes, rtol=0.05)
    for i, (way, want) in enumerate(zip(told.ways, now.ways, strict=True)):
        assert way.divisors.keys() == want.divisors.keys()
        for name, line in [*way.columns().items(), *way.divisors.items()]:
            line_now = (want.columns() | want.divisors)[name]
            assert np.mean(np.isclose(line, line_now, rtol=1e-2, equal_nan=True)) > 0.95, (i, name)
    assert told.bands.keys() == now.bands.keys()
    for name, lines in told.bands.items():
        assert np.mean(np.isclose(lines, now.bands[name], rtol=1e-2, equal_nan=True)) > 0.95, name


@pytest.mark.parametrize("word, d_k", SOME)
def test_the_page_draws_from_the_file_what_it_draws_without(word, d_k, monkeypatch):
    made = computed(word, d_k, 0)
    for remembered in (numbers, normaliser_answer._answer):
        remembered.cache_clear()
    monkeypatch.setattr(normaliser_wide, "computed", lambda *_: pytest.fail("computed, not read"))
    read = VIEWS["normaliser"].answer(Question(phi=word, d_k=d_k))
    np.testing.assert_allclose(read["normaliser.sums"]["law"], made.law, rtol=1e-3)
    np.testing.assert_allclose(read["normaliser.shares"]["mid"], made.bands["share"][1], rtol=1e-2)
    np.testing.assert_allclose(read["normaliser.read_3"]["mid"], made.ways[3].mid, rtol=1e-2)


@pytest.mark.parametrize("word, d_k, seed", [("favor~m~4096", 16, 1), ("favor~m~1024", 16, 0), ("favor~m~4000", 16, 0),
                                             ("trig~m~4096~orthogonal~true", 16, 0), ("softmax", 64, 0)])  # fmt: skip
def test_what_is_not_kept_is_computed(word, d_k, seed, monkeypatch):
    monkeypatch.setattr(normaliser_wide, "computed", lambda *asked: asked)
    assert numbers.__wrapped__(word, d_k, seed) == (word, d_k, seed)


def test_a_map_that_has_changed_is_not_read_from_the_file(monkeypatch):
    for word, phi in (("favor", PositiveRandom), ("trig", Trigonometric)):
        assert holds.__wrapped__(word, 16)
        whole = phi.kernel_from
        monkeypatch.setattr(phi, "kernel_from", lambda self, Q, whole=whole: whole(self, 0.5 * Q))
        assert not holds.__wrapped__(word, 16)


@pytest.mark.parametrize("way", WAYS)
def test_without_a_file_in_one_piece_all_is_computed_and_the_log_says_so(way, monkeypatch, tmp_path, caplog):
    file = damaged(
        normaliser_wide, way, {"LINES": normaliser_wide.LINES[::-1]}, ("load", "holds"), monkeypatch, tmp_path
    )
    told, now = numbers.__wrapped__("favor~m~2048", 4, 0), normaliser_numbers.computed("favor~m~2048", 4, 0)
    np.testing.assert_array_equal(told.net, now.net)
    assert "wide maps of favor at d_k = 4 is computed instead of read" in caplog.text and str(file) in caplog.text


def test_a_file_of_other_maps_is_refused(monkeypatch):
    monkeypatch.setattr(normaliser_wide, "PAIRS", PAIRS[1:])
    with pytest.raises(ValueError, match=r"^arrived.npz was made for other stops or maps; run python"):
        load.__wrapped__()


def test_every_map_has_rows_of_its_own():
    rows = load()["rows"]
    assert len(rows) == len(PAIRS) and np.isfinite(load()["rest"]).all()
    assert len({of[0].tobytes() for of in rows}) == len(PAIRS), [spell(phi) for phi, _ in PAIRS]
