"""Memory, small cases: reads taken apart and single writes of each rule, on numbers that one can follow by hand."""

from __future__ import annotations

CASES = {
    "C128": "1, then 5 under one key: {} without a denominator, {} with one",
    "C133": "a new value over an old one: additive writes read {}, delta at full strength {}; orthonormal keys tell "
    "the rules apart by {}",
    "C130": "a delta write of what is stored moves S by {}",
    "C131": "a key of length 2 at β = 0.1: the error shrinks to {} and {} of itself, a read across the key moves by {}"
    "; it grows once β‖k‖² passes 2, for raw elu+1 features of width 16 from β = {}",
    "C132": "a delta write − a gradient step of size β: {}",
    "C137": "the gate shut before the third write: the first pair reads {}, {}; left open: {}, {}",
}
"""For each claim whose numbers are small enough to be checked by themselves, a line with gaps."""
