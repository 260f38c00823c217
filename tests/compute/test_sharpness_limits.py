"""Where weights end as a query grows, checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sharpness_cases import every_member, every_positive

from compute.feature_maps import FEATURE_MAPS
from compute.sharpness import (
    limit_weights,
    match_weights,
)


@every_member
@pytest.mark.parametrize("seed", range(3))
def test_the_limit_is_where_very_long_queries_end(phi, seed):
    rng = np.random.default_rng(seed)
    q, K = rng.standard_normal(4), rng.standard_normal((9, 4))
    end = limit_weights(phi, q, K, draws=3)
    assert end.shape == ((3, 9) if phi is not None and phi.random else (9,))
    if phi is not None and phi.word == "trig":
        assert np.all(np.isnan(end))
        return
    far = match_weights(phi, q, K, [1e7], draws=3).w[..., 0, :]
    np.testing.assert_allclose(end, far, rtol=1e-4, atol=1e-5)
    near = match_weights(phi, q, K, [0.3], draws=3).w[..., 0, :]
    assert (phi is not None and phi.homogeneity is not None) or np.max(np.abs(near - end)) > 1e-3


@pytest.mark.parametrize("q", ([0.3, -2.0, 0.1], [0.0, 0.0, 0.0]), ids=("one leads", "all lead"))
def test_the_limit_of_one_query_alone_is_its_limit_beside_another(q):
    """Of one query alone only the leading features are made, of several all."""
    phi, K = FEATURE_MAPS["favor"](m=50), np.random.default_rng(4).standard_normal((9, 3))
    alone, beside = phi.limit_rows(np.array([q]), K)[0], phi.limit_rows(np.array([q, [1.0, 1.0, 1.0]]), K)[0]
    np.testing.assert_allclose(alone / alone.sum(), beside / beside.sum(), rtol=1e-12)


def test_the_limit_of_elu_plus_one_by_hand():
    """relu(q) = (2, 0, 1) on φ(k) = (2, 1, 1) and (1, 3, e⁻¹), keys untempered by 3^(1/4)."""
    K = 3**0.25 * np.array([[1.0, 0.0, 0.0], [0.0, 2.0, -1.0]])
    expected = np.array([5.0, 2 + np.exp(-1)])
    np.testing.assert_allclose(limit_weights(FEATURE_MAPS["elu"](), [2.0, -5.0, 1.0], K), expected / expected.sum())


@pytest.mark.parametrize("word", ["elu", "silu"])
@pytest.mark.parametrize("q", [[-1.0, -0.5, -2.0], [-0.5, -0.5, -2.0], [0.0, -1.0, -2.0]])
def test_a_query_without_positive_entries_ends_at_its_largest(word, q):
    K = np.random.default_rng(3).standard_normal((5, 3))
    far = match_weights(FEATURE_MAPS[word](), q, K, [60.0])
    np.testing.assert_allclose(limit_weights(FEATURE_MAPS[word](), q, K), far.w[0], rtol=1e-8)


def test_the_limit_of_taylor_is_the_squared_score():
    q, K = np.array([1.0, -2.0]), np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    np.testing.assert_allclose(limit_weights(FEATURE_MAPS["taylor"](), q, K), np.array([1, 4, 1]) / 6)


def test_the_limit_of_softmax_is_one_hot_and_ties_share():
    assert limit_weights(None, [1.0, 0.0], [[1.0, 5.0], [2.0, 0.0], [2.0, 7.0]]).tolist() == [0, 0.5, 0.5]


@every_positive
def test_a_query_of_zeros_never_moves(phi):
    K = np.random.default_rng(5).standard_normal((6, 4))
    end, here = limit_weights(phi, np.zeros(4), K), match_weights(phi, np.zeros(4), K, [2.0]).w[..., 0, :]
    np.testing.assert_allclose(end, here, rtol=1e-9)


def test_a_query_of_zeros_has_no_features_under_signed_or_nonnegative_maps():
    for word in ("identity", "relu", "silu", "dpfp"):
        assert np.all(np.isnan(limit_weights(FEATURE_MAPS[word](), np.zeros(4), np.ones((3, 4))))), word


def test_the_limit_of_a_plain_function_is_not_known():
    with pytest.raises(ValueError, match=r"^phi must be a FeatureMap or None"):
        limit_weights(np.abs, [1.0], [[1.0]])
