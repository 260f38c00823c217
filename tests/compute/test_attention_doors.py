"""What attention refuses, what it hides, and where it says NaN."""

import numpy as np
import pytest
import torch
from attention_calls import CALLS
from attention_cases import D_K, D_V, LEAD, as_torch, elu, miss, tokens

from compute.attention import (
    FORMS,
    causal_linear_attention_chunkwise,
    delta_attention_chunkwise,
    kernel_attention,
    linear_attention,
    linear_attention_step,
    sliding_window_attention,
    softmax_attention,
)

Q, K, V = tokens(6)

every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def poisoned(a, value):
    a = a.copy()
    a.flat[-1] = value
    return a


BAD = {
    "Q with one axis": (Q[0, 0, 0], K, V, "Q "),
    "Q with other leading axes": (Q[:1], K, V, "K "),
    "K wider than Q": (Q, np.concatenate([K, K], axis=-1), V, "K "),
    "V with other leading axes": (Q, K, V[:1], "V "),
    "V without a value per key": (Q, K, V[..., :-1, :], "V "),
    "no tokens": (Q[..., :0, :], K[..., :0, :], V[..., :0, :], "Q "),
    "NaN in Q": (poisoned(Q, np.nan), K, V, "Q "),
    "Inf in K": (Q, poisoned(K, np.inf), V, "K "),
    "NaN in V": (Q, K, poisoned(V, np.nan), "V "),
    "complex V": (Q, K, V * 1j, "V "),
    "strings for K": (Q, K.astype(str), V, "K "),
}


@every_call
@pytest.mark.parametrize("Q, K, V, name", BAD.values(), ids=BAD)
def test_bad_tokens_are_refused_by_name(call, Q, K, V, name):
    with pytest.raises(ValueError, match=f"^{name}"):
        call(Q, K, V)


@every_call
def test_numpy_and_torch_do_not_mix(call):
    with pytest.raises(ValueError, match=r"^[^ ]+ must be"):
        call(Q, torch.from_numpy(K), V)


@every_call
@pytest.mark.parametrize(
    "mask",
    [np.ones((*LEAD, 5), bool), np.ones(6, bool), np.ones((*LEAD, 6)), torch.ones((*LEAD, 6), dtype=torch.bool), "all"],
    ids=["short", "no lead", "floating", "torch", "word"],
)
def test_bad_masks_are_refused_by_name(call, mask):
    with pytest.raises(ValueError, match=r"^mask "):
        call(Q, K, V, mask=mask)


@every_form
@pytest.mark.parametrize(
    "name, value",
    [
        ("eps", -1e-6),
        ("eps", np.nan),
        ("eps", "small"),
        ("log_alpha", np.zeros((*LEAD, 5))),
        ("log_alpha", np.full((*LEAD, 6), np.nan)),
        ("log_alpha", np.full((*LEAD, 6), -np.inf)),
        ("log_alpha", np.full((*LEAD, 6), 0.9)),
        ("log_alpha", np.zeros((*LEAD, 6, D_K + 1))),
        ("state", np.zeros((*LEAD, D_K, D_V))),
        ("state", (np.zeros((*LEAD, D_V, D_K)), np.zeros((*LEAD, D_K)))),
        ("state", (np.zeros((*LEAD, D_K, D_V)), np.full((*LEAD, D_K), np.nan))),
        ("state", (torch.zeros((*LEAD, D_K, D_V)), torch.zeros((*LEAD, D_K)))),
    ],
)
def test_bad_options_are_refused_by_name(form, name, value):
    with pytest.raises(ValueError, match=f"^{name}"):
        form(Q, K, V, elu, **{name: value})


@every_form
@pytest.mark.parametrize(
    "phi", [None, lambda x: x[..., 0], lambda x: x[..., :0], lambda x: x[..., :-1, :], lambda x: 1.0]
)
def test_a_map_that_returns_no_features_is_refused(form, phi):
    with pytest.raises(ValueError, match=r"^phi "):
        form(Q, K, V, phi)


@pytest.mark.parametrize("chunk", [0, -1, 2.0, True, None])
def test_chunks_are_whole_and_positive(chunk):
    with pytest.raises(ValueError, match=r"^chunk "):
        causal_linear_attention_chunkwise(Q, K, V, elu, chunk=chunk)
    with pytest.raises(ValueError, match=r"^chunk "):
        delta_attention_chunkwise(Q, K, V, chunk=chunk)
    with pytest.raises(ValueError, match=r"^window "):
        sliding_window_attention(Q, K, V, chunk)


@pytest.mark.parametrize("call", [c for n, c in CALLS.items() if n not in ("linear",)])
def test_a_causal_form_needs_a_query_per_key(call):
    with pytest.raises(ValueError, match=r"^Q "):
        call(Q[..., :-1, :], K, V)


def test_the_step_names_what_does_not_fit():
    S, z, q = np.zeros((D_K, D_V)), np.zeros(D_K), np.ones(D_K)
    for name, arguments in {
        "S": (S.T, z, q, q, np.ones(D_V)),
        "z": (S, z[:-1], q, q, np.ones(D_V)),
        "k": (S, z, q, q[:-1], np.ones(D_V)),
        "v": (S, z, q, q, np.ones((2, D_V))),
    }.items():
        with pytest.raises(ValueError, match=f"^{name} "):
            linear_attention_step(*arguments, elu)
    with pytest.raises(ValueError, match=r"^eps "):
        linear_attention_step(S, z, q, q, np.ones(D_V), elu, eps=-1)


def test_the_step_lets_nan_through():
    o, _, _ = linear_attention_step(np.zeros((1, 1)), np.zeros(1), np.ones(1), np.ones(1), np.array([np.nan]), elu)
    assert np.isnan(o).all()


@every_call
def test_a_masked_token_might_as_well_not_be_there(call):
    """Its key and value may be anything, and the others read as if it had been cut out."""
    mask = np.ones((*LEAD, 6), bool)
    mask[..., [1, 4]] = False
    loud = [np.where(mask[..., None], a, 1e3) for a in (K, V)]
    assert np.array_equal(call(Q, *loud, mask=mask), call(Q, K, V, mask=mask))


@every_form
@pytest.mark.parametrize("gate", [None, -0.3])
def test_masking_is_cutting_out(form, gate):
    mask = np.array([True, False, True, True, False, True])
    gates = None if gate is None else np.linspace(gate, 0, 6) * np.ones((*LEAD, 6))
    O = form(Q, K, V, elu, mask=np.broadcast_to(mask, (*LEAD, 6)), log_alpha=gates)
    cut = form(*(a[..., mask, :] for a in (Q, K, V)), elu, log_alpha=None if gate is None else gates[..., mask])
    assert miss(O[..., mask, :], cut) < 1e-14


def test_masking_is_cutting_out_where_nothing_is_causal():
    mask = np.array([True, False, True, True, False, True])
    whole_mask, kept = np.broadcast_to(mask, (*LEAD, 6)), [a[..., mask, :] for a in (K, V)]
    kernel = lambda Q, K: elu(Q) @ elu(K).mT  # noqa: E731
    for call in (
        lambda *a, **o: linear_attention(*a, elu, **o),
        lambda *a, **o: softmax_attention(*a, causal=False, **o),
        lambda *a, **o: kernel_attention(*a, kernel, causal=False, **o),
    ):
        assert miss(call(Q, K, V, mask=whole_mask), call(Q, *kept)) < 1e-14


@every_call
@pytest.mark.parametrize("convert", [lambda x: x, as_torch], ids=["numpy", "torch"])
def test_a_row_with_no_key_is_zero(call, convert):
    mask = np.ones((*LEAD, 6), bool)
    mask[0, 0, :] = False
    mask[0, 1, :3] = False
    O = np.asarray(call(*convert((Q, K, V)), mask=convert(mask)))
    assert np.isfinite(O).all()
    assert not O[0, 0].any()
    if call is not CALLS["linear"]:
        assert not O[0, 1, :3].any()


@every_form
@pytest.mark.parametrize("convert", [lambda x: x, as_torch], ids=["numpy", "torch"])
def test_an_undefined_row_is_nan_and_says_nothing(form, convert):
    """ReLU features of a first key with no positive entry: 0/0 until a key with one comes."""
    Q, K, V = np.ones((3, 2)), np.array([[-1.0, -2.0], [-1.0, 0.0], [1.0, 0.0]]), np.ones((3, 1))
    relu = lambda x: x * (x > 0)  # noqa: E731
    O = np.asarray(form(*convert((Q, K, V)), relu, eps=0))
    assert np.isnan(O[:2]).all() and O[2].tolist() == [1.0]
    assert form(Q, K, V, relu)[:2].tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("convert", [lambda x: x, as_torch], ids=["numpy", "torch"])
def test_it_is_nan_without_a_causal_mask_too_and_where_a_gate_has_shut(convert):
    relu = lambda x: x * (x > 0)  # noqa: E731
    silent = np.full((3, 2), -1.0)
    O = linear_attention(*convert((np.ones((3, 2)), silent, np.ones((3, 1)))), relu, eps=0)
    assert np.isnan(np.asarray(O)).all()
    K, shut = np.array([[1.0, 0.0], [-1.0, -1.0]]), np.array([0.0, -1e4])
    for form in FORMS.values():
        O = np.asarray(form(*convert((np.ones((2, 2)), K, np.ones((2, 1)))), relu, eps=0, log_alpha=convert(shut)))
        assert O[0] == 1 and np.isnan(O[1])


@every_form
def test_a_signed_denominator_of_zero_is_nan_not_infinite(form):
    Q, K, V = np.ones((2, 1)), np.array([[1.0], [-1.0]]), np.array([[1.0], [2.0]])
    O = form(Q, K, V, lambda x: x, eps=0)
    assert O[0] == 1 and np.isnan(O[1])
    assert form(Q, K, V, lambda x: x, normalise=False)[1] == -1


def test_a_kernel_that_vanishes_gives_nan():
    O = kernel_attention(Q, K, V, lambda Q, K: np.zeros((*LEAD, 6, 6)))
    assert np.isnan(O).all()
    with pytest.raises(ValueError, match=r"^kernel "):
        kernel_attention(Q, K, V, lambda Q, K: K)
    with pytest.raises(ValueError, match=r"^kernel "):
        kernel_attention(Q, K, V, "rbf")


@every_form
def test_an_empty_row_does_not_poison_the_gradient(form):
    leaves = [a.requires_grad_() for a in as_torch((Q.copy(), K.copy(), V.copy()))]
    mask = torch.ones((*LEAD, 6), dtype=torch.bool)
    mask[..., :2] = False
    form(*leaves, elu, eps=0, mask=mask).sum().backward()
    assert all(torch.isfinite(a.grad).all() for a in leaves)
