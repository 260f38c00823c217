"""Readers of softmax layers: which keys give KV heads and head widths, and when the cache is a latent."""

from __future__ import annotations

from dataclasses import replace

from .arithmetic import Told, derived
from .errors import ConfigError
from .families import Latent, Softmax
from .keys import SINGLE, Keys
from .rules import WINDOW_KEYS

KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "attn_config.kv_n_heads")
ONE_HEAD = Told(1, "multi_query")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels")


def window_of(keys: Keys) -> int:
    """Window W of a layer that the layer list calls windowed; the current token is the W-th."""
    remedy = "add sliding_window: the layer list has windowed layers"
    return keys.number(*WINDOW_KEYS) or keys.by_class(*WINDOW_KEYS) or keys.need(*WINDOW_KEYS, remedy=remedy)


def kv_heads(keys: Keys, *first: str) -> int:
    """KV heads: the file's, or one for multi-query, or the class default, or as many as query heads."""
    found = keys.number(*first, *KV_HEADS)
    if found is not None:
        return found
    for flag in ("multi_query", "multi_query_attention"):
        if keys.flag(flag):
            return keys.number("multi_query_group_num") or Told(1, flag)
    by_class = keys.by_class("num_key_value_heads")
    if by_class is not None:
        return by_class
    heads = keys.need_heads()
    keys.assumed["num_key_value_heads"] = f"{heads:,}: as many as query heads, because the file gives none"
    return heads


def head_dim(keys: Keys, *first: str) -> int:
    """Width of a key: the file's own `head_dim`, or the class default, else hidden size over heads."""
    found = keys.number(*first, *HEAD_DIM) or keys.by_class("head_dim")
    if found is not None:
        return found
    return keys.per_head("head_dim", keys.hidden(), keys.need_heads(), "num_attention_heads")


def softmax(keys: Keys, word: str = "full") -> Softmax | Latent:
    """The layer behind the words full, window and chunked."""
    if keys.present("kv_lora_rank"):
        if word != "full":
            raise ConfigError("kv_lora_rank", "stands beside windowed layers, which have no formula here", "report it")
        return latent(keys)
    swa = word == "window"
    heads = kv_heads(keys, "swa_num_key_value_heads") if swa else kv_heads(keys)
    d_k = head_dim(keys, "swa_head_dim") if swa else head_dim(keys)
    d_v = keys.number("swa_v_head_dim", "v_head_dim") if swa else keys.number("v_head_dim")
    d_v = d_v or keys.by_class("v_head_dim") or d_k
    if word == "chunked":
        return Softmax(heads, d_k, d_v, keys.need("attention_chunk_size"), chunked=True)
    return Softmax(heads, d_k, d_v, window_of(keys) if swa else None)


def latent(keys: Keys) -> Latent:
    """Multi-head latent attention, with a sparse indexer's key if the file has one."""
    return Latent(
        rank=keys.need("kv_lora_rank", remedy="add kv_lora_rank: this model type caches a latent"),
        rope=keys.need("qk_rope_head_dim"),
        heads=keys.heads(),
        nope=keys.number("qk_nope_head_dim"),
        d_v=keys.number("v_head_dim"),
        index=keys.number("index_head_dim") or 0,
    )


INDEXERS = ("indexer_types", "index_topk_pattern", "index_topk_freq")
"""Keys that say which layers run the sparse indexer and which reuse an earlier layer's choice."""


def indexed_latent(keys: Keys, word: str) -> Latent:
    """DeepSeek-V3.2 and GLM-DSA: a layer that runs the sparse indexer keeps its key beside the latent."""
    width = keys.default("index_head_dim", 128, "the class default", "index_head_dim")
    made = only_latent(keys, word)
    return replace(made, index=width if _runs_indexer(keys) else 0)


def _runs_indexer(keys: Keys) -> bool:
    key = keys.present(*INDEXERS)
    if key is None:
        return True
    value, i = keys.take(key), keys.layer or 0
    if key == "index_topk_freq":
        skipped = keys.number("index_skip_topk_offset") or 2
        return max(i - skipped + 1, 0) % keys.need(key) == 0
    if not isinstance(value, str | list | tuple) or len(value) != keys.n or str(value[i]) not in INDEXER_WORDS:
        raise ConfigError(key, "must say full or shared for every layer", "write it as published")
    return INDEXER_WORDS[str(value[i])]


INDEXER_WORDS = {"full": True, "F": True, "shared": False, "S": False}


def only_latent(keys: Keys, word: str) -> Latent:
    """Model types whose attention is latent whatever else the file says."""
    if word != "full":
        raise ConfigError("layer_types", f"has a {word} layer, but this model type has full latent ones", "check it")
    return latent(keys)


def twice_hidden(keys: Keys, word: str) -> Softmax:
    """Zamba2: attention runs on twice the hidden size, whatever `head_dim` or `kv_channels` say."""
    d = keys.per_head("attention head width", 2 * keys.hidden(), keys.need_heads(), "num_attention_heads")
    return Softmax(kv_heads(keys), d, d)


def gemma4(keys: Keys, word: str) -> Softmax | Latent:
    """Gemma-4: full layers have their own head width, and their own KV heads when keys serve as values.

    Both tensors are kept in the full layers although they come from one projection.  Files saved by transformers
    give these layers their numbers one by one.
    """
    if word != "full" or keys.present(SINGLE):
        return softmax(keys, word)
    d = keys.default("global_head_dim", 512, "the class default", "global_head_dim")
    own = keys.flag("attention_k_eq_v") is not False and keys.present("num_global_key_value_heads")
    return Softmax(keys.number("num_global_key_value_heads") if own else kv_heads(keys), d, d)


def falcon(keys: Keys, word: str) -> Softmax | Latent:
    """Falcon: `num_kv_heads` counts only in the newer decoder; before it, multi-query means one."""
    if keys.flag("new_decoder_architecture"):
        keys.warnings.append("transformers keeps Falcon's KV heads repeated to all query heads; engines keep them once")
        return softmax(keys, word)
    multi = keys.flag("multi_query")
    if multi is None:
        keys.assumed["multi_query"] = "true: the class default"
    return softmax(keys, word) if multi is False else Softmax(ONE_HEAD, head_dim(keys), head_dim(keys))


def multi_query(keys: Keys, word: str) -> Softmax:
    """GPT-BigCode: one KV head unless `multi_query` is false."""
    multi = keys.flag("multi_query")
    if multi is None:
        keys.assumed["multi_query"] = "true: the class default"
    d = head_dim(keys)
    return Softmax(keys.need_heads() if multi is False else ONE_HEAD, d, d)


def mimo(keys: Keys, word: str) -> Softmax | Latent:
    """MiMo-V2: windowed layers have twice the KV heads if the file does not say how many.

    `sliding_window_size` counts the earlier tokens only, so the window is one longer.
    """
    made = softmax(keys, word)
    if word != "window":
        return made
    if not keys.present("swa_num_key_value_heads"):
        doubled = keys.assume("swa_num_key_value_heads", 2 * made.kv_heads, "twice the full layers', as in the class")
        made = replace(made, kv_heads=doubled)
    earlier = keys.number("sliding_window_size")
    return replace(made, window=derived(earlier + 1, earlier, " + 1")) if earlier else made


def fla_attention(keys: Keys, word: str) -> Softmax:
    """Softmax layers of a flash-linear-attention hybrid, described by the `attn` object."""
    heads = keys.need("attn.num_heads")
    d = keys.per_head("attention head width", keys.hidden(), heads, "attn.num_heads")
    window = keys.need("attn.window_size") if word == "window" else None
    return Softmax(keys.number("attn.num_kv_heads") or heads, d, d, window)
