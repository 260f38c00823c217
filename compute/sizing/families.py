"""What one layer keeps while it decodes: the questions every family answers, and the softmax families.

Every family is a frozen object with three questions, each answered in numbers, not bytes, for one sequence on one of
`ranks` tensor-parallel ranks: `state` (recurrent, fixed), `conv` (last inputs of a short convolution, fixed), `token`
(per token).  An answer is a tuple of separately stored runs: block formats round each run on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arithmetic import Count, plus, share, times

Runs = tuple[Count, ...]


@dataclass(frozen=True)
class Family:
    """A layer that keeps nothing: MLP, experts, or attention that reads another layer's cache."""

    kind = "none"  # not annotated: a subclass may make it a field or a property
    window = None
    shared = None
    """What tensor-parallel ranks share among them: its name in the plural, and the field that counts it."""

    def state(self, ranks: int = 1) -> Runs:
        """Recurrent numbers."""
        return ()

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        """Numbers of the convolution window, `columns` "k" or "k-1"."""
        return ()

    def token(self, mla: str = "latent", ranks: int = 1) -> Runs:
        """Numbers per token, `mla` "latent" or "decompressed"."""
        return ()

    @property
    def rows(self) -> int | None:
        """Rows of each state matrix, the width its keys live in; None when there is no such matrix."""
        return None

    def uneven(self, ranks: int) -> str | None:
        """What to say when what is `shared` does not divide over the ranks, or None when it does."""
        if self.shared is None:
            return None
        what, field = self.shared
        n = getattr(self, field)
        even = n % ranks == 0 or ranks % n == 0
        return None if even else f"{n:,} {what} do not divide over {ranks} ranks; the fullest rank is billed"


@dataclass(frozen=True)
class NoCache(Family):
    """A layer without a cache of its own; `word` says why."""

    word: str = "mlp"

    @property
    def kind(self) -> str:
        return self.word


@dataclass(frozen=True)
class Softmax(Family):
    """Softmax attention with keys and values per token, MHA, GQA or MQA (arXiv:2305.13245).

    window W: the layer keeps the last W - 1 tokens, the current one being the W-th.  heads: query heads, if known.
    """

    shared = ("KV heads", "kv_heads")
    kv_heads: int
    d_k: int
    d_v: int
    window: int | None = None
    chunked: bool = False

    @property
    def kind(self) -> str:
        return "softmax" if self.window is None else "chunked" if self.chunked else "window"

    def token(self, mla: str = "latent", ranks: int = 1) -> Runs:
        heads = share(self.kv_heads, ranks)
        return times(heads, self.d_k), times(heads, self.d_v)


@dataclass(frozen=True)
class Latent(Family):
    """Multi-head latent attention (arXiv:2405.04434): one latent and one rotary key per token, whatever the heads.

    index: width of a sparse indexer's key, kept beside the latent; 0 if there is none.
    heads, nope, d_v describe the decompressed form, which some engines keep instead.
    Every rank of a tensor-parallel group holds the whole latent.
    """

    kind = "mla"
    rank: int
    rope: int
    heads: int | None = None
    nope: int | None = None
    d_v: int | None = None
    index: int = 0

    def token(self, mla: str = "latent", ranks: int = 1) -> Runs:
        index = (times(self.index),) if self.index else ()
        if mla == "latent":
            return (times(self.rank), times(self.rope), *index)
        if None in (self.heads, self.nope, self.d_v):
            raise ValueError("mla must be 'latent' here: the config does not give the decompressed head widths")
        heads = share(self.heads, ranks)
        return (times(heads, plus(self.nope, self.rope)), times(heads, self.d_v), *index)


@dataclass(frozen=True)
class Both(Family):
    """A layer that pays twice: its own softmax cache and a recurrent state."""

    attention: Softmax | Latent
    recurrent: Family

    @property
    def kind(self) -> str:
        word = {"softmax": "attn", "window": "window", "chunked": "chunked", "mla": "mla"}[self.attention.kind]
        return f"{word}+{self.recurrent.kind}"

    @property
    def window(self) -> int | None:
        """Tokens its cache is limited to, None without a limit."""
        return self.attention.window

    def state(self, ranks: int = 1) -> Runs:
        return self.recurrent.state(ranks)

    def conv(self, columns: str = "k", ranks: int = 1) -> Runs:
        return self.recurrent.conv(columns, ranks)

    def token(self, mla: str = "latent", ranks: int = 1) -> Runs:
        return self.attention.token(mla, ranks)

    @property
    def rows(self) -> int | None:
        return self.recurrent.rows

    def uneven(self, ranks: int) -> str | None:
        return self.attention.uneven(ranks) or self.recurrent.uneven(ranks)
