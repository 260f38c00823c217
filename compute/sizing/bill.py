"""The bill: bytes of every part at one context length, with the arithmetic and the origin of each number."""

from __future__ import annotations

from dataclasses import dataclass, field

from .options import Options, whole
from .rates import arithmetic, layer_rates, rates
from .shape import ModelShape

STATE_DTYPE_NOTES = {
    "lightning": "MiniMax's released code keeps float32, the port inside transformers bfloat16",
    "xlstm": "transformers allocates it in the model's dtype, whatever inference_state_dtype says",
}
"""Where the state's dtype is a convention that engines disagree on, by kind of layer."""


@dataclass(frozen=True)
class BillRow:
    """One kind of layer: `bytes` for all `count` layers and all sequences, `arithmetic` for one layer.

    keys: config keys that decided kind and widths.  bytes = state + conv + kv + window.
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


@dataclass(frozen=True)
class Bill:
    """Bytes a model keeps while decoding, exact integers.

    All `*_bytes` are for the whole model and batch (for one rank if tp > 1); fixed = state + conv and
    total = fixed + kv + window.  kv_bytes_per_token is for one sequence and the layers that grow without limit.
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
) -> Bill:
    """Bytes kept after `tokens` tokens of each of `batch` sequences.

    Arguments win over what the config says; a difference stands in `warnings`.  A windowed layer keeps the last
    W - 1 tokens.  With tp > 1 the bill is that of one tensor-parallel rank, the fullest.
    Raises ValueError that begins with the argument's name.
    """
    options = Options(batch, kv_dtype, state_dtype, conv_dtype, conv_columns, mla, tp)
    T = whole("tokens", tokens, least=0)
    sums = rates(shape, options)
    return Bill(
        tokens=T,
        options=options,
        state_bytes=sums.state_bytes,
        conv_bytes=sums.conv_bytes,
        fixed_bytes=sums.fixed_bytes,
        kv_bytes=sums.kv_bytes(T),
        window_bytes=sums.window_bytes(T),
        total_bytes=sums.total_bytes(T),
        kv_bytes_per_token=sums.kv_bytes_per_token,
        layers=tuple(_row(group, options, T) for group in shape.layers),
        used=dict(shape.used),
        assumed=_assumed(shape, options),
        ignored=shape.ignored,
        warnings=(*shape.warnings, *_warnings(shape, options, T)),
    )


def _row(group, options: Options, T: int) -> BillRow:
    layer = layer_rates(group.family, options)
    many = group.count * options.batch
    grows = layer.kept is None
    parts = {
        "state_bytes": many * layer.state,
        "conv_bytes": many * layer.conv,
        "kv_bytes": many * layer.token * T if grows else 0,
        "window_bytes": 0 if grows else many * layer.token * min(T, layer.kept),
    }
    return BillRow(
        kind=group.kind,
        count=group.count,
        arithmetic=arithmetic(group, options, T),
        keys=group.keys,
        bytes=sum(parts.values()),
        bytes_per_token=layer.token,
        **parts,
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
        keep = "transformers" if options.conv_columns == "k" else "serving engines"
        assumed["conv_columns"] = f"{options.conv_columns}: as {keep} keep the convolution window"
    if any(group.family.window for group in shape.layers):
        assumed["window"] = "W - 1 tokens stay in a windowed layer; the token being processed is the W-th"
    if "mla" in kinds or any(kind.startswith("mla+") for kind in kinds):
        assumed["mla"] = f"{options.mla}: engines differ"
    return assumed


def _warnings(shape: ModelShape, options: Options, T: int) -> list[str]:
    said = []
    if shape.kv_dtype is not None and shape.kv_dtype != options.kv_dtype:
        said.append(f"kv_dtype is {options.kv_dtype}, the config says {shape.kv_dtype}")
    if shape.has_state and shape.state_dtype is not None and shape.state_dtype != options.state_dtype:
        said.append(f"state_dtype is {options.state_dtype}, the config says {shape.state_dtype}")
    if shape.native_context is not None and shape.native_context < T:
        said.append(f"{T:,} tokens are more than the native context of {shape.native_context:,}")
    said.extend(dict.fromkeys(filter(None, (group.family.uneven(options.tp) for group in shape.layers))))
    return said
