"""What is found for the claims about random features.

Averages over directions are taken exactly where they can be: Gauss-Hermite nodes stand for the directions, so that a
feature's mean is a weighted sum and no draw is involved.
"""

from __future__ import annotations

import itertools

import numpy as np

from compute.claims.registry import check, normals
from compute.feature_error import (
    kernel_value,
    orthogonal_variance,
    positive_variance,
    ratio_draws,
    ratio_spread,
    usual_square,
)
from compute.feature_maps import FEATURE_MAPS, orthogonal_directions, positive_random_features, softmax_kernel_estimate
from compute.random_features import waves
from compute.rank import kernel_matrix
from compute.sharpness import match_weights, matching_query, misplaced
from compute.toys import queries_and_keys

Q, K = np.array([0.3, -0.5, 0.8]), np.array([0.6, 0.2, -0.4])
"""q·k = −0.24, ‖q+k‖² = 1.06."""


def directions(d, nodes=24):
    """Directions [nodes^d, d] and weights whose weighted mean is the mean over normal directions."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    weight = np.prod(list(itertools.product(w, repeat=d)), axis=-1)
    return np.array(list(itertools.product(x, repeat=d))), weight


def mean_of_exponential(x):
    """Mean of e^(ω·x): a quotient of two features, in which their own factor cancels."""
    x = np.asarray(x, dtype=float)
    Omega, weight = directions(len(x))
    up, down = positive_random_features(np.stack([x, -x]) / 2, Omega)
    return float(weight @ (up / down))


def products_of_features(q, k, nodes=24):
    """What each direction contributes to the estimate of e^(q·k), and the directions' weights."""
    Omega, weight = directions(len(q), nodes)
    features = positive_random_features(np.stack([q, k]), Omega) * len(Omega) ** 0.5
    return features[0] * features[1], weight


@check
def mean_exponential_in_one_dimension():
    return mean_of_exponential([1.0])


@check
def mean_exponential_in_three_dimensions():
    return mean_of_exponential([0.3, -0.5, 0.8])


@check
def mean_feature():
    Omega, weight = directions(3)
    X = np.stack([0 * Q, Q, 2 * K])
    return (positive_random_features(X, Omega) @ weight * len(Omega) ** 0.5).tolist()


@check
def mean_estimate():
    Omega, weight = directions(3, 10)
    one_by_one = [float(softmax_kernel_estimate(Q, K, omega[None])) for omega in Omega]
    return [float(weight @ one_by_one), bool(positive_random_features(normals(50, 16), normals(64, 16)).min() > 0)]


@check
def second_moment_of_one_term():
    terms, weight = products_of_features(Q, K)
    return float(weight @ terms**2)


@check
def relative_variance_of_256_features():
    """By the features themselves, for the two vectors shortened to ‖q+k‖ = 1, and as the package states it."""
    length = np.linalg.norm(Q + K)
    terms, weight = products_of_features(Q / length, K / length)
    own = (weight @ terms**2 / (weight @ terms) ** 2 - 1) / 256
    return [float(own), float(positive_variance(1.0, 256))]


@check
def mean_estimate_of_tempered_vectors():
    terms, weight = products_of_features(Q / 3**0.25, K / 3**0.25)
    return [float(weight @ terms), float(kernel_matrix(Q[None], K[None])[0, 0])]


@check
def error_at_four_times_the_features():
    """Standard deviation of the relative error with 256 features over that with 64; growth of the variance from
    ‖q+k‖² = 8 to 9."""
    spread = ratio_draws([0.5], [64, 256], draws=4000)[0].std(axis=0)
    return [float(spread[1] / spread[0]), float(positive_variance(3.0) / positive_variance(8**0.5))]


def trigonometric_terms(q, k, nodes=24):
    """What each direction contributes to the trigonometric estimate of e^(q·k), and the directions' weights."""
    Omega, weight = directions(len(q), nodes)
    wave_q, wave_k = (waves(x[None], Omega)[0].reshape(2, -1) for x in (q, k))
    return np.exp((q @ q + k @ k) / 2) * len(Omega) * np.sum(wave_q * wave_k, axis=0), weight


@check
def trigonometric_estimate():
    """Its mean over the true value, and the share of estimates below zero at ‖q+k‖ = 3."""
    terms, weight = trigonometric_terms(Q, K)
    negative = ratio_spread([3.0], [64], kind="trig").negative[0, 0]
    return [float(weight @ terms / np.exp(Q @ K)), float(negative)]


@check
def mean_squared_errors_at_fixed_sum():
    """‖q+k‖ = 2; trigonometric then positive, one direction, at ‖q−k‖ = 2 and 3 (κ = 1 and e^(−5/4))."""
    found = []
    for kind in (trigonometric_terms, products_of_features):
        for z in (2.0, 3.0):
            terms, weight = kind(np.array([1.0, z / 2]), np.array([1.0, -z / 2]), 60)
            found.append(float(weight @ (terms - kernel_value(2.0, z)) ** 2))
    return found


@check
def orthogonal_beside_independent():
    """Mean of the estimate over the truth, variance over that of independent directions, and the exact quotient.

    4,000 draws of 16 directions in 16 dimensions, ‖q+k‖ = 0.85 along (1, …, 1).
    """
    Omega = orthogonal_directions(64_000, 16, np.random.default_rng(0))
    q = np.full(16, 0.85 / 8)
    terms = 64_000 * positive_random_features(q[None], Omega)[0] ** 2 / np.exp(q @ q)
    ratios = terms.reshape(4000, 16).mean(axis=1)
    exact = orthogonal_variance(0.85, 16, 16) / positive_variance(0.85, 16)
    return [float(ratios.mean()), float(ratios.var() / positive_variance(0.85, 16)), float(exact)]


@check
def perpendicular_pairs_of_40_directions():
    """Two whole blocks of 16 and one of 8."""
    Omega = orthogonal_directions(40, 16, np.random.default_rng(0))
    unit = Omega / np.linalg.norm(Omega, axis=1, keepdims=True)
    return int(np.sum(np.triu(np.abs(unit @ unit.T) < 1e-12, 1)))


@check
def square_of_the_sum_at_16():
    """Measured on the toy vectors, before and after the temperature, and as the package states it."""
    rows, keys = queries_and_keys(16, 0)
    square = float(np.mean(np.sum((rows + keys) ** 2, axis=1)))
    return [square, square / 16**0.5, usual_square(16)]


@check
def relative_variance_at_16():
    return float(positive_variance(usual_square(16) ** 0.5))


@check
def exponent_and_variance_at_128():
    return [usual_square(128), float(positive_variance(usual_square(128) ** 0.5))]


@check
def mean_exponent_over_draws():
    """Mean and standard deviation over 400 draws of 16 queries and 32 keys; the variance at exponent 7.4."""
    pairs = normals(400, 16, 1, 16) + normals(400, 1, 32, 16, seed=1)
    means = np.mean(np.sum(pairs**2, axis=-1) / 4, axis=(1, 2))
    return [float(means.mean()), float(means.std()), float(positive_variance(7.4**0.5))]


@check
def slow_error_at_full_length():
    """Slopes of log error against log width at ‖q+k‖² = 2 and 8, and the share of draws that underestimate at 8."""
    widths = [64, 256, 1024]
    spread = ratio_spread([2**0.5, 8**0.5], widths, draws=1000)
    slopes = np.polyfit(np.log(widths), np.log(spread.mean_error.T), 1)[0]
    return [*slopes.tolist(), float(spread.below[1].min())]


def ten_sets(seed, c=1.0, m=512, d_k=16):
    """For ten independent sets of features: the share of weight misplaced, and the mean relative kernel error."""
    q, *keys = normals(33, d_k, seed=seed)
    keys, phi = np.array(keys), FEATURE_MAPS["favor"](m=m, seed=10 * seed, orthogonal=False)
    q = matching_query(keys[0], q, 0.5)
    exact, found = match_weights(None, q, keys, [c]).w[0], match_weights(phi, q, keys, [c]).w[:, 0]
    tempered = c * q[None] * d_k**-0.25, keys * d_k**-0.25
    kernels = np.array([kernel_matrix(*tempered, phi.redraw(i))[0] for i in range(10)])
    errors = np.mean(np.abs(kernels / kernel_matrix(*tempered, scale=1.0) - 1), axis=-1)
    return misplaced(found, np.broadcast_to(exact, found.shape)), errors


def _typical(which, seeds=40, **setting):
    """Smallest, middle and largest of the ten, each the median over draws of query and keys."""
    sets = [np.sort(ten_sets(seed, **setting)[which]) for seed in range(seeds)]
    return np.median([[s[0], np.median(s), s[-1]] for s in sets], axis=0)


@check
def weight_misplaced_by_ten_sets():
    return _typical(0).tolist()


@check
def kernel_error_of_ten_sets():
    return _typical(1)[[0, -1]].tolist()


@check
def misplaced_weight_grows():
    """With sharpness, with d_k, and with fewer features."""
    middle = {
        name: _typical(0, seeds=12, **setting)[1]
        for name, setting in {
            "mild": {"c": 0.5},
            "plain": {},
            "sharp": {"c": 4.0},
            "wide": {"d_k": 64},
            "few": {"m": 64},
        }.items()
    }
    return [
        bool(middle["mild"] < middle["plain"] < middle["sharp"]),
        bool(middle["plain"] < middle["wide"]),
        bool(middle["plain"] < middle["few"]),
    ]
