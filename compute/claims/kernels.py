"""What is found for the claims about attention as a weighted average, kernels that factor, and their rank."""

from __future__ import annotations

import numpy as np

from compute.attention import causal_linear_attention_recurrent, kernel_attention, linear_attention, softmax_attention
from compute.claims.registry import PHI, check, miss, normals
from compute.memory import WRITE_RULES
from compute.normaliser import denominators
from compute.rank import block_rank, kernel_matrix, numerical_rank, past_to_future
from compute.sharpness import summary, weights

Q, K, V = normals(29, 6), normals(29, 6, seed=1), normals(29, 4, seed=2)


def squares(x):
    """Three features whose product is the square of q·k in two dimensions."""
    return np.stack([x[..., 0] ** 2, 2**0.5 * x[..., 0] * x[..., 1], x[..., 1] ** 2], axis=-1)


@check
def softmax_as_a_kernel():
    kernel = kernel_attention(Q, K, V, lambda q, k: np.exp(q @ k.T / 6**0.5), causal=False)
    return miss(softmax_attention(Q, K, V, causal=False), kernel)


@check
def constant_values_and_smallest_weight():
    constant = np.full((29, 3), 2.5)
    outputs = [softmax_attention(Q, K, constant), linear_attention(Q, K, constant, PHI["elu"], eps=0)]
    smallest = min(weights(phi, Q, K).w.min() for phi in (None, PHI["elu"]))
    return [max(miss(o, constant) for o in outputs), bool(smallest >= 0)]


@check
def average_of_zero_and_one_with_signed_weights():
    q, keys, values = [[1.0]], [[1.0], [-0.999]], [[1.0], [0.0]]
    blown_up = linear_attention(q, keys, values, PHI["identity"], eps=0)
    undefined = linear_attention(q, [[1.0], [-1.0]], values, PHI["identity"], eps=0)
    return [float(blown_up[0, 0]), float(undefined[0, 0])]


@check
def toy_square_kernel():
    return float(kernel_matrix([[1.0, 2.0]], [[3.0, 1.0]], squares)[0, 0])


@check
def square_kernel_for_many_pairs():
    q, k = normals(40, 2), normals(40, 2, seed=1)
    kernel = kernel_matrix(q, k, squares)
    zero = kernel_matrix([[1.0, 0.0]], [[0.0, 1.0]], squares)[0, 0]
    return [miss(kernel, (q @ k.T) ** 2), bool(kernel.min() >= 0), bool(squares(q).min() < 0), float(zero)]


@check
def outer_products_added_one_by_one():
    S, z, one = np.zeros((6, 4)), np.zeros((6, 1)), np.ones(1)
    for k, v in zip(PHI["elu"](K), V):
        S, z = WRITE_RULES["additive"]()(S, k, v), WRITE_RULES["additive"]()(z, k, one)
    _, (S_all, z_all) = causal_linear_attention_recurrent(Q, K, V, PHI["elu"], return_state=True)
    features = PHI["elu"](K)
    return max(miss(S, features.T @ V), miss(z[:, 0], features.sum(axis=0)), miss(S_all, S), miss(z_all, z[:, 0]))


@check
def linear_attention_as_kernel_attention():
    kernel = kernel_attention(Q, K, V, lambda q, k: kernel_matrix(q, k, PHI["elu"]), causal=False)
    return [miss(linear_attention(Q, K, V, PHI["elu"], eps=0), kernel), bool(denominators(Q, K, PHI["elu"]).min() > 0)]


@check
def features_of_the_square():
    """What is left of Taylor's width without its constant and its linear part, for widths 5 and 16."""
    return [PHI["taylor"].d_phi(d) - 1 - d for d in (5, 16)]


@check
def rank_of_64_by_64_elu():
    return numerical_rank(kernel_matrix(normals(64, 8), normals(64, 8, seed=1), PHI["elu"]))


@check
def rank_of_exponentials_on_a_line():
    """e^(xᵢxⱼ) at five whole numbers in one dimension; and what double precision makes of 40 crowded points."""
    spread, crowded = np.arange(-2.0, 3.0)[:, None], np.linspace(-1, 1, 40)[:, None]
    return [
        numerical_rank(kernel_matrix(spread, spread, scale=1.0)),
        numerical_rank(kernel_matrix(crowded, crowded, scale=1.0), rtol=40 * np.finfo(float).eps),
    ]


@check
def rank_bound_at_two_lengths():
    pairs = ((normals(n, 16), normals(n, 16, seed=1)) for n in (256, 512))
    return [numerical_rank(kernel_matrix(q, k, PHI["elu"])) for q, k in pairs]


@check
def masked_rank_and_its_blocks():
    """elu+1 under the mask, its block below the diagonal, and softmax's, at T = 128."""
    q, k = normals(128, 16), normals(128, 16, seed=1)
    kernel = kernel_matrix(q, k, PHI["elu"])
    masked = np.tril(kernel)
    assert np.array_equal(past_to_future(masked), past_to_future(kernel))
    return [numerical_rank(masked), block_rank(masked), block_rank(np.tril(kernel_matrix(q, k)))]


@check
def ranks_at_256():
    q, k = normals(256, 16), normals(256, 16, seed=1)
    kernels = kernel_matrix(q, k), kernel_matrix(q, k, PHI["elu"])
    return [rank(kernel) for kernel in kernels for rank in (numerical_rank, block_rank)]


@check
def ranks_at_both_ends_of_the_tolerance():
    """Smallest and largest rank over eight draws and relative tolerances 1e-13 and 1e-9, softmax then elu+1; and
    the smallest rank in single precision at its default tolerance."""
    draws = [(normals(256, 16, seed=2 * s), normals(256, 16, seed=2 * s + 1)) for s in range(8)]
    found = []
    for phi in (None, PHI["elu"]):
        ranks = [numerical_rank(kernel_matrix(q, k, phi), rtol) for q, k in draws for rtol in (1e-13, 1e-9)]
        found += [min(ranks), max(ranks)]
    default = 256 * float(np.finfo(np.float32).eps)
    single = [numerical_rank(kernel_matrix(q, k, dtype="float32"), default, dtype="float32") for q, k in draws]
    return [*found, min(single)]


@check
def spread_and_order_of_untrained_weights():
    """Median entropy in nats of softmax and elu+1 over 32 keys at sharpness 4, and the rank correlation of elu+1's
    weights with the score q·k: 1 would be a steady rise."""
    entropies, correlations = {None: [], "elu": []}, []
    for seed in range(20):
        q, k = 4 * normals(1, 16, seed=seed) / 2, normals(32, 16, seed=100 + seed) / 2
        for word, found in entropies.items():
            w = weights(PHI.get(word), q, k).w[0]
            found.append(summary(w).entropy)
        order, score_order = (np.argsort(np.argsort(a)) for a in (w, (q @ k.T)[0]))
        correlations.append(np.corrcoef(order, score_order)[0, 1])
    return [float(np.median(entropies[None])), float(np.median(entropies["elu"])), float(np.median(correlations))]
