"""What is found for the claims about what a write does: the delta rule, decay, gates, and the matrix LSTM."""

from __future__ import annotations

import math

import numpy as np

from compute.attention import (
    causal_linear_attention_chunkwise,
    causal_linear_attention_recurrent,
    mlstm_attention,
)
from compute.claims.memory import KEYS, VALUES, reads_of
from compute.claims.registry import PHI, check, miss, normals
from compute.crosstalk import every_read
from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES, read, unit, write

RULES = {word: rule() for word, rule in WRITE_RULES.items()}
S2 = write(KEYS[:2], VALUES[:2])
"""The memory [[1, 2], [4, 0]] of the first two pairs."""


def _written_by_hand(word, **gates):
    """S after three writes by hand, row by row."""
    S = np.zeros((2, 2))
    for k, v in zip(KEYS, VALUES, strict=True):
        S = RULES[word](S, k, v, **gates)
    return S.ravel().tolist()


@check
def delta_writes_by_hand():
    return _written_by_hand("delta", beta=0.5)


@check
def delta_write_of_what_is_known():
    return miss(RULES["delta"](S2, KEYS[2], read(S2, KEYS[2]), beta=0.7), S2)


@check
def error_left_by_a_delta_write():
    """‖k‖² = 4, β = 0.1: the error under k, and how far a read across k moved.  The β from which on the error under a
    raw elu+1 feature of 16 normal entries grows."""
    k = 2 * KEYS[2]
    S = RULES["delta"](S2, k, VALUES[2], beta=0.1)
    across = np.array([0.8, -0.6])
    before, after = VALUES[2] - S2.T @ k, VALUES[2] - S.T @ k
    largest = 2 / np.mean(np.sum(PHI["elu"](normals(4_000, 16)) ** 2, axis=-1))
    return [*(after / before).tolist(), float(np.abs(S.T @ across - S2.T @ across).max()), float(largest)]


@check
def delta_write_as_a_gradient_step():
    import torch

    S, k, v = (torch.from_numpy(normals(*shape, seed=3)) for shape in ((5, 3), (5,), (3,)))
    S.requires_grad_()
    (0.5 * ((S.T @ k - v) ** 2).sum()).backward()
    wanted = (S - 0.3 * S.grad).detach()
    return miss(RULES["delta"](S.detach(), k, v, beta=0.3), wanted)


def _read_after_one_then_five(word, beta):
    """What a rule reads after it wrote 5 over a stored 1 under the same unit key."""
    k = np.array([0.6, 0.8])
    return float(read(RULES[word](write(k[None], [[1.0]]), k, np.array([5.0]), beta=beta), k)[0])


@check
def five_written_over_one():
    """The additive rule, the delta rule at β = 1; the delta memory of orthonormal keys beside the additive one."""
    K, V = KEY_MAKERS["orthonormal"](16, 16, np.random.default_rng(0)), normals(16, 5)
    S = np.zeros((16, 5))
    for k, v in zip(K, V):
        S = RULES["delta"](S, k, v)
    return [_read_after_one_then_five("additive", 1.0), _read_after_one_then_five("delta", 1.0), miss(S, write(K, V))]


@check
def one_pass_of_delta_beside_additive():
    """5 over 1 at β = 1/4.  At n = d = 32 and β = 1, the newest pair's cosine, then mean cosines: delta and additive
    on random keys, delta and additive on correlated ones."""
    newest = reads_of("random", 32, rule="delta").newest.min()
    kinds = [(kind, rule) for kind in ("random", "correlated") for rule in ("delta", "additive")]
    means = [float(reads_of(kind, 32, rule=rule).mean_cosine[:, -1].mean()) for kind, rule in kinds]
    return [_read_after_one_then_five("delta", 0.25), float(newest), *means]


def _weight_of_the_first(T, log_alpha=None):
    """Weight of the first token over that of the newest, T tokens with one and the same key."""
    ones, values = np.ones((T, 1)), np.zeros((T, 2))
    values[0, 0] = values[-1, 1] = 1
    gates = None if log_alpha is None else np.full(T, log_alpha)
    O = causal_linear_attention_chunkwise(ones, ones, values, PHI["identity"], normalise=False, log_alpha=gates)
    return float(O[-1, 0] / O[-1, 1])


@check
def weight_100000_tokens_back():
    return _weight_of_the_first(100_001)


@check
def weight_19_tokens_back_under_decay():
    return _weight_of_the_first(20, math.log(0.9))


@check
def memory_after_a_gate_closes_or_stays_open():
    """The first pair of two, read after a third write whose gate is 0, then 1."""
    k, v = np.array([0.0, 1.0]), np.zeros(2)
    return [value for alpha in (0.0, 1.0) for value in read(RULES["decay"](S2, k, v, alpha=alpha), KEYS[0]).tolist()]


@check
def gated_delta_writes_by_hand():
    return _written_by_hand("gated_delta", alpha=0.5, beta=0.5)


@check
def small_memory_that_flushes_beside_a_large_one_that_keeps():
    """512 old pairs, then 8 new ones: mean cosine of the new ones, d = 16 with a gate that closes, d = 64 without."""
    gate = np.ones(520)
    gate[512] = 0.0
    found = []
    for d, rule in ((16, "decay"), (64, "additive")):
        K, V = unit(normals(10, 520, d)), normals(10, 520, 32, seed=1)
        found.append(float(every_read(K, V, rule, alpha=gate).cosine[:, -1, 512:].mean()))
    return found


@check
def matrix_lstm_with_open_gates():
    """Output beside causal linear attention where the denominator exceeds one, and the two states."""
    Q, K, V = 1 + np.abs(normals(37, 5)), 1 + np.abs(normals(37, 5, seed=1)), normals(37, 3, seed=2)
    lstm, (S, z) = mlstm_attention(Q, K, V, return_state=True)
    linear, state = causal_linear_attention_recurrent(Q, K, V, PHI["identity"], eps=0, return_state=True)
    C = sum(np.outer(v, k) for k, v in zip(K, V))
    return max(miss(lstm, linear), miss(S, C.T), miss(z, state[1]))


@check
def floor_of_the_matrix_lstm():
    """A key of 1/4 and a value of 8 read with 1, then with 8."""
    k, v = np.array([[0.25]]), np.array([[8.0]])
    return [float(mlstm_attention(np.array([[q]]), k, v)[0, 0]) for q in (1.0, -1.0, 8.0)]
