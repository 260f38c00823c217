"""What a question means for sizing: a shape, the options under which it can be billed, and its all-softmax twin."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from components.lesson import Question
from components.sizing_said import Sums
from compute.sizing import ModelShape, Options, all_softmax_twin, load_model, models
from compute.sizing.options import ARITHMETIC
from compute.sizing.sums import sums


def shape_of(question: Question) -> tuple[ModelShape, str]:
    """The model that is asked about, and its name: the visitor's own if there is one."""
    if question.own is not None:
        return question.own.shape, question.own.name
    return load_model(question.model), models()[question.model].name


def options_of(question: Question) -> Options:
    """The page's switches, as they were set."""
    return Options(
        question.batch, question.kv, question.state, question.conv, question.columns, question.mla, question.tp,
        question.engine,
    )  # fmt: skip


@lru_cache(maxsize=256)
def counted(shape: ModelShape, options: Options) -> tuple[Options, str]:
    """The options under which the model can be billed, and in one sentence why they are not those that were asked."""
    try:
        sums(shape, options)
    except ValueError as reason:
        if options.engine != ARITHMETIC:
            plain, note = counted(shape, replace(options, engine=ARITHMETIC))
            return plain, f"{name_in(str(reason))}: this is the arithmetic. {note}"
        return replace(options, mla="latent"), "The file does not give the widths of decompressed heads. "
    return options.counted, ""


def name_in(reason: str) -> str:
    """A refusal with the model for its subject."""
    return reason.replace("shape has", "The model has")


def twin_rates(shape: ModelShape, options: Options) -> Sums | None:
    """Rates of the all-softmax twin; None where there is none or it is the model itself."""
    twin = all_softmax_twin(shape)
    return sums(twin, options) if twin not in (None, shape) else None
