"""A model's bytes in words: headline, load of the states, crossings, what is fixed and what grows."""

from __future__ import annotations

from components.axes import AXES
from components.says import counted_tokens, each_row
from components.sizing_bill import kind_name
from compute.sizing import (
    Bill,
    ModelShape,
    Options,
    bill,
    human_bytes,
    layer_crossings,
    model_crossings,
)
from compute.sizing.engine import ENGINE
from compute.sizing.options import ARITHMETIC
from compute.sizing.sums import Paged, Rates
from compute.sizing.twins import twin_name

LAST = AXES["T"].stops[-1]
Sums = Rates | Paged


def make_bill(shape: ModelShape, tokens: int, options: Options) -> Bill:
    """The bill of a shape under the page's options."""
    return bill(shape, tokens, **{name: getattr(options, name) for name in Options.__dataclass_fields__})


def several(options: Options) -> str:
    return "one sequence" if options.batch == 1 else f"{options.batch:,} sequences"


def latents(shape: ModelShape) -> bool:
    """Whether the layers with a cache keep a latent in it: its twin without states then does so too."""
    return any("mla" in group.family.kind for group in shape.layers)


def headline(
    name: str, own: Sums, twin: Sums | None, options: Options, called: str, wider: str = ""
) -> tuple[str, int]:
    """The sentence with gaps for the length, the cache and the twin, and how many of these gaps it has.

    called: what stands before the twin's bytes.  wider: with which map the states would be larger, and how large; it is
    told instead of the twin."""
    who = f"{name} at {{}}" + (f", {several(options)}" if options.batch > 1 else "")
    verb = "" if options.engine == ARITHMETIC else f"{ENGINE} reserves "
    fixed, grows = own.fixed_bytes, bool(own.kv_bytes(LAST) + own.window_bytes(LAST))
    state, wider = human_bytes(own.state_bytes or fixed, 3), f", with {wider}" if wider else ""
    if not grows:
        what = "state and convolution windows" if own.state_bytes and own.conv_bytes else "state"
        wider += " of state" if wider and what != "state" else ""
        return f"{who}: {verb}{human_bytes(fixed, 3)} of {what}{wider}, as at any other length.", 1
    if not fixed:
        return f"{who}: {verb}{{}} of cache and no state.", 2
    if twin is None or wider:
        return f"{who}: {verb}{{}} of cache, {state} of state{wider}.", 2
    return f"{who}: {verb}{{}} of cache, {state} of state; {called} {{}}.", 3


def exactly(n: int) -> str:
    """Bytes for people and to the byte."""
    return f"{human_bytes(n)} = {n:,} B"


def at_length(own: Sums, T: int) -> str:
    """Bytes at a length that need not be a stop; empty for none."""
    return f"{counted_tokens(T)}: {exactly(own.total_bytes(T))}" if T else ""


def state_rows(shape: ModelShape) -> int:
    """Rows of the largest state matrix; 0 if there is none."""
    return max((group.family.rows for group in shape.layers if group.family.rows), default=0)


def sentence(shape: ModelShape, options: Options, note: str) -> str:
    """What the numbers rest on, with one gap for the tokens of a row if there are states."""
    rows = state_rows(shape)
    load = f"{{}} for each of the {rows:,} rows of a state. " if rows else ""
    dtypes = f"{options.kv_dtype} cache" + (f", {options.state_dtype} state" if shape.has_state else "")
    ranks = f", one of {options.tp:,} ranks" if options.tp > 1 else ""
    return f"{note}{load}{dtypes}, {several(options)}{ranks}."


def loads(shape: ModelShape, stops: tuple[int, ...]) -> list[str]:
    """Tokens for each row of a state."""
    rows = state_rows(shape)
    return [each_row(T / rows) if rows else "" for T in stops]


def crossings(shape: ModelShape, options: Options) -> list[tuple[str, str]]:
    """Crossings in words: of the whole model, and of single layers."""
    whole = model_crossings(shape, options)
    alone = [c for c in layer_crossings(shape, options) if c.fixed_tokens is not None]
    layers = [
        _at(c.fixed_tokens if c.state_tokens is None else c.state_tokens)
        + (f" ({kind_name(c.kind)})" if len(alone) > 1 else "")
        for c in alone
    ]
    fixed = [_at(c.fixed_tokens) for c in alone if c.state_tokens not in (None, c.fixed_tokens)]
    state = whole.state if whole.state is not None else whole.fixed
    name = twin_name(shape, options.mla)
    return [
        ("sizing.twin_name", name.layers if name else ""),
        ("sizing.beats_name", f"model: cheaper than {name.line} from" if name else ""),
        ("sizing.meets", _at(state) if shape.has_state or shape.has_conv else ""),
        ("sizing.beats", _at(whole.twin) if whole.twin is not None else ""),
        ("sizing.layers", ", ".join(layers)),
        ("sizing.with_conv", ", ".join(fixed)),
    ]


def _at(T: int | None) -> str:
    return "never" if T is None else counted_tokens(T)


def parts(own: Sums, options: Options) -> list[tuple[str, str]]:
    """What is fixed and what each further token adds: a footprint is two numbers."""
    fixed = human_bytes(own.fixed_bytes) if own.fixed_bytes else "nothing"
    if own.fixed_bytes and own.conv_bytes:
        fixed = f"{fixed} ({human_bytes(own.state_bytes)} state, {human_bytes(own.conv_bytes)} convolution windows)"
    rate, windows = own.kv_bytes_per_token * options.batch, own.window_bytes(LAST)
    grows = [f"{rate:,} B a token"] if rate else []
    grows += [f"windows up to {human_bytes(windows)}"] if windows else []
    return [("sizing.fixed", fixed), ("sizing.rate", ", ".join(grows) or "nothing")]
