"""Both orders on numbers: that they give the same, that softmax has only one, and what the next token costs."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from components.cases import Nodes, checked, reported
from components.powers import powers
from components.words import SOFTMAX
from compute.agreement import apart
from compute.attention import linear_attention, softmax_attention
from compute.cost import attention_flops, decode_flops, softmax_decode_flops
from compute.examples import random_example
from compute.feature_maps import FeatureMap, read_member
from compute.rank import kernel_matrix, numerical_rank

TOKENS, WIDTH = 32, 16
"""Of the random example that both orders are run on."""

CASES = {
    "C052": "S and z of a head of 128: {} numbers; a cache takes {} a token, {} tokens make as much, so it is first as "
    "large at token {}",
    "C059": "twice the context, the next token: softmax ×{}, elu+1 ×{}, Performer (FAVOR+) ×{}, Based (Taylor) ×{}, "
    "with decay ×{}; Based has {} features",
}

REPORTS = ("C154",)
"""Claims that are quoted."""


@lru_cache(maxsize=64)
def same(phi: str) -> str:
    """How far the two orders are apart, as a share of the largest entry; softmax has one order only."""
    if phi == SOFTMAX:
        return "not possible"
    Q, K, V = random_example(TOKENS, WIDTH, WIDTH, 0)
    member = _member(phi)
    left, right = kernel_matrix(Q, K, member) @ V, linear_attention(Q, K, V, member, normalise=False)
    return f"{powers(float(apart(left, right).max() / np.abs(left).max()))} of the largest entry"


def _member(phi: str) -> FeatureMap:
    """The map, or its family's default where it does not exist at this width."""
    try:
        read_member(phi).d_phi(WIDTH)
    except ValueError:
        return read_member(phi.partition("~")[0])
    return read_member(phi)


@cache
def softmax_rank() -> str:
    """Why no order is left: values that are the identity show softmax's weights."""
    Q, K, _ = random_example(TOKENS, WIDTH, WIDTH, 0)
    rank = numerical_rank(softmax_attention(Q, K, np.eye(TOKENS), causal=False, scale=1.0))
    return (
        f"Of its weights on {TOKENS} random tokens, {WIDTH} wide, {rank} rows are independent, none a mix of others; "
        f"any Q·f(K, V) would have {WIDTH} at most."
    )


@cache
def by_hand() -> str:
    """Two pairs of numbers whose products of two entries multiply to the square of their score."""
    q, k = np.array([1, 2]), np.array([3, 1])
    wide = [np.outer(x, x).ravel() for x in (q, k)]
    sides = " · ".join(f"({', '.join(map(str, side))})" for side in wide)
    return f"By hand: (1, 2) · (3, 1) = {q @ k}; all products of two entries, {sides} = {wide[0] @ wide[1]}."


def one_product(T: int, d_phi: int, head: int) -> str:
    """FLOPs of (d_φ × T)(T × d_v): the right order has two such products."""
    flops = attention_flops(T, d_phi, head, "right") // 2
    return f"{flops:,} for {d_phi:,} × {T:,} by {T:,} × {head}"


def doubled(T: int, d_phi: int, head: int, blocked: bool) -> str:
    """How many times as much both orders take for twice the tokens."""
    left, right = (
        attention_flops(2 * T, d_phi, head, order) / attention_flops(T, d_phi, head, order)
        for order in ("left", "right")
    )
    return f"{left:g} times" if blocked else f"{left:g} and {right:g} times"


def next_token(T: int, d_phi: int, head: int, blocked: bool) -> str:
    """FLOPs of decoding one more: over a cache of T tokens, and from a state."""
    softmax = f"{softmax_decode_flops(T, head, head):,}"
    return softmax if blocked else f"{softmax} or {decode_flops(d_phi, head):,}"


def lists() -> Nodes:
    """What opens on demand."""
    return [*checked("bracketing", CASES), *reported("bracketing", REPORTS)]
