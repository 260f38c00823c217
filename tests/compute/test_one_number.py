"""Features of one number and kernel values of one pair, against hand values and products written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sharpness_cases import every_member

from compute.feature_maps import FEATURE_MAPS, read_member
from compute.one_number import number_features, score_kernel
from compute.sharpness import match_kernel, match_weights

X = np.array([-2.0, -0.5, 0.0, 1.0, 3.0])


@pytest.mark.parametrize(
    "word, columns",
    [
        ("elu", [[*np.exp(X[:2]).tolist(), 1, 2, 4]]),
        ("relu", [[0, 0, 0, 1, 3]]),
        ("identity", [X]),
        ("silu", [X / (1 + np.exp(-X))]),
        ("taylor", [np.ones(5), X, X * X / math.sqrt(2)]),
        ("hedgehog", [np.exp(X), np.exp(-X)]),
        ("dpfp", [[0, 0, 0, 1, 3], [2, 0.5, 0, 0, 0]]),
    ],
)
def test_features_of_a_number_are_those_of_the_map(word, columns):
    np.testing.assert_allclose(number_features(FEATURE_MAPS[word](), X).T, columns, rtol=1e-14, atol=0)


def test_softmax_takes_all_powers_and_their_products_add_up_to_the_exponential():
    told = number_features(None, X, 30)
    np.testing.assert_allclose(told[:, 3], X**3 / math.sqrt(6), rtol=1e-14)
    np.testing.assert_allclose(told @ told.T, np.exp(np.outer(X, X)), rtol=1e-6)


@pytest.mark.parametrize("word, features", [("favor", 5), ("trig", 10)])
def test_a_random_map_is_drawn_with_as_many_directions_as_are_asked_for(word, features):
    assert number_features(FEATURE_MAPS[word](), X, 5).shape == (5, features)


def test_a_kernel_of_the_score_alone_is_the_same_for_every_pair_of_that_score():
    """Vectors turned by any rotation keep their score; of which maps the kernel stays is what the maps declare."""
    rng = np.random.default_rng(3)
    q, k = rng.standard_normal((2, 4))
    for word, kind in FEATURE_MAPS.items():
        phi, values = kind(), []
        for _ in range(4):
            turn, _ = np.linalg.qr(rng.standard_normal((4, 4)))
            values.append(float(phi(turn @ q) @ phi(turn @ k)))
        assert (np.ptp(values) < 1e-9) == kind.of_score, word
        if kind.of_score:
            assert score_kernel(phi, np.array([q @ k]))[0] == pytest.approx(values[0], rel=1e-12)


def test_kernels_at_scores_by_hand():
    np.testing.assert_allclose(score_kernel(read_member("taylor"), [-3, -1, 0, 5, 10]), [2.5, 0.5, 1, 18.5, 61])
    np.testing.assert_allclose(score_kernel(read_member("taylor~symmetric~true"), [-3, 5]), [2.5, 18.5])
    np.testing.assert_allclose(score_kernel(read_member("identity"), [-3, 5]), [-3, 5])
    np.testing.assert_allclose(score_kernel(None, [0, 1]), [1, math.e])


# Kernel values of the query of sharpness


@every_member
def test_weights_are_shares_of_the_kernel_values_and_these_are_products_of_features(phi):
    rng = np.random.default_rng(5)
    q, K, stops = abs(rng.standard_normal(4)), rng.standard_normal((6, 4)), np.array([0.25, 1.0, 3.0])
    weights, kernel = match_kernel(phi, q, K, stops, draws=2)
    value = kernel.sign * np.exp(kernel.log)
    np.testing.assert_allclose(value / value.sum(axis=-1, keepdims=True), weights.w, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(weights.w, match_weights(phi, q, K, stops, draws=2).w)
    Q, K = stops[:, None] * q / 4**0.25, K / 4**0.25
    if phi is None:
        expected = np.exp(Q @ K.T)
    elif phi.random:
        expected = np.stack([m(Q) @ m(K).T for m in (phi, phi.redraw(1))])
    else:
        expected = phi(Q) @ phi(K).T
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)


def test_a_kernel_value_that_no_float_holds_has_its_logarithm():
    q, K = np.full(16, 2.0), np.full((2, 16), 2.0)
    kernel = match_kernel(None, q, K, [100.0])[1]
    np.testing.assert_allclose(kernel.log, 1600.0, rtol=1e-12)
    lost = match_kernel(FEATURE_MAPS["relu"](), q, -K, [1.0])[1]
    assert np.isneginf(lost.log).all() and not lost.sign.any()
