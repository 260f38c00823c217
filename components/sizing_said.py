"""A bill in words: headline, load of the states, one row a kind of layer, crossings."""

from __future__ import annotations

from components.axes import AXES
from components.says import tokens
from compute.sizing import Bill, ModelShape, Options, Rates, bill, human_bytes, layer_crossings, model_crossings

LAST = AXES["T"].stops[-1]
KINDS = {
    "softmax": "softmax", "window": "windowed softmax", "chunked": "chunked softmax", "mla": "latent attention",
    "lightning": "lightning attention", "linear": "linear attention", "gdn": "Gated DeltaNet", "delta": "DeltaNet",
    "kda": "Kimi Delta Attention", "gla": "gated linear attention", "retnet": "retention", "mamba1": "Mamba-1",
    "mamba2": "Mamba-2", "rglru": "RG-LRU", "shortconv": "short convolution", "xlstm": "mLSTM", "rwkv": "RWKV",
    "attn": "softmax", "mlp": "feed-forward, no cache", "moe": "experts, no cache",
}  # fmt: skip
"""Kinds of layer as the papers call them."""

ROWS = 6
"""Kinds of layer that the bill has room for; no known model has more."""


def make_bill(shape: ModelShape, tokens: int, options: Options) -> Bill:
    """The bill of a shape under the page's options."""
    return bill(shape, tokens, **{name: getattr(options, name) for name in Options.__dataclass_fields__})


def headline(name: str, b: Bill, twin: Rates | None) -> str:
    growing, fixed, at = b.kv_bytes + b.window_bytes, b.fixed_bytes, tokens(b.tokens)
    state = b.state_bytes or fixed
    several = f", {b.options.batch:,} sequences" if b.options.batch > 1 else ""
    if not growing:
        return f"{name} at {at} tokens{several}: {human_bytes(fixed, 3)} of state, as at any other length."
    if not fixed:
        return f"{name} at {at} tokens{several}: {human_bytes(growing, 3)} of cache and no state."
    versus = f", not {human_bytes(twin.total_bytes(b.tokens), 3)}" if twin else ""
    return (
        f"{name} at {at} tokens{several}: {human_bytes(growing, 3)} of cache, {human_bytes(state, 3)} of state{versus}."
    )


def per_row(shape: ModelShape, b: Bill) -> str:
    rows = max((group.family.rows for group in shape.layers if group.family.rows), default=0)
    sequences = "one sequence" if b.options.batch == 1 else f"{b.options.batch:,} sequences"
    if not rows:
        return f"{b.options.kv_dtype} cache, {sequences}."
    dtypes = f"{b.options.kv_dtype} cache, {b.options.state_dtype} state, {sequences}."
    if b.tokens < rows:
        return f"Fewer tokens than the {rows} rows of a state. {dtypes}"
    return f"{tokens(b.tokens / rows)} tokens for each of the {rows} rows of a state. {dtypes}"


def meets(shape: ModelShape, options: Options) -> list[tuple[str, str]]:
    """Crossings in words: per layer, and of the whole model."""
    whole = model_crossings(shape, options)
    layers = [
        f"{c.state_tokens:,} ({_kind(c.kind)})" for c in layer_crossings(shape, options) if c.state_tokens is not None
    ]
    return [
        ("sizing.meets", f"{whole.state:,} tokens" if whole.state else "never"),
        ("sizing.beats", f"{whole.twin:,} tokens" if whole.twin else "—"),
        ("sizing.layers", ", ".join(layers) or "—"),
    ]


def _kind(kind: str) -> str:
    return " and ".join(KINDS.get(part, part) for part in kind.split("+"))


def bill_texts(shape: ModelShape, options: Options) -> list[tuple[str, str]]:
    b = make_bill(shape, LAST, options)
    said = []
    for i in range(ROWS):
        row = b.layers[i] if i < len(b.layers) else None
        said += [
            (f"sizing.row.{i}.kind", f"{row.count} × {_kind(row.kind)}" if row else ""),
            (f"sizing.row.{i}.arithmetic", row.arithmetic.replace(f"{LAST:,}", "T") if row else ""),
            (f"sizing.row.{i}.keys", " · ".join(row.keys) if row else ""),
        ]
    said.append(("sizing.assumed", "; ".join(b.assumed.values()) or "nothing"))
    said.append(("sizing.ignored", ", ".join(b.ignored[:12]) + (" …" if len(b.ignored) > 12 else "") or "none"))
    return said
