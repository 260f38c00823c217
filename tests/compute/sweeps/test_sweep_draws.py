"""Draws in lots, which of them are kept, and how much room a piece of work has."""

from __future__ import annotations

import numpy as np
import pytest

from compute.sweeps import draws, workbench
from compute.sweeps.places import Place
from compute.sweeps.workbench import Bench


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(draws, "_kept", type(draws._kept)())


def lot(seed: int, n: int = 100) -> np.ndarray:
    return draws.numpy_lot("normal", (n,), seed, "float32", None)


def test_a_lot_that_is_asked_for_again_is_not_drawn_again():
    first = lot(1)
    assert lot(1) is first
    assert not np.array_equal(lot(2), first) and not np.array_equal(lot(1, 99), first[:99] + 1)
    fresh = np.random.default_rng(1).standard_normal(100, dtype=np.float32)
    assert np.array_equal(first, fresh)


def test_kinds_of_draws_are_not_taken_for_one_another():
    a, b = (draws.numpy_lot("gamma", (1000,), 1, "float32", of) for of in (2.0, 8.0))
    assert a.min() > 0 and np.mean(a) == pytest.approx(2, rel=0.1) and np.mean(b) == pytest.approx(8, rel=0.1)
    assert draws.numpy_lot("normal", (4,), 1, "float64", None).dtype == np.float64


def test_nobody_can_write_into_what_others_have():
    with pytest.raises(ValueError):
        lot(1)[0] = 0


def test_only_so_many_bytes_are_kept_and_the_oldest_go_first(monkeypatch):
    monkeypatch.setattr(draws, "KEPT", 3 * lot(0).nbytes)
    draws._kept.clear()
    first = lot(1)
    lot(2), lot(3)
    assert lot(1) is first
    lot(4)
    assert lot(1) is first and [key[2] for key in draws._kept] == [3, 4, 1]
    lot(5, 1000)
    assert 5 not in [key[2] for key in draws._kept]


def test_draws_of_torch_have_seeds_of_their_own():
    pytest.importorskip("torch")
    a, b, again = (draws.torch_lot("normal", (50,), seed, "float32", None, "cpu") for seed in (1, 2, 1))
    assert bool((a == again).all()) and not bool((a == b).all())
    assert float(draws.torch_lot("gamma", (1000,), 1, "float32", 8.0, "cpu").mean()) == pytest.approx(8, rel=0.1)


def test_a_card_gives_a_share_of_what_is_free_and_its_own_cache_counts_as_free(monkeypatch):
    torch = pytest.importorskip("torch")
    gib = 1 << 30
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (80 * gib, 141 * gib))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 50 * gib)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: 10 * gib)
    bench = Bench(Place("cuda", "torch"))
    assert bench.room() == workbench.SHARE * 120 * gib
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (0, 141 * gib))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 10 * gib)
    assert bench.room() == workbench.ROOM["cuda"]
    assert Bench().room() == workbench.ROOM["cpu"]
