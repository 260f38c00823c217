"""The bill as a file."""

from __future__ import annotations

import json

from components.lesson import Question
from components.sizing_asked import counted, options_of, shape_of
from components.sizing_said import make_bill
from compute.sizing.export import as_csv, as_data

FORMATS = ("csv", "json")


def exported(question: Question, tokens: int, form: object) -> tuple[str, str]:
    """File name and content of the bill at a context length, the visitor's own if there is one.

    ValueError for an unknown format.
    """
    if form not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}")
    tokens = question.exact or tokens
    shape, _ = shape_of(question)
    made = make_bill(shape, tokens, counted(shape, options_of(question))[0])
    name = f"{'own-model' if question.own else question.model}-{tokens}-tokens.{form}"
    if form == "csv":
        return name, as_csv(made, shape)
    return name, json.dumps(as_data(made, shape), indent=2, ensure_ascii=False)
