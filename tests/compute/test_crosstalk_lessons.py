"""What the lessons say of the write rules, read off the table of all reads."""

import numpy as np
import pytest

from compute.crosstalk import every_read
from compute.keys import KEY_MAKERS


def pairs(kind="random", n=70, d=8, d_v=5, seed=0):
    rng = np.random.default_rng(seed)
    keys = KEY_MAKERS[kind]
    K = keys(min(n, keys.most(d) or n), d, rng)
    return K, rng.standard_normal((len(K), d_v))


def mean_over_trials(kind, rule, n, trials=60, d=32):
    rng = np.random.default_rng(7)
    K = np.stack([KEY_MAKERS[kind](n, d, rng) for _ in range(trials)])
    return every_read(K, rng.standard_normal((trials, n, d)), rule)


@pytest.mark.parametrize(
    "kind, n, additive, delta",
    [("random", 32, 0.709, 0.675), ("random", 128, 0.44, 0.24), ("correlated", 32, 0.33, 0.45)],
)
def test_full_strength_delta_reads_the_newest_exactly_but_the_average_can_be_worse_than_additive(
    kind, n, additive, delta
):
    """Bands of about four standard errors over 60 trials."""
    for rule, expected in (("additive", additive), ("delta", delta)):
        reads = mean_over_trials(kind, rule, n)
        assert reads.mean_cosine[:, n - 1].mean() == pytest.approx(expected, abs=0.017)
        newest = reads.newest[:, n - 1]
        assert bool(np.abs(newest - 1).max() < 1e-12) is (rule == "delta")


def test_an_additive_memory_never_forgets_and_a_decaying_one_forgets_geometrically():
    K, V = pairs(n=60)
    np.testing.assert_allclose(every_read(K, V, "additive").own[:, 0], 1, atol=1e-14)
    np.testing.assert_allclose(every_read(K, V, "decay", alpha=0.9).own[:, 0], 0.9 ** np.arange(60), atol=1e-14)


def test_a_stale_value_is_removed_by_delta_and_blended_by_additive():
    """The same key twice: the read of the first pair turns into the second value, or into the sum of both."""
    K, V = np.array([[0.6, 0.8], [0.6, 0.8]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(every_read(K, V, "delta").cosine, [[1, np.nan], [0, 1]], atol=1e-14)
    np.testing.assert_allclose(every_read(K, V, "additive").cosine, [[1, np.nan], [0.5**0.5] * 2], atol=1e-14)
