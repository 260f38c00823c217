"""One read taken apart over the whole filling, and reads that name the right value."""

from __future__ import annotations

import numpy as np
import pytest

from compute.memory import WRITE_RULES, unit, write
from compute.read_weights import named_right, read_weights, split_read

rng = np.random.default_rng(5)
K, V = unit(rng.standard_normal((70, 9))), rng.standard_normal((70, 6))
ALPHA = np.where(np.arange(70) == 40, 0.0, 0.97)

every_rule = pytest.mark.parametrize("rule", WRITE_RULES)


@every_rule
@pytest.mark.parametrize("j", [0, 31, 32, 69])
def test_the_weights_of_a_read_are_those_of_writing_names_one_by_one(rule, j):
    """The memory of names, written by the rule itself."""
    step, S = WRITE_RULES[rule](), np.zeros((9, 70))
    told = read_weights(K, rule, j, alpha=ALPHA, beta=0.7)
    for n in range(70):
        S = step(S, K[n], np.eye(70)[n], alpha=ALPHA[n], beta=0.7)
        np.testing.assert_allclose(told[n], K[j] @ S, atol=1e-12, err_msg=str(n))


@every_rule
def test_one_row_is_what_split_read_says(rule):
    told = read_weights(K, rule, 12, alpha=ALPHA, beta=0.7)
    for n in (13, 40, 41, 70):
        alone = split_read(K, V, rule, n, 12, alpha=ALPHA, beta=0.7)
        np.testing.assert_allclose(told[n - 1, :n], alone.weights, atol=1e-12)
        assert not told[n - 1, n:].any()


def test_leading_axes_are_independent_memories():
    both = read_weights(np.stack([K, K[::-1]]), "delta", 3, beta=0.5)
    np.testing.assert_allclose(both[1], read_weights(K[::-1].copy(), "delta", 3, beta=0.5), atol=1e-12)


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    told = read_weights(torch.from_numpy(K), "gated_delta", 3, alpha=0.9, beta=0.5)
    np.testing.assert_allclose(told.numpy(), read_weights(K, "gated_delta", 3, alpha=0.9, beta=0.5), atol=1e-12)


@pytest.mark.parametrize("j", [-1, 70, 1.5, True])
def test_a_pair_that_is_not_there_is_refused(j):
    with pytest.raises(ValueError, match=r"^j must"):
        read_weights(K, "additive", j)


def test_orthogonal_keys_always_name_their_value_and_one_row_hardly_ever():
    assert named_right(write(np.eye(6), V[:6]), np.eye(6), V[:6]) == 1
    far = named_right(np.ones((9, 6)), K, V)
    assert 0 <= far < 0.1


def test_the_nearest_value_is_found_by_distance():
    """A search by hand over every stored value; stale ones count among the candidates."""
    S = write(K, V)
    hits = [np.argmin(((K[j] @ S - V) ** 2).sum(axis=1)) == j for j in range(60, 70)]
    assert named_right(S, K[60:], V) == pytest.approx(np.mean(hits))
    with pytest.raises(ValueError, match=r"^K must not hold more keys"):
        named_right(S, K, V[:10])
