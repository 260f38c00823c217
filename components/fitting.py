"""What fits where, in words: sequences, context, bandwidth, and both ways of counting."""

from __future__ import annotations

from dataclasses import replace

from components.gpus import gpus
from components.lesson import Question
from components.says import counted_tokens, decimals, tokens
from compute.sizing import (
    ModelShape,
    Options,
    decode_step,
    human_bytes,
    longest_context,
    tokens_per_second_bound,
)
from compute.sizing.engine import ENGINE
from compute.sizing.options import ARITHMETIC, PAGED
from compute.sizing.sums import sums

GIB = 2**30
BOTH_WAYS = f"arithmetic · {ENGINE}"


def free_bytes(question: Question) -> int:
    """Memory for caches and states: what the visitor entered, else all of the accelerator's."""
    return question.gib * GIB if question.gib else gpus()[question.gpu].memory


def room(question: Question) -> str:
    gpu = gpus()[question.gpu]
    return f"{question.gib:,} GiB" if question.gib else f"{gpu.name} = {human_bytes(gpu.memory)}"


def sequences(shape: ModelShape, question: Question, options: Options, stops: tuple[int, ...]) -> list[str]:
    """How many sequences of each length fit."""
    free, one = free_bytes(question), sums(shape, replace(options, batch=1))
    sizes = [one.total_bytes(T) for T in stops]
    return [f"{free // size:,}" if size else "without end" for size in sizes]


def context(shape: ModelShape, question: Question, options: Options) -> str:
    """The longest context at which all sequences fit, and how that compares with what the model was made for."""
    longest = longest_context(shape, free_bytes(question), options)
    if longest is None:
        return "any length: nothing grows"
    if longest < 0:
        return "not even the states fit"
    native = shape.native_context
    beyond = f", {longest / native:,.1f} × its native {native:,}" if native and longest > native else ""
    return f"{counted_tokens(longest)}{beyond}"


def traffic(shape: ModelShape, options: Options, T: int) -> str:
    """Bytes that one decode step moves for one sequence, weights aside."""
    return human_bytes(decode_step(shape, T, options).total // options.batch)


def speed(shape: ModelShape, question: Question, options: Options, T: int) -> str:
    bound = tokens_per_second_bound(shape, T, gpus()[question.gpu].bandwidth, options=options)
    return "no bound" if bound is None else f"≤ {tokens(bound) if bound >= 10 else decimals(bound)} tokens/s"


def both_ways(shape: ModelShape, options: Options, stops: tuple[int, ...]) -> list[str]:
    """Bytes of the arithmetic and of the engine's pages, all sequences."""
    exact = sums(shape, replace(options, engine=ARITHMETIC))
    try:
        pages = sums(shape, options if options.engine != ARITHMETIC else replace(options, engine=PAGED))
    except ValueError as reason:
        return [f"{human_bytes(exact.total_bytes(T))} · {refusal(reason)}" for T in stops]
    return [f"{human_bytes(exact.total_bytes(T))} · {human_bytes(pages.total_bytes(T))}" for T in stops]


def refusal(reason: ValueError) -> str:
    """Why there is no such count."""
    return str(reason).removeprefix("shape ").replace("has ", "none: ")
