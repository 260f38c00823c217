"""Lists that open on demand: small cases that checks worked out, and what others reported.

A line begins with the number of the claim that it shows; the page makes a link to the notes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from components.ledger import claims, papers
from components.ledger_said import figure, found

Nodes = list[tuple[str, str]]


def checked(view: str, lines: Mapping[str, str]) -> Nodes:
    """The list of what the checks of some claims found.  lines: for each number what is said, with gaps for values."""
    return cases(view, {number: line.format(*map(figure, _each(found()[number]))) for number, line in lines.items()})


def cases(view: str, told: Mapping[str, str]) -> Nodes:
    """(node, text) pairs of a list of small cases, by their claims; one without lines has no title either."""
    return [(f"{view}.cases_title", _count(told, "small case")), (f"{view}.cases", _list(told))]


def reported(view: str, numbers: Iterable[str]) -> Nodes:
    """(node, text) pairs of a list of claims that are quoted, each with whom it goes back to."""
    told = {}
    for number in numbers:
        claim = claims()[number]
        told[number] = f"{claim.statement} ({papers()[claim.source].short})"
    title = f"{_count(told, 'report')}, not computed here"
    return [(f"{view}.reports_title", title), (f"{view}.reports", _list(told))]


def cases_of(view: str) -> tuple[str, str]:
    """Title and text node of the list of small cases."""
    return f"{view}.cases_title", f"{view}.cases"


def reports_of(view: str) -> tuple[str, str]:
    """Title and text node of the list of reports."""
    return f"{view}.reports_title", f"{view}.reports"


def _list(told: Mapping[str, str]) -> str:
    return "\n".join(f"{number} {line}" for number, line in told.items())


def _each(value: object) -> list:
    return value if isinstance(value, list) else [value]


def _count(told: Mapping[str, str], what: str) -> str:
    return f"{len(told)} {what}{'s' * (len(told) != 1)}" if told else ""
