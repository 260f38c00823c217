"""What is found for the claims about the associative memory: what is stored, what is read, how much fits."""

from __future__ import annotations

import numpy as np

from compute.attention import causal_linear_attention_recurrent, softmax_attention
from compute.claims.maps import overlap
from compute.claims.registry import PHI, check, miss, normals
from compute.crosstalk import best_reads, every_read
from compute.keys import KEY_MAKERS
from compute.memory import crosstalk_energy, read, unit, write
from compute.memory_laws import Load
from compute.rank import kernel_matrix, numerical_rank
from compute.read_weights import split_read
from compute.sharpness import summary, weights

KEYS, VALUES = np.array([[1, 0], [0, 1], [0.6, 0.8]]), np.array([[1, 2], [4, 0], [0, 5.0]])
"""Three pairs in two dimensions."""


def keys_of(kind, n, d=32, trials=40, rho=0.5):
    """Draws of one kind of keys, [trials, n, d]."""
    rng = np.random.default_rng(5)
    return np.stack([KEY_MAKERS[kind](n, d, rng, rho) for _ in range(trials)])


def reads_of(kind, n, d=32, d_v=32, rule="additive", of_one_length=False):
    """Values are normal.  For energies they get one length: only then is the mean of a quotient that of the means."""
    K = keys_of(kind, n, d)
    V = normals(*K.shape[:2], d_v, seed=6)
    return every_read(K, unit(V) if of_one_length else V, rule)


@check
def two_orthogonal_pairs():
    S = write(KEYS[:2], VALUES[:2])
    return [*S.ravel().tolist(), *read(S, KEYS[0]).tolist(), *read(S, KEYS[1]).tolist()]


@check
def a_third_pair():
    S = write(KEYS, VALUES)
    return [*S.ravel().tolist(), *read(S, KEYS[0]).tolist(), *read(S, KEYS[2]).tolist()]


@check
def signal_and_crosstalk_of_a_read():
    """Keys of any length: the read, put together from its own value and the others.  By hand: what the first holds."""
    K, V = normals(9, 4), normals(9, 3, seed=1)
    split = split_read(K, V, "additive", 9, 2)
    whole = np.einsum("sd,sv,d->v", K, V, K[2])
    own = V[2] * (K[2] @ K[2])
    gap = max(miss(split.read, whole), miss(split.signal, own), miss(split.crosstalk, whole - own))
    return [gap, *split_read(KEYS, VALUES, "additive", 3, 0).weights.tolist()]


@check
def orthonormal_reads():
    """Largest energy left at n = d = 32, and whether a 33rd key is refused."""
    try:
        KEY_MAKERS["orthonormal"](33, 32, np.random.default_rng(0))
    except ValueError:
        refused = True
    else:
        refused = False
    return [float(reads_of("orthonormal", 32).mean_energy.max()), refused]


@check
def best_linear_read_up_to_d_and_beyond():
    K = keys_of("random", 64)
    energy = best_reads(K, normals(*K.shape[:2], 32), [32, 33, 64])[1].mean(axis=0)
    return [float(energy[0]), bool(energy[1] > 0.01), float(energy[2])]


@check
def mean_squared_cosine_of_random_keys():
    return float(np.mean(crosstalk_energy(keys_of("random", 64)))) / 63


@check
def measured_crosstalk_energy():
    return float(reads_of("random", 64, of_one_length=True).mean_energy[:, -1].mean())


@check
def measured_signal_to_noise():
    return 1 / measured_crosstalk_energy()


@check
def mean_cosine_at_n_equal_d():
    return float(reads_of("random", 32).mean_cosine[:, -1].mean())


@check
def load_of_100000_tokens():
    return Load(100_000, 128).tokens_per_row


@check
def overlap_of_raw_and_mapped_keys():
    """As the crosstalk energy that 256 such keys have."""
    return [255 * overlap(word) for word in ("identity", "elu")]


@check
def crosstalk_of_short_and_long_keys():
    K = keys_of("random", 64)
    lengths = np.exp(normals(64, 1))
    return [float(np.mean(crosstalk_energy(scale * K))) for scale in (1.0, lengths)]


@check
def columns_of_orthonormal_and_random_keys():
    cosine = reads_of("random", 128, d_v=64).mean_cosine.mean(axis=0)
    return [KEY_MAKERS["orthonormal"].most(32), *cosine[[7, 31, 127]].tolist()]


@check
def crosstalk_of_correlated_keys():
    return [float(np.mean(crosstalk_energy(keys_of("correlated", 64, rho=rho)))) for rho in (0.5, 0.25)]


@check
def share_of_values_recognised():
    """Reads whose nearest stored value is the right one, d_k = 32 and n = 64, for three widths of value; and the
    energies of the crosstalk, which the width does not change."""
    shares, energies = [], []
    K = keys_of("random", 64)
    for d_v in (8, 32, 128):
        V = normals(*K.shape[:2], d_v, seed=7)
        O = K @ write(K, V)
        distance = np.sum(V**2, axis=-1)[:, None, :] - 2 * O @ V.mT
        shares.append(float(np.mean(distance.argmin(axis=-1) == np.arange(64))))
        energies.append(float(every_read(K, unit(V), "additive").mean_energy[:, -1].mean()))
    return [*shares, max(energies) / min(energies)]


@check
def read_as_a_weighted_sum_of_all_values():
    K, V, q = PHI["elu"](normals(50, 6)), normals(50, 4, seed=1), PHI["elu"](normals(6, seed=2))
    O = causal_linear_attention_recurrent(np.tile(q, (50, 1)), K, V, PHI["identity"], normalise=False)
    by_hand = split_read(KEYS, VALUES, "additive", 3, 2).weights
    return [miss(O[-1], sum((q @ k) * v for k, v in zip(K, V))), *by_hand.tolist()]


@check
def rank_over_distinct_features():
    """The largest quotient over all maps with 300 keys of width 4; Taylor's rank there, and its distinct features."""
    K = normals(300, 4)
    fitting = {word: phi for word, phi in PHI.items() if phi.d_phi(4) < 300 and not phi.random}
    ranks = {word: (numerical_rank(kernel_matrix(K, K, phi)), phi.rank_bound(4)) for word, phi in fitting.items()}
    return [max(rank / bound for rank, bound in ranks.values()), *ranks["taylor"]]


@check
def sharp_softmax_reads_500_pairs():
    K, V = unit(normals(500, 16)), normals(500, 16, seed=1)
    O = softmax_attention(K, K, V, causal=False, scale=300.0)
    distance = np.sum(V**2, axis=-1) - 2 * O @ V.T
    return float(np.mean(distance.argmin(axis=-1) == np.arange(500)))


@check
def largest_weight_of_mild_softmax():
    """500 unit keys at scale 1: the mean weight of the key that is asked for."""
    K = unit(normals(500, 16))
    return float(np.mean(summary(weights(None, K, K).w).top))


@check
def one_key_written_twice():
    """1, then 5: read without a denominator, and with it."""
    k, values = np.array([[0.6, 0.8]] * 2), np.array([[1.0], [5.0]])
    S = write(k, values)
    return [float(read(S, k[0])[0]), float(causal_linear_attention_recurrent(k, k, values, PHI["elu"], eps=0)[-1, 0])]
