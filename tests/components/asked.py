"""The views, found in the folder of pages, and the questions that their tests walk."""

from __future__ import annotations

from functools import cache

import numpy as np

from app.page import OVERVIEW, pages, view
from components.axes import AXES
from components.lesson import Question
from components.reel import fill
from components.words import KEYS, PHIS, WIDTHS
from compute.memory import WRITE_RULES
from compute.sizing.models import models

VIEWS = {word: view(word) for word in pages() if word != OVERVIEW}
DEFAULT = Question()
KNOBBED = ("favor~m~16", "trig~m~1024", "taylor~symmetric~true", "dpfp~nu~1", "dpfp~nu~31")


def questions() -> list[Question]:
    """Every value of every choice, and the pairs of choices that meet in one view."""
    asked = [DEFAULT]
    asked += [Question(phi=phi, d_k=d_k) for phi in (*PHIS, *KNOBBED) for d_k in WIDTHS if fits(phi, d_k)]
    asked += [Question(seed=seed) for seed in (1, 99)]
    asked += [Question(phi=phi, row=row) for phi in ("softmax", "trig") for row in (0, 101, 255)]
    asked += [Question(keys=keys, rule=rule) for keys in KEYS for rule in WRITE_RULES]
    asked += [Question(keys="phi", phi=phi, d_k=d_k, rule="delta") for phi in PHIS for d_k in (4, 64)]
    asked += [Question(keys="correlated", rho=rho) for rho in (0.0, 0.95)]
    asked += [Question(rule="gated_delta", alpha=alpha, beta=beta) for alpha in (0.5, 1.0) for beta in (0.05, 1.0)]
    asked += [Question(model=model) for model in models()]
    asked += [Question(model=model, phi=phi) for model in ("qwen3.8-27b", "llama-3.1-8b") for phi in PHIS]
    return list(dict.fromkeys(asked))


def fits(phi: str, d_k: int) -> bool:
    """Whether the map exists at this width: DPFP has at most 2·d_k − 1 shifts."""
    try:
        Question(phi=phi, d_k=d_k).map and Question(phi=phi, d_k=d_k).map.d_phi(d_k)
    except ValueError:
        return False
    return True


QUESTIONS = questions()
HARD = (
    Question(phi="dpfp~nu~31", d_k=4),
    Question(phi="dpfp~nu~8", d_k=4, keys="phi"),
    Question(phi="relu", d_k=4, keys="phi"),
    Question(phi="favor~m~4096~seed~9999", d_k=64, keys="phi"),
    Question(phi="trig~m~16", d_k=4, row=255),
    Question(rule="delta", beta=0.0),
    Question(rule="decay", alpha=0.5),
    Question(rule="gated_delta", alpha=1.0, beta=1.0, keys="orthonormal"),
    Question(keys="correlated", rho=0.0),
)
"""Legal word by word, and at the edge together."""


@cache
def relevant(word: str) -> tuple[Question, ...]:
    """The questions to which the view's answers differ, the default first; others would only repeat them.

    A question that has no answer is left to the test that every question has one.
    """
    seen, kept = set(), []
    for question in QUESTIONS:
        try:
            told = VIEWS[word].answer(question)
        except ValueError:
            continue
        mark = tuple(_mark(value) for columns in told.values() for value in columns.values())
        if mark not in seen:
            seen.add(mark)
            kept.append(question)
    return tuple(kept)


def _mark(value):
    return value.tobytes() if isinstance(value, np.ndarray) and value.nbytes < 4096 else id(value)


def piece_of(reel, bind, answer, i):
    """What a bind says it shows at stop i, read off its fields."""
    row = answer[reel.name]
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
