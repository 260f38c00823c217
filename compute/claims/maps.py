"""What is found for the claims about fixed and learned feature maps: values, widths, limits, sharpness."""

from __future__ import annotations

import numpy as np

from compute.claims.registry import PHI, check, normals
from compute.cost import attention_flops
from compute.feature_maps import FEATURE_MAPS, taylor_features
from compute.memory import crosstalk_energy
from compute.rank import kernel_matrix
from compute.sharpness import limit_weights, match_weights, matching_query, summary, weights

STOPS = np.array([0.25, 1.0, 4.0, 16.0])
LONG = np.array([1e9])


def _relevant(seed=0, d_k=16):
    """32 keys and a query that matches the first."""
    keys = normals(32, d_k, seed=seed)
    return matching_query(keys[0], normals(d_k, seed=1000 + seed), 1.0), keys


def _median(of, seeds=20):
    return np.median([of(*_relevant(seed)) for seed in range(seeds)], axis=0)


def _scores(s, phi=PHI["taylor"]):
    """The kernel at scores s: a query 1 against keys s, in one dimension."""
    return kernel_matrix([[1.0]], np.asarray(s, dtype=float)[:, None], phi)[0]


@check
def elu_by_hand():
    phi = PHI["elu"]
    return [*phi(np.array([-1.0, 0.0, 2.0, 7.0])).tolist(), bool(phi(np.array([-30.0]))[0] > 0), phi.d_phi(64)]


@check
def relu_below_zero():
    """Largest gradient and largest feature at negative entries."""
    import torch

    x = (-torch.from_numpy(np.abs(normals(50)))).requires_grad_()
    features = PHI["relu"](x)
    features.sum().backward()
    return [float(x.grad.abs().max()), float(features.detach().max())]


def _moved(word):
    return max(float(np.ptp(match_weights(PHI[word], *_relevant(s), STOPS).w, axis=0).max()) for s in range(5))


@check
def homogeneous_weights_for_longer_queries():
    return [_moved("relu"), bool(_moved("identity") < 1e-9)]


@check
def softmax_ratio_at_a_gap_of_one():
    ratios = []
    for c in (1.0, 3.0):
        w = weights(None, [[c, 0.0]], [[2.0, 5.0], [1.0, -4.0]]).w[0]
        ratios.append(float(w[0] / w[1]))
    return ratios


@check
def elu_for_a_very_long_query():
    q, keys = _relevant()
    q, scaled = q / 2, keys / 2
    limit = np.maximum(q, 0) @ PHI["elu"](scaled).T
    return float(np.abs(match_weights(PHI["elu"], 2 * q, keys, LONG).w[0] - limit / limit.sum()).max())


@check
def entropy_of_the_elu_limit():
    """In nats, the median of 20 draws."""
    return float(_median(lambda q, keys: summary(limit_weights(PHI["elu"], q, keys)).entropy))


@check
def sharpness_of_relu_and_elu():
    """How far ReLU moves, elu+1's weight on the relevant key at sharpness 1/4 and 16, and its end."""
    elu = _median(
        lambda q, keys: [
            *match_weights(PHI["elu"], q, keys, STOPS[[0, -1]]).w[:, 0],
            limit_weights(PHI["elu"], q, keys)[0],
        ]
    )
    return [_moved("relu"), *elu.tolist()]


@check
def taylor_for_a_very_long_query():
    q, keys = _relevant()
    square = (keys @ q) ** 2
    return float(np.abs(match_weights(PHI["taylor"], q, keys, LONG).w[0] - square / square.sum()).max())


@check
def largest_weight_of_softmax_and_elu():
    return [
        float(_median(lambda q, keys, phi=phi: match_weights(phi, q, keys, STOPS[-1:]).w.max()))
        for phi in (None, PHI["elu"])
    ]


@check
def table_of_maps():
    """Width at d_k = 16 as measured, and the sign of features (of the kernel, where it alone is positive)."""
    X, rows = normals(400, 16), []
    for word in ("identity", "elu", "relu", "favor", "taylor", "hedgehog", "silu"):
        features = PHI[word](X)
        smallest, kernel = features.min(), (features @ features.T).min()
        sign = "positive" if smallest > 0 else "nonnegative" if smallest == 0 else "kernel" if kernel > 0 else "signed"
        rows.append(f"{word} {features.shape[-1]} {sign}")
    return rows


@check
def lowest_point_of_silu():
    x = np.linspace(-5, 5, 100_001)
    y = PHI["silu"](x)
    return [float(y.min()), float(x[y.argmin()])]


@check
def taylor_at_score_five():
    X = np.array([[1.0, 2.0], [3.0, 1.0]])
    symmetric = FEATURE_MAPS["taylor"](symmetric=True)
    return [float(np.prod(phi(X), axis=0).sum()) for phi in (taylor_features, symmetric)]


@check
def lowest_point_of_taylor():
    s = np.linspace(-4, 4, 8001)
    kernel = _scores(s)
    return [float(kernel.min()), float(s[kernel.argmin()])]


@check
def second_order_features_by_hand():
    squares = 2**0.5 * taylor_features(np.array([[1.0, 2.0], [3.0, 1.0]]))[:, 3:]
    return [*squares[0].tolist(), *squares[1].tolist(), float(squares[0] @ squares[1])]


@check
def taylor_at_minus_three_and_zero():
    return _scores([-3, 0]).tolist()


@check
def ratios_to_a_key_of_score_zero():
    """At score 10: Taylor, softmax; and the power of the score with which Taylor's ratio grows."""
    taylor, softmax = (weights(phi, [[1.0]], [[10.0], [0.0]]).w[0] for phi in (PHI["taylor"], None))
    far = _scores([1e4, 2e4])
    return [float(taylor[0] / taylor[1]), float(softmax[0] / softmax[1]), float(np.log2(far[1] / far[0]))]


@check
def error_of_taylor_over_the_cube():
    s = np.array([0.01])
    return float(((np.exp(s) - _scores(s)) / s**3)[0])


@check
def hedgehog_at_the_start():
    phi = PHI["hedgehog"]
    return [float(kernel_matrix([[1.0, 2.0]], [[3.0, 1.0]], phi)[0, 0]), phi(normals(1, 16)).shape[-1]]


@check
def growth_of_hedgehogs_cost():
    def flops(T, d_k):
        return attention_flops(T, PHI["hedgehog"].d_phi(d_k), d_k, "right")

    return [flops(8192, 64) / flops(4096, 64), flops(4096, 128) / flops(4096, 64)]


@check
def width_and_zeros_of_dpfp():
    members = [FEATURE_MAPS["dpfp"](nu=nu) for nu in (1, 2, 3)]
    X = normals(2000, 16)
    return [*(m(X).shape[-1] for m in members), *(float(np.mean(m(X) == 0)) for m in members)]


def overlap(word, n=2000, d_k=16):
    """Mean squared cosine between the features of two random keys."""
    return float(crosstalk_energy(PHI[word](normals(n, d_k)))) / (n - 1)


@check
def overlap_before_and_after_dpfp():
    """As the crosstalk energy that 256 such keys have."""
    return [255 * overlap("identity"), 255 * overlap("dpfp")]


@check
def taylor_features_at_16():
    return int(taylor_features(np.ones((1, 16))).shape[-1])
