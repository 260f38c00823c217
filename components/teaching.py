"""What is said beside a view: one data file each, `assets/views/<view>.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache

from components.assets import ASSETS
from compute.feature_maps import FEATURE_MAPS


@dataclass(frozen=True)
class Notice:
    """Something to notice; `marks` are the named models that point at it and can be switched off.

    see: presets of other pages that show what this one cannot, (page, preset) each.
    """

    text: str
    marks: tuple[str, ...] = ()
    see: tuple[tuple[str, Preset], ...] = ()


@dataclass(frozen=True)
class Preset:
    """A named state of a view: address words that differ from the default, and what to see there.

    at: a figure or text node of the page that is brought into view, and unfolded, for what stands below the fold.
    group: name of the fold in which its button stands, beside the argument; none for a step of it.
    """

    name: str
    caption: str
    words: dict[str, str] = field(hash=False)
    at: str = ""
    group: str = ""

    @property
    def slug(self) -> str:
        """The name as an address writes it."""
        return "-".join(re.findall(r"\w+", self.name.lower()))


@dataclass(frozen=True)
class Predict:
    """A question to answer before looking.  `marks` are drawn hidden and shown with the answer."""

    question: str
    options: tuple[str, ...]
    right: int
    because: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Teaching:
    """Notes, presets, question and sources of one view.  Presets stand in the order in which they make its argument.

    about: what a page of several views is about.  symbols: (symbol, plain words) of those that its formula needs.
    """

    met: str = ""
    cite: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    question: Predict | None = None
    presets: tuple[Preset, ...] = ()
    about: str = ""
    symbols: tuple[tuple[str, str], ...] = ()


@cache
def symbols() -> dict[str, str]:
    """Every symbol that needs plain words."""
    return {symbol: words for symbol, words in _words().items() if symbol != "maps"}


@cache
def maps() -> dict[str, str]:
    """What each feature map does, and softmax, by the word of the address."""
    return _words()["maps"]


@cache
def _words() -> dict:
    return tomllib.loads((ASSETS / "symbols.toml").read_text(encoding="utf-8"))


def _explained(symbol: str) -> str:
    """Plain words of a symbol, or of a map by its label."""
    labels = {kind.label: word for word, kind in FEATURE_MAPS.items()}
    return maps()[labels[symbol]] if symbol in labels else symbols()[symbol]


@cache
def teaching(view: str) -> Teaching:
    """What the data file of a view says; a view without one says nothing."""
    path = ASSETS / "views" / f"{view}.toml"
    if not path.exists():
        return Teaching()
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    asked = told.get("question")
    return Teaching(
        told.get("met", ""),
        tuple(told.get("cite", ())),
        tuple(
            Notice(n["text"], tuple(n.get("marks", ())), tuple(map(_elsewhere, n.get("see", ()))))
            for n in told.get("notices", ())
        ),
        asked
        and Predict(
            asked["question"], tuple(asked["options"]), asked["right"], asked["because"], tuple(asked.get("marks", ()))
        ),
        tuple(
            Preset(
                p["name"],
                p["caption"],
                {word: str(value) for word, value in p["words"].items()},
                p.get("at", ""),
                p.get("group", ""),
            )
            for p in told.get("presets", ())
        ),
        told.get("about", ""),
        tuple((symbol, _explained(symbol)) for symbol in told.get("symbols", ())),
    )


def _elsewhere(place: str) -> tuple[str, Preset]:
    """The preset that `page/name` means."""
    page, _, name = place.partition("/")
    (found,) = (preset for preset in teaching(page).presets if preset.name == name)
    return page, found


@cache
def preset_words() -> tuple[str, ...]:
    """Every preset of every view, as an address writes it."""
    views = sorted(path.stem for path in (ASSETS / "views").glob("*.toml"))
    return tuple(dict.fromkeys(preset.slug for view in views for preset in teaching(view).presets))
