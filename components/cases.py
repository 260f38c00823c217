"""Lists that open on demand: small cases that checks worked out, and what others reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from components.ledger import claims, papers
from components.ledger_said import figure, found, stored

Nodes = list[tuple[str, str]]


def checked(view: str, lines: Mapping[str, str]) -> Nodes:
    """(node, text) pairs of the list `view.cases`.  lines: for each number of a claim what is said of it, with gaps
    for what its check finds."""
    told = [line.format(*map(figure, _each(found()[number]))) for number, line in lines.items()]
    return [
        (f"{view}.cases_title", f"{_count(told, 'small case')}, worked out {stored()['made']['date']}"),
        (f"{view}.cases", "\n".join(told)),
    ]


def reported(view: str, numbers: Iterable[str]) -> Nodes:
    """(node, text) pairs of the list `view.reports`: claims that are quoted, each with whom it goes back to."""
    told = [f"{claim.statement} ({papers()[claim.source].short})" for claim in map(claims().__getitem__, numbers)]
    return [
        (f"{view}.reports_title", f"{_count(told, 'report')}, not computed here"),
        (f"{view}.reports", "\n".join(told)),
    ]


def cases_of(view: str) -> tuple[str, str]:
    """Title and text node of the list of small cases."""
    return f"{view}.cases_title", f"{view}.cases"


def reports_of(view: str) -> tuple[str, str]:
    """Title and text node of the list of reports."""
    return f"{view}.reports_title", f"{view}.reports"


def _each(value: object) -> list:
    return value if isinstance(value, list) else [value]


def _count(told: list[str], what: str) -> str:
    return f"{len(told)} {what}{'s' * (len(told) != 1)}"
