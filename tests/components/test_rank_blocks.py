"""Ranks of blocks that are kept are those that are counted, of the maps as they are now."""

from __future__ import annotations

import numpy as np
import pytest
from damaged import WAYS, damaged

from components import rank_blocks
from components.rank_blocks import FILE, block_ranks, counted, holds, kept
from components.rank_kept import DEFAULTS, MEMBERS
from components.rank_values import STOPS, TOLERANCES
from components.words import PHIS, SEEDS, SOFTMAX, WIDTHS
from compute.feature_maps import EluPlusOne, read_member
from compute.rank import PRECISIONS

ROUNDOFF = {"float64": 1e-11, "float32": 3e-5}
"""Tolerances below which another processor may count others."""


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("d_k, seed", [(4, 31), (16, 0), (64, SEEDS - 1)])
def test_what_is_kept_is_what_is_counted(d_k, seed, precision):
    """Exactly, but for a value that lies on a tolerance to the last bits."""
    clear = ROUNDOFF[precision] < TOLERANCES
    of = DEFAULTS if precision == "float32" else MEMBERS
    for phi, word in of.items():
        told, now = block_ranks(phi, d_k, seed, precision), counted(phi, d_k, seed, precision)
        assert told.shape == now.shape == (len(STOPS), len(TOLERANCES)) and told.dtype == now.dtype
        apart = np.abs(told - now)[:, clear]
        assert apart.max() <= 1 and apart.mean() < 0.01, word


def test_what_a_page_offers_is_read_and_another_map_is_counted(monkeypatch):
    """0.4 MB are of the maps at their defaults, 0.2 MB with a knob turned."""
    assert all(holds(word, d_k) for word in MEMBERS.values() for d_k in WIDTHS) and FILE.stat().st_size < 700_000
    monkeypatch.setattr(rank_blocks, "counted", lambda *asked: asked)
    for precision in PRECISIONS:
        assert block_ranks(None, 16, 7, precision).max() <= STOPS[-1] // 2
        for asked in (
            (read_member("favor~m~128"), 16, 7),
            (None, 16, SEEDS),
            (None, 12, 7),
            (read_member("elu"), 16, -1),
        ):
            assert block_ranks(*asked, precision) == (*asked, precision)
    turned = read_member("dpfp~nu~1"), 16, 7
    assert block_ranks(*turned, "float64").shape == (len(STOPS), len(TOLERANCES))
    assert block_ranks(*turned, "float32") == (*turned, "float32")


def test_a_map_that_has_changed_is_not_read_from_the_file(monkeypatch):
    assert holds.__wrapped__("elu", 16)
    monkeypatch.setattr(EluPlusOne, "features", lambda self, x: np.maximum(x, 0))
    assert not holds.__wrapped__("elu", 16)


@pytest.mark.parametrize("way", WAYS)
def test_without_a_file_in_one_piece_blocks_are_counted_and_the_log_says_so(way, monkeypatch, tmp_path, caplog):
    file = damaged(rank_blocks, way, {"SEEDS": SEEDS - 1}, ("kept", "holds"), monkeypatch, tmp_path)
    np.testing.assert_array_equal(block_ranks(None, 16, 1, "float64"), counted(None, 16, 1, "float64"))
    assert "blocks at d_k = 16 is computed instead of read" in caplog.text and str(file) in caplog.text


def test_a_file_of_other_stops_is_refused(monkeypatch):
    monkeypatch.setattr(rank_blocks, "STOPS", (16, 32))
    with pytest.raises(
        ValueError, match=r"^blocks.npz was made for other stops or maps; run python -m components.rank_bl"
    ):
        kept.__wrapped__(f"float64.{WIDTHS[0]}")


def test_blocks_of_softmax_have_as_many_rows_as_half_the_tokens_at_most():
    told = kept(f"float64.{WIDTHS[2]}")[:, PHIS.index(SOFTMAX)]
    assert np.all(told <= np.array(STOPS)[:, None] // 2) and np.all(np.diff(told.astype(int), axis=-1) >= 0)
