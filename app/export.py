"""A view as one file that needs no server and no network.

    python -m app.export memory --state "rule=delta&n=200" --theme dark --out memory.html
    python -m app.export all --out lecture/

Sliders, play and discrete choices stay live: their answers are in the file, as far as they fit into it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from bokeh.resources import Resources

from app.choices import Choices, file_controls, live_choices, packed
from app.context import between_stops, context, in_script, started
from app.figures import page_figures
from app.page import OVERVIEW, control_words, pages, ribbon, scripts, styles, template, unseen, views_of
from app.session import answers
from components.fonts import fonts_script
from components.lesson import Lesson, fit
from components.teaching import Teaching, teaching
from components.words import WORDS, read_address

LARGEST = 2_660_000
"""Bytes of a file, so that it can be mailed and opened anywhere; fonts are a tenth of a million of them."""

SUFFIX = ".html"


class ExportError(ValueError):
    """Why no file was made, in one sentence."""


@cache
def bokeh_script() -> str:
    """BokehJS itself: the figures need no widgets, no tables and nothing of Panel's."""
    return Resources(mode="inline", components=["bokeh"], minified=True).js_raw[0]


def one_file(name: str, state: str = "", *, nav: list[tuple[str, str]] | None = None, link: str = "") -> str:
    """The page `name` at the state of an address, as HTML.

    nav: (address, title) of its neighbours; link: where the page is served.

    Raises ExportError on an unknown view, a word that is refused, or a page over the limit.
    """
    if name not in pages():
        raise ExportError(f"view {name!r} is none of {', '.join(pages())}")
    views = views_of(name)
    values, notes = read_address(_words(state))
    values, unknown = started(views, values)
    values, clash = fit(values)
    if notes + unknown + clash:
        raise ExportError("state: " + "; ".join(notes + unknown + clash))
    lesson = Lesson(**{word: value for word, value in values.items() if WORDS[word].server})
    controls, choices = file_controls(lesson, control_words(views)), Choices()
    room = LARGEST - len(_render(name, lesson, values, (controls, choices), nav, link).encode())
    if room < 0:
        raise ExportError(f"{name} would take {LARGEST - room:,} bytes, more than {LARGEST:,}")
    while True:
        choices = live_choices(views, lesson, controls, room)
        page = _render(name, lesson, values, (controls, choices), nav, link)
        over = len(page.encode()) - LARGEST
        if over <= 0 or not choices.words:
            return page
        room -= over  # the buttons and the table of choices take room too


def _words(state: str) -> dict[str, list[bytes]]:
    text = state.partition("?")[2] if "?" in state else state
    try:
        given = parse_qs(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=100)
    except ValueError as reason:
        raise ExportError(f"state {state[:40]!r} is no query such as phi=taylor&c=8: {reason}") from None
    return {word: [value.encode() for value in values] for word, values in given.items()}


def _render(name, lesson, values, live, nav, link) -> str:
    views, question = views_of(name), lesson.question
    controls, choices = live
    figures = page_figures(views, question, choices.sources())
    told = context(
        name,
        views,
        figures,
        answers(views, question),
        values,
        titles=pages(),
        nav=nav or [],
        here=next((address for address, title in nav or () if title == pages()[name]), ""),
        notes=between_stops(values),
        ribbon=ribbon(views),
        questions=unseen(name),
    )
    words = choices.words
    told["data"]["live"] = {
        "words": list(words),
        "now": {c.word: c.chosen for c in controls if c.word in words},
        "options": {c.word: [option.text for option in c.options] for c in controls if c.word in words},
        "table": choices.table,
        "idle": {key: why for key, told in choices.idle.items() if (why := _of(words, told))},
    }
    if link:
        told["data"]["served"] = link.partition("?")[0]
    for card in told["cards"]:
        card["says"] = reachable(card["view"].word, lesson, told["data"]["live"]["options"])
    return template().render(
        told,
        offline=True,
        link=link,
        controls={c.word: c for c in controls},
        live=words,
        fixed=[c for c in controls if c.word not in words and not choices.rests(c.word)],
        inline_fonts=fonts_script(),
        bokeh=bokeh_script().replace("</script", "<\\/script"),
        inline_figures=packed(figures.json),
        page_data=in_script(told["data"]),
        css=styles(),
        scripts=scripts("offline.js"),
    )


def _of(words: tuple[str, ...], told: Mapping[str, str]) -> dict[str, str]:
    return {word: told[word] for word in words if word in told}


def reachable(view: str, lesson: Lesson, live: Mapping[str, list[str]]) -> Teaching:
    """What is said beside a view, without the presets that need a choice which the file has not.

    live: the texts that each word may take in the file.
    """
    said, fixed = teaching(view), [word for word in WORDS.values() if word.server and word.name not in live]

    def stands(words: dict[str, str]) -> bool:
        return all(
            (word.read(words[word.name]) if word.name in words else word.default) == getattr(lesson, word.name)
            for word in fixed
        ) and all(words.get(word, options[0]) in options for word, options in live.items())

    return replace(said, presets=tuple(preset for preset in said.presets if stands(preset.words)))


def write(path: Path, text: str) -> None:
    """The whole file or none of it: written beside its place, then moved there.  Raises ExportError if it cannot be."""
    half = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    except OSError as reason:
        with suppress(OSError):
            half.unlink()
        raise ExportError(f"{path} cannot be written: {reason.strerror or reason}") from None


def pack(folder: Path, theme: str) -> list[Path]:
    """Every page in a folder, linked with each other, the overview as index.html."""
    names = {name: ("index" if name == OVERVIEW else name) + SUFFIX for name in pages()}
    nav = [(names[name], title) for name, title in pages().items()]
    made = []
    for name, file in names.items():
        write(folder / file, one_file(name, f"theme={theme}" if theme else "", nav=nav))
        made.append(folder / file)
    return made


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m app.export", description=__doc__.partition("\n")[0])
    parser.add_argument("view", help=f"all, or one of {', '.join(pages())}")
    parser.add_argument("--state", default="", help="words of an address, such as 'phi=taylor&c=8'")
    parser.add_argument("--theme", choices=("light", "dark"), default="")
    parser.add_argument("--out", type=Path, required=True, help="the file, or with `all` the folder")
    asked = parser.parse_args(arguments)
    try:
        if asked.view == "all":
            if asked.state:
                raise ExportError("--state goes with one view; `all` writes every page at its defaults")
            made = pack(asked.out, asked.theme)
        else:
            state = "&".join(
                filter(None, (asked.state.partition("?")[2] or asked.state, asked.theme and f"theme={asked.theme}"))
            )
            write(asked.out, one_file(asked.view, state))
            made = [asked.out]
    except ExportError as reason:
        print(reason, file=sys.stderr)
        return 1
    for path in made:
        print(f"{path}  {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
