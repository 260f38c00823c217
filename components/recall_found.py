"""What the recall view reads: the sweep that comes with the program.  Nothing is computed here but bytes."""

from __future__ import annotations

from functools import cache

import numpy as np

from compute.sweeps.base import Result
from compute.sweeps.crosstalk_map import RULES
from compute.sweeps.recall_map import state_numbers
from compute.sweeps.shipped import shipped

FLOAT32 = 4

NINE = 0.9
"""The share that a headline asks for: nine pairs in ten."""


@cache
def found() -> Result:
    return shipped("recall")


def rules() -> tuple[str, ...]:
    return tuple(found().axes["rule"])


def name_of(rule: str) -> str:
    """`delta (β = 1)` for the rule at full strength."""
    return f"{RULES[rule]} (β = 1)" if rule not in RULES.values() else rule.replace("_", " ")


def nearest(axis: str, value: float) -> int:
    """Place on an axis of the sweep, nearest by ratio."""
    return int(np.argmin(np.abs(np.log(found().axes[axis] / value))))


def state_bytes(d_phi: np.ndarray, d_v: int) -> np.ndarray:
    """Bytes of a state with its normaliser, in float32."""
    return state_numbers(d_phi, d_v) * FLOAT32


def cache_bytes(n: int, d_k: int, d_v: int) -> int:
    """Bytes of n pairs kept whole, in float32 like the state: what a number buys, whatever its dtype."""
    return n * (d_k + d_v) * FLOAT32


def least(shares: np.ndarray) -> int:
    """Place of the smallest width that keeps nine in ten; beyond the last one where none does."""
    return int(np.argmax(shares >= NINE)) if (shares >= NINE).any() else len(shares)
