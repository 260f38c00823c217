"""What is kept of random maps of thousands of features is what the maps as they are now give, and the page draws it."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS
from damaged import WAYS, damaged

from components import rank_blocks, rank_run, rank_wide
from components.lesson import Question
from components.offered import WIDE
from components.rank_answer import answer_at_default
from components.rank_kept import is_kept as is_kept_by_draw
from components.rank_run import pictures, ranks, values_of
from components.rank_steps import FINE, near, packed
from components.rank_values import CELLS, LARGEST, STOPS, TOLERANCES, computed, counted, painted, wide
from components.rank_wide import FILE, PAIRS, blocks, holds, is_kept, kept, load, picture
from components.words import WIDTHS
from compute.feature_maps import PositiveRandom, Trigonometric, read_member, spell
from compute.rank import PRECISIONS

ROUNDOFF = {"float64": 1e-11, "float32": 3e-5}
"""Relative singular values below which another processor may find others."""

APART = {"float64": 1e-3, "float32": 2e-2}
"""How far from a tolerance, as a share of it, a value lies that every processor finds on the same side."""

SOME = [("favor~m~4096", 16), ("trig~m~2048", 4), ("favor~m~1024", 64), ("trig~m~4096", 64)]


def test_maps_are_kept_that_have_many_directions_or_features():
    """By hand: 2,048 and 4,096 directions at each width, and 1,024 where they are 65,536 numbers."""
    pairs = {(m, d_k) for m in (2048, 4096) for d_k in WIDTHS} | {(1024, 64)}
    assert {(phi.word, phi.m, d_k) for phi, d_k in PAIRS} == {(w, *pair) for w in ("favor", "trig") for pair in pairs}
    assert set(PAIRS) > WIDE and len(PAIRS) == 22
    assert FILE.stat().st_size < 250_000


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("word, d_k", SOME)
def test_singular_values_and_ranks_that_are_kept_are_those_that_are_computed(word, d_k, precision):
    phi = read_member(word)
    assert is_kept(phi, d_k, 0, precision)
    told, now = kept(phi, d_k, 0, precision), computed(phi, d_k, 0, precision)
    np.testing.assert_array_equal(np.isnan(told), np.isnan(now))
    clear, seen = now > ROUNDOFF[precision], ROUNDOFF[precision] < TOLERANCES
    np.testing.assert_allclose(told[clear], now[clear], rtol=near(FINE))
    low, high = (ranks(now, TOLERANCES * (1 + by))[:, seen] for by in (APART[precision], -APART[precision]))
    assert np.all(low <= ranks(told)[:, seen]) and np.all(ranks(told)[:, seen] <= high)
    told, now = blocks(phi, d_k, precision), counted(phi, d_k, 0, precision)
    assert told.shape == now.shape and told.dtype == now.dtype
    apart = np.abs(told - now)[:, seen]
    assert apart.max() <= 1 and apart.mean() < 0.01  # a value may lie on a tolerance to the last bits


def test_each_precision_has_its_own_numbers(monkeypatch):
    """By hand, for those of the file are nearly the same: steps by one or by two, and ranks of one or of two."""
    steps = packed([by * np.arange(N) for by in (1, 2) for N in STOPS])
    ranks_of = np.stack([np.full((len(STOPS), len(TOLERANCES)), by) for by in (1, 2)])
    told = {"steps": steps, "blocks": np.diff(ranks_of, axis=-1, prepend=0)}
    monkeypatch.setattr(rank_wide, "_read", lambda *_: told)
    for by, precision in enumerate(PRECISIONS, 1):
        middle = 10 ** (-(by * (STOPS[-1] - 1) + 0.5) / FINE)
        assert kept(PAIRS[0][0], 16, 0, precision)[-1, -1] == pytest.approx(middle)
        assert np.all(blocks(PAIRS[0][0], 16, precision) == by)


@pytest.mark.parametrize("word, d_k", SOME)
def test_a_picture_that_is_kept_is_the_one_that_is_computed(word, d_k):
    """But for an entry that lies between two shades to the last bits; on the overview every second row and column."""
    phi = read_member(word)
    for cells in (CELLS, CELLS // 2):
        told, now = pictures(phi, d_k, 0, "none", cells), painted(phi, d_k, 0, "none", cells)
        assert told.shape == now.shape and told.dtype == now.dtype
        apart = np.abs(told.astype(int) - now)
        assert apart.max() <= 1 and apart.mean() < 1e-3
    assert picture(phi, d_k).shape == (3, CELLS, CELLS)


@pytest.mark.parametrize("word, d_k", [("trig~m~1024", 16), ("favor~m~512", 64)])
def test_a_matrix_that_is_there_anyway_gives_the_same_picture(word, d_k, monkeypatch):
    phi = read_member(word)
    for mask in ("none", "causal"):
        now = painted(phi, d_k, 5, mask)
        told = painted(phi, d_k, 5, mask, CELLS, wide(phi, d_k, 5))
        apart = np.abs(told.astype(int) - now)
        assert apart.max() <= 1 and apart.mean() < 1e-3
    made = []
    monkeypatch.setattr(rank_run, "wide", lambda *asked: made.append(asked) or wide(*asked))
    for some, seed in ((phi, 6), (read_member("favor"), 6), (phi, 7)):
        pictures.__wrapped__(some, d_k, seed, "none")
    assert made == [(phi, d_k, 6), (phi, d_k, 7)]


def test_at_the_first_draw_pages_read_all_of_it_and_say_so(monkeypatch):
    for module, name in ((rank_run, "computed"), (rank_run, "painted"), (rank_blocks, "counted")):
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("computed, not read"))
    values_of.cache_clear()
    pictures.cache_clear()
    question = Question(phi="trig~m~2048", d_k=8)
    told = values_of(question.map, 8, 0, "float64"), pictures(question.map, 8, 0, "none"), answer_at_default(question)
    rank_blocks.block_ranks(question.map, 8, 0, "float32")
    assert told[0].shape == (len(STOPS), LARGEST)
    texts = told[2]["rank.texts"]
    assert texts["text"][texts["node"].index("rank.found")] == f"computed {load('date')}, kept to 0.2 %"


@pytest.mark.parametrize("asked", [(1, "float64", "none"), (0, "float64", "causal"), (0, "float32", "causal")])
def test_other_questions_are_computed(asked):
    seed, precision, mask = asked
    phi = read_member("favor~m~2048")
    assert is_kept(phi, 8, 0) and not is_kept(phi, 8, *asked) and not is_kept_by_draw(phi, 8, *asked)
    texts = VIEWS["rank"].answer(Question(phi=spell(phi), d_k=8, seed=seed, precision=precision, mask=mask))[
        "rank.texts"
    ]
    assert texts["text"][texts["node"].index("rank.found")] == "computed now"


@pytest.mark.parametrize("asked", ["favor~m~1024", "favor~m~2048~seed~1", "favor~m~2048~orthogonal~false", "elu"])
def test_other_maps_are_computed(asked):
    assert not is_kept(read_member(asked), 16, 0) and not is_kept(None, 16, 0)


@pytest.mark.parametrize("kind, name", [(PositiveRandom, "log_features"), (Trigonometric, "features")])
def test_a_map_that_has_changed_is_not_read_from_the_file(kind, name, monkeypatch):
    phi = next(phi for phi, d_k in PAIRS if isinstance(phi, kind) and d_k == 16)
    assert holds.__wrapped__(phi, 16)
    whole = getattr(kind, name)
    monkeypatch.setattr(kind, name, lambda self, x: whole(self, 0.5 * x))
    assert not holds.__wrapped__(phi, 16)


@pytest.mark.parametrize("way", WAYS)
def test_without_a_file_in_one_piece_a_map_is_computed_and_the_log_says_so(way, monkeypatch, tmp_path, caplog):
    file = damaged(rank_wide, way, {"STOPS": (*STOPS, 512)}, ("load", "holds"), monkeypatch, tmp_path)
    assert not is_kept(read_member("favor~m~2048"), 16, 0)
    assert "the rank of favor~m~2048 at d_k = 16 is computed instead of read" in caplog.text
    assert str(file) in caplog.text


def test_a_file_of_other_stops_is_refused(monkeypatch):
    monkeypatch.setattr(rank_wide, "STOPS", (16, 32))
    with pytest.raises(
        ValueError, match=r"^wide.npz was made for other stops or maps; run python -m components.rank_w"
    ):
        load.__wrapped__("first")
