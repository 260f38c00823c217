"""The three tokens by hand and the random ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from compute.attention import FORMS, softmax_attention
from compute.examples import HAND_K, HAND_PHI, HAND_Q, HAND_V, exact, exact_kernel, exact_steps, random_example
from compute.rank import kernel_matrix
from compute.toys import queries_and_keys


def whole(text):
    return [[int(x) for x in row.split()] for row in text.split(",")]


def test_features_by_hand():
    assert HAND_PHI(HAND_Q).tolist() == whole("1 1, 2 1, 1 2")
    assert HAND_PHI(HAND_K).tolist() == whole("2 1, 1 2, 1 1")


def test_states_sums_and_outputs_by_hand():
    steps = exact_steps()
    assert [S.tolist() for S in steps.S] == [whole("2 0, 1 0"), whole("2 1, 1 2"), whole("3 2, 2 3")]
    assert steps.z.tolist() == whole("2 1, 3 3, 4 4") and steps.num.tolist() == whole("3 0, 5 4, 7 8")
    assert steps.den.tolist() == [3, 9, 12]
    assert steps.O.tolist() == [[1, 0], [Fraction(5, 9), Fraction(4, 9)], [Fraction(7, 12), Fraction(2, 3)]]


def test_the_kernel_by_hand_and_its_masked_rows():
    assert exact_kernel().tolist() == whole("3 3 2, 5 4 3, 4 5 3")
    assert np.tril(exact_kernel()).sum(axis=1).tolist() == [3, 9, 12]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_fractions_with_eps_zero(form):
    O = FORMS[form](HAND_Q, HAND_K, HAND_V, HAND_PHI, 0.0)
    assert np.array_equal(O, exact_steps().O.astype(float))
    assert FORMS[form](HAND_Q, HAND_K, HAND_V, HAND_PHI, 1e-6)[0, 0] == pytest.approx(3 / (3 + 1e-6), rel=1e-15)


def test_the_second_query_under_softmax_without_a_temperature():
    weights = softmax_attention(HAND_Q[:2], HAND_K[:2], np.eye(2), scale=1.0)[1]
    np.testing.assert_allclose(weights, [math.e / (math.e + 1), 1 / (math.e + 1)])


def test_the_given_numbers_cannot_be_written_to():
    for a in (HAND_Q, HAND_K, HAND_V):
        with pytest.raises(ValueError):
            a[0, 0] = 1


def test_exact_is_what_a_float_is():
    assert exact(0.1).item() == Fraction(3602879701896397, 36028797018963968)
    with pytest.raises(ValueError, match=r"^x must be finite"):
        exact([np.nan])


def test_random_tokens_carry_the_temperature_of_softmax():
    Q, K, V = random_example(37, 16, 8, 4)
    raw_q, raw_k = queries_and_keys(16, 4)
    np.testing.assert_allclose(kernel_matrix(Q, K, scale=1.0), np.exp(raw_q[:37] @ raw_k[:37].T / 4), rtol=1e-12)
    assert V.shape == (37, 8) and np.array_equal(V, random_example(37, 4, 8, 4)[2])


@pytest.mark.parametrize("name, sizes", [("T", (0, 4, 4)), ("T", (2000, 4, 4)), ("d_k", (3, 0, 4)), ("d_v", (3, 4, 0))])
def test_sizes_are_checked_by_name(name, sizes):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        random_example(*sizes, 0)
