"""Any view in a notebook: live from Python, or as a frame round a running server.

`show` draws the view's own figures and turns its reels in the kernel: a slider moves, Python indexes the frame, and
Panel sends what changed.  Without a kernel (an exported page) the picture stands still where it was.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any, ClassVar
from urllib.parse import urlencode

import panel as pn
import param

from components.about import NAME
from components.axes import AXES
from components.cite import state_words
from components.code import VIEWS
from components.fonts import fonts_script
from components.lesson import SERVER, Lesson, fit
from components.notebook_picture import Picture
from components.own import ConfigError, paste
from components.snippets import FRAME, SIZES
from components.view import View, start_positions
from components.words import WORDS, Refused, written


def show(view: str, **words: Any) -> Shown:
    """A view, live: `show("memory", rule="delta", n=40)`.

    view: a page's word, such as "memory" or "random-features".  words: address words (README.md has the table), those
    of the view's reels included; `own` takes a model's config as a dict or as text.  What is returned displays itself
    in a notebook and fits into any Panel layout; each display is a picture of its own, and all follow one state.
    ValueError, one sentence, for a view or word there is not, or a value that is not legal.
    """
    shown = Shown(_view(view), _read(words))
    _load_scripts()
    return shown


def _load_scripts() -> None:
    """Put Panel's scripts and the fonts, as installed, into the output of the first cell that shows a view.

    When that cell runs again they are put there again: a page that was loaded anew has forgotten them, though the
    kernel has not.  All other outputs stay small.
    """
    shell = getattr(builtins, "get_ipython", lambda: None)()  # what a notebook defines; nothing is imported for it
    parent = shell.kernel.get_parent() if hasattr(shell, "kernel") else {}
    cell = parent.get("metadata", {}).get("cellId")
    if not pn.extension._loaded:
        Shown.scripts_in = cell
    elif cell is None or cell != Shown.scripts_in:
        return
    pn.extension(inline=True)
    if shell:
        shell.display_pub.publish({"text/html": f"<script>{fonts_script()}</script>", "text/plain": "fonts"})


class Shown(pn.viewable.Viewer):
    """One state of a view: `lesson` holds the server words, each of which may be set, and `turn` moves reels."""

    scripts_in: ClassVar[str | None] = None
    """The notebook's name for the cell whose output holds Panel's scripts."""

    at = param.Dict({}, doc="index of the stop at which each reel stands, by axis word")

    def __init__(self, view: View, values: Mapping[str, Any]):
        super().__init__(at=start_positions(values))
        self.view = view
        self.lesson = Lesson(**{word: value for word, value in values.items() if word in SERVER})

    def __panel__(self) -> pn.viewable.Viewable:
        return Picture(self).layout

    def turn(self, **positions: float) -> None:
        """Move reels to the stops nearest to these positions: `turn(n=40)`.  ValueError for a word that is no axis."""
        if unknown := [word for word in positions if word not in AXES]:
            raise ValueError(f"positions must be among {', '.join(AXES)}, got {unknown[0]!r}")
        self.at = {**self.at, **{word: AXES[word].index(value) for word, value in _read(positions).items()}}

    @property
    def words(self) -> dict[str, str]:
        """Address words of the state that differ from their default: what `show`, `frame` or a link needs for it."""
        return state_words(self.lesson.question, {word: AXES[word].stops[i] for word, i in self.at.items()})


@dataclass(frozen=True)
class Frame:
    """A page of a running server in a notebook's output.  width, height: CSS pixels, or a width such as "100%"."""

    url: str
    title: str
    width: int | str
    height: int

    def _repr_html_(self) -> str:
        told = {"url_html": escape(self.url), "title_html": escape(self.title)}
        return FRAME.format(
            **told, inner_width=escape(str(self.width)), inner_height=self.height, scaled="", box="", box_end=""
        )


def frame(view: str, server: str, width: int | str = "100%", height: int = SIZES["page"][1], **words: Any) -> Frame:
    """A view from a running server, such as "http://localhost:5006": works where widgets do not.

    words as in `show`, which are written into the address; the page is shown without its bar.  ValueError as there,
    and for a server that is no http address.
    """
    page, values = _view(view), _read(words)
    if not server.startswith(("http://", "https://")):
        raise ValueError(f"server must begin with http:// or https://, got {server[:40]!r}")
    address = f"{server.rstrip('/')}/{page.word}?{urlencode({**written(values), 'embed': '1'})}"
    return Frame(address, f"{NAME}: {page.title}", width, height)


def _view(word: str) -> View:
    if word not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, got {word!r}")
    return import_module(f"components.{word.replace('-', '_')}").VIEW


def _read(words: Mapping[str, Any]) -> dict[str, Any]:
    """Values of words given as Python values, each checked as in an address."""
    values = {}
    for name, value in words.items():
        if name not in SERVER and name not in AXES:
            raise ValueError(f"words must be among {', '.join([*SERVER, *AXES])}, got {name!r}")
        try:
            values[name] = _own(value) if name == "own" else WORDS[name].read("" if value is None else str(value))
        except (Refused, ConfigError) as reason:
            raise ValueError(f"{name} = {str(value)[:40]} {reason}") from None
    values, clash = fit(values)
    if clash:
        raise ValueError(clash[0])
    return values


def _own(config: Any) -> Any:
    """A model from a config: a dict, its JSON text, or an address word."""
    text = json.dumps(config) if isinstance(config, Mapping) else str(config)
    return paste(text) if text.lstrip().startswith("{") else WORDS["own"].read(text)
