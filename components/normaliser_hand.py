"""Four small cases of the denominator, worked by the package on numbers that one can follow by hand."""

from __future__ import annotations

from functools import cache

import numpy as np

from components.powers import powers
from components.says import decimals
from compute.attention import linear_attention, mlstm_attention
from compute.feature_maps import FEATURE_MAPS
from compute.normaliser import kernel_derivative, largest_kernel_derivative

ROWS = (
    ("κ = (1, 3): ∂p/∂κ, row by row", "normaliser.hand_derivative"),
    ("the same for κ a million times smaller", "normaliser.hand_growth"),
    ("κ = (1, −0.999): mean of 1 and 0", "normaliser.hand_signed"),
    ("mLSTM, k = ¼, v = 8, q = 1, −1, 8", "normaliser.hand_floor"),
)
"""Label and text node of each case."""

CASES = {
    "C061": "ReLU below zero: largest slope {}, largest feature {}",
    "C140": "mLSTM with open gates and no floor − linear attention with the identity: {}",
    "C170": "TransNormer − a norm of the bare sums: {}",
    "C171": "RetNet with its clamp − without: {}",
    "C172": "largest output of signed maps under a norm, over √d_v: {}",
    "C173": "lightning layer − SiLU, decay, norm and gate written out: {}",
}
"""For each claim that says two things are one, or that one thing has a limit, a line with gaps."""


@cache
def hand() -> tuple[tuple[str, str], ...]:
    """What stands in the nodes of ROWS."""
    kappa = np.array([1.0, 3.0])
    told = (
        ", ".join(_short(value) for value in kernel_derivative(kappa).ravel()),
        f"{powers(_million())} times as much",
        f"{_average(-0.999)}; with −1 {_average(-1.0)}",
        ", ".join(_short(_floored(q)) for q in (1.0, -1.0, 8.0)),
    )
    return tuple((node, text) for (_, node), text in zip(ROWS, told, strict=True))


def _million() -> float:
    kappa = np.array([3.0, 1.0, 0.0])
    return round(float(largest_kernel_derivative(1e-6 * kappa) / largest_kernel_derivative(kappa)), 3)


def _average(second: float) -> str:
    """1 and 0 under the kernel values 1 and `second`."""
    identity = FEATURE_MAPS["identity"]()
    read = float(linear_attention([[1.0]], [[1.0], [second]], [[1.0], [0.0]], identity, eps=0)[0, 0])
    return powers(round(read, 6)) if np.isfinite(read) else decimals(read)


def _floored(q: float) -> float:
    return float(mlstm_attention(np.array([[q]]), np.array([[0.25]]), np.array([[8.0]]))[0, 0])


def _short(value: float) -> str:
    return f"{value:g}".replace("-", "−")
