"""The memory by hand, its rules against the gradients they claim to follow, and the keys."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES, crosstalk_energy, read, recall, unit, write

every_rule = pytest.mark.parametrize("rule", [make() for make in WRITE_RULES.values()], ids=list(WRITE_RULES))
every_kind = pytest.mark.parametrize("keys", list(KEY_MAKERS.values()), ids=list(KEY_MAKERS))


def exact(rows):
    return np.vectorize(Fraction, otypes=[object])(np.array(rows, dtype=object))


def draw(seed, *lead, d=5, d_v=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((*lead, d, d_v)), rng.standard_normal((*lead, d)), rng.standard_normal((*lead, d_v))


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


@pytest.mark.parametrize(
    "word, alpha, beta, second_read",
    [
        ("additive", 1, 1, 6),
        ("decay", Fraction(1, 2), 1, Fraction(11, 2)),
        ("delta", 1, 1, 5),
        ("delta", 1, Fraction(1, 4), 2),
        ("gated_delta", Fraction(1, 2), Fraction(1, 2), Fraction(11, 4)),
    ],
)
def test_writing_one_then_five_under_the_same_unit_key(word, alpha, beta, second_read):
    """The first value is written outright, the second by the rule: 1 + 5, ½ + 5, 5, 1 + ¼(5 − 1), ½ + ½(5 − ½)."""
    k = exact([1, 0])
    S = k[:, None] * exact([1])[None, :]
    S = WRITE_RULES[word]().step(S, k, exact([5]), alpha, beta)
    assert recall(S, k).tolist() == [second_read]


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


# Rules


@every_rule
def test_a_rule_is_the_gradient_step_its_card_names(rule):
    """autograd differentiates the objective; the size of the step is β for the rules that read it, else one."""
    S, k, v = (torch.tensor(x) for x in draw(4))
    alpha, beta = 0.8, 0.3
    size = beta if "beta" in rule.uses else 1.0
    start = alpha * S if rule.word == "gated_delta" else S
    start = start.clone().requires_grad_()
    read_out = start.T @ k
    loss = {
        "additive": lambda: -(read_out @ v),
        "decay": lambda: -(read_out @ v) + (1 - alpha) / 2 * (start**2).sum(),
        "delta": lambda: ((read_out - v) ** 2).sum() / 2,
        "gated_delta": lambda: ((read_out - v) ** 2).sum() / 2,
    }[rule.word]()
    (gradient,) = torch.autograd.grad(loss, start)
    torch.testing.assert_close(rule(S, k, v, alpha=alpha, beta=beta), (start - size * gradient).detach())


@every_rule
@pytest.mark.parametrize("gate", ["alpha", "beta"])
def test_a_rule_reads_exactly_the_gates_it_declares(rule, gate):
    S, k, v = draw(5)
    changed = not np.array_equal(rule(S, k, v), rule(S, k, v, **{gate: 0.5}))
    assert changed is (gate in rule.uses)
    if gate not in rule.uses:
        np.testing.assert_array_equal(rule(S, k, v, **{gate: "nonsense"}), rule(S, k, v))


@every_rule
def test_a_rule_that_corrects_leaves_a_right_memory_alone(rule):
    S, k, _ = draw(6)
    wrote = rule(S, k, S.T @ k) - S
    assert bool(np.abs(wrote).max() < 1e-14) is rule.corrects


@pytest.mark.parametrize("special, general", [("additive", "decay"), ("delta", "gated_delta")])
def test_without_decay_the_gated_rule_is_the_plain_one(special, general):
    S, k, v = draw(7)
    np.testing.assert_array_equal(WRITE_RULES[special]()(S, k, v, beta=0.3), WRITE_RULES[general]()(S, k, v, beta=0.3))


@pytest.mark.parametrize("beta, length", [(0.5, 1.0), (1.0, 1.0), (1.5, 1.1), (1.0, 1.5), (0.065, 31**0.5)])
def test_one_delta_write_scales_the_error_under_its_key_by_one_minus_beta_k_squared(beta, length):
    S, k, v = draw(8)
    k = unit(k) * length
    before, after = v - S.T @ k, v - WRITE_RULES["delta"]()(S, k, v, beta=beta).T @ k
    np.testing.assert_allclose(after, (1 - beta * length**2) * before, atol=1e-12)


def test_delta_on_orthonormal_keys_with_full_strength_is_additive():
    K, V = np.eye(5), np.random.default_rng(9).standard_normal((5, 3))
    S = np.zeros((5, 3))
    for k, v in zip(K, V):
        S = WRITE_RULES["delta"]()(S, k, v)
    np.testing.assert_array_equal(S, write(K, V))


def test_a_gate_of_zero_flushes_the_memory_before_the_write():
    S, k, v = draw(10)
    np.testing.assert_array_equal(WRITE_RULES["decay"]()(S, k, v, alpha=0.0), np.outer(k, v))
    np.testing.assert_allclose(WRITE_RULES["gated_delta"]()(S, k, v, alpha=0.0, beta=0.4), 0.4 * np.outer(k, v))


def test_one_alpha_per_row_decays_row_by_row():
    S, k, v = draw(11, 2)
    alpha = np.random.default_rng(12).uniform(0, 1, (2, 5))
    expected = np.stack([np.diag(a) @ s + np.outer(x, y) for a, s, x, y in zip(alpha, S, k, v)])
    np.testing.assert_allclose(WRITE_RULES["decay"]()(S, k, v, alpha=alpha), expected, atol=1e-15)


@every_rule
def test_lead_axes_are_separate_memories_with_their_own_gates(rule):
    S, k, v = draw(13, 2, 3)
    alpha, beta = np.random.default_rng(14).uniform(0, 1, (2, 2, 3))
    together = rule(S, k, v, alpha=alpha, beta=beta)
    for i in np.ndindex(2, 3):
        np.testing.assert_allclose(together[i], rule(S[i], k[i], v[i], alpha=alpha[i], beta=beta[i]), atol=1e-15)


@every_rule
def test_every_rule_carries_its_card(rule):
    for text in (rule.label, rule.latex, rule.objective, rule.objective_latex, rule.used_by, rule.source, rule.__doc__):
        assert text and text.strip()
    assert "arXiv:" in rule.source
    for name in ("alpha", "beta"):
        assert (rf"\{name}" in rule.latex) is (name in rule.uses)
    assert hash(rule) == hash(type(rule)()) and rule == type(rule)()


def test_rules_stand_in_teaching_order():
    assert list(WRITE_RULES) == ["additive", "decay", "delta", "gated_delta"]


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


# Keys


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
