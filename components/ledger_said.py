"""What the ledger's claims say and what is found for them, in words for a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from components.assets import ASSETS
from components.ledger import Claim, claims
from components.powers import raised
from compute.claims import agrees

FILE = ASSETS / "claims-found.json"
"""What each check found, and with what; `python -m app.notes` computes it anew."""

JOIN, ROUNDOFF = "; ", 1e-5
"""Between numbers of a list; and the largest tolerance that stands for roundoff alone."""

OUTCOMES = {
    "agrees": "agrees",
    "caveat": "agrees under a condition",
    "differs": "differs",
    "quoted": "quoted, not computed",
    "statement": "nothing to compute",
}


@dataclass(frozen=True)
class Row:
    """One claim as it is told: what it says, what is found, and how the two go together (a key of OUTCOMES)."""

    claim: Claim
    says: str
    finds: str
    outcome: str


@cache
def found() -> dict[str, Any]:
    """The value of every claim that has a check, by its number."""
    return stored()["found"]


@cache
def stored() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def rows() -> tuple[Row, ...]:
    return tuple(_row(claim, found().get(number)) for number, claim in claims().items())


def _row(claim: Claim, value: Any) -> Row:
    if not claim.compute:
        says = figures(claim.expected) if claim.expected is not None else ""
        return Row(claim, says, "", "quoted" if claim.kind == "quoted" else "statement")
    outcome = (
        "differs" if not agrees(value, claim.expected, claim.tolerance) else "caveat" if claim.caveat else "agrees"
    )
    return Row(claim, expected(claim.expected, claim.tolerance), figures(value), outcome)


def expected(value: Any, tolerance: str | list[str]) -> str:
    """`2.2·10¹² ± 0.1 %`, `at most 0.25`; a tolerance for each item, or one for all.  Roundoff is not spelled out."""
    if isinstance(tolerance, list):
        return JOIN.join(expected(*item) for item in zip(value, tolerance, strict=True))
    rule, _, size = tolerance.partition(" ")
    if rule not in ("absolute", "relative"):
        return figures(value) if rule == "exact" else f"{tolerance} {figures(value)}"
    if float(size) < ROUNDOFF:
        return figures(value) + (" up to roundoff" if value == 0 else "")
    spread = f"{figure(100 * float(size))} %" if rule == "relative" else figure(float(size))
    return f"{figures(value)} ± {spread}"


def figures(value: Any) -> str:
    return JOIN.join(map(figure, value)) if isinstance(value, list) else figure(value)


def figure(value: Any) -> str:
    """A truth as yes or no, a whole number in full up to ten digits, any other with four digits, or with seven where
    four would make it whole."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value != value:
        return "undefined"
    near = round(value)
    if abs(value - near) <= 1e-12 * abs(value) and abs(value) < 1e10:
        return _signed(f"{near:,}")
    if 1e-3 <= abs(value) < 1e6:
        place = int(np.floor(np.log10(abs(value))))
        text = f"{value:,.{max(0, 3 - place)}f}"
        return _short(text if float(text.replace(",", "")) % 1 else f"{value:,.{max(0, 6 - place)}f}")
    mantissa, _, exponent = f"{value:.{3 if abs(value) > 1 else 0}e}".partition("e")
    return f"{_short(mantissa)}·10{raised(int(exponent))}"


def _short(text: str) -> str:
    """Without zeros at the end of a fraction."""
    return _signed(text.rstrip("0").rstrip(".") if "." in text else text)


def _signed(text: str) -> str:
    return text.replace("-", "−")
