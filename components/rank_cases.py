"""Rank, small cases: that softmax's kernel has full rank by proof, and what is left of that in double precision."""

from __future__ import annotations

CASES = {
    "C028": "e^(xy) of five whole numbers with one another: rank {}, full as the proof says; 40 crowded points should "
    "have 40, and double precision sees {}",
}
"""For each claim about exact numbers, a line with gaps."""
