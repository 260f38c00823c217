"""Errors at a true kernel value, against estimates from real vectors and real features."""

from __future__ import annotations

import numpy as np
import pytest

from compute.random_features import directions, positive_random_features, waves
from compute.small_values import difference_length, rms_error

KINDS = ("positive", "trig")


def pair(length: float, score: float) -> tuple[np.ndarray, np.ndarray]:
    """A query and a key in eight dimensions with this ‖q+k‖ and this q·k."""
    apart = np.sqrt(length**2 - 4 * score)
    q, k = np.zeros((2, 8))
    q[:2], k[:2] = (length / 2, apart / 2), (length / 2, -apart / 2)
    return q, k


@pytest.mark.parametrize("length, score", [(1.0, -0.3), (1.2, 0.2), (0.5, -1.0)])
def test_difference_length_is_the_one_of_real_vectors(length, score):
    q, k = pair(length, score)
    assert q @ k == pytest.approx(score) and np.linalg.norm(q + k) == pytest.approx(length)
    assert difference_length(length, np.exp(score)) == pytest.approx(np.linalg.norm(q - k))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length, score", [(1.0, 0.1), (1.0, -0.3), (1.2, 0.2), (0.5, -0.25)])
def test_the_error_is_the_one_of_real_features(kind, length, score):
    """4,000 feature sets of 16 directions each: the root mean square over sets lies within 7 % of the formula."""
    q, k = pair(length, score)
    Omega = directions(16 * 4000, 8, 3, False)
    if kind == "positive":
        terms = positive_random_features(q, Omega) * positive_random_features(k, Omega)
        estimates = terms.reshape(4000, 16).mean(axis=1) * len(Omega)
    else:
        a, b = (waves(x, Omega).reshape(2, 4000, 16) for x in (q, k))
        estimates = (a * b).sum(axis=(0, 2)) / 16 * len(Omega) * np.exp((q @ q + k @ k) / 2)
    measured = np.sqrt(np.mean((estimates - np.exp(score)) ** 2))
    assert rms_error(length, np.exp(score), 16, kind) == pytest.approx(measured, rel=0.07)


def test_as_the_value_falls_positive_features_err_less_and_trigonometric_ones_more():
    values = np.geomspace(1e-4, 1, 9)
    positive, trig = (rms_error(2.0, values, 128, kind) for kind in KINDS)
    assert positive / values == pytest.approx(positive[0] / values[0])
    assert np.all(np.diff(trig) < 0) and trig[0] * values[0] == pytest.approx(trig[1] * values[1], rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_no_pair_has_a_value_above_that_of_two_equal_vectors(kind):
    """At q = k the value is e^(‖q+k‖²/4)."""
    assert np.isnan(rms_error(1.0, np.exp(0.26), 8, kind)) and np.isfinite(rms_error(1.0, np.exp(0.24), 8, kind))


def test_trigonometric_features_of_equal_vectors_do_not_err():
    assert rms_error(1.0, np.exp(0.25), 8, "trig") == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize(
    "name, told", [("value", dict(value=0.0)), ("m", dict(m=0)), ("kind", dict(kind="elu"))], ids=str
)
def test_a_bad_argument_is_refused_by_name(name, told):
    with pytest.raises(ValueError, match=f"^{name} "):
        rms_error(**{"sum_length": 1.0, "value": 1.0, "m": 8, **told})
