"""The four write rules, against the gradients that they claim to follow."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from memory_cases import draw, every_rule, exact

from compute.memory import WRITE_RULES, recall, unit, write

# By hand


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
