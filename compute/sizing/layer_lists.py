"""Which kind each layer is: explicit lists first, then patterns, then intervals, then the model type's own rule.

Words handed on: full, window, chunked, linear, both (cache and state), both_window, mlp, moe.
An explicit list beats an interval, and both beat a rule: files carry leftovers of all three.
"""

from __future__ import annotations

from collections.abc import Callable

from .errors import ConfigError
from .keys import MAX_LAYERS, Keys

N_KEYS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_blocks", "num_transformer_layers")

WORDS = {
    "full_attention": "full",
    "attention": "full",
    "global": "full",
    "sliding_attention": "window",
    "local": "window",
    "chunked_attention": "chunked",
    "linear_attention": "linear",
    "mamba": "linear",
    "mamba2": "linear",
    "recurrent": "linear",
    "conv": "linear",
    "short_conv": "linear",
    "hybrid": "both",
    "hybrid_sliding": "both_window",
    "moe": "moe",
    "mlp": "mlp",
}
INDEXED = ("indexed_attention", "deepseek_sparse_attention")
"""Full attention over a latent with a sparse indexer beside it."""

EXPLICIT_LISTS = (
    "layer_types",
    "attn_type_list",
    "decoder_attention_types",
    "hybrid_override_pattern",
    "layers_block_type",
)
"""Lists with one entry per layer; they decide, whatever else the file says."""

LETTERS = {"M": "linear", "*": "full", "-": "mlp", "E": "moe"}

LISTED = "write one entry per layer, as in the released file"

Rule = Callable[[Keys, int], list[str] | None]


def layer_words(keys: Keys, rule: Rule) -> list[str]:
    """The word of every layer, first match wins; `rule` is the model type's own and comes last."""
    stated = keys.number(*N_KEYS)
    if stated is not None and stated > MAX_LAYERS:
        raise ConfigError(keys.present(*N_KEYS), f"is {stated:,}, more than {MAX_LAYERS:,} layers", "check the count")
    for find in (_layer_types, _attn_type_list, _letters, _block_type_list):
        found = find(keys)
        if found is not None:
            return _shared(keys, _same_length(keys, stated, *found))
    if stated is None:
        raise keys.missing(*N_KEYS, remedy="add num_hidden_layers: the file leaves it to a default we cannot see")
    keys.n = stated
    for find in (_kimi, _hybrid_layer_pattern, _indices, _period, _cycle, _groups, _interval, _window_pattern):
        found = find(keys, stated)
        if found is not None:
            return _shared(keys, found)
    return _shared(keys, rule(keys, stated))


def _same_length(keys: Keys, stated: int | None, key: str, words: list[str]) -> list[str]:
    if stated is not None and stated != len(words):
        raise ConfigError(key, f"has {len(words)} entries for {stated} layers", LISTED)
    keys.n = len(words)
    return words


# -- lists that fix the number of layers themselves -----------------------------------------------------------------


def _named(key: str, names: list[str], latent: bool) -> list[str]:
    out = []
    for name in names:
        word = "full" if name in INDEXED and latent else WORDS.get(name)
        if word is None:
            known = ", ".join(WORDS)
            raise ConfigError(
                key, f"names a layer kind {name[:40]!r} that has no formula here", f"known kinds: {known}"
            )
        out.append(word)
    return out


def _layer_types(keys: Keys) -> tuple[str, list[str]] | None:
    names = keys.words("layer_types")
    return names and ("layer_types", _named("layer_types", names, keys.present("kv_lora_rank") is not None))


def _attn_type_list(keys: Keys) -> tuple[str, list[str]] | None:
    for key in ("attn_type_list", "decoder_attention_types"):
        marks = keys.whole_numbers(key)
        if marks is not None:
            if not set(marks) <= {0, 1}:
                raise ConfigError(key, "holds something else than 0 (linear) and 1 (softmax)", LISTED)
            return key, ["full" if mark else "linear" for mark in marks]
    return None


def _letters(keys: Keys) -> tuple[str, list[str]] | None:
    pattern = keys.word("hybrid_override_pattern")
    if not pattern:
        return None
    unknown = sorted(set(pattern) - set(LETTERS))
    if unknown:
        raise ConfigError("hybrid_override_pattern", f"has unknown letters {''.join(unknown)[:20]!r}", "use M * - E")
    if len(pattern) > MAX_LAYERS:
        raise ConfigError("hybrid_override_pattern", f"is longer than {MAX_LAYERS:,}", LISTED)
    return "hybrid_override_pattern", [LETTERS[letter] for letter in pattern]


def _block_type_list(keys: Keys) -> tuple[str, list[str]] | None:
    names = keys.words("layers_block_type")
    return names and ("layers_block_type", _named("layers_block_type", names, latent=False))


# -- patterns spread over a known number of layers -------------------------------------------------------------------


def _kimi(keys: Keys, n: int) -> list[str] | None:
    linear = keys.whole_numbers("linear_attn_config.kda_layers")
    full = keys.whole_numbers("linear_attn_config.full_attn_layers")
    if linear is None and full is None:
        return None
    linear, full = linear or [], full or []
    if sorted(linear + full) != list(range(1, n + 1)):
        key = "linear_attn_config.kda_layers" if linear else "linear_attn_config.full_attn_layers"
        raise ConfigError(key, f"and its twin list must name layers 1 to {n} once each, counted from 1", LISTED)
    softmax = set(full)
    return ["full" if i in softmax else "linear" for i in range(1, n + 1)]


def _hybrid_layer_pattern(keys: Keys, n: int) -> list[str] | None:
    marks = keys.whole_numbers("hybrid_layer_pattern")
    if marks is None:
        return None
    if len(marks) != n or not set(marks) <= {0, 1}:
        raise ConfigError("hybrid_layer_pattern", f"must hold {n} entries, 0 (full) or 1 (window)", LISTED)
    return ["window" if mark else "full" for mark in marks]


def _indices(keys: Keys, n: int) -> list[str] | None:
    for key in ("full_attn_idxs", "attn_layer_indices"):
        indices = keys.whole_numbers(key)
        if indices is not None:
            if not all(0 <= i < n for i in indices):
                raise ConfigError(key, f"points outside layers 0 to {n - 1}", LISTED)
            softmax = set(indices)
            return ["full" if i in softmax else "linear" for i in range(n)]
    return None


def _period(keys: Keys, n: int) -> list[str] | None:
    period = keys.number("attn_layer_period")
    if period is None:
        return None
    offset = _natural(keys, "attn_layer_offset")
    if offset >= period:
        raise ConfigError("attn_layer_offset", f"is {offset}, not below attn_layer_period {period}", LISTED)
    return ["full" if i % period == offset else "linear" for i in range(n)]


def _natural(keys: Keys, key: str) -> int:
    """A whole number for which 0 is a value of its own; absent reads as the class default, or else 0."""
    value = keys.raw(key)
    if value is None:
        return keys.by_class(key) or 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(key, "must be a whole number, not negative", "write it as published")
    keys.note(key, value)
    return value


def _cycle(keys: Keys, n: int) -> list[str] | None:
    for key in ("_block_types", "block_types"):
        names = keys.words(key)
        if names is not None:
            once = _named(key, names, latent=False)
            # the attention of this family is local: its window is a key of its own
            once = ["window" if w == "full" else w for w in once]
            return [once[i % len(once)] for i in range(n)]
    return None


def _groups(keys: Keys, n: int) -> list[str] | None:
    size = keys.number("layer_group_size")
    if size is None:
        return None
    words = ["full" if (i + 1) % size == 0 else "linear" for i in range(n)]
    if (keys.raw("model_type") or "") in ("bailing_moe_linear", "bailing_moe_v2_linear"):
        whole = n // size * size
        words[whole:] = ["full"] * (n - whole)
    return words


def _interval(keys: Keys, n: int) -> list[str] | None:
    interval = keys.number("full_attention_interval")
    return interval and ["full" if (i + 1) % interval == 0 else "linear" for i in range(n)]


def _window_pattern(keys: Keys, n: int) -> list[str] | None:
    if keys.present("sliding_window", "sliding_window_size", "attention_window_size") is None:
        return None
    for key in ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"):
        if isinstance(keys.raw(key), str):
            return _lettered_windows(keys, key, n)
        every = keys.number(key)
        if every is not None:
            return ["full" if (i + 1) % every == 0 else "window" for i in range(n)]
    return None


def _lettered_windows(keys: Keys, key: str, n: int) -> list[str]:
    pattern = keys.word(key)
    if not pattern or not set(pattern) <= set("LG"):
        raise ConfigError(key, "must be a number or letters L (window) and G (full)", LISTED)
    words = ["full" if pattern[i % len(pattern)] == "G" else "window" for i in range(n)]
    words[-1] = "full"
    return words


def _shared(keys: Keys, words: list[str]) -> list[str]:
    """The last `num_kv_shared_layers` layers read the cache of earlier ones."""
    shared = keys.number("num_kv_shared_layers") or keys.by_class("num_kv_shared_layers")
    if shared is None:
        return words
    if shared >= len(words):
        raise ConfigError("num_kv_shared_layers", f"is {shared} of {len(words)} layers", "some layer must own a cache")
    return words[: len(words) - shared] + ["shared"] * shared
