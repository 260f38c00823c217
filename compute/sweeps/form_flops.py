"""What each form of the sweep of measured times takes by counting: the law beside which its times are drawn.

Matrix products of one head of width d, as `compute.cost` counts them: without a causal mask for the forms that make all
T² scores, the halves that a mask leaves out included.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache, partial

from compute.cost import attention_flops, chunkwise_flops, decode_flops, delta_chunkwise_flops
from compute.sweeps.form_times import CHUNK, DELTA_CHUNK

FURTHEST = 2**32
"""Contexts up to which a form is asked when it takes fewer FLOPs than another."""


def _order(T: int, d: int, order: str) -> int:
    return attention_flops(T, d, d, order)


def _chunks(T: int, d: int, chunk: int) -> int:
    return chunkwise_flops(T, d, d, chunk)


def _steps(T: int, d: int) -> int:
    return T * decode_flops(d, d)


def _delta(T: int, d: int) -> int:
    return delta_chunkwise_flops(T, d, d, DELTA_CHUNK)


FLOPS: dict[str, Callable[[int, int], int]] = {
    **dict.fromkeys(("left", "softmax", "parallel"), partial(_order, order="left")),
    "right": partial(_order, order="right"),
    **dict.fromkeys(("recurrent", "fla_recurrent"), _steps),
    "chunkwise": partial(_chunks, chunk=CHUNK),
    "fla_linear": partial(_chunks, chunk=64),
    **dict.fromkeys(("delta", "gated_delta", "fla_delta", "fla_gated_delta"), _delta),
}
"""FLOPs of T tokens at width d, by form.  The kernels of flash-linear-attention take chunks of 64."""


@cache
def fewer_from(form: str, d: int, than: str = "softmax") -> int | None:
    """The context from which on a form takes strictly fewer FLOPs than another; None if it never does."""
    mine, other = FLOPS[form], FLOPS[than]
    found = bisect_left(range(1, FURTHEST), True, key=lambda T: mine(T, d) < other(T, d)) + 1
    return found if found < FURTHEST else None
