"""The makers of keys: lengths and overlaps as they are declared."""

import numpy as np
import pytest

from compute.keys import KEY_MAKERS
from compute.memory import crosstalk_energy, unit

every_kind = pytest.mark.parametrize("keys", list(KEY_MAKERS.values()), ids=list(KEY_MAKERS))


@every_kind
def test_keys_have_length_one_and_a_prefix_does_not_depend_on_how_many_follow(keys):
    many = keys(8, 8, np.random.default_rng(22), rho=0.7)
    np.testing.assert_allclose(np.linalg.norm(many, axis=-1), 1, atol=1e-15)
    np.testing.assert_array_equal(keys(3, 8, np.random.default_rng(22), rho=0.7), many[:3])


@every_kind
@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_the_overlap_a_kind_declares_is_measured(keys, rho):
    d = 8
    n = keys.most(d) or 12
    rng = np.random.default_rng(23)
    energy = np.mean([crosstalk_energy(keys(n, d, rng, rho)) for _ in range(400)])
    assert energy / (n - 1) == pytest.approx(keys.overlap(d, rho), rel=0.03, abs=1e-15)


def test_orthonormal_keys_end_at_d_and_point_everywhere():
    keys = KEY_MAKERS["orthonormal"]
    assert keys.most(6) == 6
    np.testing.assert_allclose(np.linalg.svd(keys(6, 6, np.random.default_rng(24)))[1], 1, atol=1e-14)
    first = np.stack([keys(1, 3, np.random.default_rng(seed))[0] for seed in range(600)])
    assert np.abs(first.mean(axis=0)).max() < 0.12  # five standard errors; a raw QR factor is off by 0.5


def test_correlated_keys_share_one_direction_and_nothing_else():
    K = KEY_MAKERS["correlated"](4000, 6, np.random.default_rng(25), rho=0.36)
    shared = unit(K.mean(axis=0))
    np.testing.assert_allclose(K @ shared, 0.6, atol=0.06)
    rest = unit(K - (K @ shared)[:, None] * shared)
    assert np.abs(rest.mean(axis=0)).max() < 0.05
