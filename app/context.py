"""What the page's template is told: the same for a served page and for one saved as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.device import cost, lacks
from app.figures import Figures
from components.about import NAME, running_version
from components.axes import AXES
from components.formula import at_stops
from components.own import MAX_BYTES, TOO_LARGE
from components.palette import SLOTS
from components.reel import Answer, frame_texts, last_stop
from components.snippets import SIZES, SNIPPETS
from components.sweep_pictures import pictures_of
from components.sweep_shown import finding, said
from components.teaching import teaching
from components.view import View, start_positions
from components.words import HIDDEN, PHIS, WORDS, written
from compute.sweeps.registry import SWEEPS
from compute.sweeps.shipped import shipped

KEPT = ("embed", "hide", "reveal", "host")
"""Settings of the page round the view: once in the address, they stay there."""


def started(views: tuple[View, ...], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values of an address on top of the preset that it names, and a sentence if there is none of that name."""
    name = values.get("preset", "")
    if not name:
        return dict(values), []
    presets = {preset.slug: preset for view in views for preset in teaching(view.word).presets}
    if name not in presets:
        return {word: value for word, value in values.items() if word != "preset"}, [
            f"preset = {name} is none of {', '.join(presets) or 'this page, which has none'}"
        ]
    return {**{word: WORDS[word].read(text) for word, text in presets[name].words.items()}, **values}, []


def between_stops(values: Mapping[str, Any]) -> list[str]:
    """A sentence for each position of the address that lies between two stops of its reel."""
    notes, positions = [], start_positions(values)
    for word, axis in AXES.items():
        if word in values and axis.stops[positions[word]] != values[word]:
            shown = axis.say(axis.stops[positions[word]])
            notes.append(f"{word} = {WORDS[word].write(values[word])} lies between stops: {shown} is shown")
    return notes


def shown_axes(views: tuple[View, ...], told: Answer, positions: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """Stops, names and positions of the axes that a page has; `last` is the last stop that `told` needs."""
    shown = {v.axis for v in views} | ({"T"} if len(views) > 1 else set())
    return {
        word: {
            "stops": list(axis.stops),
            "words": [axis.say(stop) for stop in axis.stops],
            "numbers": [axis.number(i) for i in range(len(axis.stops))],
            "label": axis.label,
            "rounds": axis.rounds,
            "index": positions[word],
            "last": last_stop((reel for v in views for reel in v.reels), told, word),
            "start": axis.stops[axis.index(WORDS[word].default)],
        }
        for word, axis in AXES.items()
        if word in shown or any(reel.axis == word for v in views for reel in v.reels)
    }


def shown_texts(
    views: tuple[View, ...], told: Answer, positions: Mapping[str, int]
) -> tuple[dict[str, str], dict[str, str]]:
    """Texts and formulas of the page's nodes."""
    texts = {node: text for v in views for node, text in frame_texts(v.reels, told, positions).items()}
    maths: dict[str, str] = {}
    for source, columns in told.items():
        if source.endswith((".texts", ".math")):
            (maths if source.endswith(".math") else texts).update(zip(columns["node"], columns["text"]))
    return texts, {node: at_stops(formula, positions, told) for node, formula in maths.items()}


def context(
    name: str,
    views: tuple[View, ...],
    figures: Figures,
    told: Answer,
    values: Mapping[str, Any],
    *,
    titles: Mapping[str, str],
    nav: list[tuple[str, str]],
    here: str,
    notes: list[str],
    ribbon: tuple[str, ...],
    questions: Mapping[str, str],
) -> dict[str, Any]:
    """Variables of page.html.  told: the answer that the figures were drawn for; titles: every page's; questions: what
    each of the pages asks that this one does not show, by title."""
    compact, positions = len(views) > 1, start_positions(values)
    axes, (texts, maths) = shown_axes(views, told, positions), shown_texts(views, told, positions)
    settings = {
        word: WORDS[word].write(values[word])
        for word in KEPT
        if values.get(word, WORDS[word].default) != WORDS[word].default
    }
    data = {
        "name": name,
        "axis": "" if compact else views[0].axis,
        "axes": axes,
        "slots": SLOTS,
        "phi": values.get("phi", WORDS["phi"].default),
        "phis": list(PHIS),
        "server": written({word: value for word, value in values.items() if WORDS[word].server}),
        "words": [word for word in WORDS if WORDS[word].server],
        "kept": settings,
        "preset": values.get("preset", ""),
        "snippets": {snippet.word: [snippet.text, snippet.framed] for snippet in SNIPPETS},
        "defaults": {word.name: word.write(word.default) for word in WORDS.values()},
        "labels": {word.name: word.meaning for word in WORDS.values()},
        "longest": {"characters": MAX_BYTES, "says": TOO_LARGE},
        "title": NAME,
        "version": running_version(),
        "quiet": [node for v in views for node in v.side_nodes] if compact else [],
    }
    return {
        "heading": NAME if compact else f"{views[0].title} · {NAME}",
        "theme": values.get("theme", WORDS["theme"].default),
        "embed": "embed" in settings,
        "locked": "reveal" in settings,
        "hide": settings.get("hide", "").replace(",", " "),
        "compact": compact,
        "preset": data["preset"],
        "about": teaching(name).about,
        "name": name,
        "here": here,
        "nav": nav,
        "beyond": [(address, title, questions[title]) for address, title in nav if title in questions],
        "views": list(titles.items()),
        "snippets": SNIPPETS,
        "sizes": SIZES,
        "hidden": HIDDEN,
        "cards": [
            {
                "view": v,
                "rows": drawing.rows,
                "says": teaching(v.word),
                "rail": not (compact and v.axis == "T"),
                "sweeps": [] if compact else told_sweeps(v.word),
                "asks": v.asks if compact else v.asks + v.dials,
                "more": () if compact else v.more,
                "open": any(values.get(word, WORDS[word].default) != WORDS[word].default for word in v.more),
            }
            for v, drawing in figures.drawings
        ],
        "ribbon": ribbon,
        "ribbon_axes": ["T"] if compact else [],
        "axes": axes,
        "texts": {"page.copied": "Copy link", **texts},
        "maths": maths,
        "notice": " · ".join(notes),
        "data": data,
    }


def told_sweeps(view: str) -> list[dict[str, Any]]:
    """What stands round the pictures of a view's sweeps, of those that have a result to show."""
    told = []
    for picture in pictures_of(view):
        if result := shipped(picture.sweep):
            sweep = SWEEPS[picture.sweep]
            told.append(
                {
                    "name": picture.name,
                    "title": picture.title,
                    "height": picture.height,
                    "key": picture.key,
                    "finding": finding(result, picture),
                    "said": said(result),
                    "lacks": lacks(sweep),
                    "cost": cost(sweep),
                }
            )
    return told


def in_script(data: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(data).replace("<", "\\u003c")
