"""The model types that have a formula here: one line each.

A line says what the file means when it lists no layer kinds, how its softmax layers are read, and what its recurrent
layers keep.  A model type that is not here is refused by name: a plain formula on an unknown model is how other
calculators went wrong by factors of four and more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from . import attention, recurrent, recurrent_fla, rules
from .errors import ConfigError
from .families import Family, Latent, Softmax
from .keys import Keys
from .layer_lists import EXPLICIT_LISTS, Rule


@dataclass(frozen=True)
class Architecture:
    """layers: rule for files that list nothing.  attention: reader of a softmax layer, given its word.
    state: reader of a recurrent layer; None if the type has none."""

    layers: Rule = rules.all_full
    attention: Callable[[Keys, str], Softmax | Latent] = attention.softmax
    state: Callable[[Keys], Family] | None = None


PLAIN = Architecture()
RECURRENT_ONLY = rules.all_of("linear")
LATENT = Architecture(attention=attention.only_latent)
INDEXED = Architecture(attention=attention.indexed_latent)
QWEN_GDN = Architecture(rules.linear_but_every(4), state=recurrent.gated_deltanet)
MINIMAX = Architecture(rules.must_list("attn_type_list"), state=recurrent.lightning)

# fmt: off
WINDOWED = (
    "mistral", "mistral3", "mixtral", "ministral", "ministral3", "phi3", "phi4_multimodal", "phimoe", "starcoder2",
)
QWEN = ("qwen2", "qwen3", "qwen2_vl", "qwen2_5_vl", "qwen2_5_omni")
PLAIN_TYPES = (
    "llama", "qwen", "qwen3_vl", "gemma", "phi", "gpt2", "gpt_neox",
    "gpt_neox_japanese", "gptj", "codegen", "opt", "bloom", "mpt", "dbrx", "stablelm", "persimmon", "cohere",
    "olmo", "olmo2", "olmoe", "flex_olmo", "granite", "granitemoe", "granitemoeshared", "nemotron",
    "internlm", "internlm2", "internlm3", "baichuan", "xverse", "deepseek", "exaone", "minicpm", "ernie4_5",
    "ernie4_5_moe", "ernie4_5_vl_moe", "glm", "glm4", "glm4_moe", "glm4v", "glm4v_moe", "hunyuan_v1_dense",
    "hunyuan_v1_moe", "apertus", "arcee", "bitnet", "seed_oss", "helium", "jais", "jais2", "nanochat",
    "diffllama", "solar_open", "minimax_m2", "chatglm", "aria", "openelm", "hyperclovax", "arctic", "laguna", "mellum",
    "paddleocr_vl",
)
# fmt: on

ARCHITECTURES: dict[str, Architecture] = {
    **dict.fromkeys(PLAIN_TYPES, PLAIN),
    "falcon": Architecture(attention=attention.falcon),
    "gpt_bigcode": Architecture(attention=attention.multi_query),
    # windows
    **dict.fromkeys(
        (
            "mistral",
            "mistral3",
            "mixtral",
            "ministral",
            "ministral3",
            "phi3",
            "phi4_multimodal",
            "phimoe",
            "starcoder2",
        ),
        Architecture(rules.windows_everywhere),
    ),
    **dict.fromkeys(("qwen3_moe", "qwen3_vl_moe", "qwen3_omni_moe"), Architecture(rules.windows_if_switched_on)),
    **dict.fromkeys(
        ("qwen2", "qwen3", "qwen2_vl", "qwen2_5_vl", "qwen2_5_omni"), Architecture(rules.windows_from_threshold)
    ),
    "qwen2_moe": Architecture(rules.windows_below_threshold),
    "dots1": Architecture(rules.windows_from_dots),
    "smollm3": Architecture(rules.windows_without_rope),
    **dict.fromkeys(("gemma2", "vaultgemma", "gpt_oss"), Architecture(rules.windows_but_every(2))),
    "gemma3": Architecture(rules.windows_but_every(6)),
    "gemma3n": Architecture(rules.windows_but_every(5)),
    "gemma4": Architecture(rules.windows_but_every(6), attention.gemma4),
    **dict.fromkeys(
        ("cohere2", "cohere2_moe", "olmo3", "exaone4", "exaone_moe", "afmoe"), Architecture(rules.windows_but_every(4))
    ),
    **dict.fromkeys(("cwm", "granite_swa", "granitemoe_swa"), Architecture(rules.windows_but_every(4, 0))),
    "mimo_v2_flash": Architecture(rules.must_list("hybrid_layer_pattern"), attention.mimo),
    "llama4": Architecture(rules.chunks_where_rope),
    # latents
    **dict.fromkeys(
        ("deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe_lite", "minicpm3", "youtu", "mistral4", "axk1"), LATENT
    ),
    **dict.fromkeys(("deepseek_v32", "glm_moe_dsa"), INDEXED),
    # linear attention in hybrids
    **dict.fromkeys(("minimax", "minimax_text_01", "minimax_m1"), MINIMAX),
    **dict.fromkeys(("qwen3_next", "qwen3_5", "qwen3_5_moe"), QWEN_GDN),
    "olmo_hybrid": Architecture(rules.linear_but_every(4, last=True), state=recurrent.olmo_hybrid),
    "kimi_linear": Architecture(
        rules.must_list("linear_attn_config.kda_layers"), attention.only_latent, recurrent.kimi_delta
    ),
    "bailing_hybrid": Architecture(rules.must_list("layer_group_size"), attention.only_latent, recurrent.bailing_kda),
    **dict.fromkeys(
        ("bailing_moe_linear", "bailing_moe_v2_linear"),
        Architecture(rules.must_list("layer_group_size"), state=recurrent.bailing_lightning),
    ),
    # state space models and gated recurrences
    "jamba": Architecture(rules.linear_but_every(8, 4), state=recurrent.mamba1),
    "bamba": Architecture(rules.must_list("attn_layer_indices"), state=recurrent.mamba2),
    "granitemoehybrid": Architecture(rules.must_list("layer_types"), state=recurrent.mamba2),
    "nemotron_h": Architecture(rules.must_list("hybrid_override_pattern"), state=recurrent.nemotron_h),
    "falcon_h1": Architecture(rules.all_of("both"), state=recurrent.mamba2),
    "zamba2": Architecture(rules.must_list("layers_block_type"), attention.twice_hidden, recurrent.mamba2),
    **dict.fromkeys(("lfm2", "lfm2_moe"), Architecture(rules.must_list("full_attn_idxs"), state=recurrent.short_conv)),
    "recurrent_gemma": Architecture(rules.must_list("block_types"), state=recurrent.rg_lru),
    "mamba": Architecture(RECURRENT_ONLY, state=recurrent.mamba1),
    "falcon_mamba": Architecture(RECURRENT_ONLY, state=recurrent.falcon_mamba),
    "mamba2": Architecture(RECURRENT_ONLY, state=recurrent.pure_mamba2),
    "xlstm": Architecture(RECURRENT_ONLY, state=recurrent.mlstm),
    "rwkv": Architecture(RECURRENT_ONLY, state=recurrent.rwkv4),
    **dict.fromkeys(("rwkv6", "rwkv7"), Architecture(rules.fla_layers, attention.fla_attention, recurrent_fla.rwkv)),
    # flash-linear-attention
    **{
        word: Architecture(rules.fla_layers, attention.fla_attention, reader)
        for word, reader in {
            "linear_attn": recurrent_fla.fla_matrix("linear", Fraction(1), Fraction(1), conv=False),
            "retnet": recurrent_fla.fla_matrix("retnet", Fraction(1), Fraction(2), conv=False),
            "gla": recurrent_fla.fla_matrix("gla", Fraction(1, 2), Fraction(1), conv=False),
            "delta_net": recurrent_fla.fla_matrix("delta", Fraction(1), Fraction(1), conv=True),
            "gated_deltanet": recurrent_fla.fla_gated("gdn", Fraction(2)),
            "kda": recurrent_fla.fla_gated("kda", Fraction(1)),
        }.items()
    },
}

NO_FORMULA = {
    "deepseek_v4": ("compress_ratios", "keeps a compressed cache whose packed slots depend on the engine"),
    "minimax_m3": ("model_type", "keeps a sparse index beside the cache"),
    "minimax_m3_vl": ("model_type", "keeps a sparse index beside the cache"),
    "qwen4_exp": ("model_type", "keeps block-compressed index keys"),
    "mllama": ("cross_attention_layers", "also keeps keys and values of image tokens"),
    "longcat_flash": ("num_layers", "has two attention layers per block"),
}
"""Model types known to need a formula that is not here: the key that decides, and why."""

SIGNATURES = {
    "linear_attn_config": "kimi_linear",
    "linear_num_value_heads": "qwen3_next",
    "attn_type_list": "minimax",
    "hybrid_override_pattern": "nemotron_h",
    "attn_layer_period": "jamba",
    "kv_lora_rank": "deepseek_v3",
    "conv_L_cache": "lfm2",
    "lru_width": "recurrent_gemma",
}
"""A key that only one architecture has, for files that do not name theirs."""

UNUSUAL = (
    "compress_ratio",
    "compress_ratios",
    "block_configs",
    "cross_attention_layers",
    "sparse_attention_config",
    "cla_share_factor",
    "use_cla",
)
"""Keys that change what is cached in a way no formula here knows."""

STATEFUL = ("linear_", "mamba_", "ssm_", "kda_", "lightning_", "full_attention_interval", "attn_layer_period")
"""Beginnings of keys that speak of recurrent layers."""


def architecture(keys: Keys) -> tuple[str, Architecture]:
    """The file's model type and its line, or a refusal that names the deciding key."""
    for key in UNUSUAL:
        if keys.present(key):
            raise ConfigError(key, "changes what is cached in a way that has no formula here", "report the model")
    name = _model_type(keys)
    if name is None:
        return _unnamed(keys)
    if name in NO_FORMULA:
        key, why = NO_FORMULA[name]
        raise ConfigError(key, f"marks {name}, which {why}; it has no formula here", "report the model")
    if name not in ARCHITECTURES:
        raise ConfigError("model_type", f"is {name[:60]!r}, which has no formula here", _instead(keys))
    found = ARCHITECTURES[name]
    if found.state is None and not keys.present(*EXPLICIT_LISTS):
        stray = keys.starting(*STATEFUL)
        if stray:
            raise ConfigError(stray[0], f"speaks of recurrent layers, but {name} lists none", "add layer_types")
    return name, found


def _instead(keys: Keys) -> str:
    """What to do about a type without a formula, from the file's own keys: its name says nothing about its cache."""
    for key, name in SIGNATURES.items():
        if keys.present(key):
            return (
                f"its {key} is a key of {name} files: write that model_type only if its code keeps the same per layer"
            )
    listed = keys.present(*EXPLICIT_LISTS)
    if listed and not keys.starting(*STATEFUL):
        return f"if {listed} lists softmax layers alone, model_type llama bills them as listed; else report the model"
    return "no key of the file says what its layers keep, and a guess would be a wrong bill: report the model"


def _model_type(keys: Keys) -> str | None:
    for place in (keys.inner, keys.top):
        value = place.get("model_type")
        if value is not None:
            if not isinstance(value, str):
                raise ConfigError("model_type", "must be a string", "write it as published")
            keys.note("model_type", value[:60])
            return _plain_name(value)
    names = keys.top.get("architectures")
    if isinstance(names, list) and names and isinstance(names[0], str):
        keys.note("architectures", names[0][:60])
        flat = names[0]
        for tail in ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "Model"):
            flat = flat.removesuffix(tail)
        known = {word.replace("_", ""): word for word in (*ARCHITECTURES, *NO_FORMULA)}
        return known.get(flat.lower(), flat)
    return None


def _plain_name(value: str) -> str:
    name = value.strip().lower()
    return name.removesuffix("_text") if name.removesuffix("_text") in {*ARCHITECTURES, *NO_FORMULA} else name


def _unnamed(keys: Keys) -> tuple[str, Architecture]:
    """A file without model_type: decided by a key that only one architecture has, or else plain and said so."""
    for key, name in SIGNATURES.items():
        if keys.present(key):
            keys.assumed["model_type"] = f"{name}: {key} is in the file"
            return name, ARCHITECTURES[name]
    stray = keys.starting(*STATEFUL)
    if stray:
        raise ConfigError("model_type", f"is not in the file, and {stray[0]} fits several", "add model_type")
    keys.assumed["model_type"] = "plain softmax attention: the file names no architecture"
    keys.warnings.append("No model_type in the file: billed as plain softmax attention because no key says otherwise")
    return "unnamed", PLAIN
