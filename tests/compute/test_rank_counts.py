"""How many singular values count: the published ranks, masks, and proofs in whole numbers."""

from fractions import Fraction
from math import comb, factorial, prod

import numpy as np
import pytest
from attention_cases import elu
from rank_cases import MAPS, every_map, toys

from compute.rank import (
    block_rank,
    kernel_matrix,
    kernel_spectrum,
    numerical_rank,
    past_to_future,
    rank_of,
)


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


def test_a_row_of_tolerances_gives_a_rank_for_each():
    spectra, rtol = 10.0 ** -np.array([[0, 1, 2.5, 9], [2, 3, 3.5, 20]]), [0.5, 1e-2, 1e-12, 0]
    np.testing.assert_array_equal(rank_of(spectra, rtol), [[1, 2, 4, 4], [1, 3, 3, 4]])
    np.testing.assert_array_equal(rank_of(spectra[0], rtol), [1, 2, 4, 4])
    with pytest.raises(ValueError, match=r"^rtol must be a number or a row"):
        rank_of(spectra, [rtol])
