"""Reading numbers out of a config, with a record of which key gave each.

Absent means: no such key, null, 0 or -1.  Released files use all four.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .arithmetic import Told
from .class_defaults import CLASS_DEFAULTS
from .errors import ConfigError
from .values import absent, shown, summed_up

WRAPPERS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Objects that hold the language model's keys in multimodal files, in the order tried."""

SINGLE = "per_layer_config"
"""Keys of single layers by layer number, as transformers 5 saves them; in that layer they win over the file's."""

DECIDES_KIND = ("skip", "layer_types", "sliding_window", "attention_window_size", "attention_chunk_size")

MAX_LAYERS = 1_000


class Keys:
    """A config being read.  Lives only while one config is read; what it recorded goes into the frozen shape."""

    def __init__(self, config: dict[str, Any]):
        self.top = config
        self.model_type: str | None = None
        self.used: dict[str, object] = {}
        self.assumed: dict[str, str] = {}
        self.warnings: list[str] = []
        self.trail: list[str] = []
        self.layer: int | None = None
        self.n: int | None = None
        self.inner = self._unwrap(config)
        self.single = self._single_layers()

    def _unwrap(self, config: dict[str, Any]) -> dict[str, Any]:
        for _ in range(4):
            name = next((w for w in WRAPPERS if config.get(w) is not None), None)
            if name is None:
                return config
            if not isinstance(config[name], dict):
                raise ConfigError(name, "must be an object", "paste the file as published")
            self.used[name] = "the language model's keys"
            config = config[name]
        raise ConfigError(name, "is nested in itself", "paste the file as published")

    def _single_layers(self) -> dict[int, dict[str, Any]]:
        given = self.inner.get(SINGLE)
        if given is None:
            return {}
        if not isinstance(given, dict) or not all(
            layer.isdecimal() and len(layer) <= 4 and isinstance(own, dict) for layer, own in given.items()
        ):
            raise ConfigError(SINGLE, "must map layer numbers to objects", "write it as saved by transformers")
        for key in DECIDES_KIND:
            if any(key in own for own in given.values()):
                raise ConfigError(SINGLE, f"sets {key} layer by layer, which has no formula here", "report the model")
        self.used[SINGLE] = f"keys of {len(given)} single layers"
        return {int(layer): own for layer, own in given.items()}

    def has_own(self, key: str) -> bool:
        """Whether the current layer has this key for itself."""
        return self.layer is not None and key in self.single.get(self.layer, {})

    # -- raw access ---------------------------------------------------------------------------------------------

    def raw(self, key: str) -> Any:
        """The value under a key, dotted for one level of nesting; None if absent.  Nothing is recorded."""
        head, _, tail = key.partition(".")
        value = self.single[self.layer][head] if self.has_own(head) else self.inner.get(head)
        if not tail:
            return value
        return value.get(tail) if isinstance(value, dict) else None

    def take(self, key: str) -> Any:
        """The value under a key, recorded as used."""
        value = self.raw(key)
        place = SINGLE if self.has_own(key.partition(".")[0]) else key
        # a list is summed up once, however many layers read from it
        self.note(place, self.used[place] if place in self.used else summed_up(value))
        return value

    def note(self, key: str, value: object) -> None:
        """Record a key as used with the value shown to the reader."""
        self.used[key] = value
        if key not in self.trail:
            self.trail.append(key)

    def present(self, *keys: str) -> str | None:
        """The first of the keys that is not absent."""
        return next((key for key in keys if not absent(self.raw(key))), None)

    def starting(self, *prefixes: str) -> list[str]:
        """Keys of the language model that start with one of the prefixes and are not absent."""
        return [key for key in self.inner if key.startswith(prefixes) and not absent(self.inner[key])]

    # -- typed access -------------------------------------------------------------------------------------------

    def number(self, *keys: str) -> int | None:
        """The first present key as a positive whole number (the current layer's, if it is a list); None if absent."""
        key = self.present(*keys)
        if key is None:
            return None
        value = self.raw(key)
        if isinstance(value, list | tuple):
            value = self._of_layer(key, value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ConfigError(key, f"must be a whole number, got {shown(value)}", "write it as a plain integer")
        if value < 1:
            raise ConfigError(key, f"must be positive, got {value}", "write the size of the released model")
        self.take(key)
        return Told(value, key)

    def need(self, *keys: str, remedy: str | None = None) -> int:
        """As `number`, but refuse when absent."""
        value = self.number(*keys)
        if value is None:
            raise self.missing(*keys, remedy=remedy)
        return value

    def missing(self, *keys: str, remedy: str | None = None) -> ConfigError:
        """The refusal for keys none of which is in the file."""
        return ConfigError(
            keys[0], "is not in the file", remedy or f"add {' or '.join(keys[:2])} with the model's value"
        )

    def default(self, quantity: str, value: int, why: str, *keys: str) -> int:
        """As `number`, with a default that is recorded as assumed."""
        found = self.number(*keys)
        return self.assume(quantity, value, why) if found is None else found

    def assume(self, quantity: str, value: int, why: str, key: str | None = None) -> int:
        """Record that a value was not in the file; `key` is what to correct if it comes to nothing."""
        if value < 1:
            raise ConfigError(key or quantity, f"leaves no {quantity}: {why} gives {value}", "check these numbers")
        self.assumed[quantity] = f"{value:,}: {why}"
        return Told(value, f"{quantity}: {why}")

    def per_head(self, quantity: str, width: int, heads: int, key: str) -> int:
        """Record a width that follows from another and the number of heads."""
        return self.assume(quantity, width // heads, f"{width:,} over {heads:,} heads", key)

    def by_class(self, *keys: str) -> int | None:
        """The class default of the first key that has one and that the file does not have, not even as null."""
        for key in keys:
            value = CLASS_DEFAULTS.get(key, {}).get(self.model_type)
            if value is not None and key not in self.inner:
                return self.assume(key, value, "the class default, because the file has no such key")
            if value is not None:
                self.take(key)  # a null that decides
        return None

    def factor(self, *keys: str) -> Fraction | None:
        """The first present key as an exact positive factor (an integer or a decimal such as 0.5)."""
        key = self.present(*keys)
        if key is None:
            return None
        value = self.raw(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise ConfigError(key, f"must be a positive number, got {shown(value)}", "write the released factor")
        self.take(key)
        return Fraction(repr(value))

    def flag(self, key: str) -> bool | None:
        """A truth value, or None if absent."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, bool):
            raise ConfigError(key, f"must be true or false, got {shown(value)}", "write true or false")
        self.take(key)
        return value

    def word(self, key: str) -> str | None:
        """A string, or None if absent."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise ConfigError(key, f"must be a string, got {shown(value)}", "write it as published")
        self.take(key)
        return value

    def words(self, key: str) -> list[str] | None:
        """A non-empty list of strings, or None if absent."""
        return self._list(key, str, "strings")

    def whole_numbers(self, key: str) -> list[int] | None:
        """A list of whole numbers, or None if absent."""
        return self._list(key, int, "whole numbers")

    def _list(self, key: str, kind: type, what: str) -> list | None:
        value = self.raw(key)
        if value is None or value == []:
            return None
        if not isinstance(value, list | tuple) or not all(
            isinstance(v, kind) and not isinstance(v, bool) for v in value
        ):
            raise ConfigError(key, f"must be a list of {what}", "write the list as published")
        if len(value) > MAX_LAYERS:
            raise ConfigError(key, f"is longer than {MAX_LAYERS:,}", "write the list as published")
        self.take(key)
        return list(value)

    def _of_layer(self, key: str, values: list | tuple) -> Any:
        if self.layer is None or len(values) != self.n:
            raise ConfigError(key, f"lists {len(values)} values where one number is needed", "list one value per layer")
        return values[self.layer]

    # -- the quantities many families share ----------------------------------------------------------------------

    def hidden(self) -> int:
        """Hidden size h."""
        return self.need("hidden_size", "n_embd", "d_model", "embedding_dim", "n_embed", "model_dim")

    def heads(self) -> int | None:
        """Query heads H, if the file says."""
        return self.number("num_attention_heads", "n_head", "num_heads", "n_heads", "num_query_heads")

    def need_heads(self) -> int:
        """Query heads H."""
        heads = self.heads()
        if heads is None:
            raise self.missing("num_attention_heads", "n_head")
        return heads
