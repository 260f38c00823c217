"""Gradients as cumulative sums, against torch's autograd through every form."""

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, D_K, D_V, LEAD, as_torch, miss, tokens

from compute.attention import FORMS, autograd_gradients, cumulative_sum_gradients


def case(T):
    """Positive features, values and the gradient at the output."""
    rng = np.random.default_rng(T)
    phi_q, phi_k = rng.uniform(0.1, 2, (2, *LEAD, T, D_K))
    return phi_q, phi_k, rng.standard_normal((*LEAD, T, D_V)), rng.standard_normal((*LEAD, T, D_V))


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("T", AWKWARD)
def test_cumulative_sums_equal_autograd(T, form, normalise):
    # eps is large enough that the gradients of one token do not cancel to nothing.
    arguments, eps = case(T), 0.1
    want = autograd_gradients(*arguments, eps, normalise=normalise, form=form)
    got = cumulative_sum_gradients(*arguments, eps, normalise=normalise, chunk=16)
    for name, g, w in zip(("phi_q", "phi_k", "V"), got, want):
        assert isinstance(g, np.ndarray) and isinstance(w, np.ndarray)
        assert miss(g, w) < 1e-12, name


def test_torch_in_torch_out():
    arguments = as_torch(case(33))
    for gradients in (cumulative_sum_gradients(*arguments), autograd_gradients(*arguments)):
        assert all(isinstance(g, torch.Tensor) and not g.requires_grad for g in gradients)
    assert (
        max(miss(a, b) for a, b in zip(cumulative_sum_gradients(*arguments), cumulative_sum_gradients(*case(33))))
        < 1e-12
    )


def test_a_finite_difference_agrees():
    phi_q, phi_k, V, G = case(17)
    nudge, h = np.random.default_rng(9).standard_normal(phi_k.shape), 1e-6
    form = FORMS["recurrent"]
    up, down = ((G * form(phi_q, phi_k + s * h * nudge, V, lambda x: x)).sum() for s in (1, -1))
    slope = (cumulative_sum_gradients(phi_q, phi_k, V, G)[1] * nudge).sum()
    assert abs((up - down) / (2 * h) - slope) < 1e-7 * abs(slope)


@pytest.mark.parametrize("at, name", [(0, "phi_q"), (1, "phi_k"), (2, "V"), (3, "G")])
def test_bad_arguments_are_refused_by_name(at, name):
    arguments = list(case(6))
    arguments[at] = np.full_like(arguments[at], np.nan)
    with pytest.raises(ValueError, match=f"^{name} "):
        cumulative_sum_gradients(*arguments)
    arguments[at] = tokens(5)[0][..., :2]
    with pytest.raises(ValueError, match=r"^(phi_q|phi_k|V|G) "):
        cumulative_sum_gradients(*arguments)
