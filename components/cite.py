"""A citation of one state: version, link, and a short hash that says whether two links show the same.

No person is named: the program stands as author and title.  BibTeX has no field for a version or a state, so both
stand in `note`; `urldate` is biblatex's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from urllib.parse import urlencode

from components.about import NAME, running_version
from components.axes import AXES
from components.lesson import Question
from components.words import WORDS, written

DIGITS = 10
"""Hexadecimal digits of a state's hash: that two of a million states share one has a chance of about a third."""


@dataclass(frozen=True)
class Citation:
    """state: the hash.  link: the state's own address.  bibtex and text: the entry, to be copied as it is."""

    state: str
    link: str
    bibtex: str
    text: str


def state_words(question: Question, at: Mapping[str, float]) -> dict[str, str]:
    """The address words of a state that differ from their default, in the table's order.

    Settings of the page (theme, frame, what is hidden) are no part of a state.  at: positions by axis word, moved to
    the nearest stop as on the page; words that are no axis do not count.
    """
    stops = {word: axis.stops[axis.index(at[word])] for word, axis in AXES.items() if word in at}
    values = {name: getattr(question, name) for name in question.__dataclass_fields__}
    return written({**values, **stops})


def state_hash(page: str, question: Question, at: Mapping[str, float]) -> str:
    """DIGITS hexadecimal digits of SHA-256 over page, set of defaults and state words; the same for equal states."""
    words = state_words(question, at)
    if question.own is not None and not words["own"]:
        words["own"] = repr(asdict(question.own.shape))  # too long for a link, but part of the state
    canonical = f"{page}?{urlencode({'v': WORDS['v'].default, **words})}"
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGITS]


def cite(page: str, title: str, question: Question, at: Mapping[str, float], address: str, accessed: date) -> Citation:
    """The entry for a state of a page.

    page: its word; title: as in the navigation; address: of the page, without a query, as the reader's browser has
    it; accessed: the day it was looked at.
    """
    words = {name: text for name, text in state_words(question, at).items() if text}
    state, version = state_hash(page, question, at), running_version()
    link = f"{address}?{urlencode(words)}" if words else address
    lost = "; the pasted model is too long for the link" if question.own is not None and "own" not in words else ""
    note = f"Version {version}, state {state}, accessed {accessed.isoformat()}{lost}"
    bibtex = "\n".join(
        (
            f"@misc{{explorer-{page}-{state},",
            f"  author = {{{{{_tex(NAME)}}}}},",
            f"  title = {{{{{_tex(title)}}}}},",
            f"  url = {{{_url(link)}}},",
            f"  urldate = {{{accessed.isoformat()}}},",
            f"  note = {{{_tex(note)}}},",
            "}",
            "",
        )
    )
    text = f"{NAME}, version {version}: {title}, state {state}{lost}. {link} (accessed {accessed.isoformat()})."
    return Citation(state, link, bibtex, text)


def _tex(text: str) -> str:
    """Text with TeX's special characters quoted."""
    return re.sub(r"[&%$#_{}]", lambda found: "\\" + found[0], text)


def _url(link: str) -> str:
    """An address that ends no BibTeX field early: what could is percent-encoded, which means the same."""
    return re.sub(r"[{}\\\s]", lambda found: f"%{ord(found[0]):02X}", link)
