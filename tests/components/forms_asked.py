"""Two modes, asked: what the view says to a question, column by column."""

from __future__ import annotations

import numpy as np

from components.forms import VIEW
from components.forms_run import HAND, RANDOM
from components.lesson import Question
from components.words import EXAMPLES, PHIS, PITFALLS

RANDOM_TOKENS = Question(example="random")
FIRST = VIEW.answer(Question())


def asked(**words) -> Question:
    return Question(**words)


def frames(question: Question) -> dict:
    """The frames of the tokens that there are."""
    T = HAND if question.example == "hand" else RANDOM
    return {name: column[:T] for name, column in VIEW.answer(question)["forms.frames"].items()}


def last(question: Question, column: str):
    return frames(question)[column][-1]


def curves(question: Question) -> dict:
    """Everything drawn against t, channel by channel."""
    told = VIEW.answer(question)
    channels = {
        f"{form}_{i + 1}": told["forms.outputs"][form].reshape(2, RANDOM + 1)[i, :RANDOM]
        for form in ("recurrent", "parallel", "chunkwise")
        for i in range(2)
    }
    T = HAND if question.example == "hand" else RANDOM
    drawn = {**channels, **{name: x for name, x in told["forms.checks"].items() if name != "t"}}
    assert all(np.isnan(x[T:]).all() for x in drawn.values())
    return {name: x[:T] for name, x in drawn.items()}


def text_of(question: Question, node: str) -> str:
    told = VIEW.answer(question)["forms.texts"]
    return told["text"][told["node"].index(node)]


def questions() -> list[Question]:
    found = [asked(example=e, pitfall=p, chunk=c) for e in EXAMPLES for p in PITFALLS for c in (1, 2, 10, 64)]
    found += [asked(example="random", phi=phi, d_k=d_k, pitfall=p) for phi in PHIS for d_k in (4, 64) for p in PITFALLS]
    found += [asked(phi="softmax"), asked(phi="taylor", d_k=64, seed=99)]
    return found
