"""The three forms of causal linear attention and the step: one function, several orders."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, D_K, D_V, LEAD, as_torch, elu, log_gates, miss, tokens
from hypothesis import strategies as st

from compute.attention import (
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_parallel,
    causal_linear_attention_recurrent,
    kernel_attention,
    linear_attention,
    linear_attention_step,
)
from compute.feature_maps import FEATURE_MAPS

HAND_Q = np.array([[0, 0], [1, 0], [0, 1]])
HAND_K = np.array([[1, 0], [0, 1], [0, 0]])
HAND_V = np.array([[1, 0], [0, 1], [1, 1]])
HAND_O = [[Fraction(1), Fraction(0)], [Fraction(5, 9), Fraction(4, 9)], [Fraction(7, 12), Fraction(2, 3)]]
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
every_gate = pytest.mark.parametrize("gate", ["none", "token", "channel"])
gates, seeds = st.sampled_from(["none", "token", "channel"]), st.integers(0, 99)


@every_form
def test_the_hand_example_comes_out_as_its_fractions(form):
    O, (S, z) = form(HAND_Q, HAND_K, HAND_V, elu, eps=0, return_state=True)
    assert O.tolist() == [[float(x) for x in row] for row in HAND_O]
    assert (S.tolist(), z.tolist()) == ([[3, 2], [2, 3]], [4, 4])


@every_form
def test_eps_enters_the_denominator_once(form):
    O = form(HAND_Q, HAND_K, HAND_V, elu)
    assert O[0, 0] == 3 / (3 + 1e-6)
    assert form(HAND_Q, HAND_K, HAND_V, elu, eps=3.0)[1].tolist() == [5 / 12, 4 / 12]


def test_the_step_walks_through_the_hand_example():
    S, z = np.zeros((2, 2)), np.zeros(2)
    states = []
    for q, k, v, o in zip(HAND_Q, HAND_K, HAND_V, HAND_O):
        got, S, z = linear_attention_step(S, z, q, k, v, elu, eps=0)
        assert got.tolist() == [float(x) for x in o]
        states.append((S.tolist(), z.tolist()))
    assert states == [([[2, 0], [1, 0]], [2, 1]), ([[2, 1], [1, 2]], [3, 3]), ([[3, 2], [2, 3]], [4, 4])]


@every_gate
@pytest.mark.parametrize("T", AWKWARD)
def test_the_forms_agree(T, gate):
    Q, K, V = tokens(T)
    options = dict(log_alpha=log_gates(T, gate, D_K), return_state=True)
    want, (S, z) = causal_linear_attention_recurrent(Q, K, V, elu, **options)
    others = [causal_linear_attention_parallel(Q, K, V, elu, **options)]
    others += [causal_linear_attention_chunkwise(Q, K, V, elu, chunk=C, **options) for C in (1, 7, 16, 64, 300)]
    for O, (S_other, z_other) in others:
        assert max(miss(O, want), miss(S_other, S), miss(z_other, z)) < 1e-13


@pytest.mark.parametrize("word", FEATURE_MAPS)
def test_the_forms_agree_for_every_feature_map(word):
    phi = FEATURE_MAPS[word]()
    Q, K, V = tokens(37)
    options = dict(normalise=phi.positivity in ("yes", "kernel"))
    want = causal_linear_attention_recurrent(Q, K, V, phi, **options)
    assert miss(causal_linear_attention_parallel(Q, K, V, phi, **options), want) < 1e-12
    assert miss(causal_linear_attention_chunkwise(Q, K, V, phi, chunk=8, **options), want) < 1e-12


@every_form
def test_the_forms_are_kernel_attention_under_a_causal_mask(form):
    Q, K, V = tokens(33)
    want = kernel_attention(Q, K, V, lambda Q, K: elu(Q) @ elu(K).mT)
    assert miss(form(Q, K, V, elu, eps=0), want) < 1e-14


@pytest.mark.parametrize("T_q", [1, 9, 40])
def test_linear_attention_without_a_mask_is_kernel_attention(T_q):
    _, K, V = tokens(17)
    Q = tokens(T_q, seed=5)[0]
    want = kernel_attention(Q, K, V, lambda Q, K: elu(Q) @ elu(K).mT, causal=False)
    assert miss(linear_attention(Q, K, V, elu, eps=0), want) < 1e-14


@every_gate
@every_form
@pytest.mark.parametrize("cut", [1, 16, 20, 36])
def test_split_and_resume_equals_one_pass(form, gate, cut):
    T = 37
    Q, K, V = tokens(T)
    gates = log_gates(T, gate, D_K)
    mask = np.random.default_rng(3).random((*LEAD, T)) < 0.6
    mask[0, 0, :cut] = False
    want, state = form(Q, K, V, elu, log_alpha=gates, mask=mask, return_state=True)
    resumed, parts = None, []
    for part in (slice(0, cut), slice(cut, T)):
        Q_p, K_p, V_p = (a[..., part, :] for a in (Q, K, V))
        gates_p = None if gates is None else gates[:, :, part]
        O, resumed = form(Q_p, K_p, V_p, elu, log_alpha=gates_p, mask=mask[..., part], state=resumed, return_state=True)
        parts.append(O)
    assert miss(np.concatenate(parts, axis=-2), want) < 1e-13
    assert max(miss(a, b) for a, b in zip(resumed, state)) < 1e-13


@every_gate
def test_chained_steps_equal_the_forms(gate):
    Q, K, V = tokens(21)
    gates = log_gates(21, gate, D_K)
    want, (S_end, z_end) = causal_linear_attention_chunkwise(Q, K, V, elu, log_alpha=gates, return_state=True)
    S, z = np.zeros((*LEAD, D_K, D_V)), np.zeros((*LEAD, D_K))
    for t in range(21):
        now = None if gates is None else gates[:, :, t]
        o, S, z = linear_attention_step(S, z, Q[..., t, :], K[..., t, :], V[..., t, :], elu, log_alpha=now)
        assert miss(o, want[..., t, :]) < 1e-13
    assert max(miss(S, S_end), miss(z, z_end)) < 1e-13


def test_a_shut_gate_forgets_everything_and_loses_no_digits():
    """Decays are sums over the tokens between, never differences of two long sums."""
    Q, K, V = tokens(40)
    gates = np.full((*LEAD, 40), -0.1)
    gates[..., 20] = -1e9
    for form in FORMS.values():
        O = form(Q, K, V, elu, log_alpha=gates)
        alone = form(*(a[..., 20:, :] for a in (Q, K, V)), elu, log_alpha=gates[..., 20:])
        assert miss(O[..., 20:, :], alone) < 1e-14


def test_a_gate_per_token_is_the_same_gate_in_every_channel():
    Q, K, V = tokens(37)
    gates = log_gates(37, "token", D_K)
    for form in FORMS.values():
        per_channel = np.repeat(gates[..., None], D_K, axis=-1)
        assert miss(form(Q, K, V, elu, log_alpha=per_channel), form(Q, K, V, elu, log_alpha=gates)) < 1e-13


@every_gate
@every_form
@pytest.mark.parametrize("normalise", [True, False])
def test_torch_equals_numpy(form, gate, normalise):
    Q, K, V = tokens(63)
    mask = np.random.default_rng(2).random((*LEAD, 63)) < 0.7
    state = (np.ones((*LEAD, D_K, D_V)), np.ones((*LEAD, D_K)))
    options = dict(log_alpha=log_gates(63, gate, D_K), mask=mask, state=state)
    want = form(Q, K, V, elu, normalise=normalise, **options)
    got = form(*as_torch((Q, K, V)), elu, normalise=normalise, **{n: as_torch(a) for n, a in options.items()})
    assert got.dtype == torch.float64
    assert miss(got, want) < 1e-12


def test_a_long_state_agrees_between_numpy_and_torch():
    T = 2**16
    Q, K, V = tokens(T, lead=())
    options = dict(chunk=128, return_state=True)
    _, (S, z) = causal_linear_attention_chunkwise(Q, K, V, elu, **options)
    _, (S_torch, z_torch) = causal_linear_attention_chunkwise(*as_torch((Q, K, V)), elu, **options)
    assert max(miss(S_torch, S), miss(z_torch, z)) < 1e-10
    assert max(miss(elu(K).T @ V, S), miss(elu(K).sum(0), z)) < 1e-10


@every_form
def test_inputs_are_never_modified(form):
    Q, K, V = tokens(20)
    state = (np.ones((*LEAD, D_K, D_V)), np.ones((*LEAD, D_K)))
    gates, mask = log_gates(20, "channel", D_K), np.arange(20) % 3 > 0
    mask = np.broadcast_to(mask, (*LEAD, 20)).copy()
    given_arrays = (Q, K, V, *state, gates, mask)
    copies = [a.copy() for a in given_arrays]
    for a in given_arrays:
        a.setflags(write=False)
    form(Q, K, V, elu, state=state, log_alpha=gates, mask=mask, return_state=True)
    linear_attention_step(*(a[0, 0] for a in state), Q[0, 0, 0], K[0, 0, 0], V[0, 0, 0], elu)
    assert all(np.array_equal(a, b) for a, b in zip(given_arrays, copies))


@every_form
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32_and_rounded_once(form, dtype):
    Q, K, V = (torch.from_numpy(a).to(dtype) for a in tokens(100))
    O, (S, z) = form(Q, K, V, elu, return_state=True)
    want = form(Q.float(), K.float(), V.float(), elu)
    assert O.dtype == dtype
    assert torch.equal(O, want.to(dtype))
    assert S.dtype == z.dtype == torch.float32


@every_form
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_the_dtype_that_comes_in_goes_out(form, dtype):
    O = form(*(a.astype(dtype) for a in tokens(9)), elu)
    assert O.dtype == (np.float64 if dtype is np.int32 else dtype)


def test_a_bfloat16_state_is_rounded_at_every_step():
    """The pitfall the float32 state avoids: 256 + 1 is 256."""
    one = torch.ones(1, dtype=torch.bfloat16)
    S, z = torch.full((1, 1), 256.0, dtype=torch.bfloat16), torch.full((1,), 256.0, dtype=torch.bfloat16)
    _, S, z = linear_attention_step(S, z, one, one, one, lambda x: x)
    assert (S.item(), z.item(), z.dtype) == (256.0, 256.0, torch.bfloat16)
    o, S, z = linear_attention_step(S.float(), z.float(), one, one, one, lambda x: x)
    assert (S.item(), z.item(), z.dtype, o.dtype) == (257.0, 257.0, torch.float32, torch.bfloat16)
