"""Three pairs in two dimensions: the memory after each write and a read of it, in numbers that one can follow."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from components.lesson import Question
from components.memory_run import pairs, rule_of, stream_of
from components.says import decimals
from compute.filling import states
from compute.memory import WRITE_RULES
from compute.pair_streams import HAND_K
from compute.read_weights import split_read

LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _split_by_hand(question: Question, n: int) -> tuple[list[list[str]], list[str], list[tuple[str, int]]]:
    """The memory after the first n writes, the chosen read, and the values in it with their weights, in print."""
    K, V, *_ = pairs(stream_of(question))
    word, alpha, beta = rule_of(question, question.rule)
    told = split_read(K, V, word, n, question.pair - 1, alpha=alpha, beta=beta)
    (S,) = states(K, V, word, [n], alpha=alpha, beta=beta)
    weights = [(_short(w), s) for s, w in enumerate(told.weights, 1) if abs(w) > 1e-12]
    return [[_short(x) for x in row] for row in S], [_short(x) for x in told.read], weights


def read_by_hand(question: Question, n: int) -> str:
    S, read, weights = _split_by_hand(question, n)
    parts = " + ".join(f"v{_low(s)}" if w == "1" else f"{w}·v{_low(s)}" for w, s in weights).replace("+ −", "− ")
    rows = ", ".join(f"[{', '.join(row)}]" for row in S)
    step = error_by_hand(question) if n == question.pair else None
    said = f" This write took its error from ({', '.join(step.before)}) to ({', '.join(step.after)})." if step else ""
    return f"S = [{rows}]; key {question.pair} reads ({', '.join(read)}) = {parts}.{said}"


def by_hand_latex(question: Question) -> list[str]:
    """Lines of the memory after all writes, of the read of the chosen pair, and of what its own write descended."""
    pair = min(question.pair, len(HAND_K))
    S, read, weights = _split_by_hand(replace(question, pair=pair), len(HAND_K))
    parts = " + ".join(rf"v_{s}" if w == "1" else rf"{w}\, v_{s}" for w, s in weights).replace("+ −", "− ")
    rows = r" \\ ".join(" & ".join(row) for row in S)
    memory = rf"S = \begin{{pmatrix}} {rows} \end{{pmatrix}}"
    return [memory, rf"S^\top k_{pair} = ({', '.join(read)}) = {parts}", *_step_latex(question)]


class Step(NamedTuple):
    """The error v − Sᵀk of one pair before and after its own write, and half its square, in print."""

    before: list[str]
    after: list[str]
    loss: tuple[str, str]


def error_by_hand(question: Question) -> Step | None:
    """What the write of the chosen pair does to the error that it descends; None for a rule that never looks at one.
    A rule that shrinks the memory first starts from the shrunken one."""
    word, alpha, beta = rule_of(question, question.rule)
    pair = min(question.pair, len(HAND_K))
    if not WRITE_RULES[word].corrects:
        return None
    K, V, *_ = pairs(stream_of(question))
    S, written = states(K, V, word, [pair - 1, pair], alpha=alpha, beta=beta)
    errors = [V[pair - 1] - memory.T @ K[pair - 1] for memory in (alpha * S, written)]
    before, after = ([_short(float(f"{x:.3g}")) for x in error] for error in errors)
    return Step(before, after, tuple(decimals(error @ error / 2) for error in errors))


def _step_latex(question: Question) -> list[str]:
    step, pair = error_by_hand(question), min(question.pair, len(HAND_K))
    if step is None:
        return []
    _, _, beta = rule_of(question, question.rule)
    error = rf"v_{pair} - S^\top k_{pair}"
    moved = rf"\underset{{\beta = {beta:g}}}{{\to}}"
    loss = rf"\tfrac12 \lVert {error} \rVert^2:\ {step.loss[0]} {moved} {step.loss[1]}"
    return [rf"{error}:\ ({', '.join(step.before)}) {moved} ({', '.join(step.after)})", loss]


def _low(number: int) -> str:
    return str(number).translate(LOWERED)


def _short(x: float) -> str:
    return f"{round(float(x), 10) + 0.0:g}".replace("-", "−")
