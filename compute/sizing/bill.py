"""The bill: bytes of every part at one context length, with the arithmetic and the origin of each number."""

from __future__ import annotations

from dataclasses import dataclass, field

from compute.scalars import made, whole

from .bill_rows import BillRow, rows
from .engine import ENGINE, IN_FLIGHT
from .options import ARITHMETIC, PREFIX, Options
from .shape import ModelShape
from .sums import plan_of, sums

STATE_DTYPE_NOTES = {
    "lightning": "MiniMax's released code keeps float32, the port inside transformers bfloat16",
    "xlstm": "transformers allocates it in the model's dtype, whatever inference_state_dtype says",
}
"""Where the state's dtype is a convention that engines disagree on, by kind of layer."""


@dataclass(frozen=True)
class Bill:
    """Bytes a model keeps while decoding, exact integers.

    All `*_bytes` are for the whole model and batch (for one rank if tp > 1); fixed = state + conv and
    total = fixed + kv + window.  kv_bytes_per_token is for one sequence and the layers that grow without limit.
    Under an engine the bytes are those of its pages; a state's page holds its convolution window too.
    used: {config key: value}; assumed: {quantity: what and why}; ignored: keys no number came from.
    """

    tokens: int
    options: Options
    state_bytes: int
    conv_bytes: int
    fixed_bytes: int
    kv_bytes: int
    window_bytes: int
    total_bytes: int
    kv_bytes_per_token: int
    layers: tuple[BillRow, ...]
    used: dict[str, object] = field(hash=False, default_factory=dict)
    assumed: dict[str, str] = field(hash=False, default_factory=dict)
    ignored: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def bill(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    kv_dtype: str = "bfloat16",
    state_dtype: str = "float32",
    conv_dtype: str = "bfloat16",
    conv_columns: str = "k",
    mla: str = "latent",
    tp: int = 1,
    engine: str = ARITHMETIC,
) -> Bill:
    """Bytes kept after `tokens` tokens of each of `batch` sequences.

    Arguments win over what the config says; a difference stands in `warnings`.  A windowed layer keeps the last
    W - 1 tokens.  shape: what `read_config` made of a config.  kv_dtype, state_dtype, conv_dtype, conv_columns, mla and
    engine mean what they mean in `Options`; with tp > 1 the bill is that of one tensor-parallel rank, the fullest.
    All sizes are exact ints, in bytes.  Raises ValueError that begins with the argument's name.
    """
    made("shape", shape, ModelShape)
    options = Options(batch, kv_dtype, state_dtype, conv_dtype, conv_columns, mla, tp, engine).counted
    T = whole("tokens", tokens, 0)
    counted = sums(shape, options)
    return Bill(
        tokens=T,
        options=options,
        state_bytes=counted.state_bytes,
        conv_bytes=counted.conv_bytes,
        fixed_bytes=counted.fixed_bytes,
        kv_bytes=counted.kv_bytes(T),
        window_bytes=counted.window_bytes(T),
        total_bytes=counted.total_bytes(T),
        kv_bytes_per_token=counted.kv_bytes_per_token,
        layers=rows(shape, options, T),
        used=dict(shape.used),
        assumed=_assumed(shape, options),
        ignored=shape.ignored,
        warnings=(*shape.warnings, *_warnings(shape, options, T)),
    )


def _assumed(shape: ModelShape, options: Options) -> dict[str, str]:
    assumed = dict(shape.assumed)
    kinds = {group.kind for group in shape.layers}
    caches = any(group.family.token() for group in shape.layers)
    if caches and shape.kv_dtype is None:
        assumed["kv_dtype"] = f"{options.kv_dtype}: the file names no dtype"
    if shape.has_state:
        notes = [STATE_DTYPE_NOTES[kind] for kind in sorted(kinds & set(STATE_DTYPE_NOTES))]
        if shape.state_dtype is None or notes:
            why = "; ".join(notes) or "as transformers keeps it; engines differ when the file names none"
            assumed["state_dtype"] = f"{options.state_dtype}: {why}"
    if shape.has_conv:
        keep = "transformers keeps" if options.conv_columns == "k" else "serving engines keep"
        assumed["conv_columns"] = f"{options.conv_columns}: as {keep} the convolution window"
    if options.engine == ARITHMETIC and any(group.family.window for group in shape.layers):
        assumed["window"] = "W - 1 tokens stay in a windowed layer; the token being processed is the W-th"
    if "mla" in kinds or any(kind.startswith("mla+") for kind in kinds):
        assumed["mla"] = f"{options.mla}: engines differ"
    if options.engine != ARITHMETIC:
        assumed["engine"] = _paging(shape, options)
    return assumed


def _paging(shape: ModelShape, options: Options) -> str:
    """What the engine's pages rest on."""
    plan = plan_of(shape, options)
    said = [f"{ENGINE}, prefix caching {'on' if options.engine == PREFIX else 'off'}"]
    if plan.block_tokens:
        said.append(f"{plan.block_tokens:,} tokens a block")
    if any(row.family.window for row in plan.rows):
        said.append(f"windows hold {IN_FLIGHT:,} tokens in flight")
    return ", ".join(said)


def _warnings(shape: ModelShape, options: Options, T: int) -> list[str]:
    said = []
    if shape.kv_dtype is not None and shape.kv_dtype != options.kv_dtype:
        said.append(f"kv_dtype is {options.kv_dtype}, the config says {shape.kv_dtype}")
    if shape.has_state and shape.state_dtype is not None and shape.state_dtype != options.state_dtype:
        said.append(f"state_dtype is {options.state_dtype}, the config says {shape.state_dtype}")
    if shape.native_context is not None and shape.native_context < T:
        said.append(f"{T:,} tokens are more than the native context of {shape.native_context:,}")
    if options.engine != ARITHMETIC and plan_of(shape, options).note:
        said.append(plan_of(shape, options).note)
    said.extend(dict.fromkeys(filter(None, (group.family.uneven(options.tp) for group in shape.layers))))
    return said
