"""Exact errors of random features, against quadrature and special functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special

from compute.feature_error import (
    block_gain,
    kernel_value,
    orthogonal_variance,
    positive_variance,
    trigonometric_variance,
    usual_square,
)
from compute.feature_maps import orthogonal_directions, softmax_kernel_estimate

LENGTHS = [0.1, 0.85, 1.5, 8**0.5]


def gaussian_mean(f):
    return integrate.quad(lambda w: f(w) * np.exp(-w * w / 2) / (2 * np.pi) ** 0.5, -30, 30, limit=400)[0]


@pytest.mark.parametrize("length", LENGTHS)
def test_positive_variance_against_quadrature(length):
    second = gaussian_mean(lambda w: np.exp(2 * (length * w - length**2 / 2)))
    assert positive_variance(length, 7) == pytest.approx((second - 1) / 7, rel=1e-7)


@pytest.mark.parametrize("length", LENGTHS)
def test_trigonometric_variance_against_quadrature(length):
    second = gaussian_mean(lambda w: (np.cos(length * w) * np.exp(length**2 / 2)) ** 2)
    assert trigonometric_variance(length, 7) == pytest.approx((second - 1) / 7, rel=1e-6)


def test_trigonometric_error_grows_without_bound_as_the_kernel_falls_and_positive_error_goes_to_zero():
    """At fixed ‖q+k‖ a small kernel value means a long q − k; printed formulas as an outside check."""
    p, z = 1.5, np.array([0.5, 2.0, 4.0, 6.0])
    kappa = kernel_value(p, z)
    trigonometric = trigonometric_variance(z) * kappa**2
    positive = positive_variance(p) * kappa**2
    np.testing.assert_allclose(trigonometric, np.exp(p * p) * (1 - np.exp(-z * z)) ** 2 / (2 * kappa**2), rtol=1e-10)
    np.testing.assert_allclose(positive, np.exp(p * p) * (1 - np.exp(-p * p)) * kappa**2, rtol=1e-12)
    assert np.all(np.diff(kappa) < 0) and np.all(np.diff(trigonometric) > 0) and np.all(np.diff(positive) < 0)
    assert positive[-1] < 1e-6 < 1e6 < trigonometric[-1]


def test_the_kernel_value_follows_from_the_two_lengths():
    q, k = np.random.default_rng(0).standard_normal((2, 5))
    assert kernel_value(np.linalg.norm(q + k), np.linalg.norm(q - k)) == pytest.approx(np.exp(q @ k))


@pytest.mark.parametrize("d_k, exponent, variance", [(16, 8.0, 2980), (128, 22.63, 6.7e9)])
def test_the_price_at_the_usual_lengths(d_k, exponent, variance):
    assert usual_square(d_k) == pytest.approx(exponent, abs=5e-3)
    assert positive_variance(usual_square(d_k) ** 0.5) == pytest.approx(variance, rel=0.01)


def test_the_usual_square_is_what_standard_normal_vectors_have():
    """Mean exponent of 16 queries against 32 keys at d_k = 16: 8 on average, and 7.4 is an ordinary draw."""
    rng = np.random.default_rng(1)
    q, k = rng.standard_normal((400, 16, 1, 16)), rng.standard_normal((400, 1, 32, 16))
    exponents = np.sum((q + k) ** 2, axis=-1).mean(axis=(1, 2)) / 16**0.5
    assert exponents.mean() == pytest.approx(usual_square(16), abs=0.1)
    assert np.quantile(exponents, 0.01) < 7.4 < exponents.mean()


@pytest.mark.parametrize("d_k", [1, 2, 3, 16, 64])
@pytest.mark.parametrize("length", [0.0, 0.3, 0.85, 2.0, 5.0])
def test_the_gain_of_a_block_is_a_confluent_hypergeometric_function(length, d_k):
    expected = 1 - np.exp(-(length**2)) * special.hyp1f1(d_k, d_k / 2, length**2 / 2)
    assert block_gain(length, d_k) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_the_gain_takes_whole_arrays_of_lengths_and_stays_below_one():
    lengths = np.linspace(0, 12, 49)
    gains = block_gain(lengths, 16)
    assert gains.shape == (49,)
    np.testing.assert_allclose(gains[7], block_gain(lengths[7], 16), rtol=1e-12)
    assert gains[0] == 0 and np.all(np.diff(gains) > -1e-12) and gains[-1] <= 1


@pytest.mark.parametrize("m, d_k", [(4, 4), (12, 16), (16, 16)])
def test_orthogonal_variance_against_full_frames(m, d_k):
    rng = np.random.default_rng(2)
    half = rng.standard_normal(d_k)
    half *= 0.425 / np.linalg.norm(half)
    true = np.exp(half @ half)
    ratios = [softmax_kernel_estimate(half, half, orthogonal_directions(m, d_k, rng)) / true for _ in range(12_000)]
    assert np.var(ratios) == pytest.approx(orthogonal_variance(0.85, m, d_k), rel=0.06)
    assert np.var(ratios) < 0.97 * positive_variance(0.85, m)


def test_orthogonality_helps_most_near_length_one_and_hardly_at_the_usual_length():
    gain = [1 - orthogonal_variance(p, 16, 16) / positive_variance(p, 16) for p in (0.3, 0.85, 1.2, 2.0, 8**0.5)]
    assert gain == pytest.approx([0.036, 0.190, 0.230, 0.078, 0.0033], abs=1e-3)


def test_without_a_second_direction_in_the_block_there_is_nothing_to_gain():
    assert orthogonal_variance(1.3, 5, 1) == pytest.approx(positive_variance(1.3, 5))
    assert orthogonal_variance(1.3, 1, 9) == pytest.approx(positive_variance(1.3, 1))
