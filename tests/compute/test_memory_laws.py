"""The theory curves against draws, and against special functions from outside."""

import numpy as np
import pytest
from scipy import special, stats

from compute import memory_laws
from compute.crosstalk import best_reads, every_read, expected_energy
from compute.keys import KEY_MAKERS
from compute.memory_laws import Load, best_energy, cosine, energy, mean_cosine, signal, steady_energy, told_apart
from compute.sweeps.shipped import shipped


def many(kind, n, d, trials, rho=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([KEY_MAKERS[kind](n, d, rng, rho) for _ in range(trials)]), rng


# Energy


@pytest.mark.parametrize("n, expected", [(1, 0), (2, 1 / 32), (33, 1), (256, 255 / 32)])
def test_random_keys_give_n_minus_one_over_d(n, expected):
    assert energy(n, KEY_MAKERS["random"].overlap(32)) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("kind", KEY_MAKERS)
@pytest.mark.parametrize("alpha", [1.0, 0.9])
@pytest.mark.parametrize("rho", [0.2, 0.8])
def test_the_energy_law_is_the_mean_over_keys(kind, alpha, rho):
    d = 16
    n = KEY_MAKERS[kind].most(d) or 24
    K, _ = many(kind, n, d, 300, rho)
    measured = expected_energy(K, "decay", alpha=alpha).mean(axis=0)
    overlap = KEY_MAKERS[kind].overlap(d, rho)
    ages = np.arange(n)[::-1]
    np.testing.assert_allclose(measured[-1], energy(n, overlap, alpha=alpha, age=ages), rtol=0.08, atol=1e-12)
    assert measured[-1].mean() == pytest.approx(energy(n, overlap, alpha=alpha), rel=0.02, abs=1e-12)


def test_decay_settles_at_its_steady_energy_and_no_decay_never_does():
    assert energy(5000, 1 / 32, alpha=0.97, age=0) == pytest.approx(steady_energy(1 / 32, 0.97), rel=1e-12)
    assert steady_energy(1 / 32, 0.97) == pytest.approx(sum(0.97 ** (2 * i) for i in range(1, 3000)) / 32, rel=1e-12)
    assert steady_energy(1 / 32, 1.0) == np.inf


def test_almost_no_decay_is_no_decay():
    assert energy(100, 1 / 32, alpha=1 - 1e-9) == pytest.approx(energy(100, 1 / 32), rel=1e-6)


# Cosine


def test_the_wide_value_law_reads_0_71_at_n_equal_d():
    assert cosine(energy(128, 1 / 128)) == pytest.approx(0.71, abs=0.005)


@pytest.mark.parametrize("d_v, expected", [(1, 0.505), (4, 0.661), (32, 0.707)])
def test_narrow_values_read_lower(d_v, expected):
    assert cosine(energy(32, 1 / 32), d_v) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("d_v", [1, 2, 3, 4, 7, 32, 128])
def test_the_exact_law_agrees_with_the_hypergeometric_function_of_scipy(d_v):
    noise = np.array([1e-5, 1e-3, 1 / 512, 1 / 32, 0.3, 1, 7, 300, 1e8])
    rho = 1 / np.sqrt(1 + noise)
    size = special.poch(d_v / 2, 0.5) ** 2 * 2 / d_v
    want = rho * size * special.hyp2f1(0.5, 0.5, d_v / 2 + 1, rho**2)
    np.testing.assert_allclose(cosine(noise, d_v), want, rtol=1e-12)


def test_one_wide_values_cosine_is_the_arcsine_law_of_the_sign():
    """For d_v = 1 the cosine is a sign, and two normals with correlation ρ agree in sign by Sheppard's formula."""
    noise = np.array([0.01, 0.5, 3.0])
    rho = 1 / np.sqrt(1 + noise)
    disagree = np.array([2 * stats.multivariate_normal.cdf([0, 0], cov=[[1, -r], [-r, 1]]) for r in rho])
    np.testing.assert_allclose(cosine(noise, 1), 1 - 2 * disagree, atol=1e-6)


def test_the_ends_of_the_cosine_law_are_one_and_zero():
    for d_v in (None, 1, 32):
        np.testing.assert_array_equal(cosine([0.0, np.inf], d_v), [1, 0])


@pytest.mark.parametrize("d_v", [1, 4, 32])
def test_measured_reads_follow_the_exact_law(d_v):
    K, rng = many("random", 32, 32, 400)
    measured = every_read(K, rng.standard_normal((400, 32, d_v)), "additive").mean_cosine[:, -1]
    error = measured.std() / 20
    assert measured.mean() == pytest.approx(float(cosine(energy(32, 1 / 32), d_v)), abs=4 * error + 0.004)


def test_measured_reads_under_decay_follow_the_mean_law():
    K, rng = many("random", 96, 32, 200)
    V = rng.standard_normal((200, 96, 32))
    measured = every_read(K, V, "decay", alpha=0.95).cosine[:, -1].mean(axis=0)
    ages = np.arange(96)[::-1]
    law = cosine(energy(96, 1 / 32, alpha=0.95, age=ages), 32, signal=signal(0.95, ages))
    np.testing.assert_allclose(measured, law, atol=0.05)
    assert mean_cosine(96, 1 / 32, alpha=0.95, d_v=32) == pytest.approx(measured.mean(), abs=0.01)
    assert mean_cosine(96, 1 / 32) == pytest.approx(float(cosine(energy(96, 1 / 32))))


@pytest.mark.parametrize("alpha", [1.0, 0.9, 0.5, 0.0])
@pytest.mark.parametrize("d_v", [None, 1, 32])
def test_the_mean_law_averages_over_ages_at_every_n(alpha, d_v):
    n = np.array([1, 2, 17, 40])
    curve = mean_cosine(n, 1 / 32, alpha=alpha, d_v=d_v)
    for count, mean in zip(n, curve):
        each = [float(cosine(energy(count, 1 / 32, alpha=alpha, age=a), d_v, signal=alpha**a)) for a in range(count)]
        assert mean == pytest.approx(np.mean(each), rel=1e-12)
    assert mean_cosine(17, 1 / 32, alpha=alpha, d_v=d_v) == pytest.approx(curve[2], rel=1e-14)


def test_perpendicular_keys_keep_their_cosine_until_nothing_is_left():
    np.testing.assert_array_equal(mean_cosine(np.array([1, 8]), 0.0, alpha=0.5, d_v=32), [1, 1])
    np.testing.assert_array_equal(mean_cosine(np.array([1, 8]), 0.0, alpha=0.0, d_v=32), [1, 1 / 8])


def test_the_exact_law_refuses_an_energy_its_series_cannot_reach():
    with pytest.raises(ValueError, match=r"^energy must"):
        cosine(1e-6, 4)


# Best memory, load


def test_the_best_memory_misses_one_minus_d_over_n():
    K, rng = many("random", 48, 16, 100)
    V = rng.standard_normal((100, 48, 64))
    _, measured = best_reads(K, V, [4, 16, 17, 32, 48])
    np.testing.assert_allclose(measured.mean(axis=0), best_energy([4, 16, 17, 32, 48], 16), atol=0.01)


@pytest.mark.parametrize("n, d, d_v", [(10, 16, 64), (40, 16, 64), (150, 8, 128), (60, 4, 64), (64, 32, 256)])
def test_pairs_are_told_apart_as_often_as_draws_tell_them(n, d, d_v):
    rng = np.random.default_rng(1)
    K, V = (rng.standard_normal((400, n, width)) for width in (d, d_v))
    K, V = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (K, V))
    nearest = np.argmax(K @ (K.mT @ V) @ V.mT, axis=-1)
    assert told_apart(n, d, d_v) == pytest.approx((nearest == np.arange(n)).mean(), abs=0.02)


def test_one_pair_and_two_are_always_told_apart_and_more_pairs_less_often():
    assert told_apart(1, 2, 2) == pytest.approx(1) and told_apart(2, 16, 64) == pytest.approx(1)
    curve = told_apart(np.arange(2, 200), 8, 64)
    assert curve.shape == (198,) and np.all(np.diff(curve) < 0) and curve[-1] > 1 / 199
    assert np.all(np.diff([told_apart(60, d, 64) for d in (4, 8, 16, 32)]) > 0)
    assert np.all(np.diff([told_apart(60, 8, d_v) for d_v in (16, 32, 64, 128)]) > 0)


def test_the_shares_told_apart_are_those_of_the_shipped_sweep():
    """As far off as the docstring says, at every width and number of pairs."""
    result = shipped("recall")
    shares = result.arrays["recall"][list(result.axes["rule"]).index("additive")]
    for j, d_v in enumerate(result.axes["d_v"]):
        law = np.array([told_apart(result.axes["n"], int(d), int(d_v)) for d in result.axes["d_phi"]])
        most = {8: 0.095, 16: 0.05, 32: 0.03}.get(int(d_v), 0.0125)
        assert np.abs(law - shares[:, j]).max() < most, d_v


def test_the_load_of_a_long_context():
    assert Load(100_000, 128).tokens_per_row == 781.25
    assert Load(2**20, 128).tokens_per_row == 8192
    assert round(Load(2**20, 128).cosine, 3) == 0.011


def test_laws_take_whole_curves():
    n = np.arange(1, 257)
    assert energy(n, 1 / 32).shape == cosine(energy(n, 1 / 32), 32).shape == best_energy(n, 32).shape == (256,)
    assert np.all(np.diff(cosine(energy(n, 1 / 32), 3)) < 0)
    assert memory_laws.__doc__
