"""What is found for the claims about the denominator: growth, shares, derivatives, and what replaced it."""

from __future__ import annotations

import numpy as np

from compute.arriving import power_of
from compute.attention import (
    causal_linear_attention_recurrent,
    lightning_attention,
    lightning_log_alpha,
    per_head,
    retnet_attention,
    retnet_log_alpha,
    rms_norm,
    transnormer_attention,
)
from compute.claims.registry import PHI, check, miss, normals
from compute.feature_maps import FEATURE_MAPS
from compute.normaliser import (
    causal_weights,
    denominators,
    kernel_derivative,
    kernel_derivative_bound,
    largest_kernel_derivative,
    nearby_share,
    newest_share,
    score_derivative,
)
from compute.rank import kernel_matrix

Q, K, V = normals(4, 48, 6), normals(4, 48, 6, seed=1), normals(4, 48, 3, seed=2)
"""Four heads."""


def growth(of):
    """Power of t with which the mean over heads grows, from t = 64 to 2,048."""
    Q, K = normals(32, 2048, 16), normals(32, 2048, 16, seed=1)
    t = 2 ** np.arange(6, 12)
    return power_of(t, of(Q, K, PHI["elu"]).mean(axis=0)[t - 1])


@check
def powers_of_t():
    return [growth(denominators), growth(newest_share)]


@check
def derivative_of_weights_by_kernel_values():
    return kernel_derivative(np.array([1.0, 3.0])).ravel().tolist()


@check
def derivative_at_a_vanishing_denominator():
    """Growth of the largest derivative as all kernel values shrink a million times, and its share of the bound for
    a key without weight."""
    kappa = np.array([3.0, 1.0, 0.0])
    large, largest = (float(largest_kernel_derivative(scale * kappa)) for scale in (1.0, 1e-6))
    return [largest / large, large / float(kernel_derivative_bound(kappa))]


@check
def largest_score_derivative():
    w = np.exp(3 * normals(500, 8))
    many = float(np.abs(score_derivative(w / w.sum(axis=-1, keepdims=True))).max())
    return [float(np.abs(score_derivative(np.array([0.5, 0.5]))).max()), bool(many <= 0.25)]


@check
def transnormer_beside_a_norm_of_the_numerators():
    """Distance from numerators brought to mean square one by hand, for a signed map."""
    numerators = np.einsum("htk,hsk,ts,hsv->htv", PHI["silu"](Q), PHI["silu"](K), np.tri(48), V)
    wanted = numerators / np.sqrt(np.mean(numerators**2, axis=-1, keepdims=True))
    return miss(transnormer_attention(Q, K, V, PHI["silu"], norm_eps=0), wanted)


@check
def retention_without_its_clamp():
    log_alpha = per_head(retnet_log_alpha(4), Q)
    bare = causal_linear_attention_recurrent(Q, K, V, PHI["identity"], normalise=False, log_alpha=log_alpha)
    return miss(retnet_attention(Q, K, V, log_alpha, norm_eps=0), rms_norm(bare, norm_eps=0))


@check
def signed_maps_with_a_norm():
    """Largest output entry over √d_v, which a norm cannot exceed."""
    outputs = [transnormer_attention(Q, K, V, PHI[word], norm_eps=0) for word in ("identity", "silu", "trig")]
    return max(float(np.abs(O).max()) for O in outputs) / 3**0.5


@check
def lightning_layer_by_hand():
    """SiLU on all three, one decay per head, a norm over all heads, a sigmoid gate."""

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    gate, log_alpha = normals(4, 48, 3, seed=3), lightning_log_alpha(4)
    q, k, v = (x * sigmoid(x) for x in (Q, K, V))
    S, wanted = np.zeros((4, 6, 3)), np.empty_like(V)
    for t in range(48):
        S = np.exp(log_alpha)[:, None, None] * S + k[:, t, :, None] * v[:, t, None, :]
        O = np.einsum("hkv,hk->hv", S, q[:, t])
        wanted[:, t] = O / np.sqrt(np.mean(O**2)) * sigmoid(gate[:, t])
    return miss(lightning_attention(Q, K, V, gate, per_head(log_alpha, Q), norm_eps=0), wanted)


@check
def share_of_negative_denominators():
    """Identity, SiLU and trigonometric features; then elu+1, which has none."""
    q, k = normals(8, 256, 16) / 2, normals(8, 256, 16, seed=1) / 2
    trig = FEATURE_MAPS["trig"](m=16)
    share = [
        float(np.mean(denominators(c * q, c * k, phi) <= 0))
        for c, phi in ((1, PHI["identity"]), (1, PHI["silu"]), (2, trig), (1, PHI["elu"]))
    ]
    return [bool(share[0] > 0.3), bool(share[1] > 0.05), bool(share[2] > 0.05), share[3]]


@check
def kernel_without_its_temperature():
    """exp(q·k) over exp(q·k/√d_k) at q·k = 4 and d_k = 16."""
    q, k = np.ones((1, 16)), np.full((1, 16), 0.25)
    return float(kernel_matrix(q, k, scale=1.0)[0, 0] / kernel_matrix(q, k)[0, 0])


@check
def weight_on_the_64_newest_of_1024():
    w = causal_weights(normals(4, 1024, 16), normals(4, 1024, 16, seed=1), PHI["elu"])
    return float(nearby_share(w, 64)[:, -64:].mean())
