"""Weight on the matching key over many draws, and the numbers that sum a row of weights up."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from sharpness_cases import MEMBERS

from compute.feature_maps import FEATURE_MAPS
from compute.sharpness import match_weights, matching_query, misplaced, spread_over_seeds, summary

STOPS = np.geomspace(0.25, 16, 7)
OF_ANY_WIDTH = {name: phi for name, phi in MEMBERS.items() if name != "hedgehog learned"}
every_member = pytest.mark.parametrize("phi", OF_ANY_WIDTH.values(), ids=OF_ANY_WIDTH)


def test_summary_by_hand():
    w = np.array([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    entropy, effective, top = summary(w)
    np.testing.assert_allclose(entropy, [np.log(4), 0, np.log(2)], atol=1e-15)
    np.testing.assert_allclose(effective, [4, 1, 2], rtol=1e-12)
    assert top.tolist() == [0.25, 1.0, 0.5]


def test_entropy_agrees_with_scipy_and_torch_with_numpy():
    w = np.random.default_rng(0).dirichlet(np.ones(32), size=(3, 5))
    np.testing.assert_allclose(summary(w).entropy, stats.entropy(w, axis=-1), rtol=1e-12)
    np.testing.assert_allclose(summary(torch.tensor(w)).effective.numpy(), summary(w).effective, rtol=1e-12)


def test_signed_or_undefined_weights_have_no_entropy():
    entropy, effective, top = summary(np.array([[1.5, -0.5], [np.nan, np.nan]]))
    assert np.all(np.isnan(entropy)) and np.all(np.isnan(effective)) and top[0] == 1.5


def test_misplaced_is_total_variation():
    assert misplaced(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5])) == 0.5
    assert misplaced(np.array([[1.0, 0.0], [0.3, 0.7]]), np.array([[0.0, 1.0], [0.3, 0.7]])).tolist() == [1, 0]


def test_a_matching_query_has_the_length_of_its_key():
    key, noise = np.random.default_rng(1).standard_normal((2, 50_000))
    for rho in (0.0, 0.5, 1.0):
        q = matching_query(key, noise, rho)
        assert np.mean(q * q) == pytest.approx(1, abs=0.03)
        assert np.mean(q * key) == pytest.approx(rho, abs=0.03)
    with pytest.raises(ValueError, match=r"^rho must be from 0 to 1"):
        matching_query(key, noise, 1.5)


@every_member
def test_spread_is_what_single_draws_make(phi):
    """The same draws one at a time, through weights(); numpy's quantiles over those that are defined."""
    d_k, seeds, stops = 4, 24, np.array([0.5, 4.0])
    spread = spread_over_seeds(phi, d_k, stops, rho=0.8, seeds=seeds, keys=9)
    assert FEATURE_MAPS["elu"] and spread.seeds == (seeds if phi is None or phi.d_phi(d_k) <= 256 else 20)
    normals = np.random.default_rng(0).standard_normal((spread.seeds, 10, d_k))
    found = np.full((spread.seeds, 2), np.nan)
    for i, draw in enumerate(normals):
        q = 0.8 * draw[1] + 0.6 * draw[0]
        member = phi if phi is None else phi.redraw(i)
        w, cancellation = match_weights(member, q, draw[1:], stops, draws=1)
        w, cancellation = w.reshape(2, -1), cancellation.reshape(2)
        found[i] = np.where(cancellation < 0.1, np.nan, w[:, 0])
    np.testing.assert_allclose(spread.undefined, np.mean(np.isnan(found), axis=0))
    np.testing.assert_allclose(
        spread.quantiles, np.nanquantile(found, [0.05, 0.5, 0.95], axis=0), rtol=1e-8, atol=1e-10
    )


def test_spread_grows_with_sharpness_for_softmax_and_shows_undefined_signs():
    softmax = spread_over_seeds(None, 16, STOPS)
    assert softmax.quantiles.shape == (3, 7) and softmax.seeds == 200
    assert np.all(np.diff(softmax.quantiles[1]) > 0) and not softmax.undefined.any()
    assert np.all(np.diff(softmax.quantiles, axis=0) >= 0)
    assert spread_over_seeds(FEATURE_MAPS["identity"](), 16, STOPS[:2]).undefined[0] > 0.1


def test_a_wide_random_map_gets_fewer_draws_and_says_so():
    assert spread_over_seeds(FEATURE_MAPS["favor"](m=1024), 4, [1.0], keys=3).seeds == 50
    assert spread_over_seeds(FEATURE_MAPS["favor"](m=4096), 4, [1.0], keys=3).seeds == 20
    assert spread_over_seeds(FEATURE_MAPS["favor"](m=4096), 4, [1.0], keys=3, seeds=5).seeds == 5


def test_where_no_draw_is_defined_the_quantiles_are_not_numbers():
    """One matching key of width one under DPFP: the features of a number are all zero."""
    spread = spread_over_seeds(FEATURE_MAPS["dpfp"](nu=1), 1, [1.0], seeds=4, keys=2)
    assert np.all(np.isnan(spread.quantiles)) and spread.undefined.tolist() == [1.0]
