"""What recurrent layers keep while they decode, family by family."""

from __future__ import annotations

from dataclasses import dataclass

from .arithmetic import Told, derived, plus, share, times
from .families import Both, Family, Runs


@dataclass(frozen=True)
class MatrixState(Family):
    """One d_k × d_v matrix per head: linear attention in all its forms.

    word: lightning (arXiv:2401.04658), linear (2006.16236), retnet (2307.08621), gla (2312.06635), delta (2406.06484),
    gdn (2412.06464), kda (2510.26692).  kernel 0 means no convolution; otherwise queries, keys and values pass one of
    that width, on conv_heads = (query, key, value) heads.
    """

    shared = ("state heads", "heads")
    word: str
    heads: int
    d_k: int
    d_v: int
    conv_heads: tuple[int, int, int] = (0, 0, 0)
    kernel: int = 0

    @property
    def kind(self) -> str:
        return self.word

    def state(self, ranks: int = 1) -> Runs:
        return (times(share(self.heads, ranks), self.d_k, self.d_v),)

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        if not self.kernel:
            return ()
        q, k, v = (share(heads, ranks) for heads in self.conv_heads)
        keys = [times(QUERIES_AND_KEYS, q, self.d_k)] if q == k else [times(q, self.d_k), times(k, self.d_k)]
        channels = plus(*keys, times(v, self.d_v))
        return (times(channels, _columns(self.kernel, columns)),)

    @property
    def rows(self) -> int:
        return self.d_k


QUERIES_AND_KEYS = Told(2, "queries and keys")
B_AND_C = Told(2, "B and C, its keys and queries")
TWO_SHIFTS = Told(2, "two token shifts")


def _columns(kernel: int, columns: str) -> int:
    return kernel if columns == "k" else derived(kernel - 1, kernel, " − 1")


@dataclass(frozen=True)
class Mamba1(Family):
    """Selective state space, one N-vector per inner channel (arXiv:2312.00752)."""

    kind = "mamba1"
    shared = ("inner channels", "inner")
    inner: int
    N: int
    kernel: int

    def state(self, ranks: int = 1) -> Runs:
        return (times(share(self.inner, ranks), self.N),)

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        return (times(share(self.inner, ranks), _columns(self.kernel, columns)),)

    @property
    def rows(self) -> int:
        return self.N


@dataclass(frozen=True)
class Mamba2(Family):
    """State space duality, one width × N matrix per head; groups share their B and C (arXiv:2405.21060).

    A rank holds at least one whole group, so few groups are copied when ranks are many.
    """

    kind = "mamba2"
    shared = ("state heads", "heads")
    heads: int
    width: int
    N: int
    groups: int
    kernel: int

    def state(self, ranks: int = 1) -> Runs:
        return (times(share(self.heads, ranks), self.width, self.N),)

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        inner = times(share(self.heads, ranks), self.width)
        channels = plus(inner, times(B_AND_C, share(self.groups, ranks), self.N))
        return (times(channels, _columns(self.kernel, columns)),)

    @property
    def rows(self) -> int:
        return self.N


@dataclass(frozen=True)
class GatedRecurrence(Family):
    """RG-LRU of RecurrentGemma: one number per channel, and a convolution kept without its newest column."""

    kind = "rglru"
    shared = ("channels", "width")
    width: int
    hidden: int
    kernel: int

    def state(self, ranks: int = 1) -> Runs:
        return (times(share(self.width, ranks)),)

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        return (times(share(self.hidden, ranks), _columns(self.kernel, "k-1")),)


@dataclass(frozen=True)
class ShortConv(Family):
    """Gated short convolution of LFM2: nothing but its window."""

    kind = "shortconv"
    shared = ("channels", "hidden")
    hidden: int
    kernel: int

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        return (times(share(self.hidden, ranks), _columns(self.kernel, columns)),)


@dataclass(frozen=True)
class MatrixLSTM(Family):
    """mLSTM of xLSTM (arXiv:2405.04517): matrix, normaliser and running maximum per head."""

    kind = "xlstm"
    shared = ("state heads", "heads")
    heads: int
    d_k: int
    d_v: int

    def state(self, ranks: int = 1) -> Runs:
        heads = share(self.heads, ranks)
        return times(heads, self.d_k, self.d_v), times(heads, self.d_k), times(heads)

    @property
    def rows(self) -> int:
        return self.d_k


@dataclass(frozen=True)
class Rwkv(Family):
    """RWKV-6 and RWKV-7: one matrix per head and two token shifts, all kept like a state."""

    kind = "rwkv"
    shared = ("state heads", "heads")
    heads: int
    d_k: int
    d_v: int
    hidden: int

    def state(self, ranks: int = 1) -> Runs:
        return times(share(self.heads, ranks), self.d_k, self.d_v), times(TWO_SHIFTS, share(self.hidden, ranks))

    @property
    def rows(self) -> int:
        return self.d_k


@dataclass(frozen=True)
class Rwkv4(Family):
    """RWKV-4: numerator, denominator and maximum per channel; two token shifts in the activations' dtype."""

    kind = "rwkv4"
    shared = ("channels", "hidden")
    hidden: int
    attention: int

    def state(self, ranks: int = 1) -> Runs:
        return (times(Told(3, "numerator, denominator and maximum"), share(self.attention, ranks)),)

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        return (times(TWO_SHIFTS, share(self.hidden, ranks)),)


def matrix_heads(family: Family) -> tuple[int, int, int] | None:
    """(heads, d_k, d_v) of a family whose state is a key-value matrix per head, else None.

    Mamba-2 counts: its B and C are keys and queries of width N (arXiv:2405.21060).
    """
    core = family.recurrent if isinstance(family, Both) else family
    if isinstance(core, MatrixState | Rwkv):
        return core.heads, core.d_k, core.d_v
    if isinstance(core, Mamba2):
        return core.heads, core.N, core.width
    return None
