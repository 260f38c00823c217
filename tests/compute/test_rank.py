"""Kernel matrices and their spectra, against scipy."""

import numpy as np
import pytest
import scipy.linalg
import torch
from attention_cases import elu
from rank_cases import every_map, toys

from compute.feature_maps import FEATURE_MAPS
from compute.rank import (
    block_rank,
    feature_spectra,
    feature_spectrum,
    kernel_matrix,
    kernel_spectrum,
    numerical_rank,
    rank_of,
    spectra,
    spectrum,
)

# The kernel matrix


def test_the_softmax_kernel_is_the_plain_exponential_with_the_temperature_of_its_width():
    Q, K = toys(7, 4)
    weights = kernel_matrix(Q, K, None)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    want = torch.nn.functional.scaled_dot_product_attention(*(torch.tensor(x) for x in (Q, K, np.eye(7)))).numpy()
    np.testing.assert_allclose(weights, want, atol=1e-14)
    np.testing.assert_allclose(kernel_matrix([[2.0]], [[3.0]], None, 0.5), [[np.e**3]])


def test_a_map_sees_its_inputs_as_given_unless_a_scale_is_named():
    Q, K = toys(5, 3)
    np.testing.assert_allclose(kernel_matrix(Q, K, lambda x: x), Q @ K.T)
    np.testing.assert_allclose(kernel_matrix(Q, K, lambda x: x, 0.25), Q @ K.T / 4)
    np.testing.assert_allclose(kernel_matrix(Q, K, lambda x: x**2, 4.0), 16 * (Q**2 @ (K**2).T))


def test_a_features_kernel_is_a_sum_of_outer_products():
    Q, K = toys(6, 3)
    want = sum(np.outer(q, k) for q, k in zip(elu(Q).T, elu(K).T))
    np.testing.assert_allclose(kernel_matrix(Q, K, elu), want, atol=1e-13)


# Spectra


@every_map
def test_every_route_gives_the_singular_values_of_scipy(phi):
    Q, K = toys(96)
    want = scipy.linalg.svdvals(kernel_matrix(Q, K, phi))
    got = kernel_spectrum(Q, K, phi)
    np.testing.assert_allclose(got, want[: len(got)], atol=1e-13 * want[0])
    assert np.all(want[len(got) :] < 1e-13 * want[0])
    np.testing.assert_allclose(spectrum(kernel_matrix(Q, K, phi)), want, atol=1e-13 * want[0])
    same = scipy.linalg.svdvals(kernel_matrix(K, K, phi))
    np.testing.assert_allclose(kernel_spectrum(K, K, phi), same[: len(got)], atol=1e-13 * same[0])


def test_a_symmetric_matrix_of_any_sign_may_take_the_eigenvalue_route():
    A = np.random.default_rng(0).standard_normal((20, 20))
    np.testing.assert_allclose(spectrum(A + A.T, symmetric=True), scipy.linalg.svdvals(A + A.T), atol=1e-12)


@pytest.mark.parametrize("shape", [(256, 256), (256, 300), (256, 40), (300, 256), (2, 512, 512)])
def test_a_matrix_whose_columns_would_share_the_cache_has_its_own_singular_values_and_no_other(shape):
    A = np.random.default_rng(3).standard_normal(shape)
    want = torch.linalg.svdvals(torch.tensor(A)).numpy()
    got = spectrum(A)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-13 * want.max())


@pytest.mark.parametrize("N_q, N_k, d_phi", [(50, 50, 4), (50, 3, 4), (3, 50, 4), (5, 5, 8), (4, 4, 4), (1, 1, 1)])
def test_features_of_any_shape(N_q, N_k, d_phi):
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((N_q, d_phi)), rng.standard_normal((N_k, d_phi))
    got = feature_spectrum(A, B)
    assert got.shape == (min(N_q, N_k, d_phi),)
    np.testing.assert_allclose(got, scipy.linalg.svdvals(A @ B.T)[: len(got)], atol=1e-12)


def test_thin_features_never_form_the_whole_matrix():
    rng = np.random.default_rng(2)
    assert feature_spectrum(*rng.standard_normal((2, 400_000, 2))).shape == (2,)  # N × N would be 1.3 TB


@every_map
def test_prefixes_are_padded_with_exact_zeros_and_then_nothing(phi):
    Q, K = toys(64, 4)
    lengths = [2, 16, 64]
    rows = spectra(Q, K, phi, lengths)
    assert rows.shape == (3, 64)
    for row, N in zip(rows, lengths):
        values = kernel_spectrum(Q[:N], K[:N], phi)
        np.testing.assert_allclose(row[: len(values)], values, rtol=1e-9, atol=1e-13 * values[0])
        np.testing.assert_array_equal(row[len(values) : N], 0)
        assert np.isnan(row[N:]).all()
    np.testing.assert_array_equal(rank_of(rows), [numerical_rank(kernel_matrix(Q[:N], K[:N], phi)) for N in lengths])


def test_prefixes_of_features_need_no_more_rows_on_one_side_than_on_the_other():
    A, B = np.random.default_rng(3).standard_normal((30, 4)), np.random.default_rng(4).standard_normal((20, 4))
    for N, values in zip((3, 12, 20), feature_spectra(A, B, (3, 12, 20)), strict=True):
        np.testing.assert_allclose(values, feature_spectrum(A[:N], B[:N]), rtol=1e-12)


@pytest.mark.parametrize("word", FEATURE_MAPS)
def test_a_merged_map_has_the_same_kernel_and_no_feature_twice(word):
    Q, K = toys(60, 4)
    phi = FEATURE_MAPS[word]()
    assert phi.merged().d_phi(4) == phi.rank_bound(4)
    np.testing.assert_allclose(kernel_matrix(Q, K, phi.merged()), kernel_matrix(Q, K, phi), rtol=1e-12)


# Kinds of arrays, and what is refused


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int64"])
def test_rank_works_in_float64_whatever_comes_in(dtype):
    Q, K = (torch.tensor(3 * x).round().to(getattr(torch, dtype)) for x in toys(32, 4))
    M = kernel_matrix(Q, K, lambda x: x + 1)
    assert M.dtype == spectrum(M).dtype == kernel_spectrum(Q, K, None).dtype == torch.float64
    assert numerical_rank(M) == 4


def test_torch_agrees_with_numpy_on_stacks():
    Q, K = (np.stack([a, b]) for a, b in zip(toys(40, 5), toys(40, 5, seed=1)))
    for phi, torch_phi in ((None, None), (elu, lambda x: torch.nn.functional.elu(x) + 1)):
        want = kernel_spectrum(Q, K, phi)
        got = kernel_spectrum(torch.tensor(Q), torch.tensor(K), torch_phi).numpy()
        np.testing.assert_allclose(got, want, atol=1e-12 * want.max())
        assert spectra(torch.tensor(Q), torch.tensor(K), torch_phi, [8, 40]).shape == (2, 2, 40)


def test_inputs_are_left_as_they_were():
    Q, K = (x.copy() for x in toys(20, 4))
    before = Q.copy(), K.copy()
    kernel_matrix(Q, K, elu, 0.5), kernel_spectrum(Q, K), spectra(Q, K, elu, [5, 20])
    np.testing.assert_array_equal((Q, K), before)


@pytest.mark.parametrize(
    "name, call",
    [
        ("Q", lambda Q, K: kernel_matrix(Q * np.nan, K, None)),
        ("Q", lambda Q, K: kernel_matrix(Q * 1e3, K, None)),
        ("K", lambda Q, K: kernel_matrix(Q, K[:, :3], None)),
        ("K", lambda Q, K: kernel_matrix(Q, K[None], None)),
        ("scale", lambda Q, K: kernel_matrix(Q, K, None, 0.0)),
        ("scale", lambda Q, K: kernel_matrix(Q, K, elu, -1.0)),
        ("scale", lambda Q, K: kernel_matrix(Q, K, None, "soft")),
        ("M", lambda Q, K: spectrum(np.full((3, 3), np.nan))),
        ("M", lambda Q, K: numerical_rank(np.ones(3))),
        ("M", lambda Q, K: block_rank(np.ones((3, 4)))),
        ("rtol", lambda Q, K: numerical_rank(np.eye(3), rtol=-1)),
        ("rtol", lambda Q, K: numerical_rank(np.eye(3), rtol=np.nan)),
        ("dtype", lambda Q, K: spectrum(np.eye(3), dtype="float16")),
        ("lengths", lambda Q, K: spectra(Q, K, None, [9])),
        ("phi_k", lambda Q, K: feature_spectrum(Q, K[:, :3])),
    ],
)
def test_a_bad_value_is_refused_by_its_name(name, call):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        call(*toys(8, 4))
