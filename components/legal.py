"""What a word's text may be: makers of `(legal values in words, reader)`; a reader raises Refused with its reason."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any


class Refused(ValueError):
    """A word that cannot be taken, in one sentence for the visitor."""


def one_of(options: Iterable[str]) -> tuple[str, Callable[[str], str]]:
    options = tuple(options)

    def read(text: str) -> str:
        if text not in options:
            raise Refused("is none of " + ", ".join(options))
        return text

    return " | ".join(options), read


def number(low: float, high: float, kind: type = float) -> tuple[str, Callable[[str], Any]]:
    def read(text: str) -> Any:
        plain = text.removeprefix("-").replace(".", "", 0 if kind is int else 1)
        if not (plain.isascii() and plain.isdigit()) or len(plain) > 15:
            raise Refused("is not a whole number" if kind is int else "is not a plain number")
        value = kind(text)
        if not low <= value <= high or not math.isfinite(value):
            raise Refused(f"is outside {low:,} to {high:,}")
        return value

    return f"{low:,} … {high:,}", read


def some_of(options: Iterable[str]) -> tuple[str, Callable[[str], str]]:
    options = tuple(options)

    def read(text: str) -> str:
        for part in filter(None, text.split(",")):
            if part not in options:
                raise Refused("names none of " + ", ".join(options))
        return ",".join(option for option in options if option in text.split(","))

    return "any of " + ", ".join(options), read


def origin(text: str) -> str:
    """`https://slides.example:8000`: scheme, host and port of a page, nothing behind them."""
    if text and not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", text):
        raise Refused("is no origin such as https://slides.example")
    return text.lower()


def whole_of(options: Iterable[int]) -> tuple[str, Callable[[str], int]]:
    legal, read_text = one_of(map(str, options))
    return legal, lambda text: int(read_text(text))


def brief(value: float) -> str:
    return f"{value:g}"
