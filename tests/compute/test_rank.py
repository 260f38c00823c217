"""Ranks by the cheap routes against scipy in full, and the ranks that are proved rather than measured."""

from fractions import Fraction
from math import comb, factorial, prod

import numpy as np
import pytest
import scipy.linalg
import torch

from compute.feature_maps import FEATURE_MAPS
from compute.rank import (
    block_rank,
    feature_spectrum,
    kernel_matrix,
    kernel_spectrum,
    numerical_rank,
    past_to_future,
    rank_of,
    spectra,
    spectrum,
)
from compute.toys import queries_and_keys


def elu(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def taylor(x):
    squares = (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)
    return np.concatenate([np.ones_like(x[..., :1]), x, squares / 2**0.5], axis=-1)


MAPS = {"softmax": None, "elu": elu, "taylor": taylor}
every_map = pytest.mark.parametrize("phi", MAPS.values(), ids=MAPS)


def toys(N=256, d_k=16, seed=0):
    Q, K = queries_and_keys(d_k, seed)
    return Q[:N], K[:N]


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


@pytest.mark.parametrize("word", FEATURE_MAPS)
def test_a_merged_map_has_the_same_kernel_and_no_feature_twice(word):
    Q, K = toys(60, 4)
    phi = FEATURE_MAPS[word]()
    assert phi.merged().d_phi(4) == phi.rank_bound(4)
    np.testing.assert_allclose(kernel_matrix(Q, K, phi.merged()), kernel_matrix(Q, K, phi), rtol=1e-12)


# Ranks


def test_the_lesson_ranks_at_256_tokens_and_16_wide_keys():
    ranks = {}
    for seed in range(3):
        Q, K = toys(seed=seed)
        for word, phi in MAPS.items():
            M = kernel_matrix(Q, K, phi)
            ranks.setdefault(word, set()).add((numerical_rank(M), block_rank(M)))
    assert ranks == {"softmax": {(256, 128)}, "elu": {(16, 16)}, "taylor": {(153, 128)}}


@pytest.mark.parametrize("rtol", [1e-13, 1e-11, 1e-9])
def test_those_ranks_do_not_hang_on_the_tolerance_in_float64(rtol):
    Q, K = toys()
    assert [numerical_rank(kernel_matrix(Q, K, phi), rtol) for phi in MAPS.values()] == [256, 16, 153]


@pytest.mark.parametrize("N, low, high", [(256, 254, 256), (1024, 970, 1005)])
def test_float32_with_its_usual_tolerance_miscounts_the_softmax_kernel(N, low, high):
    Q, K = toys(N)
    usual = N * np.finfo(np.float32).eps
    assert low <= rank_of(kernel_spectrum(Q, K, dtype="float32"), usual) <= high
    if N == 1024:
        assert rank_of(kernel_spectrum(Q, K)) == 1024


def test_float64_itself_sees_only_part_of_narrow_softmax_kernels():
    Q, K = toys(d_k=2)
    assert numerical_rank(kernel_matrix(Q, K), rtol=1e-10) < 128


@pytest.mark.parametrize("power, d_k", [(1, 5), (2, 5), (3, 4), (4, 3)])
def test_a_power_of_the_dot_product_has_one_direction_per_monomial(power, d_k):
    """d_kᵖ products of p entries, of which C(d_k + p − 1, p) are distinct."""
    Q, K = toys(120, d_k)

    def phi(x):
        out = x
        for _ in range(power - 1):
            out = (out[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)
        return out

    assert phi(Q).shape[-1] == d_k**power
    np.testing.assert_allclose(kernel_matrix(Q, K, phi), (Q @ K.T) ** power, rtol=1e-9, atol=1e-12)
    assert numerical_rank(kernel_matrix(Q, K, phi)) == comb(d_k + power - 1, power)


@every_map
def test_rank_never_exceeds_width_and_the_block_below_the_diagonal_is_counted_not_assumed(phi):
    Q, K = toys(40, 3)
    M = kernel_matrix(Q, K, phi)
    cap = 40 if phi is None else phi(Q).shape[-1]
    assert numerical_rank(M) <= cap
    np.testing.assert_array_equal(past_to_future(M), np.tril(M)[20:, :20])
    assert block_rank(M) == block_rank(np.tril(M)) == numerical_rank(M[20:, :20])


def test_masking_raises_the_rank_of_the_whole_but_not_of_the_blocks_below():
    Q, K = toys()
    masked = np.tril(kernel_matrix(Q, K, elu))
    assert numerical_rank(masked) == 256
    for cut in (1, 60, 128, 250):
        assert numerical_rank(masked[cut:, :cut]) <= 16


@pytest.mark.parametrize("N", [2, 3, 7])
def test_the_block_of_an_odd_matrix_stays_below_the_diagonal(N):
    M = np.arange(N * N, dtype=float).reshape(N, N) + 1
    block = past_to_future(M)
    assert block.size and np.all(np.isin(block, np.tril(M, k=-1)))


def minors(A):
    """Leading principal minors by exact elimination."""
    A, values = [row[:] for row in A], []
    for i in range(len(A)):
        values.append(A[i][i] * (values[-1] if values else 1))
        for r in range(i + 1, len(A)):
            ratio = A[r][i] / A[i][i]
            A[r] = [x - ratio * y for x, y in zip(A[r], A[i])]
    return values


def test_the_exponential_kernel_has_full_rank_by_proof_where_float64_sees_a_dozen():
    """e^{xᵢxⱼ} is a sum of squares Σ uₘuₘᵀ/m!, uₘ = (x₁ᵐ … xₙᵐ).  Its first n terms alone are positive definite, here
    in fractions by Sylvester's criterion, and the rest adds nothing negative.  So no finite map gives the kernel."""
    n = 14
    x = [Fraction(2 * i - (n - 1), n - 1) for i in range(n)]
    first_terms = [[sum((a * b) ** m / Fraction(factorial(m)) for m in range(n)) for b in x] for a in x]
    exact = minors(first_terms)
    assert all(minor > 0 for minor in exact)
    gaps = prod((b - a) ** 2 for i, a in enumerate(x) for b in x[i + 1 :])
    assert exact[-1] == gaps / prod(factorial(m) for m in range(n))  # Vandermonde, squared

    points = np.linspace(-1, 1, 40)[:, None]
    assert 8 <= numerical_rank(kernel_matrix(points, points, None, 1.0), rtol=40 * np.finfo(float).eps) <= 14


def test_that_proof_can_fail():
    x = [Fraction(1), Fraction(1), Fraction(2)]
    assert minors([[sum((a * b) ** m / Fraction(factorial(m)) for m in range(3)) for b in x] for a in x][:2])[1] == 0


def test_small_ranks_by_hand():
    assert numerical_rank(np.zeros((3, 4))) == 0
    assert numerical_rank(np.eye(5)) == 5
    assert numerical_rank(np.diag([1.0, 1e-9, 1e-11])) == 2
    assert numerical_rank(np.diag([1.0, 1e-9, 1e-11]), rtol=1e-8) == 1
    np.testing.assert_array_equal(numerical_rank(np.stack([np.eye(3), np.ones((3, 3))])), [3, 1])
    assert rank_of(np.array([3.0, 1.0, np.nan])) == 2


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
