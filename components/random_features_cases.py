"""Random features, small cases: averages over all directions, without a draw; and how far orthogonality goes."""

from __future__ import annotations

CASES = {
    "C072": "mean of e^(ωx) at x = 1: {}",
    "C073": "mean of e^(ω·x) at x = (0.3, −0.5, 0.8): {}",
    "C074": "times e^(−‖x‖²/2), at three x: {}, {}, {}",
    "C075": "mean estimate of a pair with q·k = −0.24: {}; every feature positive: {}",
    "C076": "second moment of one of its terms: {}",
    "C078": "the pair times d_k^(−1/4) on either side: mean estimate {}, softmax’s kernel {}",
    "C081": "squared error of one direction at ‖q+k‖ = 2, for the value 1 and a smaller one: trigonometric {} and {}, "
    "positive {} and {}",
    "C087": "16 queries and 32 keys of width 16, over draws: ‖q+k‖² is {} on average, off by {} (standard deviation); "
    "7.4 in one draw means a relative variance of {} a feature",
    "C083": "of 40 directions in 16 dimensions so many pairs are at right angles: {}",
}
"""For each claim whose numbers are small enough to be checked by themselves, a line with gaps."""
