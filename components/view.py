"""What a view is: how it is drawn once, and what it answers.

`draw` makes named Bokeh figures for the default question; the page sends them as a file that every
visitor shares.  `answer` is pure and says, for any question, what stands in the named sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bokeh.models import ColumnDataSource, Plot

from components.axes import AXES
from components.plots import MARGIN
from components.reel import Answer, Reel, make_sources
from components.words import WORDS

if TYPE_CHECKING:
    from components.lesson import Question


@dataclass(frozen=True)
class Cell:
    """A figure in its row: `grow` shares the width, `width` asks for px, `least` is what it needs of them; with both it
    has its width and a share of what is left, and the row wraps where there is not enough.  `lines` is how many its
    caption takes, where that may change under a finger."""

    figure: Plot
    grow: int = 1
    width: int | None = None
    least: int = 0
    hint: str = ""
    title_node: str = ""
    lines: int = 0


@dataclass(frozen=True)
class Drawing:
    """Rows of figures from top to bottom, and every source, drawn from or not."""

    rows: tuple[tuple[Cell, ...], ...]
    sources: Mapping[str, ColumnDataSource]


@dataclass(frozen=True)
class View:
    """One picture of the lesson.

    word: its page and the first part of its sources' names.  place: its position in the navigation.
    axis: the reel axis under the finger.  asks: server words whose controls stand in its card.
    readouts: (label, text node) pairs of the side column, a heading where there is no node, and behind some an address
    word of memory with the node that has its value; a label may itself be a text node of the view.
    table: rows of the bill below them, 0 for none.
    folded: (text node of the title, text node) pairs of texts that open on demand; lists: the same for lists, each of
    whose lines begins with the number of a claim.
    paste: whether a config can be pasted or dropped here.
    rails: further axes with a slider, and dials: further controls, on its own page only.
    span: share of its plots' frame that its slider takes.  left, room: px beside the frame, for the axis
    and for names of lines.
    more: dials that stand behind a disclosure.
    player: what its play button says.  ribbon: words whose controls stand above the view on its own page.
    idle: words of controls that change nothing in a state, each with the reason; they are greyed and keep their value.
    instead: what an example has in place of such values, shown for them; of φ the word of a map.
    card: what the overview shows of it, if less than all (`components.card`).
    """

    word: str
    title: str
    place: int
    question: str
    axis: str
    asks: tuple[str, ...]
    reels: tuple[Reel, ...]
    draw: Callable[[Question, bool], Drawing]
    answer: Callable[[Question], Answer]
    readouts: tuple[tuple[str, ...], ...] = ()
    player: str = ""
    span: float = 1.0
    left: int = MARGIN
    room: int = 0
    dials: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    lists: tuple[tuple[str, str], ...] = ()
    rails: tuple[str, ...] = ()
    table: int = 0
    paste: bool = False
    idle: Callable[[Question], Mapping[str, str]] | None = field(default=None, compare=False, repr=False)
    instead: Callable[[Question], Mapping[str, str]] | None = field(default=None, compare=False, repr=False)
    ribbon: tuple[str, ...] = field(default=("phi", "d_k", "seed"))
    card: View | None = field(default=None, compare=False, repr=False)

    @property
    def side_nodes(self) -> tuple[str, ...]:
        """Text nodes of the side column, which the overview does not show."""
        rows = (
            f"{self.word}.row.{i}.{part}" for i in range(self.table) for part in ("kind", "bytes", "arithmetic", "keys")
        )
        told = (node for row in self.readouts for node in (row[1], row[-1]) if node)
        labels = (row[0] for row in self.readouts if self.is_node(row[0]))
        return (
            *told,
            *labels,
            *(node for pair in (*self.folded, *self.lists) for node in pair),
            *rows,
            f"{self.word}.values",
        )

    def is_node(self, label: str) -> bool:
        """Whether a label is the name of a text node, not the text."""
        return label.startswith(f"{self.word}.")

    def sources(self, question: Question, prefix: str = "") -> dict[str, ColumnDataSource]:
        return make_sources(self.reels, self.answer(question), start_positions(), prefix)


def start_positions(values: Mapping[str, object] | None = None) -> dict[str, int]:
    """Stop of every axis: where the address says, else the default."""
    values = values or {}
    return {word: axis.index(values.get(word, WORDS[word].default)) for word, axis in AXES.items()}


def texts(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """The columns of a `view.texts` or `view.math` answer."""
    return {"node": [node for node, _ in pairs], "text": [text for _, text in pairs]}


def props(rows: Sequence[tuple[str, str, object]]) -> dict[str, list]:
    """The columns of a `view.props` answer; a colour travels as `slot:name`."""
    return {
        "model": [model for model, _, _ in rows],
        "property": [name for _, name, _ in rows],
        "value": [value for _, _, value in rows],
    }
