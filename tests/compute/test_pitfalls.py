"""The recurrent form broken on purpose: what each mistake gives, by hand and against sums written another way."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from compute.attention import FORMS, causal_linear_attention_recurrent
from compute.examples import HAND_EPS, exact_steps, random_example
from compute.feature_maps import FEATURE_MAPS
from compute.pitfalls import PITFALLS, recurrent_steps, writes

every_pitfall = pytest.mark.parametrize("pitfall", PITFALLS)
PHI = FEATURE_MAPS["elu"]()
IDENTITY = FEATURE_MAPS["identity"]()


def features(T=23, d_k=6, d_v=4, seed=3):
    Q, K, V = random_example(T, d_k, d_v, seed)
    return PHI(Q), PHI(K), V


def prefix(phi_k, V, t):
    """State after t tokens, as one product and not as a loop."""
    return np.einsum("tf,tv->fv", phi_k[:t], V[:t]), phi_k[:t].sum(axis=0)


def test_without_a_mistake_the_steps_are_those_of_the_recurrent_form():
    phi_q, phi_k, V = features()
    steps = recurrent_steps(phi_q, phi_k, V, 1e-6)
    assert np.array_equal(steps.O, causal_linear_attention_recurrent(phi_q, phi_k, V, IDENTITY, 1e-6))
    for t in (0, 7, 22):
        S, z = prefix(phi_k, V, t + 1)
        np.testing.assert_allclose(steps.S[t], S)
        np.testing.assert_allclose(steps.z[t], z)
        np.testing.assert_allclose(steps.O[t], steps.num[t] / (steps.den[t] + 1e-6))


def test_every_write_has_rank_one_and_is_what_the_state_gained():
    phi_q, phi_k, V = features()
    steps = recurrent_steps(phi_q, phi_k, V)
    np.testing.assert_allclose(np.diff(steps.S, axis=0), writes(phi_k, V)[1:], atol=1e-12)
    assert set(np.linalg.matrix_rank(writes(phi_k, V))) == {1}


def test_reading_first_gives_the_output_of_the_tokens_before():
    phi_q, phi_k, V = features()
    steps = recurrent_steps(phi_q, phi_k, V, 0, "read_first")
    assert np.isnan(steps.O[0]).all()
    for t in (1, 9, 22):
        S, z = prefix(phi_k, V, t)
        np.testing.assert_allclose(steps.O[t], S.T @ phi_q[t] / (z @ phi_q[t]))
    assert (recurrent_steps(phi_q, phi_k, V, 1e-6, "read_first").O[0] == 0).all()


def test_a_transposed_state_fits_equal_widths_only():
    phi_q, phi_k, V = features(d_k=4)
    steps = recurrent_steps(phi_q, phi_k, V, 0, "transposed")
    S, z = prefix(phi_k, V, 9)
    np.testing.assert_allclose(steps.O[8], S @ phi_q[8] / (z @ phi_q[8]))
    with pytest.raises(ValueError, match=r"^V must be as wide as the features, 6, .* got 4"):
        recurrent_steps(*features(d_k=6), 0, "transposed")


def test_a_sum_over_features_makes_constant_values_grow_with_their_number():
    phi_q, phi_k, _ = features()
    steps = recurrent_steps(phi_q, phi_k, np.ones((23, 1)), 0, "feature_sum")
    expected = [(phi_k[: t + 1] @ phi_q[t]).sum() / phi_q[t].sum() for t in range(23)]
    np.testing.assert_allclose(steps.O[:, 0], expected)
    assert steps.O[-1, 0] > 10


def test_an_eps_inside_is_the_right_form_of_a_raised_map_without_eps():
    Q, K, V = random_example(23, 4, 3, 5)
    relu = FEATURE_MAPS["relu"]()
    steps = recurrent_steps(relu(Q), relu(K), V, 1e-3, "eps_inside")
    expected = FORMS["parallel"](Q, K, V, lambda x: np.clip(x, 0, None) + 1e-3, 0.0)
    np.testing.assert_allclose(steps.O, expected, rtol=1e-10)


def test_a_bfloat16_state_holds_numbers_of_eight_binary_digits_as_torch_rounds_them():
    phi_q, phi_k, V = features(T=60)
    steps = recurrent_steps(phi_q, phi_k, V, 0, "bf16")
    S = torch.zeros(6, 4, dtype=torch.float64)
    for t in range(60):
        S = (S + torch.outer(torch.tensor(phi_k[t]), torch.tensor(V[t]))).bfloat16().double()
        assert np.array_equal(steps.S[t], S.numpy())
    assert not np.array_equal(steps.S[-1], recurrent_steps(phi_q, phi_k, V).S[-1])


def test_a_bfloat16_state_of_ones_stalls_at_256():
    ones = np.ones((300, 1))
    steps = recurrent_steps(ones, ones, ones, 0, "bf16")
    assert steps.z[254] == 255 and set(steps.z[255:, 0]) == {256.0}
    assert (steps.O == 1).all()  # constant values do not show it


@every_pitfall
def test_fractions_stay_fractions(pitfall):
    steps = exact_steps(pitfall)
    defined = [x for part in steps for x in part.flat if x == x]
    assert all(isinstance(x, (Fraction, int)) for x in defined)


OUTPUTS = {
    "none": "1 0  5/9 4/9  7/12 2/3",
    "one_summary": "5/8 5/8  2/3 7/12  7/12 2/3",
    "read_first": "nan nan  1 0  4/9 5/9",
    "transposed": "2/3 1/3  5/9 4/9  7/12 2/3",
    "feature_sum": "3/2 0  5/3 4/3  7/3 8/3",
    "bf16": "1 0  5/9 4/9  7/12 2/3",
}


@pytest.mark.parametrize("pitfall", OUTPUTS)
def test_three_tokens_by_hand_under_each_mistake(pitfall):
    assert [str(x) for x in exact_steps(pitfall).O.flat] == OUTPUTS[pitfall].split()


def test_an_eps_inside_by_hand():
    """φ(q₂) = (2 + ε, 1 + ε) against (2 + ε, 1 + ε) and (1 + ε, 2 + ε): weights 5 + 6ε + 2ε² and 4 + 6ε + 2ε²."""
    e = HAND_EPS
    first, second = 5 + 6 * e + 2 * e**2, 4 + 6 * e + 2 * e**2
    assert list(exact_steps("eps_inside").O[1]) == [first / (first + second), second / (first + second)]


@every_pitfall
def test_inputs_are_left_alone_and_every_pitfall_is_described(pitfall):
    phi_q, phi_k, V = features(d_k=4)
    before = [a.copy() for a in (phi_q, phi_k, V)]
    recurrent_steps(phi_q, phi_k, V, 1e-6, pitfall)
    assert all(np.array_equal(a, b) for a, b in zip((phi_q, phi_k, V), before))
    told = PITFALLS[pitfall]
    assert told.word == pitfall and told.label and told.latex and (pitfall == "none" or (told.why and told.caught_by))


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"pitfall": "typo"}, "^pitfall must be one of none, one_summary, read_first"),
        ({"phi_k": np.ones((3, 3))}, "^phi_k must have the shape of phi_q"),
        ({"V": np.ones((2, 2))}, "^V must hold one value per key"),
        ({"eps": -1.0}, "^eps must not be negative"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, complaint):
    good = {"phi_q": np.ones((3, 2)), "phi_k": np.ones((3, 2)), "V": np.ones((3, 2))}
    with pytest.raises(ValueError, match=complaint):
        recurrent_steps(**{**good, **change})
