"""What the overview shows of a view: fewer figures, and only the answers that these need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from components.lesson import Question
from components.reel import Answer, Reel, is_drawn
from components.view import Drawing, View


def card_of(
    view: View,
    draw: Callable[[Question, bool], Drawing],
    without: frozenset[str],
    ask: Callable[[Question], Question] = lambda question: question,
) -> View:
    """The view's card for the overview.

    view: with the answer of its page, or with the part of it that is not dear for the page's sake alone.
    draw: the card's figures.  without: sources, columns (`source.column`), models and text nodes that it leaves out;
    what only they need is neither kept nor sent.  ask: the question that the card answers instead of the page's.
    """
    reels = tuple(
        replace(reel, binds=tuple(b for b in reel.binds if not {b.source, b.model, b.node, b.pool} & without))
        for reel in view.reels
    )
    reels = tuple(reel for reel in reels if reel.binds)
    kept = _columns(view.reels, reels)

    def answer(question: Question) -> Answer:
        told = {}
        for name, columns in view.answer(ask(question)).items():
            if name in kept:
                columns = {column: columns[column] for column in columns if column in kept[name]}
            elif is_drawn(name):
                columns = {column: columns[column] for column in columns if f"{name}.{column}" not in without}
            else:
                columns = _rows_without(columns, without)
            if columns and name not in without:
                told[name] = columns
        return told

    return replace(view, draw=draw, reels=reels, answer=answer)


def _columns(all_reels: tuple[Reel, ...], reels: tuple[Reel, ...]) -> dict[str, set[str]]:
    """For each reel, pool and list of phrases of the view: the columns that the remaining binds use."""
    kept: dict[str, set[str]] = {}
    for reel in all_reels:
        for name in (reel.name, *(b.pool for b in reel.binds), *(b.phrase.rpartition(".")[0] for b in reel.binds)):
            if name:
                kept.setdefault(name, set())
    for reel in reels:
        for bind in reel.binds:
            kept[bind.pool or reel.name].add(bind.column)
            kept[reel.name] |= {bind.start, bind.stop} - {""}
            if bind.phrase:
                source, _, column = bind.phrase.rpartition(".")
                kept[source].add(column)
    return kept


def _rows_without(columns: Mapping[str, list], without: frozenset[str]) -> dict[str, list]:
    first = next(iter(columns.values()))
    keep = [i for i, name in enumerate(first) if name not in without]
    return {column: [values[i] for i in keep] for column, values in columns.items()}
