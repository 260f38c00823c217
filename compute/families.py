"""What every family of value objects shares: checked knobs, and a spelling that fits in an address.

A member is a frozen dataclass with a class attribute `word`.  Its settings are fields made by `knob`, which keeps
range and meaning beside the number.  `word~knob~value` names a member; only knobs that differ from their default
are written, so the shortest spelling is the only one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from math import isfinite
from typing import Any, ClassVar, TypeVar

import numpy as np

from compute.scalars import brief

SEPARATOR = "~"
LONGEST_SPELLING = 200
"""Characters; anything longer is refused unread."""

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]{1,17}(\.[0-9]{1,17})?(e-?[0-9]{1,3})?", re.ASCII)


def knob(default: Any, low: Any = None, high: Any = None, doc: str = "", *, offered: tuple | None = None) -> Any:
    """A dataclass field with its range and meaning.

    low, high: what the constructor accepts.  offered: the narrower range for sliders and addresses (what a visitor
    may ask of a server), by default the same.  The kind of the knob (bool, whole or real) is that of its default.
    """
    bounds = (False, True) if isinstance(default, bool) else (low, high)
    return field(default=default, metadata={"bounds": bounds, "offered": offered or bounds, "doc": doc})


def knobs(member: Any) -> tuple[Field, ...]:
    """The fields of a member or its class that were made by `knob`, in order."""
    return _knobs(member if isinstance(member, type) else type(member))


@cache
def _knobs(kind: type) -> tuple[Field, ...]:
    return tuple(f for f in fields(kind) if "offered" in f.metadata)


def check(name: str, kind: type, value: Any, bounds: tuple) -> Any:
    """The value as a plain bool, int or float inside its bounds; ValueError that begins with the name otherwise."""
    low, high = bounds
    if kind is bool:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name} must be true or false, got {brief(value)}")
        return bool(value)
    accepted = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, accepted):
        raise ValueError(f"{name} must be a {'whole ' if kind is int else ''}number, got {brief(value)}")
    if not (low <= value <= high) or not isfinite(value):
        raise ValueError(f"{name} must be from {low} to {high}, got {brief(value)}")
    return kind(value)


@dataclass(frozen=True)
class Member:
    """Base of a family's members: knobs are checked when a member is made."""

    word: ClassVar[str]

    def __post_init__(self) -> None:
        for f in knobs(self):
            value = check(f.name, type(f.default), getattr(self, f.name), f.metadata["bounds"])
            object.__setattr__(self, f.name, value)  # np.int64(8) and 8 must be one cache key


Some = TypeVar("Some", bound=Member)


def spell(member: Member) -> str:
    """The address word of a member, e.g. `favor~m~64`.

    Raises ValueError if it carries a setting that no address may hold (a weight matrix, a knob beyond its offer).
    """
    parts = [member.word]
    spellable = {f.name for f in knobs(member)}
    for f in fields(member):
        value = getattr(member, f.name)
        if f.default is not MISSING and (value is f.default or (f.name in spellable and value == f.default)):
            continue
        if f.name not in spellable:
            raise ValueError(f"{f.name} of {member.word} cannot be written in an address")
        check(f.name, type(f.default), value, f.metadata["offered"])
        parts += [f.name, str(value).lower() if isinstance(value, bool) else repr(value)]
    return SEPARATOR.join(parts)


def read(text: str, registry: Mapping[str, type[Some]], name: str) -> Some:
    """The member that the text spells.  Raises ValueError, one sentence, on anything else; safe on hostile text.

    name: the address word, for messages about the spelling as a whole; a bad knob is called by its own name.
    """
    if not isinstance(text, str):
        raise ValueError(f"{name} must be text, got {type(text).__name__}")
    if len(text) > LONGEST_SPELLING:
        raise ValueError(f"{name} must be at most {LONGEST_SPELLING} characters long, got {len(text)}")
    word, *rest = text.split(SEPARATOR)
    if word not in registry:
        raise ValueError(f"{name} must be one of {', '.join(registry)}, got {brief(word)}")
    if len(rest) % 2:
        raise ValueError(f"{name} must name a value after each knob, got {brief(rest[-1])} alone")
    known = {f.name: f for f in knobs(registry[word])}
    settings: dict[str, Any] = {}
    for key, spelled in zip(rest[::2], rest[1::2]):
        if key not in known:
            choice = f"one of {', '.join(known)}" if known else "left out"
            raise ValueError(f"{name} knob of {word} must be {choice}, got {brief(key)}")
        if key in settings:
            raise ValueError(f"{key} must be given once, got it twice")
        kind = type(known[key].default)
        settings[key] = check(key, kind, _value(kind, spelled), known[key].metadata["offered"])
    return registry[word](**settings)


def _value(kind: type, spelled: str) -> Any:
    """The number that the text spells, or the text itself, which `check` then refuses."""
    if kind is bool:
        return {"true": True, "false": False}.get(spelled, spelled)
    pattern = _WHOLE if kind is int else _DECIMAL
    return kind(spelled) if pattern.fullmatch(spelled) else spelled
