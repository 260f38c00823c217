"""The bfloat16 route against the written form in float64, on a CPU that is told to take it."""

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, D_K, D_V, LEAD, elu, quick
from hypothesis import given
from hypothesis import strategies as st

from compute.attention import causal_linear_attention_chunkwise, causal_linear_attention_recurrent, half
from compute.feature_maps import FEATURE_MAPS

IDENTITY = FEATURE_MAPS["identity"]()
OWN_ROUNDING = 2.0**-8
"""Largest relative change of a number by rounding to bfloat16; a sum of independent ones misses by less."""


@pytest.fixture(autouse=True, params=[0, half.SQUARE], ids=["chunks", "one chunk"])
def everywhere(monkeypatch, request):
    """As if every CPU tensor of bfloat16 were on a CUDA device; all tokens in one chunk where they are few, or not."""
    monkeypatch.setattr(half, "SQUARE", request.param)
    monkeypatch.setattr(half, "fits", lambda *arrays: all(a.dtype == torch.bfloat16 for a in arrays))


def tokens(T, lead=LEAD, d_k=D_K, d_v=D_V, seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((*lead, T, d_k), (*lead, T, d_k), (*lead, T, d_v))
    return tuple(torch.from_numpy(rng.standard_normal(shape)).bfloat16() for shape in shapes)


def miss(got, want):
    return float((got.double() - want.double()).norm() / want.double().norm())


def both(Q, K, V, phi, chunk, state=None, **options):
    """(O, (S, z)) of the route, and of the loop over tokens in float64 from the same bfloat16 numbers."""
    got = causal_linear_attention_chunkwise(Q, K, V, phi, chunk=chunk, state=state, return_state=True, **options)
    state = None if state is None else tuple(a.double() for a in state)
    wide = (a.double() for a in (Q, K, V))
    return got, causal_linear_attention_recurrent(*wide, phi, state=state, return_state=True, **options)


@pytest.mark.parametrize("phi, normalise", [(elu, True), (elu, False), (IDENTITY, False)])
@pytest.mark.parametrize("T, chunk", [*((T, 16) for T in AWKWARD), (63, 64), (1100, 8), (2111, 8)])
@pytest.mark.parametrize("begun", [False, True])
def test_it_misses_float64_by_its_roundings_only(T, chunk, phi, normalise, begun):
    Q, K, V = tokens(T)
    state = (torch.ones((*LEAD, D_K, D_V)), torch.ones((*LEAD, D_K))) if begun else None
    (O, (S, z)), (want, (S_want, z_want)) = both(Q, K, V, phi, chunk, state, normalise=normalise)
    assert (O.dtype, S.dtype, z.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    assert miss(O, want) < OWN_ROUNDING
    sums = OWN_ROUNDING if phi is elu else 1e-6  # only features made by a map are rounded on their way in
    assert max(miss(S, S_want), miss(z, z_want)) < sums


def test_without_a_state_to_return_the_outputs_are_the_same():
    for T in (63, 1100):
        for normalise in (True, False):
            (O, _), _ = both(*tokens(T), elu, 8, normalise=normalise)
            assert torch.equal(O, causal_linear_attention_chunkwise(*tokens(T), elu, chunk=8, normalise=normalise))


def test_no_lead_axis_and_many():
    for lead in ((), (3,), (2, 1, 3)):
        (O, (S, z)), (want, _) = both(*tokens(37, lead), elu, 16)
        assert (O.shape, S.shape, z.shape) == ((*lead, 37, D_V), (*lead, D_K, D_V), (*lead, D_K))
        assert miss(O, want) < OWN_ROUNDING


@quick
@given(T=st.integers(1, 60), chunk=st.integers(1, 70), seed=st.integers(0, 99))
def test_constant_values_come_out_exactly(T, chunk, seed):
    """Powers of two, so that what is rounded for a value is rounded alike for its weight."""
    Q, K, V = tokens(T, seed=seed)
    V[...] = -(2.0 ** torch.arange(D_V))
    assert torch.equal(causal_linear_attention_chunkwise(Q, K, V, elu, 0.0, chunk), V)


@quick
@given(T=st.integers(2, 60), chunk=st.integers(1, 70), seed=st.integers(0, 99), data=st.data())
def test_permuting_the_future_changes_nothing_past(T, chunk, seed, data):
    cut = data.draw(st.integers(1, T - 1))
    order = np.concatenate([np.arange(cut), np.random.default_rng(seed).permutation(np.arange(cut, T))])
    Q, K, V = tokens(T, seed=seed)
    past, shuffled = (
        causal_linear_attention_chunkwise(*(a[..., i, :] for a in (Q, K, V)), elu, chunk=chunk)
        for i in (np.arange(T), order)
    )
    assert torch.equal(past[..., :cut, :], shuffled[..., :cut, :])


@pytest.mark.parametrize("normalise", [True, False])
def test_masking_is_cutting_out_and_an_empty_row_is_zero(normalise):
    Q, K, V = tokens(40)
    mask = torch.arange(40) % 3 > 0
    whole = mask.expand(*LEAD, 40)
    O = causal_linear_attention_chunkwise(Q, K, V, elu, chunk=8, mask=whole, normalise=normalise)
    cut = causal_linear_attention_chunkwise(*(a[..., mask, :] for a in (Q, K, V)), elu, chunk=8, normalise=normalise)
    assert miss(O[..., mask, :], cut) < 1.5 * OWN_ROUNDING
    assert not O[..., 0, :].any()


def test_split_and_resume_equals_one_pass():
    Q, K, V = tokens(100)
    want, (S_want, z_want) = causal_linear_attention_chunkwise(Q, K, V, IDENTITY, return_state=True, normalise=False)
    state, parts = None, []
    for part in (slice(0, 37), slice(37, 100)):
        inputs = (a[..., part, :] for a in (Q, K, V))
        O, state = causal_linear_attention_chunkwise(*inputs, IDENTITY, state=state, return_state=True, normalise=False)
        parts.append(O)
    assert miss(torch.cat(parts, dim=-2), want) < 1.5 * OWN_ROUNDING
    assert max(miss(state[0], S_want), miss(state[1], z_want)) < 1e-6


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", "QKV")
@pytest.mark.parametrize(
    "phi, mask",
    [(IDENTITY, None), (torch.exp, None), (IDENTITY, torch.zeros((*LEAD, 20), dtype=torch.bool))],
    ids=["as it is", "behind a map", "behind a mask"],
)
def test_nan_and_inf_are_refused_by_name(phi, mask, name, value):
    inputs = dict(zip("QKV", tokens(20)))
    inputs[name][0, 1, 7, 0] = value
    with pytest.raises(ValueError, match=f"^{name} must be finite"):
        causal_linear_attention_chunkwise(*inputs.values(), phi, mask=mask)


def test_an_overflow_of_finite_inputs_is_not_refused():
    Q, K, V = (a * 1e30 for a in tokens(20))
    assert not torch.isfinite(causal_linear_attention_chunkwise(Q, K, V, IDENTITY, normalise=False)).all()


def test_who_asks_for_a_gradient_gets_the_written_form():
    given_ones = tokens(20)
    leaves = [a.clone().requires_grad_() for a in given_ones]
    causal_linear_attention_chunkwise(*leaves, elu, chunk=8).float().sum().backward()
    wide = [a.float().requires_grad_() for a in given_ones]
    causal_linear_attention_chunkwise(*wide, elu, chunk=8).sum().backward()
    assert all(miss(a.grad, b.grad) < OWN_ROUNDING for a, b in zip(leaves, wide) if b.grad.norm() > 1e-3)
    scale = torch.ones((), requires_grad=True)
    causal_linear_attention_chunkwise(*given_ones, lambda x: elu(x) * scale, normalise=False).sum().backward()
    assert scale.grad != 0


def test_inputs_are_never_modified():
    inputs = tokens(20)
    state = (torch.ones((*LEAD, D_K, D_V)), torch.ones((*LEAD, D_K)))
    copies = [a.clone() for a in (*inputs, *state)]
    causal_linear_attention_chunkwise(*inputs, IDENTITY, state=state, chunk=8)
    assert all(torch.equal(a, b) for a, b in zip((*inputs, *state), copies, strict=True))


def test_only_bfloat16_on_a_cuda_device_takes_it(monkeypatch):
    monkeypatch.undo()
    for a in (np.ones((3, 2)), torch.ones(3, 2), torch.ones(3, 2, dtype=torch.bfloat16)):
        assert not half.fits(a, a, a)
    Q, K, V = tokens(100)
    want = causal_linear_attention_chunkwise(Q.float(), K.float(), V.float(), elu)
    assert torch.equal(causal_linear_attention_chunkwise(Q, K, V, elu), want.bfloat16())


LAYOUTS = {
    "whole": lambda Q: Q.clone(),
    "heads after tokens": lambda Q: Q.transpose(-3, -2).contiguous().transpose(-3, -2),
    "columns first": lambda Q: Q.mT.contiguous().mT,
    "odd start": lambda Q: torch.cat([Q[..., :1], Q], dim=-1)[..., 1:],
    "odd rows": lambda Q: torch.cat([Q, Q[..., :1]], dim=-1)[..., :-1],
    "every second": lambda Q: Q.repeat_interleave(2, dim=-1)[..., ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("T, chunk, d_k", [(24, 8, 8), (23, 8, 8), (24, 6, 8), (24, 8, 6)])
def test_how_the_queries_lie_in_memory_changes_no_bit(layout, T, chunk, d_k):
    Q, K, V = tokens(T, d_k=d_k)
    (O, _), (want, _) = both(Q, K, V, IDENTITY, chunk, normalise=False)
    laid = LAYOUTS[layout](Q)
    assert torch.equal(laid, Q)
    assert torch.equal(causal_linear_attention_chunkwise(laid, K, V, IDENTITY, chunk=chunk, normalise=False), O)
    assert miss(O, want) < OWN_ROUNDING
