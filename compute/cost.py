"""What attention costs: FLOPs, bytes and steps of each order, as exact integers.

An (m x k)(k x n) product counts 2 m k n FLOPs.  Everything is for one head of one layer; T, t and chunk are in
tokens, the widths d_k (keys), d_phi (features) and d_v (values) in numbers, `bytes_per` is bytes per number.
Every argument is a whole number of at least 1; ValueError, beginning with the argument's name, on anything else.

Sources: Katharopoulos et al. 2020, arXiv:2006.16236 (orders, recurrence); Vaswani et al. 2017,
arXiv:1706.03762 (softmax); Yang et al. 2023, arXiv:2312.06635 (chunks); Yang et al. 2024, arXiv:2406.06484
(chunks of the delta rule); Arora et al. 2024, arXiv:2402.18668 (Taylor features beside a window).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import TypeVar

from compute.scalars import one_of, whole

ORDERS = ("left", "right")
"""(phi(Q) phi(K)^T) V and phi(Q) (phi(K)^T V)."""

F = TypeVar("F", bound=Callable)


def counted(function: F) -> F:
    """Checks at the door: `order` is one of ORDERS, every other argument a whole number >= 1."""
    parameters = signature(function)

    @wraps(function)
    def checked(*args, **kwargs):
        given = parameters.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            given.arguments[name] = one_of(name, value, ORDERS) if name == "order" else whole(name, value, 1)
        return function(*given.args, **given.kwargs)

    return checked


@counted
def attention_flops(T: int, d_phi: int, d_v: int, order: str) -> int:
    """FLOPs of the two matrix products of linear attention without a causal mask; feature map and denominator left out.

    left: 2 T^2 (d_phi + d_v), the T x T matrix, then times V.  right: 4 T d_phi d_v, the summary and its reads.
    """
    return 2 * T * T * (d_phi + d_v) if order == "left" else 4 * T * d_phi * d_v


@counted
def crossover_T(d_phi: int, d_v: int) -> int:
    """Smallest T at which the right order takes strictly fewer FLOPs: beyond 2 d_phi d_v / (d_phi + d_v)."""
    return 2 * d_phi * d_v // (d_phi + d_v) + 1


@counted
def saving(T: int, d_phi: int, d_v: int) -> Fraction:
    """How many times fewer FLOPs the right order takes, exactly; below 1 before the crossover."""
    return Fraction(attention_flops(T, d_phi, d_v, "left"), attention_flops(T, d_phi, d_v, "right"))


@counted
def normaliser_flops(T: int, d_phi: int, order: str) -> int:
    """FLOPs of the denominators, which `attention_flops` leaves out as lower order.

    left: T^2 additions along the rows.  right: T d_phi to sum the keys and 2 T d_phi to read the sum.
    """
    return T * T if order == "left" else 3 * T * d_phi


@counted
def intermediate_bytes(T: int, d_phi: int, d_v: int, order: str, bytes_per: int = 4) -> int:
    """Bytes of what stands between the two products: the T x T matrix, or the d_phi x d_v summary."""
    return bytes_per * (T * T if order == "left" else d_phi * d_v)


@counted
def chunkwise_flops(T: int, d_phi: int, d_v: int, chunk: int) -> int:
    """FLOPs of the causal chunkwise form: the left order inside each chunk, the right order across."""
    return sum(n * (2 * C * C * (d_phi + d_v) + 4 * C * d_phi * d_v) for C, n in _chunks(T, chunk))


@counted
def delta_chunkwise_flops(T: int, d_k: int, d_v: int, chunk: int) -> int:
    """FLOPs of the delta rule in chunks by the WY form, with gates or without, chunks one after another.

    In a chunk of C: keys with keys and with queries, an inverse of C rows at 2 C^3 / 3, its products with keys and
    values, the reads inside; then what enters is read twice and written once.
    """
    return sum(n * (2 * C * C * (3 * d_k + 2 * d_v) + 6 * C * d_k * d_v + 2 * C**3 // 3) for C, n in _chunks(T, chunk))


def _chunks(T: int, chunk: int) -> tuple[tuple[int, int], ...]:
    """Sizes of chunks and how many there are of each."""
    full, rest = divmod(T, chunk)
    return (chunk, full), (rest, min(rest, 1))


@counted
def decode_flops(d_phi: int, d_v: int) -> int:
    """FLOPs per decoded token: one outer product into the state and one read of it, whatever came before."""
    return 4 * d_phi * d_v


@counted
def softmax_decode_flops(t: int, d_k: int, d_v: int) -> int:
    """FLOPs to decode the t-th token by softmax: one score and one weighted value per cached token."""
    return 2 * t * (d_k + d_v)


@counted
def state_numbers(d_phi: int, d_v: int) -> int:
    """Numbers a recurrent head keeps: S and z."""
    return d_phi * d_v + d_phi


@counted
def cache_numbers(t: int, d_k: int, d_v: int) -> int:
    """Numbers a softmax head keeps after t tokens: a key and a value each."""
    return t * (d_k + d_v)


@counted
def decode_bytes(d_phi: int, d_v: int, bytes_per: int = 4) -> int:
    """Bytes moved per decoded token: the state read once and written once."""
    return 2 * bytes_per * state_numbers(d_phi, d_v)


@counted
def softmax_decode_bytes(t: int, d_k: int, d_v: int, bytes_per: int = 2) -> int:
    """Bytes moved to decode the t-th token by softmax: the cache read once, the new key and value included."""
    return bytes_per * cache_numbers(t, d_k, d_v)


@counted
def tokens_to_fill_state(d_phi: int, d_v: int, d_k: int) -> int:
    """Tokens at which this head's cache first holds at least as many numbers as its state."""
    return -(-state_numbers(d_phi, d_v) // cache_numbers(1, d_k, d_v))


@counted
def prefix_comparisons(T: int) -> int:
    """Query-key comparisons to decode T tokens that each look at all tokens so far: 1 + 2 + ... + T."""
    return T * (T + 1) // 2


@counted
def training_state_bytes(T: int, d_phi: int, d_v: int, bytes_per: int = 4) -> int:
    """Bytes autograd keeps if it stores the memory S after every token of the recurrent form."""
    return bytes_per * T * d_phi * d_v
