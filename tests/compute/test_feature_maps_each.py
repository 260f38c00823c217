"""Each feature map on its own: by hand, and against outsiders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar

from compute.feature_maps import FEATURE_MAPS, taylor_features

# Outsiders


@pytest.mark.parametrize(
    "word, theirs", [("elu", lambda x: F.elu(x) + 1), ("relu", F.relu), ("silu", F.silu)], ids=["elu", "relu", "silu"]
)
def test_pointwise_maps_agree_with_torch(word, theirs):
    x = torch.linspace(-30, 30, 1001, dtype=torch.float64)
    torch.testing.assert_close(FEATURE_MAPS[word]()(x), theirs(x), rtol=1e-12, atol=1e-15)


def test_elu_plus_one_sends_counting_numbers_to_counting_numbers():
    assert FEATURE_MAPS["elu"]()(np.arange(5)).tolist() == [1, 2, 3, 4, 5]


def test_silu_reaches_down_to_minus_0_278():
    low = minimize_scalar(lambda x: float(FEATURE_MAPS["silu"]()(np.array([x]))[0]), bounds=(-3, 0))
    assert low.fun == pytest.approx(-0.278, abs=5e-4)


def test_relu_has_no_gradient_below_zero_and_elu_plus_one_has():
    for word, alive in (("relu", False), ("elu", True)):
        x = torch.tensor([-2.0, -0.5], requires_grad=True)
        FEATURE_MAPS[word]()(x).sum().backward()
        assert bool((x.grad != 0).all()) is alive


# Taylor by hand


def test_taylor_features_stand_in_the_order_constant_linear_square():
    got = taylor_features([[1, 2], [3, 1]]) * np.array([1, 1, 1, *4 * [2**0.5]])
    np.testing.assert_allclose(got, [[1, 1, 2, 1, 2, 2, 4], [1, 3, 1, 9, 3, 3, 1]], rtol=1e-15)


def test_the_square_of_a_score_is_a_product_of_outer_products():
    q, k = taylor_features([[1, 2], [3, 1]])
    assert 2 * q[3:] @ k[3:] == pytest.approx(25)
    merged = FEATURE_MAPS["taylor"](symmetric=True)([[1, 2], [3, 1]])[:, 3:] * 2**0.5
    np.testing.assert_allclose(merged, [[1, 4, 2 * 2**0.5], [9, 1, 3 * 2**0.5]])
    assert merged[0] @ merged[1] == pytest.approx(25)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("score, kernel", [(0, 1), (-1, 0.5), (-3, 2.5), (1, 2.5), (2, 5), (10, 61)])
def test_the_taylor_kernel_by_hand(score, kernel, symmetric):
    phi = FEATURE_MAPS["taylor"](symmetric=symmetric)
    q, k = np.array([[1.0, 1.0]]), np.array([[score - 2.0, 2.0]])
    assert phi.kernel(q, k).item() == pytest.approx(kernel)
    assert (phi(q) @ phi(k).T).item() == pytest.approx(kernel)


def test_the_taylor_kernel_misses_the_exponential_by_a_sixth_of_the_cube():
    s = np.array([[1e-2], [-1e-2]])
    missed = np.exp(s) - FEATURE_MAPS["taylor"]().kernel(s, np.ones((1, 1)))
    np.testing.assert_allclose(missed / s**3, 1 / 6, rtol=5e-3)


# DPFP


def test_dpfp_by_hand():
    """r = (1, 0, 3, 0, 2, 0) for x = (1, −2, 3): by one place no two meet, by two (1·2, 3·1, 2·3) do."""
    phi = FEATURE_MAPS["dpfp"](nu=2)
    assert phi([1, -2, 3]).tolist() == [0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 6, 0]
    assert FEATURE_MAPS["dpfp"](nu=1)([1.0, 2.0]).tolist() == [0.0, 2.0, 0.0, 0.0]


def test_dpfp_leaves_three_features_in_four_at_zero():
    features = FEATURE_MAPS["dpfp"]()(np.random.default_rng(1).standard_normal((4000, 16)))
    assert features.shape[-1] == 6 * 16
    assert np.mean(features == 0) == pytest.approx(0.75, abs=0.01)


def test_dpfp_refuses_more_shifts_than_it_has_places():
    assert FEATURE_MAPS["dpfp"](nu=7).d_phi(4) == 56
    for ask in (lambda phi: phi.d_phi(4), lambda phi: phi(np.ones(4)), lambda phi: phi.rank_bound(4)):
        with pytest.raises(ValueError, match=r"^nu must be from 1 to 7, got 8"):
            ask(FEATURE_MAPS["dpfp"](nu=8))
