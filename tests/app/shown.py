"""What a view shows at the state of an address: its texts and columns; and the numbers that stand in a text."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import parse_qsl

import numpy as np

from app.context import shown_texts
from app.page import view
from components.lesson import Question, fit
from components.reel import frame_columns, is_drawn
from components.view import start_positions
from components.words import WORDS


@cache
def opened(page: str, state: str) -> tuple[dict[str, str], dict[str, dict]]:
    """Text nodes and source columns of a view, as the browser has them after `page?state`."""
    v = view(page)
    values, clash = fit({word: WORDS[word].read(text) for word, text in parse_qsl(state, strict_parsing=bool(state))})
    assert not clash, clash
    question = Question(**{word: value for word, value in values.items() if WORDS[word].server})
    answer, positions = v.answer(question), start_positions(values)
    framed = frame_columns(v.reels, answer, positions)
    columns = {n: {**answer.get(n, {}), **framed.get(n, {})} for n in {*answer, *framed} if is_drawn(n)}
    texts, maths = shown_texts((v,), answer, positions)
    return {node: re.sub("<[^>]+>", "", text) for node, text in {**texts, **maths}.items()}, columns


def at(page: str, state: str, place: str) -> list:
    """What stands at a place: the text of a node or a line of it, or of a column all rows, one by its number, or those
    of a key: `view.node`, `view.node[0]`, `view.source.column`, `view.source.column[3]`,
    `view.source.column[n=32,word=elu]`."""
    texts, columns = opened(page, state)
    if place in texts:
        return [texts[place]]
    name, _, which = place.rstrip("]").partition("[")
    if name in texts:
        return [texts[name].split("\n")[int(which)]]
    source, _, column = name.rpartition(".")
    values = list(columns[source][column])
    if not which:
        return values
    if which.isdigit():
        return [values[int(which)]]
    rows = np.ones(len(values), dtype=bool)
    for pair in which.split(","):
        key, _, wanted = pair.partition("=")
        have = columns[source][key]
        rows &= np.array([x == wanted if isinstance(x, str) else abs(x - float(wanted)) < 1e-6 for x in have])
    assert rows.any(), f"no row of {source} has {which}"
    return [value for value, row in zip(values, rows, strict=True) if row]


NUMBER = re.compile(
    r"(?P<sign>[−-]?)(?:(?P<over>\d+)/(?P<under>\d+)|(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?)"
    r"(?:·10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?(?:\s?(?P<unit>%|KiB|MiB|GiB|TiB))?"
)
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SCALES = {"%": 0.01, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
FRACTIONS = {"¼": 0.25, "½": 0.5}


def numbers(text: str) -> list[tuple[float, float]]:
    """Every number of a text, and half a unit of its last digit where it was rounded.  A number with a unit also
    counts in parts of one or in bytes; a chain of products also counts as its value so far."""
    found = [(value, 0.0) for sign, value in FRACTIONS.items() if sign in text]
    found += [(float("nan"), 0.0)] * ("0/0" in text or "undefined" in text)
    product, end = 1.0, -1
    for match in NUMBER.finditer(text):
        sign = -1 if match["sign"] else 1
        if match["over"]:
            if int(match["under"]):
                found.append((sign * int(match["over"]) / int(match["under"]), 0.0))
            continue
        power = 10.0 ** int((match["power"] or "⁰").translate(RAISED))
        value = sign * float(match["digits"].replace(",", "") + (match["part"] or "")) * power
        rounded = match["part"] or match["power"] or match["unit"] == "%"
        half = 0.5 * 10.0 ** (1 - len(match["part"] or ".")) * power if rounded else 0.0
        found.append((value, half))
        if scale := SCALES.get(match["unit"]):
            found.append((value * scale, half * scale))
        product = product * value if text[end : match.start()].strip(" B") == "×" and end >= 0 else value
        end = match.end()
        found.append((product, 0.0))
    return found


def fits(value: float, half: float, expected: float, tolerance: str) -> bool:
    """Whether a number that may have been rounded is the expected one, by a rule of the ledger."""
    rule, _, size = tolerance.partition(" ")
    if value != value or expected != expected:
        return value != value and expected != expected
    if tolerance in ("at most", "at least"):
        return value - half <= expected if tolerance == "at most" else value + half >= expected
    if not half and expected % 1 and not value % 1 and abs(value) > 100:
        half = 0.5  # a whole number for one that is not
    slack = {"exact": 0.0, "absolute": float(size or 0), "relative": float(size or 0) * abs(expected)}[rule]
    return abs(value - expected) <= (slack + half) * (1 + 1e-9)


def shows(page: str, state: str, place: str, expected: float | str, tolerance: str) -> bool:
    for thing in at(page, state, place):
        if isinstance(expected, str | bool):
            word = {True: "yes", False: "no"}.get(expected, expected)
            if re.search(rf"\b{re.escape(word)}\b", str(thing)):
                return True
            continue
        # A column travels in float32: seven digits.
        told = numbers(thing) if isinstance(thing, str) else [(float(thing), 3e-7 * abs(float(thing)))]
        if any(fits(value, half, expected, tolerance) for value, half in told):
            return True
    return False
