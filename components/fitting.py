"""What fits where, in words: sequences, context, bandwidth, and what an engine sets aside."""

from __future__ import annotations

from components.gpus import gpus
from components.lesson import Question
from components.says import decimals, tokens
from compute.sizing import (
    ModelShape,
    Options,
    decode_step,
    human_bytes,
    longest_context,
    sequences_that_fit,
    tokens_per_second_bound,
)
from compute.sizing.engine import ENGINE, reserve

GIB = 2**30


def free_bytes(question: Question) -> int:
    """Memory for caches and states: what the visitor entered, else all of the accelerator's."""
    return question.gib * GIB if question.gib else gpus()[question.gpu].memory


def room(question: Question) -> str:
    return f"{question.gib:,} GiB" if question.gib else gpus()[question.gpu].name


def sequences(shape: ModelShape, question: Question, options: Options, T: int) -> str:
    count = sequences_that_fit(shape, free_bytes(question), T, options)
    return "without end" if count is None else f"{count:,}"


def context(shape: ModelShape, question: Question, options: Options) -> str:
    longest = longest_context(shape, free_bytes(question), options)
    if longest is None:
        return "any length"
    return "not even the states fit" if longest < 0 else f"{tokens(longest)} tokens"


def traffic(shape: ModelShape, options: Options, T: int) -> str:
    """Bytes that one decode step moves for one sequence, weights aside."""
    return human_bytes(decode_step(shape, T, options).total // options.batch)


def speed(shape: ModelShape, question: Question, options: Options, T: int) -> str:
    bound = tokens_per_second_bound(shape, T, gpus()[question.gpu].bandwidth, options=options)
    return "no bound" if bound is None else f"≤ {tokens(bound) if bound >= 10 else decimals(bound)} tokens/s"


def reservation(shape: ModelShape, options: Options, T: int) -> str:
    try:
        told = reserve(shape, T, options)
    except ValueError as reason:
        return str(reason).removeprefix("shape ").replace("has ", "none: ")
    return f"{human_bytes(told.padded_bytes)} in {told.pages + told.padding_pages:,} pages"


ENGINE_LABEL = f"{ENGINE} sets aside"
