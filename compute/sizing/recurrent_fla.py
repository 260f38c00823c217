"""Readers of recurrent layers as flash-linear-attention spells them, and of RWKV."""

from __future__ import annotations

from fractions import Fraction

from .arithmetic import Told, derived
from .errors import ConfigError
from .keys import Keys
from .states import MatrixState, Rwkv

FEATURE_WIDTH = {
    "hedgehog": 2,
    "dpfp": 8,
    **dict.fromkeys(("elementwise_product", "t2r", "elu", "relu", "identity"), 1),
}
"""Width after the feature map over width before it, for the maps of flash-linear-attention's linear attention."""


def rwkv(keys: Keys) -> Rwkv:
    """RWKV-6 and RWKV-7, in the released spelling or flash-linear-attention's."""
    hidden = keys.hidden()
    width = keys.number("head_size", "head_dim")
    if width is not None:
        why = f"hidden size {hidden:,} over head width {width:,}"
        heads = keys.assume("heads", hidden // width, why, keys.present("head_size", "head_dim"))
        if keys.present("value_dim"):
            raise ConfigError("value_dim", "sets value widths that have no formula here", "report it")
        return Rwkv(heads, width, width, hidden)
    heads = keys.need("num_heads", "num_attention_heads", remedy="add head_size, the width of one head")
    d_k, d_v = _expanded(keys, hidden, heads, Fraction(1, 2), Fraction(1))
    return Rwkv(heads, d_k, d_v, hidden)


def _expanded(keys: Keys, hidden: int, heads: int, default_k: Fraction, default_v: Fraction) -> tuple[int, int]:
    widths = []
    for key, default in (("expand_k", default_k), ("expand_v", default_v)):
        factor = keys.factor(key)
        if factor is None:
            keys.assumed[key] = f"{float(default):g}: the class default"
            factor = default
        whole = hidden * factor
        if whole.denominator != 1 or whole % heads:
            raise ConfigError(key, f"gives a width that {heads:,} heads do not divide", "check expand and heads")
        widths.append(Told(int(whole) // heads, f"hidden size × {key} over heads"))
    return widths[0], widths[1]


def _fla_kernel(keys: Keys, default: bool) -> int:
    short = keys.flag("use_short_conv")
    if short is None:
        short = default
        keys.assumed["use_short_conv"] = f"{str(default).lower()}: the class default"
    return keys.default("conv_size", 4, "the class default", "conv_size") if short else 0


def fla_matrix(word: str, default_k: Fraction, default_v: Fraction, conv: bool):
    """Reader of a layer whose widths are expansions of hidden size: GLA, RetNet, DeltaNet, plain linear attention."""

    def read(keys: Keys) -> MatrixState:
        heads, hidden = keys.need("num_heads"), keys.hidden()
        kv = keys.number("num_kv_heads") or heads
        if heads % kv:
            raise ConfigError("num_kv_heads", f"is {kv:,}, which does not divide {heads:,} heads", "check both")
        d_k, d_v = _expanded(keys, hidden, heads, default_k, default_v)
        kernel = 0 if word == "linear" else _fla_kernel(keys, conv)
        if word == "linear":
            d_k = derived(d_k * _feature_width(keys), d_k, " × width after the feature map")
        return MatrixState(word, heads, d_k, d_v, (heads, kv, kv) if kernel else (0, 0, 0), kernel)

    return read


def _feature_width(keys: Keys) -> int:
    name = keys.word("feature_map") or "elementwise_product"
    if name not in FEATURE_WIDTH:
        raise ConfigError("feature_map", f"is {name[:40]!r}, whose width is not known here", "use a named map")
    return FEATURE_WIDTH[name]


def fla_gated(word: str, default_v: Fraction):
    """Reader of Gated DeltaNet and KDA in flash-linear-attention: `head_dim` wide keys, `expand_v` wider values."""

    def read(keys: Keys) -> MatrixState:
        heads, d_k = keys.need("num_heads"), keys.need("head_dim")
        value_heads = keys.number("num_v_heads") or heads
        factor = keys.factor("expand_v")
        if factor is None:
            keys.assumed["expand_v"] = f"{float(default_v):g}: the class default"
            factor = default_v
        if (d_k * factor).denominator != 1:
            raise ConfigError("expand_v", f"does not give a whole width for {d_k:,} wide heads", "check both")
        kernel = _fla_kernel(keys, True)
        d_v = derived(int(d_k * factor), d_k, " × expand_v")
        return MatrixState(word, value_heads, d_k, d_v, (heads, heads, value_heads) if kernel else (0, 0, 0), kernel)

    return read
