"""The door for configs from strangers: limits checked before anything is read out of them.

A `str` is always JSON text, never a path.  A file comes only as `os.PathLike`.
"""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any

from .errors import ConfigError

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_KEYS = 5_000
MAX_VALUES = 50_000
MAX_DIGITS = 15

STRING = re.compile(r'"(?:[^"\\]+|\\.)*"?', re.DOTALL)  # the closing quote is optional, so that it never backtracks
BRACKET = re.compile(r"[\[\]{}]")

PASTE = "paste the model's config.json as published"
INSIDE = "paste the text that stands in the config.json, from { to }; a name, path or address is not opened"


def too_large() -> ConfigError:
    """What is said of a text beyond `MAX_BYTES`, wherever it is noticed."""
    return ConfigError("config", f"is larger than {MAX_BYTES:,} bytes", PASTE)


def admit(config: Any) -> dict[str, Any]:
    """The config as a plain dict of JSON values within the limits; ConfigError otherwise."""
    if isinstance(config, os.PathLike):
        config = _read(config)
    if isinstance(config, str):
        config = _parse(config)
    if not isinstance(config, dict):
        raise ConfigError("config", f"must be a JSON object, got {_json_name(config)}", PASTE)
    _walk(config)
    return config


def _read(path: os.PathLike) -> str:
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise too_large()
        with open(path, encoding="utf-8") as file:
            return file.read(MAX_BYTES + 1)
    except UnicodeDecodeError:
        raise ConfigError("config", "is not UTF-8 text", PASTE) from None
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError("config", "file cannot be read", "give the path of a readable config.json") from None


def _parse(text: str) -> Any:
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise too_large()
    if not text.strip():
        raise ConfigError("config", "is empty", INSIDE)
    _scan(STRING.sub("", text))
    try:
        return json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        where = f"is not JSON: {error.msg.removesuffix(' starting at')} at line {error.lineno}"
        raise ConfigError("config", where, PASTE if "{" in text else INSIDE) from None


def _scan(text: str) -> None:
    """Count values and nesting outside strings before parsing, because parsers recurse."""
    if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
        raise ConfigError("config", f"has more than {MAX_VALUES:,} values", PASTE)
    depth = 0
    for bracket in BRACKET.findall(text):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise ConfigError("config", f"is nested deeper than {MAX_DEPTH} levels", PASTE)


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ConfigError("config", f"holds an integer of more than {MAX_DIGITS} digits", "write numbers in full size")
    return int(digits)


def _float(text: str) -> float:
    value = float(text) if len(text) <= 64 else math.inf
    if not math.isfinite(value):
        raise ConfigError("config", "holds a number beyond floating-point range", "write finite numbers")
    return value


def _constant(word: str) -> Any:
    raise ConfigError("config", f"holds {word}, which JSON does not have", "write null or a finite number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ConfigError(twice[:80], "stands twice in one object", "keep one of the two")
    return found


def _walk(config: dict[str, Any]) -> None:
    """Limits that also hold for a dict built in Python."""
    keys = values = 0
    stack: list[tuple[Any, int]] = [(config, 1)]
    while stack:
        value, depth = stack.pop()
        values += 1
        if depth > MAX_DEPTH + 1:
            raise ConfigError("config", f"is nested deeper than {MAX_DEPTH} levels", PASTE)
        if isinstance(value, dict):
            keys += len(value)
            if not all(isinstance(key, str) for key in value):
                raise ConfigError("config", "has a key that is not a string", PASTE)
            stack.extend((v, depth + 1) for v in value.values())
        elif isinstance(value, list | tuple):
            stack.extend((v, depth + 1) for v in value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise ConfigError("config", "holds NaN or Infinity", "write null or a finite number")
        elif isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
            raise ConfigError("config", f"holds an integer of more than {MAX_DIGITS} digits", "write its real size")
        elif not isinstance(value, str | int | float | bool | None):
            raise ConfigError("config", f"holds a {type(value).__name__}, which JSON does not have", PASTE)
        if keys > MAX_KEYS or values + len(stack) > MAX_VALUES:
            raise ConfigError("config", f"has more than {MAX_KEYS:,} keys or {MAX_VALUES:,} values", PASTE)


def _json_name(value: Any) -> str:
    names = {list: "an array", bool: "a truth value", int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)
