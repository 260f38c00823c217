"""Readers of recurrent layers: which keys give the widths of each state, family by family."""

from __future__ import annotations

from fractions import Fraction

from .errors import ConfigError
from .keys import Keys
from .states import GatedRecurrence, Mamba1, Mamba2, MatrixLSTM, MatrixState, Rwkv4, ShortConv

STATE_SIZE = ("mamba_d_state", "ssm_state_size", "state_size")
CONV = ("mamba_d_conv", "conv_kernel", "conv_dimension", "d_conv")
EXPAND = ("mamba_expand", "expand", "expansion_factor")
GROUPS = ("mamba_n_groups", "n_groups", "mamba_ngroups")


def _scaled(keys: Keys, quantity: str, hidden: int, factor: Fraction) -> int:
    """hidden × factor, cut to a whole number as the reference does."""
    return keys.assume(quantity, int(hidden * factor), f"{float(factor):g} × {hidden:,}", keys.present(*EXPAND))


def lightning(keys: Keys) -> MatrixState:
    """MiniMax: every query head keeps a head_dim × head_dim matrix (arXiv:2501.08313)."""
    heads = keys.need_heads()
    d = keys.number("head_dim")
    if d is None:
        d = keys.per_head("head_dim", keys.hidden(), heads, "num_attention_heads")
    return MatrixState("lightning", heads, d, d)


def bailing_lightning(keys: Keys) -> MatrixState:
    """Ling and Ring linear: all query heads, each hidden size over heads wide, no grouping."""
    heads = keys.need_heads()
    d = keys.per_head("linear head width", keys.hidden(), heads, "num_attention_heads")
    return MatrixState("lightning", heads, d, d)


def gated_deltanet(keys: Keys) -> MatrixState:
    """Qwen3-Next, Qwen3.5 and kin: value heads multiply the state."""
    heads = keys.need("linear_num_value_heads")
    key_heads = keys.need("linear_num_key_heads")
    d_k, d_v = keys.need("linear_key_head_dim"), keys.need("linear_value_head_dim")
    return MatrixState("gdn", heads, d_k, d_v, (key_heads, key_heads, heads), keys.need("linear_conv_kernel_dim"))


def olmo_hybrid(keys: Keys) -> MatrixState:
    """OLMo-Hybrid: as above, with nulls that follow from heads and hidden size."""
    value_heads, key_heads = keys.number("linear_num_value_heads"), keys.number("linear_num_key_heads")
    if value_heads is None:
        value_heads = keys.assume("linear_num_value_heads", keys.need_heads(), "as many as query heads")
    if key_heads is None:
        key_heads = keys.assume("linear_num_key_heads", keys.need_heads(), "as many as query heads")
    d_k = keys.number("linear_key_head_dim")
    if d_k is None:
        d_k = keys.per_head("linear_key_head_dim", keys.hidden() * 3, 4 * key_heads, "hidden_size")
    d_v = keys.number("linear_value_head_dim")
    if d_v is None:
        d_v = keys.assume("linear_value_head_dim", 2 * d_k, "twice the key width")
    kernel = keys.default("linear_conv_kernel_dim", 4, "the class default", "linear_conv_kernel_dim")
    return MatrixState("gdn", value_heads, d_k, d_v, (key_heads, key_heads, value_heads), kernel)


def kimi_delta(keys: Keys) -> MatrixState:
    """Kimi Linear (arXiv:2510.26692): widths stand in `linear_attn_config`, not at the top."""
    heads = keys.need("linear_attn_config.num_heads", "linear_num_heads")
    d = keys.need("linear_attn_config.head_dim", "linear_head_dim")
    kernel = keys.need("linear_attn_config.short_conv_kernel_size", "linear_conv_kernel_dim")
    return MatrixState("kda", heads, d, d, (heads,) * 3, kernel)


def bailing_kda(keys: Keys) -> MatrixState:
    """Bailing hybrid: Kimi's layer with as many heads as queries.

    Files saved by transformers give the width as `linear_head_dim`; their `head_dim` is the rotary width.
    """
    heads, d = keys.need_heads(), keys.number("linear_head_dim") or keys.need("head_dim")
    kernel = keys.default("short_conv_kernel_size", 4, "the class default", "short_conv_kernel_size")
    return MatrixState("kda", heads, d, d, (heads,) * 3, kernel)


def mamba1(keys: Keys) -> Mamba1:
    """Mamba and Jamba: inner width is the expansion of hidden size."""
    factor = keys.factor(*EXPAND)
    if factor is None:
        factor = Fraction(keys.assume("expand", 2, "the class default"))
    inner = _scaled(keys, "inner width", keys.hidden(), factor)
    kernel = keys.default("conv_kernel", 4, "the class default", *CONV)
    return Mamba1(inner, keys.default("state_size", 16, "the class default", *STATE_SIZE), kernel)


def falcon_mamba(keys: Keys) -> Mamba1:
    """Falcon-Mamba: the released file's `expand` is misleading, its `intermediate_size` is what counts."""
    inner = keys.number("intermediate_size")
    if inner is None:
        return mamba1(keys)
    kernel = keys.default("conv_kernel", 4, "the class default", *CONV)
    return Mamba1(inner, keys.default("state_size", 16, "the class default", *STATE_SIZE), kernel)


def _mamba2(keys: Keys, heads: int | None, width: int | None, inner: int | None, groups: int) -> Mamba2:
    """Fill in whichever of heads, width and inner = heads × width is missing, and check all three agree."""
    if inner is None and None in (heads, width):
        factor = keys.factor(*EXPAND)
        if factor is None:
            raise keys.missing("mamba_expand", remedy="add mamba_expand, or both the heads and the head width")
        inner = _scaled(keys, "inner width", keys.hidden(), factor)
    if heads is None and width is None:
        raise keys.missing("mamba_n_heads", remedy="add mamba_n_heads or mamba_head_dim")
    if heads is None:
        why = f"inner width {inner:,} over head width {width:,}"
        heads = keys.assume("Mamba-2 heads", inner // width, why, keys.present(*WIDTH))
    if width is None:
        width = keys.per_head("Mamba-2 head width", inner, heads, keys.present(*HEADS))
    if inner is not None and heads * width != inner:
        key = keys.present("mamba_d_ssm", *HEADS, *WIDTH) or "mamba_expand"
        raise ConfigError(key, f"disagrees: {heads:,} heads × {width:,} is not the inner width {inner:,}", "check both")
    N = keys.need(*STATE_SIZE)
    kernel = keys.default("mamba_d_conv", 4, "the class default", *CONV)
    return Mamba2(heads, width, N, keys.default("groups", groups, "the class default", *GROUPS), kernel)


HEADS = ("mamba_n_heads", "mamba_num_heads", "n_mamba_heads")
WIDTH = ("mamba_d_head", "mamba_head_dim", "mamba_headdim")


def _head_numbers(keys: Keys) -> tuple[int | None, int | None]:
    width = None if keys.raw("mamba_d_head") == "auto" else keys.number(*WIDTH)
    return keys.number(*HEADS), width


def mamba2(keys: Keys) -> Mamba2:
    """Bamba, Granite hybrid, Falcon-H1 and Zamba2."""
    return _mamba2(keys, *_head_numbers(keys), keys.number("mamba_d_ssm"), groups=1)


def nemotron_h(keys: Keys) -> Mamba2:
    """Nemotron-H: heads × head width is the inner width, `expand` notwithstanding."""
    return _mamba2(keys, *_head_numbers(keys), None, groups=8)


def pure_mamba2(keys: Keys) -> Mamba2:
    """Mamba-2 by itself, whose heads are the model's only ones."""
    heads, width = keys.number("num_heads", *HEADS), keys.number("head_dim", *WIDTH)
    return _mamba2(keys, heads, width, None, groups=8)


def rg_lru(keys: Keys) -> GatedRecurrence:
    """RecurrentGemma."""
    hidden = keys.hidden()
    width = keys.number("lru_width")
    if width is None:
        width = keys.assume("lru_width", hidden, "the hidden size")
    return GatedRecurrence(width, hidden, keys.default("conv1d_width", 4, "the class default", "conv1d_width"))


def short_conv(keys: Keys) -> ShortConv:
    """LFM2."""
    return ShortConv(keys.hidden(), keys.default("conv_L_cache", 3, "the class default", "conv_L_cache"))


def mlstm(keys: Keys) -> MatrixLSTM:
    """xLSTM: widths are factors of the embedding, rounded up to a multiple of 64, over the heads."""
    heads, hidden = keys.need("num_heads"), keys.hidden()
    widths = []
    for key, default in (("qk_dim_factor", Fraction(1, 2)), ("v_dim_factor", Fraction(1))):
        factor = keys.factor(key)
        if factor is None:
            keys.assumed[key] = f"{float(default):g}: the class default"
            factor = default
        whole = -(-int(hidden * factor) // 64) * 64
        widths.append(keys.per_head(f"{key} head width", whole, heads, "num_heads"))
    return MatrixLSTM(heads, *widths)


def rwkv4(keys: Keys) -> Rwkv4:
    """RWKV-4."""
    hidden = keys.hidden()
    return Rwkv4(hidden, keys.number("attention_hidden_size") or hidden)
