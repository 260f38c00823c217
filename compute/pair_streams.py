"""Streams of pairs: in which order keys come back, and which of the pairs written a reader still wants.

A memory is written one pair at a time, and rules differ most where something must be forgotten: a key that gets a
new value, a topic that ends.  A stream takes keys K `[M, d]` and values V `[N, d_v]` and says what is written at each
of N writes, what an input-dependent gate would do there, and since when the pairs are wanted.
Source: Schlag, Irie, Schmidhuber 2021, arXiv:2102.11174 (keys that get a new value); Yang, Kautz, Hatamizadeh 2024,
arXiv:2412.06464 (a gate that flushes the memory).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from compute.arrays import admit, of_kind
from compute.crosstalk import mean_stored
from compute.scalars import wholes

HAND_K = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
HAND_V = np.array([[1.0, 2.0], [4.0, 0.0], [0.0, 5.0]])
"""Three pairs in two dimensions, small enough to follow on paper; the third key leans towards both others."""

KEYS_IN_TURN, TOPIC = 8, 32
"""Keys that are written again and again; pairs of one topic."""


class Pairs(NamedTuple):
    """keep [N] multiplies a decaying rule's alpha at each write, 0 flushing the memory before it.
    since [N + 1]: how many of the first pairs nobody wants any more after n writes."""

    K: np.ndarray
    V: np.ndarray
    keep: np.ndarray
    since: np.ndarray


@dataclass(frozen=True)
class PairStream:
    """One kind of stream.  The base class: every key once, every pair wanted for good."""

    word: ClassVar[str] = "plain"
    label: ClassVar[str] = "all different"

    def __call__(self, K: np.ndarray, V: np.ndarray) -> Pairs:
        """What is written of keys K `[M, d]` and values V `[N, d_v]`.  ValueError naming K (also too few) or V."""
        K, V = (of_kind(name, a, np.empty(0)) for name, a in (("K", K), ("V", V)))
        K, V = admit(ndim=2, K=K, V=V).arrays
        for name, a in (("K", K), ("V", V)):
            if a.ndim != 2:
                raise ValueError(f"{name} must have 2 axes, got shape {a.shape}")
        if len(K) < (few := self.fewest(len(V))):
            raise ValueError(f"K must hold at least {few} keys for {len(V)} writes, got {len(K)}")
        n = np.arange(len(V) + 1)
        return Pairs(self.keys(K, len(V)), V, self.keep(n[:-1]), self.since(n))

    def fewest(self, N: int) -> int:
        """Different keys that N writes ask for."""
        return N

    def keys(self, K: np.ndarray, N: int) -> np.ndarray:
        """The key of each write, `[N, d]`."""
        return K[:N]

    def keep(self, write: np.ndarray) -> np.ndarray:
        """What a gate multiplies alpha by at each of these writes, counted from 0."""
        return np.ones(len(write))

    def since(self, n: np.ndarray) -> np.ndarray:
        """How many of the first pairs are stale after each of these numbers of writes."""
        return np.zeros_like(n)


class ByHand(PairStream):
    """The three pairs above, whatever keys are given."""

    word = "hand"
    label = "three by hand"

    def __call__(self, K=HAND_K, V=HAND_V):
        return super().__call__(HAND_K, HAND_V)


class InTurn(PairStream):
    """Eight keys in turn, each time with a new value: all but the newest value of each key is stale."""

    word = "overwrite"
    label = "same keys again"

    def fewest(self, N):
        return min(N, KEYS_IN_TURN)

    def keys(self, K, N):
        return K[np.arange(N) % KEYS_IN_TURN]

    def since(self, n):
        return np.maximum(n - KEYS_IN_TURN, 0)


class Topics(PairStream):
    """Topics of 32 pairs.  A gate that sees the change flushes the memory; only the current topic is wanted."""

    word = "topics"
    label = "topic changes"

    def fewest(self, N):
        return 1

    def keys(self, K, N):
        return K[np.arange(N) % len(K)]

    def keep(self, write):
        return np.where((write % TOPIC == 0) & (write > 0), 0.0, 1.0)

    def since(self, n):
        return np.maximum(n - 1, 0) // TOPIC * TOPIC


class Ungated(Topics):
    """The same topics, and no gate that sees them end: what fades, fades at its own pace."""

    word = "ungated"
    label = "topics, no gate"

    def keep(self, write):
        return np.ones(len(write))


STREAMS: dict[str, PairStream] = {stream.word: stream() for stream in (PairStream, ByHand, InTurn, Topics, Ungated)}


def mean_wanted(x: np.ndarray, since: np.ndarray) -> np.ndarray:
    """Mean of each row of x `[N, N]` over the pairs stored and still wanted, `[N]`; row n − 1 is after n writes.

    since `[N + 1]`: see `Pairs`.  ValueError naming x or since.
    """
    stored = mean_stored(x := of_kind("x", x, np.empty(0)))
    if x.ndim != 2:
        raise ValueError(f"x must have 2 axes, got shape {x.shape}")
    since = np.asarray(wholes("since", since, 0, len(x)))
    if len(since) != len(x) + 1:
        raise ValueError(f"since must have {len(x) + 1} entries, one more than x has rows, got {len(since)}")
    if not since.any():
        return stored
    n = np.arange(1, len(x) + 1)
    column = np.arange(len(x))
    wanted = (column >= since[1:, None]) & (column < n[:, None])
    return np.sum(np.where(wanted, x, 0.0), axis=-1) / (n - since[1:])
