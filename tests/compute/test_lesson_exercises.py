"""The lesson's five exercises, solved by importing: thirteen functions with the names and shapes that it asks for."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import softmax

from compute.attention import (
    causal_linear_attention_parallel,
    causal_linear_attention_recurrent,
    linear_attention_step,
)
from compute.cost import attention_flops, crossover_T
from compute.feature_maps import (
    orthogonal_directions,
    positive_random_features,
    softmax_kernel_estimate,
    taylor_features,
)
from compute.memory import crosstalk_energy, read, write
from compute.sizing import kv_cache_tokens, taylor_state_bytes

RNG = np.random.default_rng


def elu_plus_one(x):
    return np.where(x >= 0, x + 1, np.exp(np.minimum(x, 0)))


@pytest.mark.parametrize("T, d_phi, d_v", [(1, 1, 1), (128, 128, 128), (100, 273, 64), (2**40, 2**14, 128)])
def test_which_order_to_multiply(T, d_phi, d_v):
    """(T × d_φ)(d_φ × T) then (T × T)(T × d_v), against (d_φ × T)(T × d_v) then (T × d_φ)(d_φ × d_v)."""
    product = lambda m, k, n: 2 * m * k * n  # noqa: E731
    left, right = attention_flops(T, d_phi, d_v, "left"), attention_flops(T, d_phi, d_v, "right")
    assert left == product(T, d_phi, T) + product(T, T, d_v) and type(left) is int
    assert right == product(d_phi, T, d_v) + product(T, d_phi, d_v) and type(right) is int
    first = crossover_T(d_phi, d_v)
    assert type(first) is int
    assert attention_flops(first, d_phi, d_v, "right") < attention_flops(first, d_phi, d_v, "left")
    assert attention_flops(first - 1, d_phi, d_v, "right") >= attention_flops(first - 1, d_phi, d_v, "left")


def test_the_recurrence_builds_no_mask_of_the_sequence(monkeypatch):
    """It runs where NumPy's triangles are out of reach."""
    for name in ("tril", "triu", "tri"):
        monkeypatch.setattr(np, name, None)
    Q, K, V = np.array([[0, 0], [1, 0], [0, 1]]), np.array([[1, 0], [0, 1], [0, 0]]), np.array([[1, 0], [0, 1], [1, 1]])
    O = causal_linear_attention_recurrent(Q, K, V, elu_plus_one, eps=0)
    want = [[1, 0], [Fraction(5, 9), Fraction(4, 9)], [Fraction(7, 12), Fraction(2, 3)]]
    assert O.tolist() == [[float(x) for x in row] for row in want]


def test_recurrent_parallel_and_step_agree_and_leave_their_inputs():
    Q, K = RNG(0).standard_normal((2, 40, 6))
    V = RNG(1).standard_normal((40, 3))
    parallel = causal_linear_attention_parallel(Q, K, V, elu_plus_one)
    assert np.allclose(causal_linear_attention_recurrent(Q, K, V, elu_plus_one), parallel, rtol=1e-12)
    S, z = np.zeros((6, 3)), np.zeros(6)
    for q, k, v, o in zip(Q, K, V, parallel):
        before = S.copy(), z.copy()
        got, S_new, z_new = linear_attention_step(S, z, q, k, v, elu_plus_one)
        assert np.array_equal(S, before[0]) and np.array_equal(z, before[1])
        assert np.allclose(got, o, rtol=1e-12)
        S, z = S_new, z_new
    weights = np.tril(elu_plus_one(Q) @ elu_plus_one(K).T)
    assert np.allclose(parallel, (weights @ V) / (weights.sum(1, keepdims=True) + 1e-6), rtol=1e-12)


def test_positive_random_features_estimate_the_softmax_kernel():
    X, d_phi = 0.25 * RNG(2).standard_normal((32, 8)), 20_000
    Omega = orthogonal_directions(d_phi, 8, RNG(3))
    features = positive_random_features(X, Omega)
    assert features.shape == (32, d_phi) and (features > 0).all()
    estimate = softmax_kernel_estimate(X[0], X[1], Omega)
    assert np.ndim(estimate) == 0 and np.isclose(estimate, features[0] @ features[1], rtol=1e-12)
    rows = features @ features.T
    assert np.abs(rows / rows.sum(1, keepdims=True) - softmax(X @ X.T, axis=1)).max() < 0.01


def test_taylor_features_and_their_cost():
    q, k = RNG(4).standard_normal((2, 1, 16))
    s = (q @ k.T).item()
    assert np.isclose((taylor_features(q) @ taylor_features(k).T).item(), 1 + s + s * s / 2, rtol=1e-12)
    a, b = 3.0, 5.0
    want = [1, a, b, *(np.array([a * a, a * b, b * a, b * b]) / 2**0.5)]
    assert np.allclose(taylor_features(np.array([[a, b]])), [want], rtol=1e-15)
    state = taylor_state_bytes(16, 128, 8)
    assert state == 8 * 273 * (128 + 1) * 4 and type(state) is int
    tokens = kv_cache_tokens(state, 8, 128)
    per_token = 2 * 8 * 128 * 2
    assert type(tokens) is int and (tokens - 1) * per_token < state <= tokens * per_token


def test_a_matrix_state_as_an_associative_memory():
    K, V = RNG(5).standard_normal((200, 64)), RNG(6).standard_normal((200, 10))
    unit = K / np.linalg.norm(K, axis=1, keepdims=True)
    S = write(K, V)
    assert np.allclose(S, sum(np.outer(k, v) for k, v in zip(unit, V)), rtol=1e-12)
    assert np.allclose(read(S, 7 * K[0]), S.T @ unit[0], rtol=1e-12)
    assert np.isclose(crosstalk_energy(K), 199 / 64, rtol=0.05)
    assert np.allclose(read(write(np.eye(4), V[:4]), np.eye(4)[2]), V[2])
