"""Rank correlation against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from compute.ordering import rank_correlation

rng = np.random.default_rng(2)


@pytest.mark.parametrize("n", [2, 3, 32])
def test_it_is_scipys_also_where_values_are_tied(n):
    for _ in range(20):
        a, b = rng.integers(0, 6, n).astype(float), rng.standard_normal(n)
        if np.ptp(a):
            assert rank_correlation(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)


def test_a_stack_is_read_row_by_row():
    a, b = rng.standard_normal((4, 9)), rng.standard_normal(9)
    np.testing.assert_allclose(rank_correlation(a, b), [stats.spearmanr(row, b).statistic for row in a])


def test_only_the_order_counts():
    b = rng.standard_normal(9)
    assert rank_correlation(np.exp(b), b) == pytest.approx(1)
    assert rank_correlation(-(b**3), b) == pytest.approx(-1)


def test_undefined_weights_have_no_order():
    b = rng.standard_normal(4)
    assert np.isnan(rank_correlation(np.ones(4), b)) and np.isnan(rank_correlation(np.full(4, np.nan), b))


def test_rows_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"^b must be as long as a"):
        rank_correlation(np.ones(3), np.ones(4))


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    a, b = rng.standard_normal((2, 9)), rng.standard_normal(9)
    np.testing.assert_allclose(rank_correlation(torch.from_numpy(a), torch.from_numpy(b)), rank_correlation(a, b))
