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


def at(page: str, state: str, place: str) -> object:
    """What stands at a place, by the rules at the head of assets/claims.toml, less the number behind #: the text of a
    node or of a line, or one number or text of a column."""
    texts, columns = opened(page, state)
    name, _, which = place.rstrip("]").partition("[")
    if name in texts:
        if not which:
            return texts[name]
        (line,) = (line for line in texts[name].split("\n") if line.startswith(f"{which} "))
        return line.removeprefix(f"{which} ")
    source, _, column = name.rpartition(".")
    values = list(columns[source][column])
    if which.isdigit():
        return values[int(which)]
    rows = np.ones(len(values), dtype=bool)
    for pair in filter(None, which.split(",")):
        key, _, wanted = pair.partition("=")
        have = columns[source][key]
        rows &= np.array([x == wanted if isinstance(x, str) else abs(x - float(wanted)) < 1e-6 for x in have])
    (value,) = (value for value, row in zip(values, rows, strict=True) if row)
    return value


NUMBER = re.compile(
    r"(?P<word>[¼½]|\b(?:undefined|yes|no)\b)"
    r"|(?P<sign>[−-]?)(?:(?P<over>\d+)/(?P<under>\d+)|(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?)"
    r"(?:·10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?(?:\s?(?P<unit>%|KiB|MiB|GiB|TiB))?"
)
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SCALES = {"%": 0.01, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
WORDS_FOR = {"¼": 0.25, "½": 0.5, "undefined": float("nan"), "yes": True, "no": False}

Reading = list[tuple[float | bool, float]]
"""What a number of a text may be taken for, each with half a unit of its last digit where it was rounded."""


def readings(text: str) -> list[Reading]:
    """Every number and truth of a text.  A share counts in parts of one, bytes also in their unit, and what stands
    behind × also as the product so far."""
    found, product, end = [], 1.0, -1
    for match in NUMBER.finditer(text):
        if match["word"]:
            found.append([(WORDS_FOR[match["word"]], 0.0)])
            continue
        sign = -1 if match["sign"] else 1
        if match["over"]:
            under = int(match["under"])
            found.append([(sign * int(match["over"]) / under if under else float("nan"), 0.0)])
            continue
        power = 10.0 ** int((match["power"] or "⁰").translate(RAISED))
        value = sign * float(match["digits"].replace(",", "") + (match["part"] or "")) * power
        rounded = match["part"] or match["power"] or match["unit"] == "%"
        half = 0.5 * 10.0 ** (1 - len(match["part"] or ".")) * power if rounded else 0.0
        scale = SCALES.get(match["unit"], 1)
        reading: Reading = [(value * scale, half * scale)]
        if scale > 1:
            reading.append((value, half))
        chained = text[end : match.start()].strip(" B") == "×" and end >= 0
        product = product * value if chained else value
        if chained:
            reading.append((product, 0.0))
        end = match.end()
        found.append(reading)
    return found


def shown(page: str, state: str, place: str) -> Reading | str:
    """The one number that stands at a place, or the words of a text that has none."""
    place, _, which = place.partition("#")
    told = at(page, state, place)
    if not isinstance(told, str):
        return [(float(told), 3e-7 * abs(float(told)))]  # a column travels in float32: seven digits
    found = readings(told)
    if which:
        return found[int(which)]
    if len(found) > 1:
        raise ValueError(f"{place} has {len(found)} numbers, say which: {told}")
    return found[0] if found else told


def fits(value: float | bool, half: float, expected: float | bool, tolerance: str) -> bool:
    """Whether a number that may have been rounded is the expected one, by a rule of the ledger."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if value != value or expected != expected:
        return value != value and expected != expected
    if tolerance in ("at most", "at least"):
        return value - half <= expected if tolerance == "at most" else value + half >= expected
    if not half and expected % 1 and not value % 1 and abs(value) > 100:
        half = 0.5  # a whole number for one that is not
    return abs(value - expected) <= (slack(expected, tolerance) + half) * (1 + 1e-9)


def slack(expected: float, tolerance: str) -> float:
    """How far a number may be from the expected one."""
    rule, _, size = tolerance.partition(" ")
    return float(size) * (abs(expected) if rule == "relative" else 1) if rule in ("absolute", "relative") else 0.0


def shows(page: str, state: str, place: str, expected: float | bool | str, tolerance: str) -> bool:
    if isinstance(expected, str):
        return expected in at(page, state, place)
    told = shown(page, state, place)
    return not isinstance(told, str) and any(fits(value, half, expected, tolerance) for value, half in told)
