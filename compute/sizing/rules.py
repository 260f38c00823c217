"""What a model type means by a file that lists no layer kinds.

Each rule reads (keys, number of layers) and answers one word per layer; what it had to assume, it records.
"""

from __future__ import annotations

from .errors import ConfigError
from .keys import Keys
from .layer_lists import Rule

WINDOW_KEYS = ("sliding_window", "attention_window_size", "sliding_window_size")


def all_of(word: str) -> Rule:
    """Every layer of one kind."""
    return lambda keys, n: [word] * n


def all_full(keys: Keys, n: int) -> list[str]:
    """Every layer attends fully."""
    return ["full"] * n


def has_window(keys: Keys) -> bool:
    """Whether the file, or the class when the file is silent, declares a window that is switched on."""
    declared = keys.present(*WINDOW_KEYS) or keys.by_class(*WINDOW_KEYS)
    return declared is not None and keys.flag("use_sliding_window") is not False


def windows_everywhere(keys: Keys, n: int) -> list[str]:
    """Mistral, Phi-3 and kin: every layer uses the window, if one is given."""
    return ["window" if has_window(keys) else "full"] * n


def windows_if_switched_on(keys: Keys, n: int) -> list[str]:
    """Qwen2/3 MoE: every layer uses the window when `use_sliding_window` is true."""
    return ["window" if _switched_on(keys) else "full"] * n


def windows_from_threshold(keys: Keys, n: int) -> list[str]:
    """Qwen2, Qwen3: layers from `max_window_layers` on use the window when `use_sliding_window` is true."""
    if not _switched_on(keys):
        return ["full"] * n
    first = keys.need("max_window_layers")
    return ["window" if i >= first else "full" for i in range(n)]


def windows_below_threshold(keys: Keys, n: int) -> list[str]:
    """Qwen2-MoE: even layers below `max_window_layers` use the window when `use_sliding_window` is true."""
    if not _switched_on(keys):
        return ["full"] * n
    last = keys.need("max_window_layers")
    return ["window" if i % 2 == 0 and i < last else "full" for i in range(n)]


def _switched_on(keys: Keys) -> bool:
    return keys.flag("use_sliding_window") is True and keys.present(*WINDOW_KEYS) is not None


def windows_but_every(k: int, offset: int | None = None) -> Rule:
    """A window on every layer but each k-th: the last of its group, or where i mod k = offset."""
    at = k - 1 if offset is None else offset

    def rule(keys: Keys, n: int) -> list[str]:
        keys.assumed["layer kinds"] = f"full attention where i mod {k} = {at}, the model type's own rule"
        return ["full" if i % k == at else "window" for i in range(n)]

    return rule


def linear_but_every(k: int, offset: int | None = None, last: bool = False) -> Rule:
    """A recurrent layer everywhere but at each k-th; `last` makes the last layer full if no other is."""
    at = k - 1 if offset is None else offset

    def rule(keys: Keys, n: int) -> list[str]:
        keys.assumed["layer kinds"] = f"full attention where i mod {k} = {at}, the model type's own rule"
        words = ["full" if i % k == at else "linear" for i in range(n)]
        if last and "full" not in words:
            words[-1] = "full"
        return words

    return rule


def must_list(key: str) -> Rule:
    """No rule: the file has to say."""

    def rule(keys: Keys, n: int) -> list[str]:
        raise ConfigError(key, "is not in the file, and this model type mixes layer kinds", f"add {key} as released")

    return rule


def chunks_where_rope(keys: Keys, n: int) -> list[str]:
    """Llama-4: layers with rotary positions attend within chunks, the others fully."""
    marks = keys.whole_numbers("no_rope_layers")
    if marks is None:
        every = keys.default("no_rope_layer_interval", 4, "the class default", "no_rope_layer_interval")
        marks = [int((i + 1) % every != 0) for i in range(n)]
    if len(marks) != n or not set(marks) <= {0, 1}:
        raise ConfigError("no_rope_layers", f"must hold {n} entries of 0 or 1", "write it as published")
    return ["chunked" if mark else "full" for mark in marks]


def windows_without_rope(keys: Keys, n: int) -> list[str]:
    """SmolLM3: layers without rotary positions use the window, if it is switched on."""
    if not _switched_on(keys):
        return ["full"] * n
    marks = keys.whole_numbers("no_rope_layers")
    if marks is None or len(marks) != n:
        raise ConfigError("no_rope_layers", f"must list {n} layers, because the window is switched on", "add the list")
    return ["full" if mark else "window" for mark in marks]


def fla_layers(keys: Keys, n: int) -> list[str]:
    """flash-linear-attention: `attn` is null, or an object whose `layers` are softmax."""
    if keys.raw("attn") is None:
        return ["linear"] * n
    layers = keys.whole_numbers("attn.layers")
    if layers is None:
        raise ConfigError("attn", "must be null or an object with a list of layers", "write it as published")
    if not all(0 <= i < n for i in layers):
        raise ConfigError("attn.layers", f"points outside layers 0 to {n - 1}", "layers count from 0")
    word = "window" if keys.present("attn.window_size") else "full"
    softmax = set(layers)
    return [word if i in softmax else "linear" for i in range(n)]


def windows_from_dots(keys: Keys, n: int) -> list[str]:
    """dots.llm1: layers from `max_window_layers` on use the window, if one is given."""
    if not has_window(keys):
        return ["full"] * n
    first = keys.need("max_window_layers")
    return ["window" if i >= first else "full" for i in range(n)]
