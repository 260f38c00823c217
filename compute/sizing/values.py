"""A value of a config: whether it counts as there, and how a reader sees it."""

from __future__ import annotations

from typing import Any


def absent(value: Any) -> bool:
    """No key, null, an empty list, 0 or -1: released files use all of them for the same thing."""
    return value is None or value == [] or (not isinstance(value, bool) and value in (0, -1))


def shown(value: Any) -> str:
    """The value as a refusal quotes it, cut to 40 characters."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def summed_up(value: Any) -> object:
    """A value as the reader should see it: lists by their counts."""
    if isinstance(value, list | tuple):
        tally: dict[str, int] = {}
        for v in value:
            tally[str(v)[:40]] = tally.get(str(v)[:40], 0) + 1
        if len(tally) <= 6 and len(value) > 8:
            return ", ".join(f"{count} × {item}" for item, count in tally.items())
        return ", ".join(str(v)[:40] for v in value[:64])
    return value if isinstance(value, str | int | float | bool | None) else "object"
