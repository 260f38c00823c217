"""From a config.json to a frozen ModelShape, with every number's origin."""

from __future__ import annotations

import os
from typing import Any

from . import guard
from .architectures import Architecture, architecture
from .attention import INDEXERS
from .dtypes import dtype_word
from .errors import ConfigError
from .families import Both, Family, Latent, NoCache, Softmax
from .keys import WRAPPERS, Keys
from .layer_lists import N_KEYS, layer_words
from .rules import WINDOW_KEYS
from .shape import LayerGroup, ModelShape

CONTEXT = ("max_position_embeddings", "n_positions", "model_max_length", "max_seq_len", "seq_length", "context_length")
STATE_DTYPE = ("mamba_ssm_dtype", "mamba_ssm_cache_dtype", "inference_state_dtype")
NAMING = ("model_type", "architectures")
DRAFT = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
PER_LAYER = ("num_key_value_heads", "num_kv_heads", "head_dim", "num_attention_heads", "num_query_heads", "v_head_dim")


def read_config(config: dict[str, Any] | str | os.PathLike) -> ModelShape:
    """What a Hugging Face `config.json` says about decode memory.

    config: a dict; a str, which is always JSON text; or a path object.
    Raises ConfigError, which names the key that decides and the remedy, for anything that has no exact formula here.
    """
    keys = Keys(guard.admit(config))
    name, kind = architecture(keys)
    keys.model_type = name
    words = layer_words(keys, kind.layers)
    layers = _groups(keys, kind, words)
    _check(keys, layers)
    return ModelShape(
        model_type=name,
        layers=layers,
        softmax=_own_softmax(layers),
        native_context=keys.number(*CONTEXT),
        kv_dtype=_kv_dtype(keys),
        state_dtype=_state_dtype(keys),
        used=tuple(keys.used.items()),
        assumed=tuple(keys.assumed.items()),
        ignored=_ignored(keys),
        warnings=tuple(keys.warnings),
    )


def _groups(keys: Keys, kind: Architecture, words: list[str]) -> tuple[LayerGroup, ...]:
    """Equal layers put together, in the order of first appearance."""
    listed = any(isinstance(keys.raw(key), list | tuple) for key in PER_LAYER)
    by_layer = listed or keys.single or keys.present(*INDEXERS)
    origin = tuple(keys.trail)
    made: dict[Any, tuple[Family, tuple[str, ...]]] = {}
    counts: dict[Family, int] = {}
    origins: dict[Family, tuple[str, ...]] = {}
    for i, word in enumerate(words):
        mark = (word, i if by_layer else None)
        if mark not in made:
            keys.layer, keys.trail = (i if by_layer else None), []
            family = _family(keys, kind, word)
            made[mark] = family, tuple(keys.trail)
        family, trail = made[mark]
        counts[family] = counts.get(family, 0) + 1
        origins.setdefault(family, trail)
    keys.layer = None
    counted = tuple(key for key in origin if key not in (*WRAPPERS, *NAMING))
    deciding = tuple(key for key in counted if key not in N_KEYS) or counted
    return tuple(LayerGroup(counts[f], f, (*deciding, *(k for k in origins[f] if k not in deciding))) for f in counts)


def _family(keys: Keys, kind: Architecture, word: str) -> Family:
    if word in ("mlp", "moe", "shared"):
        return NoCache(word)
    if word in ("full", "window", "chunked"):
        return kind.attention(keys, word)
    if kind.state is None:
        raise ConfigError(
            "layer_types", "has recurrent layers, but the model type keeps no state here", "set model_type"
        )
    if word == "linear":
        return kind.state(keys)
    return Both(kind.attention(keys, "full" if word == "both" else "window"), kind.state(keys))


def _own_softmax(layers: tuple[LayerGroup, ...]) -> Softmax | Latent | None:
    """The softmax layer that would stand in for a recurrent one: the model's own, a full one if it has both."""
    own = [group.family for group in layers if isinstance(group.family, Softmax | Latent)]
    return next((family for family in own if family.window is None), own[0] if own else None)


def _kv_dtype(keys: Keys) -> str | None:
    scheme = keys.raw("quantization_config")
    scheme = scheme if isinstance(scheme, dict) else keys.top.get("quantization_config")
    scheme = scheme.get("kv_cache_scheme") if isinstance(scheme, dict) else None
    if isinstance(scheme, dict):
        word = {(8, "float"): "fp8", (8, "int"): "int8", (4, "int"): "int4"}.get(
            (_hashable(scheme.get("num_bits")), _hashable(scheme.get("type")))
        )
        if word:
            keys.note("quantization_config.kv_cache_scheme", word)
            return word
    for place in (keys.inner, keys.top):
        for key in ("torch_dtype", "dtype"):
            if place.get(key) is not None:
                return _dtype(keys, key, place[key])
    return None


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else None


def _state_dtype(keys: Keys) -> str | None:
    key = keys.present(*STATE_DTYPE)
    return None if key is None else _dtype(keys, key, keys.raw(key))


def _dtype(keys: Keys, key: str, value: Any) -> str | None:
    if not isinstance(value, str):
        raise ConfigError(key, "must be a string", "write a dtype such as bfloat16")
    word = dtype_word(value)
    if word is None:
        if value != "auto":
            keys.warnings.append(f"{key} is {value[:40]!r}, which is no dtype known here; it is left aside")
        return None
    keys.note(key, value)
    return word


def _check(keys: Keys, layers: tuple[LayerGroup, ...]) -> None:
    """Things that are legal but that a reader should know."""
    context = keys.number(*CONTEXT)
    windows = {group.family.window for group in layers if group.family.window is not None}
    declared = keys.present(*WINDOW_KEYS)
    if declared and not windows:
        keys.warnings.append(
            f"{declared} is in the file, but no layer uses a window; every softmax layer counts in full"
        )
    for window in windows:
        if context and window > context:
            keys.warnings.append(f"the window of {window:,} tokens is larger than the native context of {context:,}")
    keys.layer = 0
    for group in layers:
        family = group.family.attention if isinstance(group.family, Both) else group.family
        if isinstance(family, Softmax) and not isinstance(keys.raw("num_attention_heads"), list | tuple):
            heads = keys.number("num_attention_heads", "n_head") or family.kv_heads
            if heads % family.kv_heads:
                keys.warnings.append(f"{family.kv_heads:,} KV heads do not divide {heads:,} query heads")
    keys.layer = None
    draft = keys.present(*DRAFT)
    if draft:
        keys.assumed[draft] = "draft layers are not counted; each adds one KV layer while speculative decoding runs"


def _ignored(keys: Keys) -> tuple[str, ...]:
    """Keys of the file that no number of the bill came from."""

    def unread(config: dict[str, Any]) -> list[str]:
        return [key for key in config if key not in keys.used and not any(u.startswith(f"{key}.") for u in keys.used)]

    outer = [] if keys.inner is keys.top else unread(keys.top)
    return tuple(dict.fromkeys(str(key)[:80] for key in (*unread(keys.inner), *outer)))
