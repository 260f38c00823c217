"""The bill as it stands on the page: rows of layers with the origin of each number, and keys used, assumed, ignored."""

from __future__ import annotations

from html import escape

from components.says import tokens
from compute.sizing import Bill, ModelShape, Options, human_bytes
from compute.sizing.arithmetic import Terms
from compute.sizing.bill_rows import BillRow, page_terms, row_bytes
from compute.sizing.options import ARITHMETIC
from compute.sizing.rates import arithmetic
from compute.sizing.sums import plan_of

KINDS = {
    "softmax": "softmax", "window": "windowed softmax", "chunked": "chunked softmax", "mla": "latent attention",
    "lightning": "lightning attention", "linear": "linear attention", "gdn": "Gated DeltaNet", "delta": "DeltaNet",
    "kda": "Kimi Delta Attention", "gla": "gated linear attention", "retnet": "retention", "mamba1": "Mamba-1",
    "mamba2": "Mamba-2", "rglru": "RG-LRU", "shortconv": "short convolution", "xlstm": "mLSTM", "rwkv": "RWKV",
    "rwkv4": "RWKV-4", "attn": "softmax", "mlp": "feed-forward, no cache", "moe": "experts, no cache",
    "shared": "softmax that reads another layer’s cache", "padding": "padding to groups of equal size",
}  # fmt: skip
"""Kinds of layer as the papers call them."""

ROWS = 6
"""Kinds of layer that the bill has room for; no known model has more, and what is left shares the last row."""

LONGEST_KEY, MOST_KEYS = 60, 200


def kind_name(kind: str) -> str:
    """What a kind is called, also one that is two at once."""
    return " and ".join(KINDS.get(part, part) for part in kind.split("+"))


def row_names() -> list[str]:
    return [f"sizing.row.{i}" for i in range(ROWS)]


def row_texts(made: Bill, shape: ModelShape, options: Options) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(node, text) pairs and (node, HTML) pairs of all rows; a row that is not needed is empty."""
    symbolic = terms_with_T(shape, options)
    said, spelled = [], []
    for i, node in enumerate(row_names()):
        kind = formula = keys = ""
        if i == ROWS - 1 and len(made.layers) > ROWS:
            rest = made.layers[i:]
            kind, keys = (
                f"{sum(r.count for r in rest)} layers of {len(rest)} further kinds",
                "the exported table has them",
            )
        elif i < len(made.layers):
            row = made.layers[i]
            kind, formula, keys = (
                f"{row.count} × {kind_name(row.kind)}",
                _spans(symbolic[i]),
                _origins(row, symbolic[i]),
            )
        said += [(f"{node}.kind", kind), (f"{node}.keys", keys)]
        spelled.append((f"{node}.arithmetic", formula))
    return said, spelled


def row_sizes(shape: ModelShape, options: Options, stops: tuple[int, ...]) -> dict[str, list[str]]:
    """The bytes of every row at every stop, in words."""
    sizes = row_bytes(shape, options, stops)
    rest = [sum(column) for column in zip(*sizes[ROWS - 1 :])]
    shown = [*sizes[: ROWS - 1], *([rest] if rest else [])]
    shown += [[]] * (ROWS - len(shown))
    return {f"bytes_{i}": [human_bytes(n) for n in row] or [""] * len(stops) for i, row in enumerate(shown)}


def terms_with_T(shape: ModelShape, options: Options) -> list[Terms]:
    """The arithmetic of each row, with T for the context length."""
    if options.engine == ARITHMETIC:
        return [arithmetic(group, options, "T") for group in shape.layers]
    plan = plan_of(shape, options)
    spare = [row for row in plan.rows if row.spare]
    return [page_terms(row, options, plan.page_bytes, row.expression) for row in (*plan.rows, *spare)]


def _spans(terms: Terms) -> str:
    """The terms as HTML: every number says on hovering where it came from."""
    return "".join(
        f'<span title="{escape(origin)}">{escape(text)}</span>' if origin else escape(text) for text, origin in terms
    )


def _origins(row: BillRow, terms: Terms) -> str:
    """Each number with its origin, once, and the keys that decided the kind."""
    numbers = dict.fromkeys(f"{text} {origin}" for text, origin in terms if origin and text != "T")
    named = {origin for _, origin in terms}
    kind = [key for key in row.keys if key not in named]
    return " · ".join([*numbers, *([f"layers: {', '.join(kind)}"] if kind else [])])


def keys_texts(made: Bill) -> list[tuple[str, str]]:
    """What the file gave, what was assumed without it, and what no number came from; one a line."""
    used = [f"{_cut(key)} = {_cut(str(value))}" for key, value in made.used.items()]
    assumed = [f"{_cut(name)}: {why}" for name, why in made.assumed.items()]
    ignored = [_cut(key) for key in made.ignored]
    return [
        ("sizing.used_count", f"{len(used)} keys used"),
        ("sizing.used", _lines(used)),
        ("sizing.assumed_count", f"{len(assumed)} things assumed" if len(assumed) != 1 else "1 thing assumed"),
        ("sizing.assumed", _lines(assumed) or "nothing"),
        ("sizing.ignored_count", f"{tokens(len(ignored))} keys not used" if len(ignored) != 1 else "1 key not used"),
        ("sizing.ignored", _lines(ignored) or "none"),
    ]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_KEY else text[: LONGEST_KEY - 1] + "…"


def _lines(texts: list[str]) -> str:
    more = [f"… and {len(texts) - MOST_KEYS:,} more"] if len(texts) > MOST_KEYS else []
    return "\n".join(texts[:MOST_KEYS] + more)
