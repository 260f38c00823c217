"""Whether two computations agree: outputs, gradients, constant values."""

from __future__ import annotations

import numpy as np
import pytest

from compute.agreement import apart, constant_outputs, gradients_apart, outputs_of_forms, row_sums, shortfall
from compute.attention import FORMS, autograd_gradients, cumulative_sum_gradients
from compute.examples import random_example
from compute.feature_maps import FEATURE_MAPS

PHI = FEATURE_MAPS["elu"]()


def test_every_form_is_run_and_they_agree():
    Q, K, V = random_example(37, 16, 8, 0)
    told = outputs_of_forms(Q, K, V, PHI, 1e-6, 10)
    assert list(told) == list(FORMS)
    assert all(0 < apart(told[a], told["parallel"]).max() < 1e-14 for a in ("recurrent", "chunkwise"))


def test_the_chunk_reaches_the_chunkwise_form():
    Q, K, V = random_example(37, 16, 8, 0)
    one, all_ = (outputs_of_forms(Q, K, V, PHI, 1e-6, chunk)["chunkwise"] for chunk in (1, 37))
    assert not np.array_equal(one, all_)


def test_apart_is_the_worst_entry_of_each_row_and_undefined_where_only_one_is():
    nan = np.nan
    A = np.array([[1.0, 2.0], [nan, 1.0], [nan, nan], [3.0, nan]])
    B = np.array([[1.5, 0.0], [1.0, 1.0], [nan, nan], [1.0, nan]])
    np.testing.assert_array_equal(apart(A, B), [2.0, nan, 0.0, 2.0])
    with pytest.raises(ValueError, match=r"^B must have the shape of A"):
        apart(A, B[:2])


def test_constant_outputs_show_the_channel_that_is_farthest_from_one():
    O = np.array([[1.0, 1.0], [1.2, 0.5], [np.nan, 1.0]])
    np.testing.assert_array_equal(constant_outputs(O), [1.0, 0.5, np.nan])


def test_row_sums_are_denominators():
    Q, K, _ = random_example(9, 4, 2, 1)
    kernel = PHI(Q) @ PHI(K).T
    expected = [sum(kernel[t, s] for s in range(t + 1)) for t in range(9)]
    np.testing.assert_allclose(row_sums(kernel), expected)


def test_a_normaliser_in_bfloat16_is_78_percent_short_after_4096_tokens():
    features = PHI(np.random.default_rng(1).standard_normal((4096, 8)))
    assert shortfall(features, "bfloat16") == pytest.approx(0.78, abs=0.015)
    assert abs(shortfall(features, "float64")) < 1e-12
    assert shortfall(np.ones((512, 1)), "bfloat16") == 0.5


@pytest.mark.parametrize("chunk", [1, 10, 37])
def test_gradients_of_loop_chunks_and_matrix_agree_and_are_those_of_autograd(chunk):
    Q, K, V = random_example(37, 6, 4, 2)
    phi_q, phi_k, G = PHI(Q), PHI(K), np.random.default_rng(0).standard_normal((37, 4))
    assert max(gradients_apart(phi_q, phi_k, V, G, 1e-6, chunk=chunk)) < 1e-14
    ours = cumulative_sum_gradients(phi_q, phi_k, V, G, 1e-6, chunk=chunk)
    for form in FORMS.values():
        theirs = autograd_gradients(phi_q, phi_k, V, G, 1e-6, form=form)
        assert all(np.allclose(a, b, rtol=0, atol=1e-13 * np.abs(b).max()) for a, b in zip(ours, theirs))


def test_a_gradient_that_is_off_is_noticed(monkeypatch):
    """The comparison is not of a thing with itself."""
    Q, K, V = random_example(12, 4, 3, 2)
    right = cumulative_sum_gradients

    def wrong(*args, chunk, **options):
        grads = right(*args, chunk=chunk, **options)
        return (*grads[:2], grads[2] * (1 + 1e-3 * (chunk == 5)))

    monkeypatch.setattr("compute.agreement.cumulative_sum_gradients", wrong)
    loop, chunks = gradients_apart(PHI(Q), PHI(K), V, V, 1e-6, chunk=5)
    assert loop < 1e-14 and 1e-6 < chunks <= 1e-3
