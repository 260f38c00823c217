"""What one serving engine sets aside for a sequence, page rounding included: vLLM 0.33.

Its pool has pages of one size.  In a hybrid the attention block grows until a page of it holds one layer's state, and
every state takes a page of its own.  That rounding is real memory, and it is not in the bill.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from .families import Both, Latent
from .options import Options, whole
from .rates import DEFAULT, layer_rates
from .shape import ModelShape

ENGINE = "vLLM 0.33"
BLOCK = 16
LATENT_BLOCK = 128
MINIMAX_TYPES = ("minimax", "minimax_text_01", "minimax_m1")
FORMERLY = {name: "vLLM served this model until 0.23; the arithmetic is that of 0.33" for name in MINIMAX_TYPES}
NOT_SERVED = {"rglru", "xlstm", "rwkv", "rwkv4", "linear", "retnet", "gla", "delta"}
"""Kinds of layer that the engine has no cache for."""


@dataclass(frozen=True)
class PageRow:
    """`layers` alike, each holding `pages_per_layer` pages of `block_tokens` tokens (0: a state) for one sequence."""

    kind: str
    layers: int
    block_tokens: int
    pages_per_layer: int
    page_bytes: int

    @property
    def bytes(self) -> int:
        """Bytes of the row for one sequence."""
        return self.layers * self.pages_per_layer * self.page_bytes


@dataclass(frozen=True)
class Reservation:
    """Pages of one sequence of at most `tokens` tokens.

    page_bytes: bytes of one page of one layer; block_tokens: tokens in an attention block.
    padding_pages: further pages taken because the engine rounds every kind of layer up to groups of equal size.
    note: what else to know, or empty.
    """

    engine: str
    tokens: int
    block_tokens: int
    page_bytes: int
    rows: tuple[PageRow, ...]
    padding_pages: int
    note: str = ""

    @property
    def pages(self) -> int:
        """Pages that hold something, padding aside."""
        return sum(row.layers * row.pages_per_layer for row in self.rows)

    @property
    def bytes(self) -> int:
        """Bytes of these pages."""
        return sum(row.bytes for row in self.rows)

    @property
    def padded_bytes(self) -> int:
        """Bytes with the padding of layer groups."""
        return self.bytes + self.padding_pages * self.page_bytes

    def concurrency(self, pool_bytes: int) -> Fraction:
        """Sequences of this length that a pool holds, as the engine prints it (rounded) at start-up."""
        return Fraction(whole("pool_bytes", pool_bytes, least=0), self.padded_bytes)


def reserve(
    shape: ModelShape,
    tokens: int,
    options: Options = DEFAULT,
    *,
    prefix_caching: bool = False,
    block: int = BLOCK,
    speculative: int = 0,
    in_flight: int = 8192,
) -> Reservation:
    """Pages that vLLM 0.33 needs for one sequence of at most `tokens` tokens on one rank.

    prefix_caching: a second page per state, as in its "align" mode.  speculative: extra state pages.
    in_flight: tokens the scheduler may add at once, which a windowed layer must hold beside its window.
    The engine keeps latents compressed and k - 1 convolution columns, whatever the options say.
    Raises ValueError for shapes the engine does not serve or whose pages it cannot make equal.
    """
    T, block = whole("tokens", tokens, least=1), whole("block", block, least=1)
    states = 1 + bool(prefix_caching) + whole("speculative", speculative, least=0)
    in_flight = whole("in_flight", in_flight, least=1)
    options = replace(options, batch=1, conv_columns="k-1", mla="latent")
    unserved = sorted({part.kind for group in shape.layers for part in _parts(group.family)} & NOT_SERVED)
    if unserved:
        raise ValueError(f"shape has {' and '.join(unserved)} layers, which {ENGINE} does not serve")

    attention, recurrent = _by_kind(shape, options)
    fixed = max((size for _, _, size in recurrent), default=0)
    widest = max((rate for _, _, rate in attention), default=0)
    if fixed and widest:
        step = max(block, LATENT_BLOCK if any(isinstance(f, Latent) for _, f, _ in attention) else 0)
        block = step * -(-fixed // (step * widest))
    page = block * widest or fixed
    rows = []
    for count, family, rate in attention:
        if fixed or len({r for _, _, r in attention}) > 1:
            if page % (block * rate):
                raise ValueError(f"shape has layers whose pages {ENGINE} cannot make equal")
            rows.append(_attention_row(count, family, page // rate, page, T, in_flight))
        else:
            rows.append(_attention_row(count, family, block, page, T, in_flight))
    rows.extend(PageRow(family.kind, count, 0, states, page) for count, family, _ in recurrent)
    note = FORMERLY.get(shape.model_type, "")
    return Reservation(ENGINE, T, block if attention else 0, page, tuple(rows), _padding(rows), note)


def _parts(family) -> tuple:
    return (family.attention, family.recurrent) if isinstance(family, Both) else (family,)


def _by_kind(shape: ModelShape, options: Options) -> tuple[list, list]:
    """(count, family, bytes per token) of caches and (count, family, bytes) of states, equal families put together."""
    attention: dict = {}
    recurrent: dict = {}
    for group in shape.layers:
        for part in _parts(group.family):
            layer = layer_rates(part, options)
            for found, size in ((attention, layer.token), (recurrent, layer.state + layer.conv)):
                if size:
                    found[part] = (found.get(part, (0, size))[0] + group.count, size)
    return tuple([(count, family, size) for family, (count, size) in found.items()] for found in (attention, recurrent))


def _attention_row(count: int, family, block: int, page: int, T: int, in_flight: int) -> PageRow:
    if family.window is None:
        pages = -(-T // block)
    elif family.kind == "chunked":
        pages = -(-min(family.window + in_flight, T) // block)
    else:
        # one more, because a window need not start where a block does
        pages = -(-min(family.window - 1 + in_flight, T) // block) + 1
    return PageRow(family.kind, count, block, pages, page)


def _padding(rows: list[PageRow]) -> int:
    """Pages of the layers that fill up groups: every kind is cut into groups of equal size, the fewest layers of a kind
    or, when no kind has half as many again, the most."""
    if len(rows) < 2:
        return 0
    fewest, most = min(row.layers for row in rows), max(row.layers for row in rows)
    size = most if 2 * most < 3 * fewest else fewest
    return sum((-row.layers % size) * row.pages_per_layer for row in rows)
