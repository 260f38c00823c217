"""One pass over the pairs against the write rules applied one pair at a time."""

import numpy as np
import pytest
import torch
from scipy.linalg import solve_triangular

from compute.crosstalk import best_reads, every_cosine, every_read, expected_energy, expected_read
from compute.filling import states
from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES, crosstalk_energy
from compute.read_weights import split_read

every_rule = pytest.mark.parametrize("rule", WRITE_RULES)
every_kind = pytest.mark.parametrize("kind", KEY_MAKERS)


def pairs(kind="random", n=70, d=8, d_v=5, seed=0):
    rng = np.random.default_rng(seed)
    keys = KEY_MAKERS[kind]
    K = keys(min(n, keys.most(d) or n), d, rng)
    return K, rng.standard_normal((len(K), d_v))


def gates(n, seed=0):
    """One alpha and beta per write, with a flush in the middle."""
    alpha, beta = np.random.default_rng(seed).uniform([[0.5], [0.0]], [[1.0], [1.5]], (2, n))
    alpha[n // 2] = 0.0
    return {"alpha": alpha, "beta": beta}


def one_by_one(K, V, rule, alpha=1.0, beta=1.0):
    """The memory after 0, 1, … N writes."""
    alpha, beta = (np.broadcast_to(g, len(K)) for g in (alpha, beta))
    S = [np.zeros((K.shape[-1], V.shape[-1]))]
    for t in range(len(K)):
        S.append(WRITE_RULES[rule]()(S[-1], K[t], V[t], alpha=alpha[t], beta=beta[t]))
    return np.stack(S)


def naive(K, V, rule, alpha=1.0, beta=1.0):
    """Cosine, energy and own share from actual reads.  Reads are linear in V: doubling one value shows its share."""
    N = len(K)
    reads = K @ one_by_one(K, V, rule, alpha, beta)[1:]
    cosine, energy, own = np.full((3, N, N), np.nan)
    for j in range(N):
        doubled = V.copy()
        doubled[j] *= 2
        signal = (K[j] @ one_by_one(K, doubled, rule, alpha, beta)[1:] - reads[:, j])[j:]
        read, length = reads[j:, j], np.linalg.norm(V[j])
        own[j:, j] = signal @ V[j] / length**2
        energy[j:, j] = np.sum((read - signal) ** 2, axis=-1) / length**2
        size = np.linalg.norm(read, axis=-1)
        with np.errstate(invalid="ignore"):
            cosine[j:, j] = np.where(size > 1e-12 * length, read @ V[j] / (size * length), 0)
    return cosine, energy, own


@every_kind
@every_rule
@pytest.mark.parametrize("varied", [False, True], ids=["constant gates", "a gate per write"])
def test_every_read_is_what_one_write_at_a_time_gives(kind, rule, varied):
    K, V = pairs(kind)
    # A flush leaves only rounding noise of orthonormal keys behind, which has no direction to compare.
    options = gates(len(K)) if varied and kind != "orthonormal" else {"alpha": 0.9, "beta": 0.7}
    reads = every_read(K, V, rule, **options)
    for name, got, want in zip(
        ("cosine", "energy", "own"), (reads.cosine, reads.energy, reads.own), naive(K, V, rule, **options)
    ):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=name)


@every_rule
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65])
def test_the_block_length_does_not_show(rule, n):
    K, V = pairs(n=n)
    options = gates(n) if n > 2 else {}
    usual, short = every_read(K, V, rule, **options), every_read(K, V, rule, block=5, **options)
    np.testing.assert_allclose(short.cosine, usual.cosine, atol=1e-12)
    np.testing.assert_allclose(short.energy, usual.energy, atol=1e-12)
    usual, short = (states(K, V, rule, range(n + 1), block=block, **options) for block in (32, 5))
    np.testing.assert_allclose(short, usual, atol=1e-13)


@every_kind
@every_rule
def test_states_are_the_memory_at_each_stop(kind, rule):
    K, V = pairs(kind)
    N = len(K)
    stops = sorted({0, 1, N // 3, N // 2, N - 1, N})
    want = one_by_one(K, V, rule, **gates(N))[stops]
    np.testing.assert_allclose(states(K, V, rule, stops, **gates(N)), want, atol=1e-13)


def test_a_delta_memory_is_an_additive_one_of_values_from_a_triangular_solve():
    K, V = pairs(n=50)
    beta = gates(50)["beta"]
    system = np.eye(50) + np.tril(beta[:, None] * (K @ K.T), k=-1)
    corrected = solve_triangular(system, beta[:, None] * V, lower=True, unit_diagonal=True)
    np.testing.assert_allclose(states(K, V, "delta", [50], beta=beta)[0], K.T @ corrected, atol=1e-12)


@every_rule
def test_a_split_read_adds_up_and_agrees_with_the_table(rule):
    K, V = pairs()
    n, j = 60, 17
    options = {"alpha": 0.95, "beta": 0.8}
    split, reads = split_read(K, V, rule, n, j, **options), every_read(K, V, rule, **options)
    read = K[j] @ one_by_one(K, V, rule, **options)[n]
    np.testing.assert_allclose(split.read, read, atol=1e-13)
    np.testing.assert_allclose(split.parts, split.weights[:, None] * V[:n], atol=1e-15)
    assert np.sum(split.along) == pytest.approx(read @ V[j] / (V[j] @ V[j]), abs=1e-13)
    assert split.weights[j] == pytest.approx(reads.own[n - 1, j], abs=1e-13)
    assert split.crosstalk @ split.crosstalk / (V[j] @ V[j]) == pytest.approx(reads.energy[n - 1, j], abs=1e-12)


def test_an_additive_split_weighs_each_value_by_the_overlap_of_the_keys():
    K, V = pairs()
    np.testing.assert_allclose(split_read(K, V, "additive", 40, 3).weights, K[:40] @ K[3], atol=1e-15)


@every_kind
@every_rule
def test_cosines_alone_and_signals_without_values_are_those_of_every_read(kind, rule):
    """Over several blocks, with a flush, and for a stack; the energies of names are checked below."""
    K, V = pairs(kind, n=150)
    options = gates(len(K))
    K, V = np.stack([K, K[::-1]]), np.stack([V, V])
    both = every_read(K, V, rule, **options)
    np.testing.assert_array_equal(every_cosine(K, V, rule, **options), both.cosine)
    told = expected_read(K, rule, **options)
    np.testing.assert_allclose(told.own, both.own, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(told.energy, expected_energy(K, rule, **options))


@every_rule
def test_expected_energy_is_the_mean_over_random_values(rule):
    K, _ = pairs(n=24)
    V = np.random.default_rng(1).standard_normal((3000, 24, 16))
    # Fixed lengths, so that dividing by ‖vⱼ‖² adds no noise of its own.
    V /= np.linalg.norm(V, axis=-1, keepdims=True)
    options = {"alpha": 0.95, "beta": 0.8}
    measured = every_read(np.broadcast_to(K, (3000, 24, 8)), V, rule, **options).energy.mean(axis=0)
    np.testing.assert_allclose(measured, expected_energy(K, rule, **options), rtol=0.12, atol=1e-12)


def test_expected_energy_of_an_additive_memory_is_its_crosstalk_energy():
    K, _ = pairs(n=40)
    energy = expected_energy(K, "additive")
    for n in (1, 2, 8, 33, 40):
        assert np.nanmean(energy[n - 1]) == pytest.approx(crosstalk_energy(K[:n]), abs=1e-12)


@every_rule
def test_expected_energy_is_that_of_values_that_have_nothing_in_common(rule):
    K, _ = pairs(n=150)
    options = {"alpha": np.linspace(0.8, 1, 150), "beta": 0.8}
    names = every_read(K, np.eye(150), rule, **options).energy
    np.testing.assert_allclose(expected_energy(K, rule, **options), names, rtol=1e-11, atol=1e-14)


@every_rule
def test_decay_over_a_thousand_writes_neither_overflows_nor_loses_digits(rule):
    K, V = pairs(n=1024, d=16, d_v=4)
    reads = every_read(K, V, rule, alpha=0.5)
    stored = np.tri(1024, dtype=bool)
    assert np.isfinite(reads.cosine[stored]).all() and np.isfinite(reads.energy[stored]).all()
    assert np.isnan(reads.cosine[~stored]).all()
    rows = [40, 500, 1023]
    read = K @ one_by_one(K, V, rule, alpha=0.5)[1:][rows]
    cosine = np.sum(read * V, axis=-1) / np.linalg.norm(read, axis=-1) / np.linalg.norm(V, axis=-1)
    np.testing.assert_allclose(reads.cosine[rows], np.where(stored[rows], cosine, np.nan), atol=1e-11)


def test_a_pair_that_is_gone_reads_zero_not_noise():
    K, V = pairs("orthonormal", n=8)
    flushed = every_read(K, V, "decay", alpha=np.array([1, 1, 1, 1, 0, 1, 1, 1.0]))
    assert np.abs(flushed.cosine[5:, :4]).max() < 0.05
    np.testing.assert_allclose(flushed.cosine[5, 4:6], 1, atol=1e-12)
    never = every_read(K, V, "delta", beta=0.0)
    np.testing.assert_array_equal(never.cosine[np.tri(8, dtype=bool)], 0)


def test_summaries_average_what_is_stored_and_keep_newest_and_oldest_apart():
    K, V = pairs(n=12)
    reads = every_read(K, V, "delta")
    np.testing.assert_allclose(reads.mean_cosine, np.nanmean(reads.cosine, axis=-1), atol=1e-14)
    np.testing.assert_allclose(reads.mean_energy, np.nanmean(reads.energy, axis=-1), atol=1e-14)
    np.testing.assert_allclose(reads.mean_own, np.nanmean(reads.own, axis=-1), atol=1e-14)
    np.testing.assert_array_equal(reads.newest, np.diag(reads.cosine))
    np.testing.assert_array_equal(reads.oldest, reads.cosine[:, 0])


@every_rule
def test_torch_lead_axes_and_half_precision_give_the_same(rule):
    K, V = (np.stack(x) for x in zip(*(pairs(seed=s) for s in range(3))))
    options = {name: np.stack([gates(70, s)[name] for s in range(3)]) for name in ("alpha", "beta")}
    both = every_read(K, V, rule, **options)
    tensors = {name: torch.tensor(g) for name, g in options.items()}
    other = every_read(torch.tensor(K), torch.tensor(V), rule, **tensors)
    np.testing.assert_allclose(other.cosine.numpy(), both.cosine, atol=1e-12)
    np.testing.assert_allclose(
        states(torch.tensor(K), torch.tensor(V), rule, [0, 33, 70], **tensors).numpy(),
        states(K, V, rule, [0, 33, 70], **options),
        atol=1e-13,
    )
    for i in range(3):
        alone = every_read(K[i], V[i], rule, **{name: g[i] for name, g in options.items()})
        np.testing.assert_allclose(alone.energy, both.energy[i], atol=1e-12)
    half = every_read(torch.tensor(K).bfloat16(), torch.tensor(V).bfloat16(), rule, alpha=0.9, beta=0.9)
    assert {half.cosine.dtype, half.energy.dtype, half.mean_cosine.dtype} == {torch.bfloat16}
    single = every_read(K.astype(np.float32), V.astype(np.float32), rule, **options)
    assert single.cosine.dtype == np.float32
    np.testing.assert_allclose(single.cosine, both.cosine, atol=1e-4)


def test_the_best_memory_is_least_squares_over_all_pairs():
    K, V = pairs(n=40)
    stops = [1, 5, 8, 9, 20, 40]
    cosine, energy = best_reads(K, V, stops)
    for i, n in enumerate(stops):
        read = K[:n] @ np.linalg.lstsq(K[:n], V[:n], rcond=None)[0]
        miss = np.mean(np.sum((read - V[:n]) ** 2, axis=-1) / np.sum(V[:n] ** 2, axis=-1))
        assert energy[i] == pytest.approx(miss, abs=1e-12)
        along = np.sum(read * V[:n], axis=-1) / np.linalg.norm(read, axis=-1) / np.linalg.norm(V[:n], axis=-1)
        assert cosine[i] == pytest.approx(np.mean(along), abs=1e-12)
    assert energy[2] < 1e-20 < energy[3]


@pytest.mark.parametrize(
    "name, call",
    [
        ("rule", lambda K, V: every_read(K, V, "hebb")),
        ("V", lambda K, V: every_read(K, V[:-1], "additive")),
        ("V", lambda K, V: every_read(K, V * 0, "additive")),
        ("V", lambda K, V: split_read(K, V * 0, "additive", 5, 1)),
        ("K", lambda K, V: every_read(K * np.inf, V, "additive")),
        ("alpha", lambda K, V: every_read(K, V, "decay", alpha=np.ones(3))),
        ("alpha", lambda K, V: every_read(K, V, "decay", alpha=np.nan)),
        ("beta", lambda K, V: every_read(K, V, "delta", beta="strong")),
        ("stops", lambda K, V: states(K, V, "delta", [])),
        ("stops", lambda K, V: states(K, V, "delta", [3, 2])),
        ("stops", lambda K, V: states(K, V, "delta", [11])),
        ("block", lambda K, V: states(K, V, "delta", [3], block=0)),
        ("n", lambda K, V: split_read(K, V, "delta", 11, 0)),
        ("j", lambda K, V: split_read(K, V, "delta", 5, 5)),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_bad_value_is_refused_by_its_name(name, call):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        call(*pairs(n=10))


def test_a_rule_object_serves_as_well_as_its_word():
    K, V = pairs(n=10)
    np.testing.assert_array_equal(every_read(K, V, WRITE_RULES["delta"]()).cosine, every_read(K, V, "delta").cosine)
