"""Weights and their summary, checked by hand and by outsiders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import special
from sharpness_cases import STOPS, every_member, every_positive, vectors

from compute.feature_maps import FEATURE_MAPS
from compute.sharpness import (
    match_weights,
    spread_over_seeds,
    weights,
)
from compute.toys import queries_and_keys

# Weights


@every_member
def test_weights_sum_to_one_so_constant_values_give_constant_outputs(phi):
    w, cancellation = weights(phi, *vectors())
    assert w.shape == (2, 6, 9) and cancellation.shape == (2, 6)
    defined = cancellation > 1e-6
    assert defined.mean() > 0.9
    np.testing.assert_allclose((w @ np.full((9, 2), 3.5))[defined], 3.5, rtol=1e-9)


@every_positive
def test_positive_maps_have_positive_weights_and_nothing_cancels(phi):
    w, cancellation = weights(phi, *vectors())
    assert np.all(w > 0)
    np.testing.assert_allclose(cancellation, 1, rtol=1e-12)


def test_without_a_map_the_weights_are_scipys_softmax():
    Q, K = vectors()
    np.testing.assert_allclose(weights(None, Q, K).w, special.softmax(Q @ K.swapaxes(-1, -2), axis=-1), rtol=1e-12)
    np.testing.assert_allclose(
        match_weights(None, Q[0, 0], K[0], [1.0, 3.0]).w,
        special.softmax(np.outer([1.0, 3.0], K[0] @ Q[0, 0] / 4**0.5), axis=-1),
        rtol=1e-12,
    )


def test_the_hand_example_second_query():
    """q = (1, 0) on k = (1, 0), (0, 1): softmax e/(e+1) without temperature, elu+1 five ninths."""
    Q, K = np.array([[1, 0]]), np.eye(2, dtype=int)
    np.testing.assert_allclose(weights(None, Q, K).w, [[np.e / (np.e + 1), 1 / (np.e + 1)]], rtol=1e-14)
    np.testing.assert_allclose(weights(FEATURE_MAPS["elu"](), Q, K).w, [[5 / 9, 4 / 9]], rtol=1e-14)
    assert np.round(weights(None, Q, K).w, 2).tolist() == [[0.73, 0.27]]


@every_member
def test_weights_are_the_normalised_kernel(phi):
    if phi is None:
        return
    Q, K = vectors()
    kernel = phi(Q) @ phi(K).swapaxes(-1, -2)
    w, cancellation = weights(phi, Q, K)
    defined = cancellation > 0.01
    expected = kernel[defined] / kernel[defined].sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(w[defined], expected, rtol=1e-9, atol=1e-12)


@every_member
@pytest.mark.parametrize("kind", (np.asarray, torch.tensor))
def test_multiples_of_one_query_have_the_rows_of_as_many_queries(phi, kind):
    """Random maps project such a query once."""
    if phi is None:
        return
    (Q, K), c = vectors(), np.array([0.25, 1.0, 7.0])
    want = phi.scaled_rows(c[:, None] * Q[0, 0], K[0])
    told = phi.scaled_rows_along(kind(Q[0, 0]), kind(c), kind(K[0]))
    for rows, whole in zip(told, want):
        np.testing.assert_allclose(np.asarray(rows), whole, rtol=1e-12, atol=1e-14)


def test_any_function_can_stand_for_a_map():
    """The toy map (x₁², √2x₁x₂, x₂²): 25 = 5² for q = (1, 2), k = (3, 1), and 0 for a right angle."""

    def toy(x):
        return np.stack([x[..., 0] ** 2, 2**0.5 * x[..., 0] * x[..., 1], x[..., 1] ** 2], axis=-1)

    Q, K = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0], [2.0, -1.0], [5.0, 0.0]])
    assert (toy(Q) @ toy(K).T).tolist() == [[pytest.approx(25), pytest.approx(0, abs=1e-12), pytest.approx(25)]]
    np.testing.assert_allclose(weights(toy, Q, K).w, [[0.5, 0, 0.5]], atol=1e-14)


def test_signs_that_cancel_show_in_the_cancellation():
    Q, K = np.array([[1.0, 0.0]]), np.array([[3.0, 1.0], [-2.0, 0.0], [-1.0 + 1e-9, 0.0]])
    w, cancellation = weights(FEATURE_MAPS["identity"](), Q, K)
    assert cancellation.item() == pytest.approx(1e-9 / 6, rel=1e-6)
    assert np.max(np.abs(w)) > 1e8
    w, cancellation = weights(FEATURE_MAPS["identity"](), Q, np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert np.all(np.isnan(w)) and cancellation.item() == 0


def test_a_query_without_features_is_nought_over_nought():
    for word in ("relu", "dpfp"):
        Q, K = np.array([[-1.0, -2.0]]), np.array([[1.0, 2.0], [3.0, 1.0]])
        w, cancellation = weights(FEATURE_MAPS[word](), Q, K)
        assert np.all(np.isnan(w)) and cancellation.item() == 0


@every_member
def test_weights_keep_kind_dtype_and_inputs(phi):
    Q, K = vectors()
    copies = Q.copy(), K.copy()
    tw, tc = weights(phi, torch.tensor(Q), torch.tensor(K))
    w, cancellation = weights(phi, Q, K)
    np.testing.assert_allclose(tw.numpy(), w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tc.numpy(), cancellation, rtol=1e-9, atol=1e-12)
    assert weights(phi, Q.astype(np.float32), K.astype(np.float32)).w.dtype == np.float32
    assert weights(phi, torch.tensor(Q).half(), torch.tensor(K).half()).w.dtype == torch.float16
    assert np.array_equal(Q, copies[0]) and np.array_equal(K, copies[1])


# Draws


def test_random_maps_come_as_independent_draws_from_their_seed_on():
    K = queries_and_keys(8, 0)[1][:32]
    phi = FEATURE_MAPS["favor"](m=32, seed=5)
    w = match_weights(phi, K[0], K, STOPS[:3], draws=4).w
    assert w.shape == (4, 3, 32) and len(np.unique(w[:, 0, 0])) == 4
    np.testing.assert_array_equal(w[2], match_weights(phi.redraw(2), K[0], K, STOPS[:3], draws=1).w[0])
    assert match_weights(FEATURE_MAPS["elu"](), K[0], K, STOPS[:3], draws=4).w.shape == (3, 32)
    tw = match_weights(phi, torch.tensor(K[0]), torch.tensor(K), STOPS[:3], draws=4).w
    np.testing.assert_allclose(tw.numpy(), w, rtol=1e-10)


# Refusals


def test_bad_questions_are_refused_by_name():
    q, K = np.ones(3), np.ones((4, 3))
    for ask, complaint in (
        (lambda: weights(None, np.ones((2, 3)), np.ones((2, 4))), "K must have the width and lead axes of Q"),
        (lambda: weights(None, q, K), "Q must have at least 2 axes"),
        (lambda: match_weights(None, np.ones(4), K, [1.0]), "K must be rows as wide as the one query q"),
        (lambda: match_weights(None, q, K, [np.nan]), "stops must be finite"),
        (lambda: match_weights(None, q, K, [1.0], draws=0), "draws must be at least 1"),
        (lambda: match_weights(FEATURE_MAPS["dpfp"](nu=9), q, K, [1.0]), "nu must be from 1 to 5"),
        (lambda: spread_over_seeds(None, 0, [1.0]), "d_k must be at least 1"),
        (lambda: spread_over_seeds(None, 4, [1.0], rho=-0.1), "rho must be from 0 to 1"),
        (lambda: spread_over_seeds(None, 4, [1.0], seeds=0), "seeds must be at least 1"),
    ):
        with pytest.raises(ValueError, match="^" + complaint):
            ask()
