"""The claims of a page's view: what each says, and the texts and figures in which its linked state shows the value."""

from __future__ import annotations

from collections.abc import Iterable

from components.ledger import Claim, claims
from components.view import Drawing, View

Places = dict[str, list[str]]


def claims_of(drawings: Iterable[tuple[View, Drawing]]) -> dict[str, dict[str, object]]:
    """For each claim of these views its statement, its condition and its places, for the page's script."""
    told = {}
    for view, drawing in drawings:
        drawn = _drawn(drawing)
        own = {number: claim for number, claim in claims().items() if claim.page == view.word}
        told |= {
            number: {"says": claim.statement, "caveat": claim.caveat, **places(claim, drawn)}
            for number, claim in own.items()
        }
    return told


def places(claim: Claim, drawn: Places) -> Places:
    """Text nodes, a line of a list counting as the list, and figures.  drawn: figures by the sources they draw."""
    nodes, figures = [], []
    for item in claim.items:
        name = item.shown.partition("#")[0].partition("[")[0]
        source = name.rpartition(".")[0]
        if source in drawn:
            figures += drawn[source]
        elif name:
            nodes.append(name)
    return {"nodes": list(dict.fromkeys(nodes)), "figures": list(dict.fromkeys(figures))}


def _drawn(drawing: Drawing) -> Places:
    """Names of the figures that draw a source, by the source's name."""
    drawn: Places = {}
    for figure in (cell.figure for row in drawing.rows for cell in row):
        for part in (*figure.renderers, *figure.center):
            source = getattr(part, "data_source", None) or getattr(part, "source", None)
            if source is not None and figure.name not in drawn.setdefault(source.name, []):
                drawn[source.name].append(figure.name)
    return drawn
