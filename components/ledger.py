"""The ledger of claims, assets/claims.toml, as objects."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from components.assets import ASSETS


@dataclass(frozen=True)
class Paper:
    """Whoever a claim goes back to."""

    title: str
    authors: str
    year: int
    identifier: str

    @property
    def short(self) -> str:
        """First author and year."""
        first, *others = self.authors.replace(";", ",").split(",")
        return (
            f"{first.removesuffix(' et al.').split()[-1]}{' et al.' if others or 'et al.' in first else ''} {self.year}"
        )


@dataclass(frozen=True)
class Item:
    """One thing that a claim expects; `shown` is where its view shows it, "" if nowhere."""

    expected: Any
    tolerance: str
    shown: str


@dataclass(frozen=True)
class Claim:
    """One row of the ledger; its fields are explained at the head of the file."""

    number: str
    topic: str
    lessons: list[str]
    statement: str
    kind: str
    source: str
    page: str
    state: str
    expected: Any = None
    tolerance: str | list[str] = ""
    shown: str | list[str] = ""
    compute: str = ""
    caveat: str = ""
    ours: bool = False

    @property
    def items(self) -> list[Item]:
        """Every number, truth or word that is expected, with its tolerance and place."""
        if self.expected is None:
            return []
        if not isinstance(self.expected, list):
            return [Item(self.expected, self.tolerance, self.shown)]
        n = len(self.expected)
        each = (many if isinstance(many, list) else [many] * n for many in (self.tolerance, self.shown))
        return [Item(*item) for item in zip(self.expected, *each, strict=True)]


@cache
def topics() -> dict[str, str]:
    """Titles of the topics."""
    return _ledger()["topics"]


@cache
def lessons() -> dict[str, str]:
    """Titles of the lessons."""
    return _ledger()["lessons"]


@cache
def papers() -> dict[str, Paper]:
    return {word: Paper(**told) for word, told in _ledger()["papers"].items()}


@cache
def claims() -> dict[str, Claim]:
    """Every claim by its number, in order."""
    return {told["number"]: Claim(**told) for told in _ledger()["claims"]}


@cache
def _ledger() -> dict[str, Any]:
    return tomllib.loads((ASSETS / "claims.toml").read_text(encoding="utf-8"))
