"""How wrong an estimate of e^(q·k) is in absolute terms, seen from the true value: what happens where that is small.

At a fixed length ‖q+k‖ a smaller true value κ = e^(q·k) means a longer ‖q−k‖.  Positive features then err in
proportion to κ, trigonometric ones in inverse proportion.
Source: Choromanski et al. 2020, arXiv:2009.14794, lemma 2.
"""

from __future__ import annotations

import numpy as np

from compute.arrays import whole
from compute.feature_error import Numbers, positive_variance, trigonometric_variance


def difference_length(sum_length: Numbers, value: Numbers) -> np.ndarray:
    """‖q−k‖ of a pair with ‖q+k‖ = sum_length and e^(q·k) = value; NaN where no pair has both."""
    square = np.square(sum_length) - 4 * np.log(value)
    return np.sqrt(np.where(square >= 0, square, np.nan))


def rms_error(sum_length: Numbers, value: Numbers, m: int, kind: str = "positive") -> np.ndarray:
    """Root mean square error of an estimate from m independent directions, at a true kernel value.

    sum_length: ‖q+k‖; value: e^(q·k) > 0; both broadcast.  kind: "positive", or "trig" (2m features).
    NaN where no pair has both.  Raises ValueError naming value, m or kind.
    """
    value = np.asarray(value, dtype=float)
    if not np.all(value > 0):
        raise ValueError("value must be above 0")
    if kind not in ("positive", "trig"):
        raise ValueError(f"kind must be positive or trig, got {kind!r}")
    m, apart = whole("m", m, 1), difference_length(sum_length, value)
    if kind == "trig":
        return value * np.sqrt(trigonometric_variance(apart, m))
    return np.where(np.isnan(apart), np.nan, value * np.sqrt(positive_variance(sum_length, m)))
