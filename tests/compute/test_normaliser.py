"""The denominator: growth, shares, derivatives, against torch's autograd and closed limits."""

import numpy as np
import pytest
import torch
from attention_cases import D_K, LEAD, as_torch, elu, miss, quick, tokens
from hypothesis import given
from hypothesis import strategies as st

from compute import normaliser
from compute.attention import causal_linear_attention_recurrent
from compute.feature_maps import FEATURE_MAPS

IDENTITY = FEATURE_MAPS["identity"]()


def weights_by_values(Q, K, phi):
    """Weights read off attention itself, with the identity matrix as values."""
    return causal_linear_attention_recurrent(Q, K, np.eye(K.shape[-2]), phi, eps=0)


def test_denominators_are_what_attention_divides_by():
    Q, K, _ = tokens(40)
    ones = np.ones((*LEAD, 40, 1))
    want = causal_linear_attention_recurrent(Q, K, ones, elu, normalise=False)[..., 0]
    assert miss(normaliser.denominators(Q, K, elu), want) < 1e-14
    assert miss(normaliser.denominators(*as_torch((Q, K)), elu), want) < 1e-14


def test_the_denominator_grows_about_linearly_and_the_newest_share_like_one_over_t():
    Q, K, _ = tokens(4096, lead=())
    t = np.arange(1, 4097)
    den, share = normaliser.denominators(Q, K, elu), normaliser.newest_share(Q, K, elu)
    assert abs(np.polyfit(np.log(t[64:]), np.log(den[64:]), 1)[0] - 1) < 0.05
    assert 0.9 < np.mean((share * t)[64:]) < 1.1
    assert share[0] == 1


def test_weights_are_those_attention_uses():
    Q, K, _ = tokens(20, lead=())
    weights = normaliser.causal_weights(Q, K, elu)
    assert miss(weights, weights_by_values(Q, K, elu)) < 1e-14
    assert miss(normaliser.newest_share(Q, K, elu), np.diag(weights)) < 1e-14


def test_masked_keys_are_out_of_the_sum():
    Q, K, _ = tokens(12)
    mask = np.broadcast_to(np.arange(12) % 3 > 0, (*LEAD, 12))
    cut = normaliser.denominators(Q[..., mask[0, 0], :], K[..., mask[0, 0], :], elu)
    assert miss(normaliser.denominators(Q, K, elu, mask=mask)[..., mask[0, 0]], cut) < 1e-14
    assert not normaliser.newest_share(Q, K, elu, mask=mask)[~mask].any()


@pytest.mark.parametrize("shape", [(6,), (2, 5)])
def test_derivatives_are_autograds(shape):
    rng = np.random.default_rng(0)
    kappa, scores = rng.uniform(0.1, 2, shape), rng.standard_normal(shape)
    jacobian = torch.autograd.functional.jacobian
    rows = lambda f, x: np.stack([jacobian(f, torch.from_numpy(r)).numpy() for r in x.reshape(-1, shape[-1])])  # noqa: E731
    square = (*shape, shape[-1])
    assert miss(normaliser.kernel_derivative(kappa), rows(lambda k: k / k.sum(), kappa).reshape(square)) < 1e-14
    softmax = torch.softmax(torch.from_numpy(scores), -1).numpy()
    want = rows(lambda s: torch.softmax(s, -1), scores).reshape(square)
    assert miss(normaliser.score_derivative(softmax), want) < 1e-13


@quick
@given(n=st.integers(1, 12), seed=st.integers(0, 99), signed=st.booleans())
def test_the_largest_derivative_is_the_largest_entry(n, seed, signed):
    kappa = np.random.default_rng(seed).uniform(-1 if signed else 0, 1, n)
    largest = normaliser.largest_kernel_derivative(kappa)
    assert np.isclose(largest, np.abs(normaliser.kernel_derivative(kappa)).max(), rtol=1e-12, atol=1e-300)
    if not signed:
        assert largest <= normaliser.kernel_derivative_bound(kappa) * (1 + 1e-12)


def test_a_weight_above_one_moves_most_under_the_other_keys():
    """Signed kernel values 3, -1, -1: the first weight is 3, and every other value pulls on it three times."""
    assert normaliser.largest_kernel_derivative(np.array([3.0, -1.0, -1.0])) == 3


def test_nothing_bounds_the_kernel_derivative_but_a_quarter_bounds_the_score_derivative():
    for small in (1e-2, 1e-5, 1e-8):
        kappa = small * np.array([1.0, 1.0])
        assert np.isclose(normaliser.largest_kernel_derivative(kappa), 0.25 / small, rtol=1e-12)
    p = np.random.default_rng(0).dirichlet(np.ones(5), 1000)
    assert np.abs(normaliser.score_derivative(p)).max() <= normaliser.SCORE_DERIVATIVE_BOUND
    assert np.abs(normaliser.score_derivative(np.array([0.5, 0.5]))).max() == normaliser.SCORE_DERIVATIVE_BOUND


def test_an_undefined_sum_is_nan_and_says_nothing():
    zero = np.zeros((2, 3))
    assert np.isnan(normaliser.kernel_derivative_bound(zero)).all()
    assert np.isnan(normaliser.largest_kernel_derivative(zero)).all()
    assert np.isnan(normaliser.kernel_derivative(zero)).all()
    assert np.isnan(normaliser.cancellation(zero)).all()
    assert np.isnan(normaliser.causal_weights(zero, zero, IDENTITY)[0, 0])


def test_signed_features_cancel_and_positive_ones_do_not():
    Q, K, _ = tokens(200, lead=())
    t = 150
    assert normaliser.cancellation(elu(Q[t]) @ elu(K[:t]).T) == pytest.approx(1, rel=1e-14)
    assert normaliser.cancellation(Q @ K.T).min() < 0.01
    den = normaliser.denominators(Q, K, IDENTITY)
    assert (den[1:] * den[:-1] < 0).any()


def test_flat_weights_are_diluted():
    """Equal keys: the m nearest of t tokens hold m/t of the weight."""
    Q, K = np.ones((50, D_K)), np.ones((50, D_K))
    share = normaliser.nearby_share(normaliser.causal_weights(Q, K, elu), 5)
    assert np.allclose(share, np.minimum(5 / np.arange(1, 51), 1), rtol=1e-13)


@pytest.mark.parametrize("call", [normaliser.denominators, normaliser.newest_share, normaliser.causal_weights])
def test_bad_tokens_are_refused_by_name(call):
    Q, K, _ = tokens(6)
    for q, k, phi, name in (
        (Q[..., :-1, :], K, elu, "Q"),
        (Q, K[:1], elu, "K"),
        (Q, K * np.nan, elu, "K"),
        (Q, K, 1, "phi"),
    ):
        with pytest.raises(ValueError, match=f"^{name} "):
            call(q, k, phi)


def test_bad_kernels_and_weights_are_refused_by_name():
    for call in (normaliser.kernel_derivative, normaliser.largest_kernel_derivative, normaliser.cancellation):
        with pytest.raises(ValueError, match=r"^kappa "):
            call(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match=r"^p "):
        normaliser.score_derivative(np.zeros(0))
    with pytest.raises(ValueError, match=r"^m "):
        normaliser.nearby_share(np.eye(3), 0)
    with pytest.raises(ValueError, match=r"^weights "):
        normaliser.nearby_share(np.ones((2, 3)), 1)
