"""Weights, their limit and their summary: the laws of sharpness, checked by hand and by outsiders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import special

from compute.feature_maps import FEATURE_MAPS
from compute.sharpness import (
    limit_weights,
    match_weights,
    spread_over_seeds,
    summary,
    weights,
)
from compute.toys import queries_and_keys

STOPS = np.geomspace(0.25, 16, 73)
MEMBERS = {
    "softmax": None,
    **{word: Map() for word, Map in FEATURE_MAPS.items()},
    "favor iid": FEATURE_MAPS["favor"](m=40, orthogonal=False),
    "hedgehog learned": FEATURE_MAPS["hedgehog"](W=[[1.0, 0.5], [0.0, -1.0], [0.3, 0.3], [2.0, 0.1]], b=(0.4, -0.2)),
}
POSITIVE = [name for name, phi in MEMBERS.items() if phi is None or phi.positivity in ("yes", "kernel")]
every_member = pytest.mark.parametrize("phi", MEMBERS.values(), ids=MEMBERS)
every_positive = pytest.mark.parametrize("phi", [MEMBERS[name] for name in POSITIVE], ids=POSITIVE)


@pytest.fixture
def vectors():
    rng = np.random.default_rng(17)
    return rng.standard_normal((2, 6, 4)), rng.standard_normal((2, 9, 4))


# Weights


@every_member
def test_weights_sum_to_one_so_constant_values_give_constant_outputs(phi, vectors):
    w, cancellation = weights(phi, *vectors)
    assert w.shape == (2, 6, 9) and cancellation.shape == (2, 6)
    defined = cancellation > 1e-6
    assert defined.mean() > 0.9
    np.testing.assert_allclose((w @ np.full((9, 2), 3.5))[defined], 3.5, rtol=1e-9)


@every_positive
def test_positive_maps_have_positive_weights_and_nothing_cancels(phi, vectors):
    w, cancellation = weights(phi, *vectors)
    assert np.all(w > 0)
    np.testing.assert_allclose(cancellation, 1, rtol=1e-12)


def test_without_a_map_the_weights_are_scipys_softmax(vectors):
    Q, K = vectors
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
def test_weights_are_the_normalised_kernel(phi, vectors):
    if phi is None:
        return
    Q, K = vectors
    kernel = phi(Q) @ phi(K).swapaxes(-1, -2)
    w, cancellation = weights(phi, Q, K)
    defined = cancellation > 0.01
    expected = kernel[defined] / kernel[defined].sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(w[defined], expected, rtol=1e-9, atol=1e-12)


def test_any_function_can_stand_for_a_map(vectors):
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
def test_weights_keep_kind_dtype_and_inputs(phi, vectors):
    Q, K = vectors
    copies = Q.copy(), K.copy()
    tw, tc = weights(phi, torch.tensor(Q), torch.tensor(K))
    w, cancellation = weights(phi, Q, K)
    np.testing.assert_allclose(tw.numpy(), w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tc.numpy(), cancellation, rtol=1e-9, atol=1e-12)
    assert weights(phi, Q.astype(np.float32), K.astype(np.float32)).w.dtype == np.float32
    assert weights(phi, torch.tensor(Q).half(), torch.tensor(K).half()).w.dtype == torch.float16
    assert np.array_equal(Q, copies[0]) and np.array_equal(K, copies[1])


# Stability


@every_positive
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("grow_q, grow_k", [(60, 1), (1, 60), (60, 60)])
def test_no_positive_row_is_lost_at_norms_where_the_exponential_overflows(phi, dtype, grow_q, grow_k, vectors):
    Q, K = (grow_q * vectors[0]).astype(dtype), (grow_k * vectors[1]).astype(dtype)
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


# Limits


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
        (lambda: weights(None, np.ones((2, 3)), np.ones((2, 4))), "K must be as wide as Q, 3, got 4"),
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
