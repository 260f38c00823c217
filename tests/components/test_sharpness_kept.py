"""What is kept of random maps is what the maps as they are now give, and the page draws it."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS
from damaged import WAYS, damaged

from components import sharpness_kept
from components.lesson import Question
from components.sharpness_kept import MEMBERS, WIDE, computed, curve, holds, load, own_bars
from components.sharpness_run import bars
from components.words import PHIS, SEEDS, SOFTMAX, WIDTHS
from compute.feature_maps import PositiveRandom, read_member, spell


def test_random_maps_are_kept_and_no_others():
    assert [spell(phi) for phi in MEMBERS] == ["favor", "trig"]
    assert load()["rows"].shape[:3] == (2, len(WIDTHS), SEEDS)


@pytest.mark.parametrize("d_k, seed", [(4, 31), (8, 9), (16, 0), (32, 63), (64, 17), (16, SEEDS - 1)])
@pytest.mark.parametrize("phi", MEMBERS, ids=spell)
def test_what_is_kept_is_what_is_computed(phi, d_k, seed):
    assert holds(phi, d_k)
    told, now = curve(phi, d_k, seed, None, 1.0), bars(phi, d_k, seed, None, 1.0, 0)
    assert told.keys() == {"match", "limit"}  # read, not computed
    for part, found in told.items():
        np.testing.assert_allclose(found, now[part], rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize(
    "phi, d_k, seed, row, match",
    [("favor", 16, SEEDS, None, 1.0), ("favor", 12, 0, None, 1.0), ("favor", 16, 0, 3, 1.0),
     ("favor", 16, 0, None, 0.5), ("favor~m~64", 16, 0, None, 1.0), ("elu", 16, 0, None, 1.0)],
)  # fmt: skip
def test_what_is_not_kept_is_computed(phi, d_k, seed, row, match):
    told = curve(read_member(phi), d_k, seed, row, match)
    np.testing.assert_array_equal(told["weight"], bars(read_member(phi), d_k, seed, row, match, 0)["weight"])


def test_wide_maps_are_kept_whose_directions_are_many():
    """By hand: 65,536 numbers are 4,096 directions at d_k = 16, and 1,024 at d_k = 64."""
    found = {(phi.word, phi.m, d_k) for phi, d_k in WIDE}
    pairs = [(4096, 16), (2048, 32), (4096, 32), (1024, 64), (2048, 64), (4096, 64)]
    assert found == {(word, *pair) for word in ("favor", "trig") for pair in pairs}


@pytest.mark.parametrize("phi, d_k", [("favor~m~4096", 16), ("trig~m~2048", 32), ("favor~m~1024", 64)])
def test_a_wide_map_that_is_kept_is_what_is_computed(phi, d_k, monkeypatch):
    """In float32, whose sums depend on how the processor takes them apart: where signs nearly cancel, some differ."""
    asked = read_member(phi), d_k, 0, None, 1.0, 0
    now = bars(*asked, True)
    monkeypatch.setattr(sharpness_kept, "bars", lambda *_: pytest.fail("computed, not read"))
    assert holds(read_member(phi.partition("~")[0]), d_k)
    told = own_bars(*asked)
    assert told.keys() == now.keys() and told["signed"] == now["signed"]
    for name in now.keys() - {"kernel", "signed"}:
        assert np.shape(told[name]) == np.shape(now[name])
        assert np.mean(np.isclose(told[name], now[name], rtol=1e-3, atol=1e-4, equal_nan=True)) > 0.99, name
    kernel, now = told["kernel"], now["kernel"]
    assert kernel.keys() == now.keys()
    for (log, sign), (log_now, sign_now) in zip(_pairs_of(kernel), _pairs_of(now)):
        most = log_now.max(axis=-1, keepdims=True)
        assert np.mean(np.isclose(np.exp(log - most) * sign, np.exp(log_now - most) * sign_now, atol=1e-4)) > 0.99
        assert (sign.dtype, log.dtype) == (sign_now.dtype, log_now.dtype)


def _pairs_of(kernel):
    return [(kernel["log"], kernel["sign"]), kernel["low"], kernel["high"]]


@pytest.mark.parametrize(
    "seed, row, match, single", [(1, None, 1.0, 0), (0, 4, 1.0, 0), (0, None, 0.5, 0), (0, None, 1.0, 3)]
)
def test_of_a_wide_map_other_questions_are_computed(seed, row, match, single, monkeypatch):
    monkeypatch.setattr(sharpness_kept, "bars", lambda *asked: asked)
    phi = read_member("trig~m~4096")
    assert own_bars(phi, 16, seed, row, match, single) == (phi, 16, seed, row, match, single, True)


def test_the_page_draws_a_map_from_the_file_as_it_does_when_chosen():
    """Chosen, a map is computed; else it is read."""
    for word in ("favor", "trig"):
        read, made = (VIEWS["sharpness"].answer(Question(phi=phi, seed=12, d_k=8)) for phi in (SOFTMAX, word))
        np.testing.assert_allclose(
            read["sharpness.curves"][word], made["sharpness.curves"][word], rtol=1e-5, atol=1e-6, equal_nan=True
        )
        at = PHIS.index(word)
        for part in ("limit", "text"):
            ends = read["sharpness.ends"][part][at], made["sharpness.ends"][part][at]
            assert ends[0] == ends[1] if part == "text" else np.isclose(*ends, rtol=1e-5, equal_nan=True)


def test_a_map_that_has_changed_is_not_read_from_the_file(monkeypatch):
    phi = read_member("favor")
    assert holds.__wrapped__(phi, 16)
    whole = PositiveRandom.log_features
    monkeypatch.setattr(PositiveRandom, "log_features", lambda self, x: whole(self, 0.5 * x))
    bars.cache_clear()
    try:
        assert not holds.__wrapped__(phi, 16)
    finally:
        bars.cache_clear()


@pytest.mark.parametrize("way", WAYS)
def test_without_a_file_in_one_piece_weights_are_computed_and_the_log_says_so(way, monkeypatch, tmp_path, caplog):
    file = damaged(sharpness_kept, way, {"SEEDS": SEEDS - 1}, ("load", "holds"), monkeypatch, tmp_path)
    assert "weight" in curve(read_member("favor"), 16, 0, None, 1.0)
    assert "what FAVOR+ weighs at d_k = 16 is computed instead of read" in caplog.text and str(file) in caplog.text


def test_a_file_of_other_draws_is_refused(monkeypatch):
    monkeypatch.setattr(sharpness_kept, "SEEDS", SEEDS - 1)
    with pytest.raises(ValueError, match=r"^sharpness.npz was made for other stops or maps; run python"):
        load.__wrapped__()


def test_a_row_ends_with_the_limit():
    phi = MEMBERS[0]
    row, told = computed(phi, 16, 0), bars(phi, 16, 0, None, 1.0, 0)
    assert row[-1] == told["limit"] and np.array_equal(row[:-1], told["match"], equal_nan=True)
