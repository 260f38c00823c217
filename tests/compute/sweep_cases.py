"""Questions of a second and less, and what tests of the queue ask of it."""

from __future__ import annotations

import time

import numpy as np

from compute.sweeps.registry import SWEEPS

RECALL, CROSSTALK = SWEEPS["recall"], SWEEPS["crosstalk"]
SHORT = type(RECALL.quick)(widths=(8,), values=(8,), pairs=(4, 8), trials=8)
LONG = type(CROSSTALK.quick)(widths=(16, 32), trials=800, d_v=16)
"""Two seconds or more of work, in ten points."""

WAIT_S = 60


def short(seed: int):
    return type(SHORT).read({**SHORT.told(), "seed": seed})


def until(condition, seconds=WAIT_S) -> float:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, "it never happened"
        time.sleep(0.01)
    return time.monotonic() - start


def same(a, b) -> bool:
    return all(np.array_equal(x, b.arrays[name], equal_nan=True) for name, x in a.arrays.items())
