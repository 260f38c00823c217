"""Three pairs in two dimensions: the memory after each write and a read of it, in numbers that one can follow."""

from __future__ import annotations

from dataclasses import replace

from components.lesson import Question
from components.memory_run import pairs, rule_of, stream_of
from compute.filling import states
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
    return f"S = [{rows}]; key {question.pair} reads ({', '.join(read)}) = {parts}."


def by_hand_latex(question: Question) -> str:
    pair = min(question.pair, len(HAND_K))
    S, read, weights = _split_by_hand(replace(question, pair=pair), len(HAND_K))
    parts = " + ".join(rf"v_{s}" if w == "1" else rf"{w}\, v_{s}" for w, s in weights).replace("+ −", "− ")
    rows = r" \\ ".join(" & ".join(row) for row in S)
    told = rf"S = \begin{{pmatrix}} {rows} \end{{pmatrix}} \quad S^\top k_{pair}"
    return rf"{told} = ({', '.join(read)}) = {parts}"


def _low(number: int) -> str:
    return str(number).translate(LOWERED)


def _short(x: float) -> str:
    return f"{round(float(x), 10) + 0.0:g}".replace("-", "−")
