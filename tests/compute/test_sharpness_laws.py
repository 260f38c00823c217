"""What the length of a query does to weights, and norms at which an exponential overflows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sharpness_cases import MEMBERS, POSITIVE, STOPS, every_positive, vectors

from compute.feature_maps import FEATURE_MAPS
from compute.sharpness import (
    limit_weights,
    match_weights,
    summary,
    weights,
)
from compute.toys import queries_and_keys

# Stability


@every_positive
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("grow_q, grow_k", [(60, 1), (1, 60), (60, 60)])
def test_no_positive_row_is_lost_at_norms_where_the_exponential_overflows(phi, dtype, grow_q, grow_k):
    Q, K = (grow_q * vectors()[0]).astype(dtype), (grow_k * vectors()[1]).astype(dtype)
    w, cancellation = weights(phi, Q, K)
    assert np.all(np.isfinite(w)) and np.all(w >= 0)
    np.testing.assert_allclose(w.sum(axis=-1), 1, rtol=1e-5)
    np.testing.assert_allclose(cancellation, 1, rtol=1e-5)


def test_long_queries_and_keys_keep_every_digit_of_their_weights():
    """Against sums of exponentials taken term by term in the log domain; a product of features is 0/0 here."""
    rng = np.random.default_rng(2)
    Q, K = 16 * rng.standard_normal((5, 16)), 8 * rng.standard_normal((7, 16))
    phi = FEATURE_MAPS["favor"](m=64)
    Omega = phi.directions_for(Q)
    log_kernel = special.logsumexp((Q @ Omega.T)[:, None] + (K @ Omega.T - np.sum(K * K, 1)[:, None] / 2), axis=-1)
    assert np.all(phi.kernel(Q, K) == 0)
    np.testing.assert_allclose(weights(phi, Q, K).w, special.softmax(log_kernel, axis=-1), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_stay_weights_along_the_whole_reel(dtype):
    K = queries_and_keys(16, 0)[1][:32].astype(dtype)
    for name in POSITIVE:
        phi = MEMBERS[name]
        if phi is None or phi.word != "hedgehog" or phi.W is None:
            w = match_weights(phi, K[0], K, STOPS).w
            assert w.dtype == dtype and np.all(np.isfinite(w)) and np.all(w >= 0), name
            np.testing.assert_allclose(w.sum(axis=-1), 1, rtol=2e-5)


def test_trigonometric_weights_survive_where_their_features_overflow():
    rng = np.random.default_rng(4)
    Q, K = rng.standard_normal((3, 16)), rng.standard_normal((5, 16))
    for grow_q, grow_k in ((40, 1), (1, 40), (40, 40)):
        w = weights(FEATURE_MAPS["trig"](m=4096), grow_q * Q, grow_k * K).w
        assert np.all(np.isfinite(w))
        np.testing.assert_allclose(w.sum(axis=-1), 1, rtol=1e-6)


# Laws of sharpness


def test_softmax_turns_a_gap_into_an_exponential_ratio():
    q, K = np.array([1.0]), np.array([[0.0], [0.7]])
    w = match_weights(None, q, K, [1.0, 2.0, 5.0]).w
    np.testing.assert_allclose(w[:, 1] / w[:, 0], np.exp(0.7 * np.array([1, 2, 5])), rtol=1e-12)


@pytest.mark.parametrize("word", [word for word, Map in FEATURE_MAPS.items() if Map.homogeneity is not None])
def test_homogeneous_maps_do_not_react_to_the_length_of_a_query(word):
    Q, K = queries_and_keys(16, 1)
    w = match_weights(FEATURE_MAPS[word](), Q[0], K[:32], STOPS).w
    np.testing.assert_allclose(w, np.broadcast_to(w[:1], w.shape), rtol=1e-9)


def test_no_other_map_stands_still():
    Q, K = queries_and_keys(16, 1)
    for word in ("elu", "silu", "favor", "trig", "taylor", "hedgehog"):
        w = match_weights(FEATURE_MAPS[word](), Q[0], K[:32], [0.5, 2.0]).w
        assert np.max(np.abs(w[..., 1, :] - w[..., 0, :])) > 1e-4, word


def test_elu_plus_one_ends_close_to_uniform_and_taylor_far_below_softmax():
    K = queries_and_keys(16, 0)[1][:32]
    end = {word: limit_weights(FEATURE_MAPS[word](), K[0], K) for word in ("elu", "taylor")}
    one_hot = limit_weights(None, K[0], K)
    assert summary(end["elu"]).entropy > 0.95 * np.log(32)
    assert one_hot[0] == 1 > end["taylor"][0] > end["elu"][0] > 1 / 32
    assert 0.2 < end["taylor"][0] < 0.7


def test_taylor_rises_and_levels_off():
    K = queries_and_keys(16, 0)[1][:32]
    top = match_weights(FEATURE_MAPS["taylor"](), K[0], K, STOPS).w[:, 0]
    softmax = match_weights(None, K[0], K, STOPS).w[:, 0]
    assert np.all(np.diff(top) > -1e-3) and top[-1] - top[-10] < 0.01
    assert softmax[-1] > 0.999 and top[-1] < 0.7


def test_taylor_ratios_are_polynomial_where_softmax_ratios_are_exponential():
    q, K = np.array([1.0]), np.array([[1.0], [2.0]])
    w = match_weights(FEATURE_MAPS["taylor"](), q, K, [1.0, 10.0, 1000.0]).w
    np.testing.assert_allclose(w[:, 1] / w[:, 0], [5 / 2.5, 221 / 61, 2002001 / 501001], rtol=1e-12)


def test_taylor_is_not_monotone_and_softmax_is():
    q, K = np.array([1.0]), np.array([[-3.0], [0.0]])
    assert weights(FEATURE_MAPS["taylor"](), q[None], K).w.tolist() == [
        [pytest.approx(2.5 / 3.5), pytest.approx(1 / 3.5)]
    ]
    assert np.diff(weights(None, q[None], K).w) > 0
