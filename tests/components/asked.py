"""What the tests of the app walk: views, the questions that can be asked, address words with good and bad texts.

Views come from the folder of pages and examples from what the table of words says is legal, so a new page or word is
tested as soon as it stands there.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from app.figures import figure_document
from app.page import OVERVIEW, pages, view
from components.axes import AXES
from components.lesson import SERVER, Question, fit
from components.reel import fill
from components.view import start_positions
from components.words import KEYS, PHIS, WIDTHS, Word
from compute.memory import WRITE_RULES

VIEWS = {word: view(word) for word in pages() if word != OVERVIEW}
DEFAULT = Question()
KNOBBED = ("favor~m~16", "trig~m~1024", "taylor~symmetric~true", "dpfp~nu~1", "dpfp~nu~31")
SPELLED = {
    "phi": (*PHIS, "favor~m~64", "trig~seed~5", "taylor~symmetric~true", "dpfp~nu~1"),
    "row": ("", "0", "255"),
    "compare": ("", "llama-3.1-8b", "llama-3.1-8b,qwen3.8-27b"),
}
"""Legal texts of words whose table entry is a sentence."""

FEW_MODELS = ("minimax-01", "llama-3.1-8b", "qwen3.8-27b", "mamba-130m")
"""Models that stand for all where a view only says a sentence about them."""

MARKUP = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(1)</script>"
BAD = {
    "markup": MARKUP,
    "the end of a script": SCRIPT,
    "ten kilobytes": "9" * 10_000,
    "a NUL": "\0",
    "a NUL after a number": "1\0",
    "a word": "nonsense",
    "Arabic digits": "٣",
    "full-width digits": "１６",
    "a superscript": "²",
    "not a number": "nan",
    "infinity": "inf",
    "an exponent": "1e1",
    "an underscore": "1_6",
    "a plus": "+16",
    "blanks": " 16 ",
    "a line break": "16\n",
    "two signs": "--1",
    "two points": "1.2.3",
    "a point alone": ".",
    "a sign alone": "-",
    "far above": "99999999",
    "far below": "-99999999",
    "a JSON list": '["elu"]',
    "an unknown knob": "favor~q~1",
    "a knob without a value": "favor~m",
    "a knob beyond its offer": "favor~m~1000000",
    "a knob given twice": "favor~m~16~m~16",
}
"""Texts that hardly any word takes."""


def examples(word: Word) -> tuple[str, ...]:
    """Legal texts of a word: all its options, or both ends of its range, and its default."""
    if word.name in SPELLED:
        return SPELLED[word.name]
    if " | " in word.legal:
        return tuple(word.legal.split(" | "))
    ends = re.fullmatch(r"(-?[\d.,]+) … (-?[\d.,]+)", word.legal)
    ends = tuple(end.replace(",", "") for end in ends.groups()) if ends else ()
    return tuple(dict.fromkeys((*ends, word.write(word.default))))


def outside(word: Word) -> tuple[str, ...]:
    """Texts just outside what is legal."""
    if ends := re.fullmatch(r"(-?[\d.,]+) … (-?[\d.,]+)", word.legal):
        low, high = (float(end.replace(",", "")) for end in ends.groups())
        step = 1 if isinstance(word.default, int) else 0.01
        return f"{low - step:.15g}", f"{high + step:.15g}"
    if word.name == "row":
        return "-1", "256"
    legal = next(text for text in examples(word) if text) if any(examples(word)) else "x"
    return (f"{legal} ", f"{legal}x")


def questions() -> list[Question]:
    """Every value of every choice, and the pairs of choices that meet in one view."""
    asked = [DEFAULT]
    asked += [Question(**{name: word.read(text)}) for name, word in SERVER.items() for text in examples(word)]
    asked += [Question(phi=phi, d_k=d_k) for phi in PHIS for d_k in (WIDTHS[0], WIDTHS[-1])]
    asked += [Question(phi=phi, d_k=16) for phi in KNOBBED]
    asked += [Question(phi=phi, row=row) for phi in ("softmax", "trig") for row in (0, 101, 255)]
    asked += [Question(keys=keys, rule=rule) for keys in KEYS for rule in WRITE_RULES]
    asked += [Question(keys="phi", phi=phi, d_k=4, rule="delta") for phi in (*PHIS, *KNOBBED)]
    asked += [Question(keys="phi", phi=phi, d_k=64) for phi in ("elu", "taylor")]
    asked += [Question(keys="correlated", rho=rho) for rho in (0.0, 0.95)]
    asked += [
        Question(rule=rule, alpha=a, beta=b)
        for rule in ("decay", "delta", "gated_delta")
        for a in (0.5, 1.0)
        for b in (0.0, 0.05, 1.0)
    ]
    asked += [Question(model=model, phi=phi) for model in ("qwen3.8-27b", "llama-3.1-8b") for phi in PHIS]
    return list(dict.fromkeys(question for question in asked if goes_together(question)))


def goes_together(question: Question) -> bool:
    """Whether the lesson would leave the words as they are."""
    return not fit({name: getattr(question, name) for name in SERVER})[1]


QUESTIONS = questions()


every_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
every_page = pytest.mark.parametrize("name", pages())
both_sizes = pytest.mark.parametrize("compact", [False, True], ids=["single", "compact"])


@cache
def drawn(views, compact):
    return figure_document(views, DEFAULT, compact)


def sources_of(view, compact):
    return drawn((view,), compact)[1][0][1].sources


def binds(view):
    return [(reel, bind) for reel in view.reels for bind in reel.binds]


@cache
def relevant(word: str) -> tuple[Question, ...]:
    """The questions to which the view's answers differ, the default first; others would only repeat them.

    A question that has no answer is left to the test that every question has one.
    """
    seen, kept = set(), []
    for question in QUESTIONS:
        if word != "sizing" and question.model not in FEW_MODELS:
            continue
        try:
            told = VIEWS[word].answer(question)
        except (ValueError, ArithmeticError, RuntimeWarning):
            continue
        mark = tuple(_mark(value) for columns in told.values() for value in columns.values())
        if mark not in seen:
            seen.add(mark)
            kept.append(question)
    return tuple(kept)


def _mark(value):
    return hash(value.tobytes() if isinstance(value, np.ndarray) else repr(value))


def piece_of(reel, bind, answer, i, at=None):
    """What a bind says it shows at stop i, read off its fields; a second axis stands where `at` says."""
    row = answer[reel.name]
    if bind.also:
        return answer[bind.pool][bind.column][i * len(AXES[bind.also].stops) + (at or start_positions())[bind.also]]
    if not bind.pool:
        piece = row[bind.column][i]
    elif bind.stop:
        piece = answer[bind.pool][bind.column][row[bind.start][i] : row[bind.stop][i]]
    else:
        piece = answer[bind.pool][bind.column][row[bind.start][i]]
    return np.asarray(piece) * bind.scale if bind.scale != 1 else piece


def shown(word: str, question: Question, source: str, column: str) -> list:
    """What stands in a column of a figure's source, one piece a stop of the reel that owns it."""
    answer = VIEWS[word].answer(question)
    for reel in VIEWS[word].reels:
        for bind in reel.binds:
            if (bind.source, bind.to or bind.column) == (source, column):
                return [piece_of(reel, bind, answer, i) for i in range(len(AXES[reel.axis].stops))]
    raise KeyError(f"no reel owns {source}.{column}")


def said(word: str, question: Question, node: str) -> list[str]:
    """What stands in a text node, one text a stop."""
    answer = VIEWS[word].answer(question)
    for reel in VIEWS[word].reels:
        for bind in reel.binds:
            if bind.node == node:
                source, _, column = bind.phrase.rpartition(".")
                pieces = [piece_of(reel, bind, answer, i) for i in range(len(AXES[reel.axis].stops))]
                return [p if isinstance(p, str) else fill(answer[source][column][0], p) for p in pieces]
    raise KeyError(f"no reel says {node}")
