"""What is found for the claims about cost: FLOPs of the two bracketings, decoding, training, and the table of modes."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np

from compute.attention import (
    causal_linear_attention_recurrent,
    cumulative_sum_gradients,
    linear_attention,
    softmax_attention,
)
from compute.claims.registry import PHI, check, miss, normals
from compute.cost import (
    attention_flops,
    cache_numbers,
    crossover_T,
    decode_flops,
    intermediate_bytes,
    normaliser_flops,
    prefix_comparisons,
    saving,
    softmax_decode_flops,
    state_numbers,
    tokens_to_fill_state,
    training_state_bytes,
)
from compute.cost_tables import layers, modes
from compute.rank import kernel_matrix, numerical_rank


@check
def scores_of_64_and_128_tokens():
    return [int(kernel_matrix(Q, Q).size) for Q in (normals(64, 8), normals(128, 8))]


@check
def summary_beside_matrix_at_a_thousand_and_a_hundred_thousand_tokens():
    at = [(order, T) for order in ("right", "left") for T in (1_000, 100_000)]
    return [intermediate_bytes(T, 128, 128, order, bytes_per=1) for order, T in at]


@check
def brackets_moved():
    Q, K, V = normals(37, 5), normals(37, 5, seed=1), normals(37, 3, seed=2)
    return miss(linear_attention(Q, K, V, PHI["identity"], normalise=False), (Q @ K.T) @ V)


@check
def left_order_at_65536():
    return attention_flops(65_536, 128, 128, "left")


@check
def right_order_at_65536():
    return attention_flops(65_536, 128, 128, "right")


@check
def saving_at_65536():
    return float(saving(65_536, 128, 128))


@check
def one_product_of_32_by_16_and_16_by_32():
    """The right order is two products with the same three sides."""
    return attention_flops(16, 32, 32, "right") // 2


@check
def left_order_of_unequal_widths():
    return attention_flops(256, 273, 16, "left")


@check
def right_order_of_unequal_widths():
    return attention_flops(256, 273, 16, "right")


@check
def first_cheaper_length_by_search():
    """Walk T upwards until the right order wins, for a Taylor head of width 16."""
    cheaper = (
        T for T in itertools.count(1) if attention_flops(T, 273, 16, "right") < attention_flops(T, 273, 16, "left")
    )
    return next(cheaper)


@check
def strict_crossovers():
    return [crossover_T(d, d) for d in (128, 32, 1)]


@check
def saving_of_equal_widths():
    return [float(saving(T, 64, 64)) for T in (64, 128, 4096)]


@check
def denominators_beside_products():
    share = [normaliser_flops(4096, 128, order) / attention_flops(4096, 128, 128, order) for order in ("left", "right")]
    return [
        normaliser_flops(1024, 128, "left"),
        normaliser_flops(2048, 128, "right") // normaliser_flops(1024, 128, "right"),
        *share,
    ]


@check
def numbers_between_the_products():
    Q, V = normals(256, 16), normals(256, 16)
    _, (S, _) = causal_linear_attention_recurrent(Q, Q, V, PHI["taylor"], return_state=True)
    return [int(kernel_matrix(Q, Q, PHI["taylor"]).size), int(S.size)]


@check
def crossover_of_a_head_of_32():
    """The last length at which the right order is not cheaper."""
    return crossover_T(32, 32) - 1


@check
def growth_per_doubling():
    return [attention_flops(4096, 32, 32, order) / attention_flops(2048, 32, 32, order) for order in ("left", "right")]


@check
def comparisons_of_naive_decoding():
    last = prefix_comparisons(1024) - prefix_comparisons(1023)
    return [
        prefix_comparisons(1),
        last,
        prefix_comparisons(1024),
        cache_numbers(2000, 64, 64) / cache_numbers(1000, 64, 64),
    ]


@check
def rank_of_softmax_weights():
    """Values that are the identity show the weights; anything of the form Q·f(K, V) has rank at most d_k = 16."""
    return numerical_rank(softmax_attention(normals(32, 16), normals(32, 16, seed=1), np.eye(32), causal=False))


@check
def decode_flops_at_128():
    return decode_flops(128, 128)


@check
def state_after_one_and_five_tokens():
    sizes = []
    for T in (1, 5):
        X = normals(T, 128)
        _, (S, z) = causal_linear_attention_recurrent(X, X, X, PHI["elu"], return_state=True)
        sizes.append(int(S.size + z.size))
    return sizes


@check
def state_in_tokens_of_cache():
    state = state_numbers(128, 128)
    return [state, cache_numbers(1, 128, 128), state / cache_numbers(1, 128, 128), tokens_to_fill_state(128, 128, 128)]


@check
def states_kept_by_autograd():
    return training_state_bytes(8192, 128, 128)


@check
def gradient_memory_beside_stored_states():
    """Peak bytes while the gradients are formed, over the bytes of all T states."""
    T, d = 4096, 64
    phi_q, phi_k = PHI["elu"](normals(T, d)), PHI["elu"](normals(T, d, seed=1))
    V, G = normals(T, d, seed=2), normals(T, d, seed=3)
    tracemalloc.start()
    cumulative_sum_gradients(phi_q, phi_k, V, G)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / training_state_bytes(T, d, d, bytes_per=8)


def _mode(word):
    mode = next(m for m in modes(4096, 128, 128, 64) if m.word == word)
    return [mode.flops, mode.steps, mode.numbers]


@check
def chunkwise_row():
    return _mode("chunkwise")


@check
def recurrent_row():
    return _mode("recurrent")


@check
def parallel_row():
    return _mode("parallel")


@check
def per_token_cost_of_both():
    softmax = [softmax_decode_flops(n, 128, 128) for n in (1024, 2048)]
    return [*softmax, decode_flops(128, 128), cache_numbers(2048, 128, 128) // cache_numbers(1024, 128, 128)]


@check
def decode_growth_of_the_layers():
    """Cost of the last token when the context doubles from 2^16, kind by kind, and Based's features."""
    short, long = layers(2**16), layers(2**17)
    growth = [b.decode_flops / a.decode_flops for a, b in zip(short, long) if a.word != "hybrid"]
    return [*growth, PHI["taylor"].d_phi(16)]
