"""Sums over keys as they arrive: they agree with the row-by-row functions and with the layers of modern models."""

from __future__ import annotations

import numpy as np
import pytest

from compute.arriving import (
    arrived_at,
    denominators_at,
    kernel_derivatives_at,
    numerators_at,
    power_of,
    score_derivatives_at,
    share_of_newest,
    sums_at,
)
from compute.attention import (
    lightning_attention,
    mlstm_attention,
    retnet_attention,
    transnormer_attention,
)
from compute.attention.normalisers import floored, rms_norm, sigmoid
from compute.feature_maps import FEATURE_MAPS
from compute.normaliser import kernel_derivative, nearby_share, score_derivative
from compute.streams import DRAWS, TOKENS, as_met, kernel_values, stream

AT = [1, 2, 5, 9, 24]
RNG = np.random.default_rng(3)
KAPPA, SIGNED = np.exp(RNG.standard_normal((4, 24))), RNG.standard_normal((4, 24))
Q, K, V = RNG.standard_normal((4, 6)), RNG.standard_normal((4, 24, 6)), RNG.standard_normal((4, 24, 3))
SILU, IDENTITY = FEATURE_MAPS["silu"](), FEATURE_MAPS["identity"]()
each_count = pytest.mark.parametrize("i, t", list(enumerate(AT)))


@each_count
def test_sums_are_those_of_the_keys_so_far(i, t):
    for kappa in (KAPPA, SIGNED):
        sums = sums_at(kappa, AT)
        np.testing.assert_allclose(sums.net[:, i], [sum(row[:t]) for row in kappa], rtol=1e-12)
        np.testing.assert_allclose(sums.gross[:, i], [sum(map(abs, row[:t])) for row in kappa], rtol=1e-12)
        np.testing.assert_array_equal(sums.newest[:, i], kappa[:, t - 1])
        np.testing.assert_allclose(denominators_at(kappa, AT), sums.net, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 3, 24, 100])
def test_shares_are_what_the_causal_weights_of_the_same_query_give(m):
    weights = np.tril(np.broadcast_to(SIGNED[:, None, :], (4, 24, 24)))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(
        share_of_newest(SIGNED, AT, m), nearby_share(weights, m)[:, np.array(AT) - 1], rtol=1e-9, atol=1e-12
    )


@each_count
def test_largest_derivatives_are_found_in_the_whole_matrices(i, t):
    for kappa in (KAPPA, SIGNED):
        whole = np.abs(kernel_derivative(kappa[:, :t])).max(axis=(-1, -2))
        np.testing.assert_allclose(kernel_derivatives_at(kappa, AT)[:, i], whole, rtol=1e-9)
    p = KAPPA[:, :t] / KAPPA[:, :t].sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(
        score_derivatives_at(KAPPA, AT)[:, i], np.abs(score_derivative(p)).max(axis=(-1, -2)), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("kappa", [KAPPA, SIGNED])
def test_what_is_asked_for_at_once_is_what_each_function_says(kappa):
    sums, newest, near, derivatives = arrived_at(kappa, AT, 3)
    for told, each in zip(sums, sums_at(kappa, AT), strict=True):
        np.testing.assert_array_equal(told, each)
    np.testing.assert_array_equal(newest, share_of_newest(kappa, AT))
    np.testing.assert_array_equal(near, share_of_newest(kappa, AT, 3))
    np.testing.assert_array_equal(derivatives, kernel_derivatives_at(kappa, AT))


def test_no_score_moves_a_softmax_weight_by_more_than_a_quarter():
    assert score_derivatives_at(np.exp(5 * SIGNED), range(1, 25)).max() <= 0.25
    assert score_derivatives_at(np.ones((1, 2)), [2])[0, 0] == 0.25


def last_read(layer, t, **options):
    """The output of a causal layer at its t-th token, whose query is the fixed one."""
    queries = np.repeat(Q[:, None, :], t, axis=1)
    return layer(queries, K[:, :t], V[:, :t], **options)[:, -1]


@each_count
def test_floor_clamp_and_norm_give_the_reads_of_the_layers(i, t):
    kappa = np.einsum("hk,htk->ht", Q, K)
    num, den = numerators_at(kappa, V, AT)[:, i], sums_at(kappa, AT).net[:, i]
    np.testing.assert_allclose(floored(num, den), last_read(mlstm_attention, t), rtol=1e-9)
    mapped = np.einsum("hk,htk->ht", SILU(Q), SILU(K))
    np.testing.assert_allclose(
        rms_norm(numerators_at(mapped, V, AT)[:, i]), last_read(transnormer_attention, t, phi=SILU), rtol=1e-9
    )


@each_count
def test_decayed_sums_give_the_reads_of_retention_and_lightning(i, t):
    log_alpha = np.log([0.5, 0.9, 0.97, 1.0])
    decays = np.repeat(log_alpha[:, None], t, axis=1)
    kappa = np.einsum("hk,htk->ht", Q, K)
    np.testing.assert_allclose(
        rms_norm(numerators_at(kappa, V, AT, log_alpha)[:, i], norm_eps=0),
        last_read(retnet_attention, t, log_alpha=decays, norm_eps=0),
        rtol=1e-8,
    )
    gate = RNG.standard_normal((4, 3))
    num = numerators_at(np.einsum("hk,htk->ht", SILU(Q), SILU(K)), SILU(V), AT, log_alpha)[:, i]
    read = rms_norm(num.reshape(12)).reshape(4, 3) * sigmoid(gate)
    gates = np.repeat(gate[:, None, :], t, axis=1)
    np.testing.assert_allclose(read, last_read(lightning_attention, t, gate=gates, log_alpha=decays), rtol=1e-8)


@pytest.mark.parametrize("at", [[], [0, 2], [3, 2], [1, 25], [1.5], [[1, 2]]])
def test_counts_that_are_no_counts_are_refused(at):
    with pytest.raises(ValueError, match=r"^at must"):
        sums_at(KAPPA, at)


def test_several_decays_of_the_same_sums_are_told_one_after_another():
    """Also one decay a draw, and one for all of them."""
    rates = np.log([[1.0, 0.5, 0.9, 0.97], [0.3, 1.0, 0.6, 0.8]])
    both = numerators_at(SIGNED, V, AT, rates)
    assert both.shape == (2, 4, len(AT), 3)
    for told, rate in zip(both, rates, strict=True):
        np.testing.assert_array_equal(told, numerators_at(SIGNED, V, AT, rate))
    np.testing.assert_array_equal(both[0, 0], numerators_at(SIGNED, V, AT)[0])
    every = numerators_at(SIGNED, V, AT, np.log(0.5))
    np.testing.assert_allclose(every[1], both[0, 1], rtol=1e-12)


@pytest.mark.parametrize("log_alpha", [np.zeros(3), np.zeros((4, 2)), np.zeros((1, 1, 4)), np.full(4, 0.1), 0.1])
def test_decays_of_other_draws_and_growth_are_refused(log_alpha):
    with pytest.raises(ValueError, match=r"^log_alpha must be at most 0"):
        numerators_at(SIGNED, V, AT, log_alpha)


@pytest.mark.parametrize("s", [0, 10, 23])
@pytest.mark.parametrize("name", ["kappa", "V"])
@pytest.mark.parametrize("at", [AT, AT[:3]])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_wherever_it_stands(s, name, at, bad):
    given = {"kappa": SIGNED.copy(), "V": V.copy()}
    given[name][1, s] = bad
    with pytest.raises(ValueError, match=rf"^{name} must be finite"):
        numerators_at(given["kappa"], given["V"], at)
    with pytest.raises(ValueError, match=rf"^{name} must be finite"):
        numerators_at(given["kappa"], given["V"], at, np.full(4, -900.0))


def test_values_without_their_keys_are_refused():
    with pytest.raises(ValueError, match=r"^V must hold a value"):
        numerators_at(KAPPA, V[:, :5], AT)


def test_the_power_of_a_power_law_is_read_off_whatever_its_size():
    t = np.array(AT)
    assert power_of(t, 7.0 * t**-1.5) == pytest.approx(-1.5)


# The stream


def test_each_draw_meets_the_keys_from_its_own_start():
    tokens = stream(4, 7)
    met = as_met(tokens.K)
    assert met.shape == (DRAWS, TOKENS, 4)
    np.testing.assert_array_equal(met[0], tokens.K)
    for j in (1, DRAWS - 1):
        start = j * TOKENS // DRAWS
        np.testing.assert_array_equal(met[j], np.roll(tokens.K, -start, axis=0))


@pytest.mark.parametrize("word", FEATURE_MAPS)
def test_kernel_values_are_products_of_features_in_the_order_of_arrival(word):
    phi, tokens = FEATURE_MAPS[word](), stream(4, 7)
    q, k = 4**-0.25 * tokens.Q[5].astype(float), 4**-0.25 * as_met(tokens.K)[5].astype(float)
    np.testing.assert_allclose(kernel_values(phi, 4, 7)[5], phi(k) @ phi(q), rtol=2e-3, atol=2e-3)


def test_softmax_has_the_exponential_kernel_and_a_temperature_can_be_left_out():
    tokens = stream(4, 7)
    np.testing.assert_allclose(kernel_values(None, 4, 7)[0], np.exp(tokens.K @ tokens.Q[0] / 2), rtol=1e-5)
    bare, tempered = (kernel_values(IDENTITY, 4, 7, tempered=t, draws=3) for t in (False, True))
    assert bare.shape == (3, TOKENS)
    np.testing.assert_allclose(bare, 2 * tempered, rtol=1e-4, atol=1e-6)


def test_another_seed_is_another_stream():
    assert not np.array_equal(stream(4, 7).K, stream(4, 8).K)
