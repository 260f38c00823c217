"""How wrong an estimate of e^(q·k) is in absolute terms, seen from the true value: what happens where that is small.

At a fixed length ‖q+k‖ a smaller true value κ = e^(q·k) means a longer ‖q−k‖.  Positive features then err in
proportion to κ, trigonometric ones in inverse proportion.
Source: Choromanski et al. 2020, arXiv:2009.14794, lemma 2.
"""

from __future__ import annotations

import numpy as np

from compute.feature_error import KINDS, positive_variance, trigonometric_variance
from compute.scalars import Numbers, one_of, reals, whole


def difference_length(sum_length: Numbers, value: Numbers) -> np.ndarray:
    """‖q−k‖ of a pair with ‖q+k‖ = sum_length and e^(q·k) = value > 0; NaN where no pair has both.

    ValueError naming sum_length (NaN, Inf, below 0) or value.
    """
    square = np.square(reals("sum_length", sum_length, 0)) - 4 * np.log(_above_zero(value))
    return np.sqrt(np.where(square >= 0, square, np.nan))


def rms_error(sum_length: Numbers, value: Numbers, m: int, kind: str = "positive") -> np.ndarray:
    """Root mean square error of an estimate from m independent directions, at a true kernel value.

    sum_length: ‖q+k‖; value: e^(q·k) > 0; both broadcast.  kind: "positive", or "trig" (2m features).
    NaN where no pair has both.  Raises ValueError naming sum_length, value, m or kind.
    """
    kind, m, apart = one_of("kind", kind, KINDS), whole("m", m, 1), difference_length(sum_length, value)
    possible = ~np.isnan(apart)
    variance = (
        trigonometric_variance(np.where(possible, apart, 0), m) if kind == "trig" else positive_variance(sum_length, m)
    )
    return np.where(possible, _above_zero(value) * np.sqrt(variance), np.nan)


def _above_zero(value: Numbers) -> np.ndarray:
    value = reals("value", value)
    if not np.all(value > 0):
        raise ValueError(f"value must be above 0, got {np.min(value):.6g}")
    return value
