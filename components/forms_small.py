"""Two modes, a list of small cases: what single keys, single writes and one shared summary give of an example."""

from __future__ import annotations

import numpy as np

from components.cases import Nodes, cases
from components.forms_run import AS_GIVEN, CHANNELS, Run
from components.forms_said import brief, sci, vector
from components.ledger_said import figure, found
from compute.agreement import apart
from compute.attention import kernel_attention, linear_attention
from compute.pitfalls import writes
from compute.rank import kernel_matrix, numerical_rank

STATES = "C054"
TRIED = 5
"""Writes whose rank is looked at: of a wide map each takes a millisecond."""


def small_cases(told: Run) -> Nodes:
    """Nothing where there is no state; the right form, whatever mistake is chosen."""
    if told.features is None:
        return cases("forms", {})
    features = *told.features, told.V
    return cases(
        "forms",
        {
            "C042": f"one key: outputs of the three forms − its value {sci(_single(told))}",
            "C031": f"the first writes have rank {_ranks(told)} each",
            "C044": f"o₁ read from the last S and z instead: {shared_said(told)}",
            "C025": f"without a mask − kernel attention with φ(q)·φ(k): {sci(_unmasked(*features))}",
            STATES: f"gradients as sums: at most {figure(found()[STATES])} of the memory that all states would take",
        },
    )


def _single(told: Run) -> float:
    """The first token's output has one value to average, in every form."""
    return max(float(apart(O[:1], told.V[:1])[0]) for O in told.right.values())


def _ranks(told: Run) -> str:
    ranks = {numerical_rank(write) for write in writes(told.features[1][:TRIED], told.V[:TRIED])}
    return " or ".join(map(str, sorted(ranks)))


def shared(told: Run) -> np.ndarray:
    """What one summary of all tokens would give the first of them, [d_v]."""
    phi_q, phi_k = told.features
    return linear_attention(phi_q[:1], phi_k, told.V, AS_GIVEN, eps=0)[0]


def shared_said(told: Run) -> str:
    o = shared(told)
    return vector(o) if told.by_hand else ", ".join(map(brief, o[:CHANNELS]))


def _unmasked(phi_q: np.ndarray, phi_k: np.ndarray, V: np.ndarray) -> float:
    as_kernel = kernel_attention(phi_q, phi_k, V, lambda q, k: kernel_matrix(q, k, AS_GIVEN), causal=False)
    return float(np.nanmax(apart(linear_attention(phi_q, phi_k, V, AS_GIVEN, eps=0), as_kernel)))
