"""Attention against performer-pytorch and the local-attention that it brings along (extra `outside`).

Performer's ε inside the feature is set to 0: only then do the constants that it subtracts before exponentiating cancel.
Its keys are stabilised by a maximum over all tokens, which looks into the future and is harmless for the same reason.
"""

import warnings

import numpy as np
import pytest
import torch
from attention_cases import AWKWARD, as_torch, miss, tokens

from compute.attention import FORMS, linear_attention, sliding_window_attention
from compute.feature_maps import orthogonal_directions, positive_random_features

pytestmark = pytest.mark.outside

LEAD, D_K, D_V, D_PHI = (2, 3), 16, 10, 48
OMEGA = orthogonal_directions(D_PHI, D_K, np.random.default_rng(0))


@pytest.fixture(scope="module")
def theirs():
    """Their functions; they read torch's version by a class that is deprecated, and say so on import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reason = "performer-pytorch is not installed (extra `outside`)"
        return pytest.importorskip("performer_pytorch.performer_pytorch", reason=reason, exc_type=ImportError)


@pytest.fixture(params=AWKWARD)
def case(theirs, request):
    """Q, K, V as they are, and their features of Q and K."""
    Q, K, V = tokens(request.param, lead=LEAD, d_k=D_K, d_v=D_V)
    Omega = torch.from_numpy(OMEGA)
    q, k = (
        theirs.softmax_kernel(as_torch(x), projection_matrix=Omega, is_query=is_query, eps=0)
        for x, is_query in ((Q, True), (K, False))
    )
    return Q, K, V, q, k


def phi(x):
    """The same map: the temperature, half of it on each side, is theirs."""
    return positive_random_features(x * D_K**-0.25, OMEGA)


def test_attention_without_a_mask(theirs, case):
    Q, K, V, q, k = case
    assert miss(linear_attention(Q, K, V, phi, eps=0), theirs.linear_attention(q, k, as_torch(V))) < 1e-12


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_causal_attention(theirs, case, form):
    Q, K, V, q, k = case
    want = theirs.causal_linear_attention_noncuda(q, k, as_torch(V), eps=0)
    assert miss(form(Q, K, V, phi, eps=0), want) < 1e-12


@pytest.mark.parametrize("T", AWKWARD)
@pytest.mark.parametrize("window", [2, 9, 16, 300])
def test_softmax_over_a_window(T, window):
    """Theirs counts the tokens before the query's own."""
    local = pytest.importorskip("local_attention", reason="local-attention is not installed (extra `outside`)")
    theirs = local.LocalAttention(
        window - 1, causal=True, exact_windowsize=True, autopad=True, use_rotary_pos_emb=False, scale=D_K**-0.5
    )
    Q, K, V = tokens(T, lead=LEAD, d_k=D_K, d_v=D_V)
    assert miss(sliding_window_attention(Q, K, V, window), theirs(*as_torch((Q, K, V)))) < 1e-12
