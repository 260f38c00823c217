"""The memory by hand, and its crosstalk."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from memory_cases import draw, every_rule, exact

from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES, crosstalk_energy, read, recall, recognised, unit, write

# By hand


def test_two_orthogonal_pairs_read_back_exactly():
    S = write([[1, 0], [0, 1]], [[1, 2], [4, 0]])
    np.testing.assert_array_equal(S, [[1, 2], [4, 0]])
    np.testing.assert_array_equal(read(S, [1, 0]), [1, 2])
    np.testing.assert_array_equal(read(S, [0, 1]), [4, 0])


def test_a_third_pair_between_them_disturbs_both_in_exact_fractions():
    keys, values = exact([[1, 0], [0, 1], ["3/5", "4/5"]]), exact([[1, 2], [4, 0], [0, 5]])
    S = exact(np.zeros((2, 2), dtype=int))
    for k, v in zip(keys, values):
        S = WRITE_RULES["additive"]().step(S, k, v, 1, 1)
    assert S.tolist() == [[1, 5], [4, 4]]
    assert recall(S, keys[0]).tolist() == [1, 5]
    assert recall(S, keys[2]).tolist() == [Fraction(19, 5), Fraction(31, 5)]


def test_the_public_functions_give_the_same_third_pair():
    S = write([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]], [[1.0, 2.0], [4.0, 0.0], [0.0, 5.0]])
    np.testing.assert_allclose(S, [[1, 5], [4, 4]], atol=1e-15)
    np.testing.assert_allclose(read(S, [30.0, 40.0]), [3.8, 6.2], atol=1e-14)


def test_a_read_is_the_value_plus_every_other_value_weighted_by_key_overlap():
    rng = np.random.default_rng(0)
    K, V = unit(rng.standard_normal((9, 4))), rng.standard_normal((9, 3))
    overlap = np.einsum("sd,d->s", K, K[2])
    others = sum(overlap[s] * V[s] for s in range(9) if s != 2)
    np.testing.assert_allclose(read(write(K, V), K[2]), V[2] + others, atol=1e-14)


def test_a_sum_of_outer_products_is_one_matrix_product():
    rng = np.random.default_rng(1)
    K, V = unit(rng.standard_normal((2, 7, 4))), rng.standard_normal((2, 7, 3))
    np.testing.assert_allclose(write(K, V), np.einsum("bsd,bsv->bdv", K, V), atol=1e-14)


def test_no_memory_reads_back_more_than_d_generic_pairs():
    rng = np.random.default_rng(2)
    for n, perfect in ((6, True), (7, False)):
        K, V = unit(rng.standard_normal((n, 6))), rng.standard_normal((n, 4))
        S, *_ = np.linalg.lstsq(K, V)
        assert np.allclose(K @ S, V, atol=1e-9) is perfect


# Crosstalk


@pytest.mark.parametrize("n, d", [(1, 5), (4, 5), (5, 5), (6, 5), (40, 5)])
def test_crosstalk_energy_is_the_mean_of_the_off_diagonal_squares(n, d):
    K = np.random.default_rng(n).standard_normal((3, n, d)) * 7
    for one, energy in zip(K, crosstalk_energy(K)):
        cosines = np.corrcoef(np.concatenate([one, -one], axis=1))  # mean zero, so correlation is the cosine
        rows = np.atleast_2d(cosines)
        assert energy == pytest.approx(
            sum(rows[i, j] ** 2 for i in range(n) for j in range(n) if i != j) / n, abs=1e-13
        )


def test_crosstalk_energy_of_perpendicular_keys_is_zero_and_of_equal_keys_n_minus_one():
    assert crosstalk_energy(np.eye(6)) == 0
    assert crosstalk_energy(np.ones((6, 3))) == pytest.approx(5, rel=1e-14)


def test_crosstalk_energy_of_a_hundred_thousand_keys_needs_no_matrix_of_that_side():
    K = np.random.default_rng(26).standard_normal((100_000, 4))
    assert crosstalk_energy(K) == pytest.approx(99_999 / 4, rel=0.01)


def test_random_keys_disturb_by_n_minus_one_over_d():
    K = np.random.default_rng(3).standard_normal((40, 64, 32))
    assert crosstalk_energy(K).mean() == pytest.approx(63 / 32, rel=0.02)


# Kinds of arrays, and what is refused


DTYPES = ["float64", "float32", "float16", "bfloat16", "int64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_in_torch_out_with_the_same_floating_dtype(dtype):
    cast = getattr(torch, dtype)
    out = torch.float64 if dtype == "int64" else cast
    S, k, v = (torch.tensor(4 * x).round().to(cast) for x in draw(15))
    K = torch.tensor(4 * draw(16)[0] + 9).round().to(cast)
    results = [write(K, K), read(S, k), crosstalk_energy(K)]
    results += [rule()(S, k, v, alpha=0.5, beta=0.5) for rule in WRITE_RULES.values()]
    assert {r.dtype for r in results} == {out}


@every_rule
def test_torch_and_numpy_agree(rule):
    S, k, v = draw(17, 2)
    alpha, beta = np.array([0.3, 0.9]), np.array([0.5, 1.5])
    tensors = [torch.tensor(x) for x in (S, k, v, alpha, beta)]
    np.testing.assert_allclose(
        rule(*tensors[:3], alpha=tensors[3], beta=tensors[4]).numpy(), rule(S, k, v, alpha=alpha, beta=beta), atol=1e-15
    )


def test_inputs_are_left_as_they_were():
    S, k, v = draw(18)
    K, V = np.random.default_rng(19).standard_normal((2, 6, 4))
    copies = [x.copy() for x in (S, k, v, K, V)]
    write(K, V), read(S, k), crosstalk_energy(K)
    for rule in WRITE_RULES.values():
        rule()(S, k, v, alpha=0.5, beta=0.5)
    for given, copy in zip((S, k, v, K, V), copies):
        np.testing.assert_array_equal(given, copy)


def test_unit_length_survives_extreme_sizes():
    for size in (1e-300, 1e-8, 1e300):
        np.testing.assert_allclose(unit(np.array([3.0, 4.0]) * size), [0.6, 0.8], rtol=1e-14)


@pytest.mark.parametrize(
    "name, call",
    [
        ("K", lambda: write(np.zeros((2, 3)), np.ones((2, 3)))),
        ("K", lambda: write(np.ones(3), np.ones((2, 3)))),
        ("K", lambda: write(np.full((2, 3), np.nan), np.ones((2, 3)))),
        ("V", lambda: write(np.ones((2, 3)), np.ones((3, 3)))),
        ("V", lambda: write(np.ones((2, 3)), np.full((2, 3), np.inf))),
        ("q", lambda: read(np.ones((3, 2)), np.zeros(3))),
        ("q", lambda: read(np.ones((3, 2)), np.ones(2))),
        ("q", lambda: read(np.ones((4, 3, 2)), np.ones(3))),
        ("S", lambda: read(np.ones(3), np.ones(3))),
        ("K", lambda: crosstalk_energy(np.zeros((2, 3)))),
        ("S", lambda: WRITE_RULES["delta"]()(np.ones(3), np.ones(3), np.ones(1))),
        ("k", lambda: WRITE_RULES["delta"]()(np.ones((3, 2)), np.ones(2), np.ones(2))),
        ("v", lambda: WRITE_RULES["delta"]()(np.ones((3, 2)), np.ones(3), np.ones(3))),
        ("alpha", lambda: WRITE_RULES["decay"]()(np.ones((3, 2)), np.ones(3), np.ones(2), alpha=np.ones(2))),
        ("alpha", lambda: WRITE_RULES["decay"]()(np.ones((3, 2)), np.ones(3), np.ones(2), alpha="slow")),
        ("alpha", lambda: WRITE_RULES["decay"]()(np.ones((3, 2)), np.ones(3), np.ones(2), alpha=torch.ones(3))),
        ("beta", lambda: WRITE_RULES["delta"]()(np.ones((3, 2)), np.ones(3), np.ones(2), beta=np.ones(3))),
        ("n", lambda: KEY_MAKERS["orthonormal"](5, 4, np.random.default_rng(0))),
        ("d", lambda: KEY_MAKERS["correlated"](5, 1, np.random.default_rng(0))),
        ("rho", lambda: KEY_MAKERS["correlated"](5, 4, np.random.default_rng(0), rho=1.5)),
    ],
)
def test_a_bad_value_is_refused_by_its_name(name, call):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        call()


def test_a_stack_of_queries_is_read_at_once():
    S, _, _ = draw(20, 2)
    queries = np.random.default_rng(21).standard_normal((2, 7, 5))
    np.testing.assert_allclose(read(S, queries)[:, 3], read(S, queries[:, 3]), atol=1e-15)


# What is recognised


def test_a_read_is_recognised_when_its_own_value_is_the_nearest():
    V = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    O = np.array([[0.9, 0.8], [0.6, 0.5], [1.0, 1.0]])  # nearest: the first, the first, the first or the second
    assert recognised(O, V) == pytest.approx(1 / 3)
    assert recognised(V, V) == 1


def test_a_nearest_value_need_not_have_the_largest_inner_product():
    assert recognised(np.array([[1.0, 0.0], [5.0, 0.0]]), np.array([[1.0, 0.0], [5.0, 0.0]])) == 1


def test_perpendicular_keys_are_all_recognised_and_crowded_ones_are_not():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((3, 8, 16))
    K = np.broadcast_to(np.eye(8), (3, 8, 8))
    assert recognised(K @ write(K, V), V).tolist() == [1, 1, 1]
    K, V = rng.standard_normal((200, 8)), rng.standard_normal((200, 4))
    reads = read(write(K, V), K)
    distance = np.linalg.norm(reads[:, None] - V, axis=-1)
    assert recognised(reads, V) == np.mean(np.argmin(distance, axis=1) == np.arange(200)) < 0.5
    assert recognised(torch.from_numpy(reads), torch.from_numpy(V)) == recognised(reads, V)


def test_reads_and_values_must_match():
    with pytest.raises(ValueError, match=r"^O must have the shape of V"):
        recognised(np.ones((3, 2)), np.ones((4, 2)))
