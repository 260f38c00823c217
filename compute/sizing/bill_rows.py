"""The rows of a bill: one for every kind of layer, in bytes of the arithmetic or in an engine's pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .arithmetic import Terms, text_of
from .engine import Paging
from .options import ARITHMETIC, Options
from .rates import arithmetic, layer_rates
from .shape import LayerGroup, ModelShape
from .sums import grows, plan_of


@dataclass(frozen=True)
class BillRow:
    """One kind of layer: `bytes` for all `count` layers and all sequences, `arithmetic` for one layer.

    keys: config keys that decided kind and widths.  bytes = state + conv + kv + window.
    terms: the arithmetic cut into (text, origin) pairs; every number has an origin, a config key where there is one.
    """

    kind: str
    count: int
    arithmetic: str
    keys: tuple[str, ...]
    bytes: int
    state_bytes: int = 0
    conv_bytes: int = 0
    kv_bytes: int = 0
    window_bytes: int = 0
    bytes_per_token: int = 0
    terms: Terms = ()


def rows(shape: ModelShape, options: Options, T: int) -> tuple[BillRow, ...]:
    """Rows at T tokens, in the order of the model's layers; an engine's pages of caches come before those of states."""
    if options.engine == ARITHMETIC:
        return tuple(_row(group, options, T) for group in shape.layers)
    plan = plan_of(shape, options)
    made = [_page_row(row, row.layers, shape, options, T) for row in plan.rows]
    made += [_page_row(row, row.spare, shape, options, T, "padding") for row in plan.rows if row.spare]
    return tuple(made)


def row_bytes(shape: ModelShape, options: Options, tokens: Sequence[int]) -> list[list[int]]:
    """The `bytes` of every row at each of the lengths, without the words around them."""
    if options.engine == ARITHMETIC:
        layers = [(group.count * options.batch, layer_rates(group.family, options)) for group in shape.layers]
        return [
            [many * (r.state + r.conv + r.token * (T if r.kept is None else min(T, r.kept))) for T in tokens]
            for many, r in layers
        ]
    plan = plan_of(shape, options)
    paged = [(row, row.layers) for row in plan.rows] + [(row, row.spare) for row in plan.rows if row.spare]
    return [[options.batch * n * row.pages(T) * plan.page_bytes for T in tokens] for row, n in paged]


def _row(group: LayerGroup, options: Options, T: int) -> BillRow:
    layer = layer_rates(group.family, options)
    many = group.count * options.batch
    grows = layer.kept is None
    parts = {
        "state_bytes": many * layer.state,
        "conv_bytes": many * layer.conv,
        "kv_bytes": many * layer.token * T if grows else 0,
        "window_bytes": 0 if grows else many * layer.token * min(T, layer.kept),
    }
    terms = arithmetic(group, options, T)
    return BillRow(
        group.kind, group.count, text_of(terms), group.keys, sum(parts.values()), **parts,
        bytes_per_token=layer.token, terms=terms,
    )  # fmt: skip


def _page_row(
    row: Paging, layers: int, shape: ModelShape, options: Options, T: int, kind: str | None = None
) -> BillRow:
    plan, pages = plan_of(shape, options), row.pages(T)
    whole = options.batch * layers * pages * plan.page_bytes
    part = "state_bytes" if row.states else "kv_bytes" if grows(row) else "window_bytes"
    terms = page_terms(row, options, plan.page_bytes, f"{pages:,}")
    return BillRow(
        kind or row.kind, layers, text_of(terms), _keys(shape, row), whole, **{part: whole},
        bytes_per_token=plan.page_bytes // row.block_tokens if grows(row) else 0, terms=terms,
    )  # fmt: skip


def page_terms(row: Paging, options: Options, page_bytes: int, pages: str) -> Terms:
    """One layer's pages as an expression; `pages` is their number, or a letter for it."""
    if row.states:
        told, page = (
            "a state takes whole pages",
            "one layer's state and convolution window, rounded up to a page's size",
        )
    else:
        told = f"{row.block_tokens:,} tokens a page, rounded up"
        page = f"{row.block_tokens:,} tokens × {page_bytes // row.block_tokens:,} B"
    said = ((pages, told), (" page × " if pages == "1" else " pages × ", ""), (f"{page_bytes:,} B", page))
    return said if options.batch == 1 else ((f"{options.batch:,}", "sequences"), (" sequences × ", ""), *said)


def _keys(shape: ModelShape, row: Paging) -> tuple[str, ...]:
    """Keys of the layers that a row of pages belongs to."""
    owners = (g for g in shape.layers if row.family in (g.family, *vars(g.family).values()))
    return tuple(dict.fromkeys(key for group in owners for key in group.keys))
