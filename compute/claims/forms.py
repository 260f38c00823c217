"""What is found for the claims about the recurrence, the hand example and the agreement of the forms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from compute.attention import (
    FORMS,
    autograd_gradients,
    causal_linear_attention_parallel,
    causal_linear_attention_recurrent,
    cumulative_sum_gradients,
    kernel_attention,
    linear_attention,
    linear_attention_step,
)
from compute.claims.registry import PHI, check, largest_miss, miss, tokens
from compute.normaliser import causal_weights, denominators
from compute.rank import kernel_matrix, numerical_rank
from compute.sharpness import weights

ELU = PHI["elu"]
Q, K = np.array([[0, 0], [1, 0], [0, 1.0]]), np.array([[1, 0], [0, 1], [0, 0.0]])
V = np.array([[1, 0], [0, 1], [1, 1.0]])
"""The three tokens that are worked by hand."""


def _random(T=37):
    """Tokens whose chunks do not divide them, d_k = 5, d_v = 3."""
    return tokens(T, lead=())


def _by_loop(Q, K, V):
    """The recurrence as it is written down, token by token."""
    S, z, out = 0.0, 0.0, []
    for q, k, v in zip(ELU(Q), ELU(K), V):
        S, z = S + np.outer(k, v), z + k
        out.append(S.T @ q / (z @ q))
    return np.array(out)


@check
def recurrence_written_out():
    return miss(causal_linear_attention_recurrent(*_random(), ELU, eps=0), _by_loop(*_random()))


@check
def ranks_of_single_writes():
    Q, K, V = _random(6)
    states = [causal_linear_attention_recurrent(Q[:t], K[:t], V[:t], ELU, return_state=True)[1][0] for t in range(1, 7)]
    return [numerical_rank(after - before) for before, after in pairwise(states)]


@check
def hand_features():
    return [*ELU(Q).ravel().tolist(), *ELU(K).ravel().tolist()]


def _hand_step(t):
    """S row by row, z, numerator, denominator and output of step t."""
    first = Q[:t], K[:t], V[:t]
    O, (S, z) = causal_linear_attention_recurrent(*first, ELU, eps=0, return_state=True)
    numerator = causal_linear_attention_recurrent(*first, ELU, normalise=False)[-1]
    denominator = denominators(Q[:t], K[:t], ELU)[-1]
    return [*S.ravel().tolist(), *z.tolist(), *numerator.tolist(), float(denominator), *O[-1].tolist()]


@check
def hand_step_1():
    return _hand_step(1)


@check
def hand_step_2():
    return _hand_step(2)


@check
def hand_step_3():
    return _hand_step(3)


@check
def hand_kernel_and_sums():
    O = causal_linear_attention_parallel(Q, K, V, ELU, eps=0)
    return [*kernel_matrix(Q, K, ELU).ravel().tolist(), *denominators(Q, K, ELU).tolist(), *O[1:].ravel().tolist()]


@check
def weights_of_the_second_query():
    return [*weights(None, Q[1:2], K[:2]).w[0].tolist(), *weights(ELU, Q[1:2], K[:2]).w[0].tolist()]


@check
def masked_matrix_gives_the_recurrence():
    Q, K, V = _random()
    W = np.tril(kernel_matrix(Q, K, ELU))
    return miss(causal_linear_attention_recurrent(Q, K, V, ELU, eps=0), W @ V / W.sum(axis=1)[:, None])


@check
def mixing_matrix():
    Q, K, V = _random()
    M = causal_weights(Q, K, ELU)
    per_channel = [
        miss(causal_linear_attention_recurrent(Q, K, V[:, i : i + 1], ELU, eps=0), M @ V[:, i : i + 1])
        for i in range(3)
    ]
    return [float(np.abs(np.triu(M, 1)).max()), float(M.sum(axis=1).max()), max(per_channel)]


@check
def shape_of_the_state():
    example = tokens(37, lead=(), d_k=16, d_v=8)
    _, (S, z) = causal_linear_attention_recurrent(*example, ELU, return_state=True)
    return [*S.shape, *z.shape]


@check
def first_output_with_the_usual_epsilon():
    return float(causal_linear_attention_recurrent(Q, K, V, ELU)[0, 0])


@check
def outputs_of_a_single_key():
    Q, K, V = _random(1)
    positive = ("elu", "favor", "taylor", "hedgehog")
    return largest_miss((form(Q, K, V, PHI[word], eps=0), V) for word in positive for form in FORMS.values())


@check
def three_forms():
    Q, K, V = tokens(257)
    reference = FORMS["recurrent"](Q, K, V, ELU)
    return largest_miss((form(Q, K, V, ELU), reference) for form in FORMS.values())


@check
def first_token_with_and_without_its_own_prefix():
    shared = linear_attention(Q, K, V, ELU, eps=0)[0]
    return [*shared.tolist(), *causal_linear_attention_recurrent(Q, K, V, ELU, eps=0)[0].tolist()]


@check
def gradients_by_sums_and_by_autograd():
    Q, K, V = _random()
    arguments = ELU(Q), ELU(K), V, tokens(37, seed=3, lead=())[2]
    sums = cumulative_sum_gradients(*arguments)
    by_form = [autograd_gradients(*arguments, form=FORMS[word]) for word in ("recurrent", "parallel")]
    return largest_miss((mine, theirs) for grads in by_form for mine, theirs in zip(sums, grads))


@check
def first_output_read_before_written():
    """A kernel that leaves the token's own key out."""
    late = kernel_attention(Q, K, V, lambda q, k: np.tril(kernel_matrix(q, k, ELU), -1))
    return late[0].tolist()


@check
def transposed_states():
    """That a transposed state is refused where d_phi and d_v differ; and what it gives by hand, where they do not."""
    try:
        linear_attention_step(np.ones((3, 5)), np.ones(5), np.ones(5), np.ones(5), np.ones(3), ELU)
    except ValueError as error:
        refused = str(error).split()[0] + " refused"
    _, S, z = linear_attention_step(np.zeros((2, 2)), np.zeros(2), Q[0], K[0], V[0], ELU, eps=0)
    return [refused, *(S @ ELU(Q[0]) / (z @ ELU(Q[0]))).tolist()]


@check
def constant_values_over_a_feature_sum():
    """Outputs of the hand example for values of one: divided over keys, and divided by the query's features instead."""
    right = causal_linear_attention_recurrent(Q, K, np.ones((3, 1)), ELU, eps=0)
    numerator = causal_linear_attention_recurrent(Q, K, np.ones((3, 1)), ELU, normalise=False)
    return [*right.ravel().tolist(), *(numerator[:, 0] / ELU(Q).sum(axis=-1)).tolist()]


@check
def steps_chained():
    """Distance from the other forms, and how far any step moved the state it was given."""
    Q, K, V = _random()
    S, z, out, moved = np.zeros((5, 3)), np.zeros(5), [], 0.0
    for q, k, v in zip(Q, K, V):
        before = S.copy(), z.copy()
        o, S_new, z_new = linear_attention_step(S, z, q, k, v, ELU)
        moved = max(moved, np.abs(S - before[0]).max(), np.abs(z - before[1]).max())
        S, z = S_new, z_new
        out.append(o)
    return [largest_miss((np.array(out), form(Q, K, V, ELU)) for form in FORMS.values()), float(moved)]
