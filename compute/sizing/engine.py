"""What one serving engine sets aside for a sequence, page rounding included: vLLM 0.33.

Its pool has pages of one size.  In a hybrid the attention block grows until a page of it holds one layer's state, and
every state takes a page of its own.  That rounding is real memory, and it is not in the arithmetic of a bill.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from compute.scalars import made, whole

from .families import Both, Family, Latent, Softmax
from .options import PAGED, Options
from .rates import DEFAULT, layer_rates
from .shape import ModelShape

ENGINE = "vLLM 0.33"
BLOCK = 16
LATENT_BLOCK = 128
IN_FLIGHT = 8192
MINIMAX_TYPES = ("minimax", "minimax_text_01", "minimax_m1")
FORMERLY = {name: "vLLM served this model until 0.23; the arithmetic is that of 0.33" for name in MINIMAX_TYPES}
NOT_SERVED = {"rglru", "xlstm", "rwkv", "rwkv4", "linear", "retnet", "gla", "delta"}
"""Kinds of layer that the engine has no cache for."""


@dataclass(frozen=True)
class Paging:
    """How one kind of layer is paged, for one sequence.

    block_tokens: tokens in a page, 0 for a state.  states: pages of one state.  spare: further layers' worth of pages,
    taken because every kind of layer is rounded up to groups of equal size.
    """

    family: Family
    layers: int
    block_tokens: int
    states: int = 0
    in_flight: int = IN_FLIGHT
    spare: int = 0

    @property
    def kind(self) -> str:
        """Kind of layer, as the picker calls it."""
        return self.family.kind

    def pages(self, T: int) -> int:
        """Pages that one layer holds at T tokens."""
        window = self.family.window
        if not self.block_tokens:
            return self.states
        if not T:
            return 0
        if window is None:
            return -(-T // self.block_tokens)
        if isinstance(self.family, Softmax) and self.family.chunked:
            return -(-min(window + self.in_flight, T) // self.block_tokens)
        # one more, because a window need not start where a block does
        return -(-min(window - 1 + self.in_flight, T) // self.block_tokens) + 1

    @property
    def expression(self) -> str:
        """The number of pages of one layer with T in it."""
        window, B = self.family.window, self.block_tokens
        if not B:
            return f"{self.states}"
        if window is None:
            return f"⌈T ÷ {B:,}⌉"
        if isinstance(self.family, Softmax) and self.family.chunked:
            return f"⌈min(T, {window + self.in_flight:,}) ÷ {B:,}⌉"
        return f"(⌈min(T, {window - 1 + self.in_flight:,}) ÷ {B:,}⌉ + 1)"


@dataclass(frozen=True)
class Plan:
    """The pages of a model.  page_bytes: one page of one layer; block_tokens: tokens in an attention block."""

    page_bytes: int
    block_tokens: int
    rows: tuple[Paging, ...]
    note: str = ""


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
        return Fraction(whole("pool_bytes", pool_bytes, 0), self.padded_bytes)


def reserve(
    shape: ModelShape,
    tokens: int,
    options: Options = DEFAULT,
    *,
    prefix_caching: bool = False,
    block: int = BLOCK,
    speculative: int = 0,
    in_flight: int = IN_FLIGHT,
) -> Reservation:
    """Pages that vLLM 0.33 needs for one sequence of at most `tokens` tokens of a model's shape on one rank.

    prefix_caching: a second page per state, as in its "align" mode.  speculative: extra state pages.
    in_flight: tokens the scheduler may add at once, which a windowed layer must hold beside its window.
    The engine keeps latents compressed and k - 1 convolution columns, whatever the options say.
    Raises ValueError for shapes the engine does not serve or whose pages it cannot make equal.
    """
    T, block = whole("tokens", tokens, 1), whole("block", block, 1)
    states = 1 + bool(prefix_caching) + whole("speculative", speculative, 0)
    made("shape", shape, ModelShape)
    served = as_served(made("options", options, Options))
    plan = paged_plan(shape, served, states, block, whole("in_flight", in_flight, 1))
    rows = tuple(PageRow(r.kind, r.layers, r.block_tokens, r.pages(T), plan.page_bytes) for r in plan.rows)
    padding = sum(row.spare * row.pages(T) for row in plan.rows)
    return Reservation(ENGINE, T, plan.block_tokens, plan.page_bytes, rows, padding, plan.note)


def as_served(options: Options) -> Options:
    """The options that the engine leaves open, for one sequence."""
    return replace(options, batch=1, conv_columns="k-1", mla="latent", engine=PAGED)


@lru_cache(maxsize=512)
def paged_plan(
    shape: ModelShape, options: Options, states: int = 1, block: int = BLOCK, in_flight: int = IN_FLIGHT
) -> Plan:
    """Page size, and pages of every kind of layer.  ValueError for shapes that the engine cannot page."""
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
    uneven = fixed or len({rate for _, _, rate in attention}) > 1
    if uneven and any(page % (block * rate) for _, _, rate in attention):
        raise ValueError(f"shape has layers whose pages {ENGINE} cannot make equal")
    rows = [Paging(f, n, page // rate if uneven else block, 0, in_flight) for n, f, rate in attention]
    rows += [Paging(f, n, 0, states) for n, f, _ in recurrent]
    padded = tuple(replace(row, spare=spare) for row, spare in zip(rows, _spare([row.layers for row in rows])))
    return Plan(page, block if attention else 0, padded, FORMERLY.get(shape.model_type, ""))


def _parts(family: Family) -> tuple[Family, ...]:
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


def _spare(layers: list[int]) -> list[int]:
    """Layers that fill up groups: every kind is cut into groups of equal size, the fewest layers of a kind or, when no
    kind has half as many again, the most."""
    if len(layers) < 2:
        return [0] * len(layers)
    fewest, most = min(layers), max(layers)
    size = most if 2 * most < 3 * fewest else fewest
    return [-count % size for count in layers]
