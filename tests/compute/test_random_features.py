"""Random features on their own: unbiased, uniform in direction, and right where a plain product is not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from compute import random_features
from compute.feature_maps import (
    FEATURE_MAPS,
    orthogonal_directions,
    positive_random_features,
    softmax_kernel_estimate,
    trigonometric_kernel_estimate,
)
from compute.random_features import mean_wave, waves

DIRECTIONS = {
    "independent": lambda m, d_k, rng: rng.standard_normal((m, d_k)),
    "orthogonal": orthogonal_directions,
}
both_kinds = pytest.mark.parametrize("draw", DIRECTIONS.values(), ids=DIRECTIONS)


def z_score(samples: np.ndarray, mean: float) -> float:
    return float((np.mean(samples) - mean) / stats.sem(samples, axis=None))


# Directions


def test_a_draw_is_the_same_however_many_blocks_are_made_at_once(monkeypatch):
    told = []
    for together in (1, 40, 1 << 20):  # one block of 16 numbers, two, all
        monkeypatch.setattr(random_features, "TOGETHER", together)
        told.append(orthogonal_directions(11, 4, np.random.default_rng(6)))
    np.testing.assert_array_equal(told[0], told[2])
    np.testing.assert_array_equal(told[1], told[2])
    assert told[0].shape == (11, 4) and np.all(np.linalg.norm(told[0], axis=1) > 0)


def test_orthogonal_directions_are_orthogonal_within_blocks_only():
    Omega = orthogonal_directions(11, 4, np.random.default_rng(0))
    gram = Omega @ Omega.T
    same_block = np.equal.outer(np.arange(11) // 4, np.arange(11) // 4)
    assert Omega.shape == (11, 4) and Omega.dtype == np.float64
    np.testing.assert_allclose(gram[same_block & ~np.eye(11, dtype=bool)], 0, atol=1e-12)
    assert np.min(np.abs(gram[~same_block])) > 1e-4


@pytest.mark.parametrize("d_k", [1, 3, 16])
def test_lengths_of_orthogonal_directions_are_chi(d_k):
    Omega = orthogonal_directions(3000, d_k, np.random.default_rng(1))
    assert stats.kstest(np.linalg.norm(Omega, axis=1), stats.chi(d_k).cdf).pvalue > 0.01


def test_lengths_within_a_block_are_independent():
    lengths = np.linalg.norm(orthogonal_directions(8000, 2, np.random.default_rng(2)), axis=1).reshape(-1, 2)
    assert stats.pearsonr(*lengths.T).pvalue > 0.01


@pytest.mark.parametrize("row", [0, 1, 3])
@pytest.mark.parametrize("entry", [0, 3])
def test_every_entry_of_every_row_is_standard_normal(row, entry):
    """A raw QR factor is not uniform: its first column never starts with a positive entry."""
    Omega = orthogonal_directions(4 * 3000, 4, np.random.default_rng(3)).reshape(-1, 4, 4)
    assert stats.kstest(Omega[:, row, entry], stats.norm.cdf).pvalue > 0.01


def test_frames_have_the_moments_of_a_haar_frame():
    """Mixed moments that mere uniformity of each row does not fix, against scipy's Haar sampler."""
    blocks = orthogonal_directions(3 * 6000, 3, np.random.default_rng(4)).reshape(-1, 3, 3)
    frames = blocks / np.linalg.norm(blocks, axis=-1, keepdims=True)
    haar = stats.ortho_group.rvs(3, size=6000, random_state=5)
    for moment in (
        lambda F: F[:, 0, 0] * F[:, 1, 1],
        lambda F: F[:, 0, 0] ** 2 * F[:, 1, 1] ** 2,
        lambda F: F[:, 0, 0] * F[:, 1, 1] * F[:, 0, 1] * F[:, 1, 0],
        np.linalg.det,
    ):
        ours, theirs = moment(frames), moment(haar)
        spread = np.sqrt(np.var(ours) / len(ours) + np.var(theirs) / len(theirs))
        assert abs(np.mean(ours) - np.mean(theirs)) < 3.5 * spread


@pytest.mark.parametrize("d_k", [4, 8, 16])
def test_orthogonal_estimates_are_not_biased_along_the_diagonal(d_k):
    """A raw QR factor is 15 to 19 % low for a unit q + k along (1, …, 1)."""
    half = np.full(d_k, 0.5 / d_k**0.5)
    rng = np.random.default_rng(6)
    estimates = np.array(
        [softmax_kernel_estimate(half, half, orthogonal_directions(d_k, d_k, rng)) for _ in range(4000)]
    )
    assert abs(z_score(estimates, np.exp(0.25))) < 3.5
    assert np.mean(estimates) == pytest.approx(np.exp(0.25), rel=0.04)


def test_orthogonal_directions_refuse_what_they_cannot_use():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"^d_phi must be at least 1"):
        orthogonal_directions(0, 4, rng)
    with pytest.raises(ValueError, match=r"^d_k must be a whole number"):
        orthogonal_directions(4, 4.0, rng)
    with pytest.raises(ValueError, match=r"^rng must be a Generator"):
        orthogonal_directions(4, 4, 0)


# Features


def test_one_feature_by_hand():
    """ω = (1, 0), x = (2, 1): exp(2 − 5/2) with one direction, over √2 with two."""
    assert positive_random_features([[2, 1]], [[1, 0]]).item() == pytest.approx(np.exp(-0.5))
    np.testing.assert_allclose(
        positive_random_features([[2, 1]], [[1, 0], [0, 3]]), [[np.exp(-0.5) / 2**0.5, np.exp(0.5) / 2**0.5]]
    )


def test_the_mean_of_one_exponential_is_1_65_at_one():
    terms = positive_random_features(np.ones((1, 1)), np.random.default_rng(0).standard_normal((400_000, 1)))
    terms = terms.ravel() * 400_000**0.5
    assert abs(z_score(terms, 1.0)) < 3.5
    assert np.mean(terms) * np.exp(0.5) == pytest.approx(1.65, abs=0.01)


@both_kinds
def test_positive_features_average_to_the_softmax_kernel(draw):
    rng = np.random.default_rng(7)
    q, k = rng.standard_normal((2, 6)) / 2
    estimates = np.array([softmax_kernel_estimate(q, k, draw(12, 6, rng)) for _ in range(4000)])
    assert abs(z_score(estimates, np.exp(q @ k))) < 3.5
    assert np.all(estimates > 0)


def test_trigonometric_features_average_to_it_too_but_can_be_negative():
    rng = np.random.default_rng(8)
    q, k = np.array([[1.0, 0.5, 0.0]]), np.array([[-0.5, 0.0, 1.0]])
    estimates = np.array([FEATURE_MAPS["trig"](m=4, seed=s).kernel(q, k).item() for s in range(6000)])
    assert abs(z_score(estimates, np.exp((q @ k.T).item()))) < 3.5
    assert np.mean(estimates < 0) > 0.02
    assert FEATURE_MAPS["trig"](m=4)(rng.standard_normal((5, 3))).shape == (5, 8)


def test_the_trigonometric_estimate_is_the_members_kernel_and_unbiased():
    q, k = np.array([1.0, 0.5, 0.0]), np.array([-0.5, 0.0, 1.0])
    phi = FEATURE_MAPS["trig"](m=7, seed=3)
    Omega = np.random.default_rng(3).standard_normal((7, 3))
    estimate = trigonometric_kernel_estimate(q, k, Omega)
    assert estimate == pytest.approx(phi.kernel(q[None], k[None]).item(), rel=1e-12)
    rng = np.random.default_rng(13)
    many = np.array([trigonometric_kernel_estimate(q, k, rng.standard_normal((4, 3))) for _ in range(4000)])
    assert abs(z_score(many, np.exp(q @ k))) < 3.5 and np.any(many < 0)
    with pytest.raises(ValueError, match=r"^Omega must have shape"):
        trigonometric_kernel_estimate(q, k, Omega[:, :2])


def test_the_temperature_goes_half_to_each_side():
    rng = np.random.default_rng(9)
    q, k = rng.standard_normal((2, 16)) / 2
    temper = 16**-0.25
    wide = np.array(
        [softmax_kernel_estimate(temper * q, temper * k, rng.standard_normal((256, 16))) for _ in range(400)]
    )
    assert abs(z_score(wide, np.exp(q @ k / 4))) < 3.5
    assert abs(z_score(wide, np.exp(q @ k))) > 10


def test_the_estimate_is_the_product_of_the_features():
    rng = np.random.default_rng(10)
    q, k, Omega = rng.standard_normal(5), rng.standard_normal(5), rng.standard_normal((64, 5))
    phi_q, phi_k = positive_random_features(np.stack([q, k]), Omega)
    assert softmax_kernel_estimate(q, k, Omega) == pytest.approx(phi_q @ phi_k, rel=1e-12)


def test_the_estimate_outlives_the_product_of_vanished_features():
    Omega = np.random.default_rng(11).standard_normal((64, 4))
    q = np.full(4, 25.0)
    assert np.all(positive_random_features(q, Omega) == 0), "the features underflow"
    assert softmax_kernel_estimate(q, -q, Omega) == 0, "and so does the true e^(−2500)"
    rng = np.random.default_rng(12)
    far = np.full(2, 27.5)  # features near e^(−750), their kernel e^0 of a mean that is one
    estimate = softmax_kernel_estimate(far, 0 * far, rng.standard_normal((64, 2)))
    assert 0 <= estimate < 1


def test_the_member_is_the_function_on_its_own_directions():
    X = np.random.default_rng(12).standard_normal((3, 5, 4))
    phi = FEATURE_MAPS["favor"](m=10, seed=21)
    np.testing.assert_array_equal(phi(X), positive_random_features(X, phi.directions_for(X)))
    np.testing.assert_array_equal(phi.directions_for(X), orthogonal_directions(10, 4, np.random.default_rng(21)))


def test_torch_input_meets_numpy_directions():
    rng = np.random.default_rng(13)
    X, Omega = rng.standard_normal((3, 4)), rng.standard_normal((8, 4))
    ours = positive_random_features(X, Omega)
    for directions in (Omega, torch.tensor(Omega)):
        theirs = positive_random_features(torch.tensor(X), directions)
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-12)
    estimate = softmax_kernel_estimate(torch.tensor(X[0]), torch.tensor(X[1]), Omega)
    assert estimate.item() == pytest.approx(softmax_kernel_estimate(X[0], X[1], Omega), rel=1e-12)
    assert positive_random_features(torch.tensor(X).float(), Omega).dtype == torch.float32
    assert positive_random_features(X.astype(np.float32), Omega).dtype == np.float32


def test_gradients_flow_through_features_and_directions():
    X = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    Omega = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(positive_random_features, (X, Omega))


def test_bad_inputs_are_refused_by_name():
    X, Omega = np.ones((3, 4)), np.ones((8, 4))
    with pytest.raises(ValueError, match=r"^X must be finite"):
        positive_random_features(np.array([[np.nan, 1.0]]), Omega)
    with pytest.raises(ValueError, match=r"^Omega must have shape \(d_phi, 4\)"):
        positive_random_features(X, np.ones((8, 3)))
    with pytest.raises(ValueError, match=r"^Omega must have at least 2 axes"):
        positive_random_features(X, np.ones(4))
    with pytest.raises(ValueError, match=r"^k must be finite"):
        softmax_kernel_estimate(np.ones(2), np.array([np.inf, 1.0]), np.ones((8, 2)))


def test_waves_are_cosines_and_sines_to_roundoff_also_where_the_tangent_of_half_the_angle_has_its_poles():
    turns = np.pi * np.arange(-40, 41) / 4
    angles = np.concatenate([turns, np.nextafter(turns, 99), [0.0, 1e-300, 1e5], np.linspace(-30, 30, 10_001)])
    told = waves(angles[:, None], np.ones((1, 1)))
    np.testing.assert_allclose(told, np.stack([np.cos(angles), np.sin(angles)], axis=-1), rtol=0, atol=1e-15)


@pytest.mark.parametrize("piece", (1, 70, 1_000_000), ids=("one direction", "unequal pieces", "all at once"))
def test_a_kernel_of_waves_is_their_product_however_many_directions_are_taken_at_once(piece, monkeypatch):
    Q, K, Omega = (np.random.default_rng(14).standard_normal(shape) for shape in ((2, 4, 3), (2, 5, 3), (11, 3)))
    want = waves(Q, Omega) @ waves(K, Omega).swapaxes(-1, -2)
    monkeypatch.setattr(random_features, "PIECE", piece)
    np.testing.assert_allclose(mean_wave(Q, K, Omega), want, atol=1e-15)
    np.testing.assert_allclose(mean_wave(*map(torch.tensor, (Q, K, Omega))).numpy(), want, atol=1e-15)
    assert mean_wave(*(x.astype(np.float32) for x in (Q, K, Omega))).dtype == np.float32
