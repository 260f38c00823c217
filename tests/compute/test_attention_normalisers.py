"""The four ways out of the denominator, against loops in their papers' letters and torch's own norm."""

import numpy as np
import pytest
import torch
from attention_cases import D_K, D_V, LEAD, as_torch, log_gates, miss, tokens

from compute.attention import (
    causal_linear_attention_recurrent,
    lightning_attention,
    lightning_log_alpha,
    mlstm_attention,
    per_head,
    retnet_attention,
    retnet_log_alpha,
    rms_norm,
    transnormer_attention,
)
from compute.attention.normalisers import floored


def test_the_matrix_lstm_is_its_papers_recurrence():
    """C_t = f C + i v k^T, n_t = f n + i k, h = C q / max(|n q|, 1): transposed, gated on both sides."""
    Q, K, V = tokens(40, lead=())
    rng = np.random.default_rng(1)
    f, i = rng.uniform(0.5, 1, 40), rng.uniform(0, 3, 40)
    C, n, h = np.zeros((D_V, D_K)), np.zeros(D_K), []
    for t in range(40):
        C, n = f[t] * C + i[t] * np.outer(V[t], K[t]), f[t] * n + i[t] * K[t]
        h.append(C @ Q[t] / max(abs(n @ Q[t]), 1))
    assert miss(mlstm_attention(Q, K, V, log_alpha=np.log(f), write=i), np.array(h)) < 1e-13


def test_the_floor_is_all_that_tells_the_matrix_lstm_from_linear_attention():
    Q, K, V = (np.abs(a) + 1 for a in tokens(20))
    plain = causal_linear_attention_recurrent(Q, K, V, lambda x: x, eps=0)
    assert miss(mlstm_attention(Q, K, V), plain) < 1e-14
    small = mlstm_attention(Q, K * 1e-3, V)
    assert not np.allclose(small[..., 0, :], plain[..., 0, :])
    assert np.abs(small[..., 0, :]).max() < np.abs(plain[..., 0, :]).max()


def test_retnets_clamp_is_cancelled_by_the_norm():
    Q, K, V = tokens(30)
    gates = log_gates(30, "token", D_K)
    numerators = causal_linear_attention_recurrent(Q, K, V, lambda x: x, normalise=False, log_alpha=gates)
    want = torch.nn.functional.rms_norm(torch.from_numpy(numerators), (D_V,), eps=0.0)
    assert miss(retnet_attention(Q, K, V, gates, norm_eps=0), want) < 1e-13


def test_the_floor_bounds_what_it_divides_by():
    num, den = np.ones((4, 2)), np.array([0.0, -0.5, 2.0, -4.0])
    assert floored(num, den)[:, 0].tolist() == [1.0, 1.0, 0.5, 0.25]


def test_transnormer_is_torchs_rms_norm_of_the_numerators():
    Q, K, V = tokens(30)
    gain = np.linspace(0.5, 2, D_V)
    numerators = causal_linear_attention_recurrent(Q, K, V, np.tanh, normalise=False)
    want = torch.nn.functional.rms_norm(torch.from_numpy(numerators), (D_V,), torch.from_numpy(gain), eps=1e-6)
    assert miss(transnormer_attention(Q, K, V, np.tanh, gain=gain), want) < 1e-13
    assert miss(rms_norm(numerators, gain), want) < 1e-13


def test_a_norm_does_not_see_the_scale_of_a_row():
    x = tokens(8)[2]
    assert miss(rms_norm(x * 1e-3, norm_eps=0), rms_norm(x, norm_eps=0)) < 1e-14
    assert np.isnan(rms_norm(np.zeros((1, 3)), norm_eps=0)).all()
    assert not rms_norm(np.zeros((1, 3))).any()


def test_lightning_attention_is_its_step_written_out():
    """S = e^(-slope) S + k v^T on SiLU vectors, one norm over the heads of a token, sigmoid gate."""
    Q, K, V = tokens(25, lead=(2,))
    gate, gain = tokens(25, 7, lead=(2,))[2], np.random.default_rng(3).uniform(0.5, 2, (2, 1, D_V))
    decays = lightning_log_alpha(2, layer=1, n_layers=4)
    q, k, v = (torch.nn.functional.silu(torch.from_numpy(a)).numpy() for a in (Q, K, V))
    S, want = np.zeros((2, D_K, D_V)), np.empty_like(V)
    for t in range(25):
        S = np.exp(decays)[:, None, None] * S + k[:, t, :, None] * v[:, t, None, :]
        read = np.einsum("hkv,hk->hv", S, q[:, t]).reshape(-1)
        normed = torch.nn.functional.rms_norm(torch.from_numpy(read), (2 * D_V,), eps=1e-6).numpy().reshape(2, D_V)
        want[:, t] = normed * gain[:, 0] / (1 + np.exp(-gate[:, t]))
    assert miss(lightning_attention(Q, K, V, gate, per_head(decays, Q), gain=gain), want) < 1e-13


def test_fixed_decays_as_published():
    assert np.allclose(np.exp(retnet_log_alpha(3)), [1 - 1 / 32, 1 - 1 / 64, 1 - 1 / 128], rtol=1e-15)
    assert np.allclose(lightning_log_alpha(8), -(2.0 ** -np.arange(1, 9)), rtol=2e-5)
    assert np.allclose(lightning_log_alpha(64, 79, 80)[0], -(2 ** (-1 / 8)) * 1e-5, rtol=0.02)
    assert per_head(retnet_log_alpha(2), tokens(4)[0]).shape == (*LEAD, 4)
    for call in (retnet_log_alpha, lightning_log_alpha):
        with pytest.raises(ValueError, match=r"^n_heads "):
            call(0)
    with pytest.raises(ValueError, match=r"^layer "):
        lightning_log_alpha(4, 4, 4)


WAYS = {
    "mlstm": lambda Q, K, V, g, **o: mlstm_attention(Q, K, V, log_alpha=g, **o),
    "retnet": lambda Q, K, V, g, **o: retnet_attention(Q, K, V, g, **o),
    "transnormer": lambda Q, K, V, g, **o: transnormer_attention(Q, K, V, lambda x: x, log_alpha=g, **o),
    "lightning": lambda Q, K, V, g, **o: lightning_attention(Q, K, V, V, g, **o),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_way_resumes_runs_on_torch_and_takes_half_precision(way):
    Q, K, V = tokens(37)
    gates = log_gates(37, "token", D_K)
    want, (S, z) = way(Q, K, V, gates, return_state=True)
    first, state = way(*(a[..., :20, :] for a in (Q, K, V)), gates[..., :20], return_state=True, chunk=8)
    second, (S2, z2) = way(*(a[..., 20:, :] for a in (Q, K, V)), gates[..., 20:], state=state, return_state=True)
    assert miss(np.concatenate([first, second], axis=-2), want) < 1e-12
    assert max(miss(S2, S), miss(z2, z)) < 1e-12
    assert miss(way(*as_torch((Q, K, V)), as_torch(gates)), want) < 1e-12
    halves = [torch.from_numpy(a).to(torch.bfloat16) for a in (Q, K, V)]
    O = way(*halves, as_torch(gates))
    assert O.dtype == torch.bfloat16
    assert torch.equal(O, way(*(a.float() for a in halves), as_torch(gates)).to(torch.bfloat16))


def test_bad_options_are_refused_by_name():
    Q, K, V = tokens(6)
    gates = log_gates(6, "token", D_K)
    for name, call in {
        "write": lambda: mlstm_attention(Q, K, V, write=np.ones(5)),
        "norm_eps": lambda: rms_norm(V, norm_eps=-1),
        "gain": lambda: transnormer_attention(Q, K, V, np.tanh, gain=np.ones(D_V + 1)),
        "gate": lambda: lightning_attention(Q, K, V, V[..., :-1], gates),
        "V": lambda: lightning_attention(Q[0, 0], K[0, 0], V[0, 0], V[0, 0], gates[0, 0]),
        "chunk": lambda: retnet_attention(Q, K, V, gates, chunk=0),
        "log_alpha": lambda: retnet_attention(Q, K, V, -gates),
    }.items():
        with pytest.raises(ValueError, match=f"^{name} "):
            call()
