"""Sentences and formulas of the memory."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.formula import mathml, with_values
from components.lesson import Question
from components.memory_run import (
    NS,
    PAIRS,
    RECENT,
    WIDTH,
    Rule,
    Stream,
    law_overlap,
    overlap,
    pairs,
    rule_of,
    stream_of,
)
from components.says import decimals, percent, tokens
from compute import memory_laws as laws
from compute.filling import states
from compute.memory import WRITE_RULES
from compute.pair_streams import HAND_K, KEYS_IN_TURN, Topics, Ungated
from compute.read_weights import split_read
from compute.sizing import ModelShape

FAR = laws.Load(100_000, 128)
"""A context and a state of everyday size: off the axis, so only its law can be shown."""

READ_LATEX = r"\hat v_j = S^\top k_j = v_j + \sum_{s \ne j} (k_s^\top k_j)\, v_s"
"""What a plain additive memory reads: the value, and crosstalk."""

CROSSTALK_LATEX = r"\text{crosstalk}\,/\,\text{signal} \approx \frac{n - 1}"
"""Its energy where keys are random, up to the width below the bar."""


TOPICS = (Topics.word, Ungated.word)

LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def rule_name(word: str) -> str:
    return word.replace("_", " ")


def phrases(question: Question, told: dict, rival: dict | None) -> dict[str, list[str]]:
    """Sentences with gaps for the numbers of a stop."""
    own, other = rule_name(question.rule), rule_name(question.duel)
    turns = f"{{}} writes under {KEYS_IN_TURN} keys:"
    alone, both = {
        "overwrite": (
            f"{turns} the newest values come back at cosine {{}}.",
            f"{turns} {own} reads the newest values at cosine {{}}, {other} at {{}} ({{}}).",
        ),
        **dict.fromkeys(
            TOPICS,
            (
                "After {} pairs, the current topic comes back at cosine {}.",
                f"After {{}} pairs, {own} reads the current topic at cosine {{}}, {other} at {{}} ({{}}).",
            ),
        ),
        "plain": (
            f"Of {{}} pairs the newest {RECENT} come back at {{}}, all of them at cosine {{}}.",
            f"Of {{}} pairs {own} reads the newest {RECENT} at {{}}, {other} at {{}}; "
            "all at cosine {} and {} ({}).",
        ),
    }.get(
        question.stream if question.rule != "additive" or question.stream != "plain" else "adding",
        (
            f"{{}} pairs in a memory {told['width']:,} wide come back at cosine {{}}.",
            f"{{}} pairs in a memory {told['width']:,} wide: {own} reads at cosine {{}}, {other} at {{}} ({{}}).",
        ),
    )
    crosstalk = "Crosstalk has {} the energy of the value: signal to noise {}."
    if question.rule != "additive":
        crosstalk = "On average a read holds {} of its value, and {} that energy in crosstalk."
    return {
        "headline": [both if rival else alone],
        "sentence": [f"Newest {{}}, oldest {{}}. {crosstalk}"],
        "apart": [f"read of pair {question.pair} after {{}} writes: {{}} of its own value, crosstalk {{}} its energy"],
    }


def said(question: Question, told: dict, rival: dict | None) -> dict[str, list]:
    """Headline and sentence a stop: the numbers that go into the phrases, or a whole text."""
    curve, width, most = told["curve"], told["width"], told["most"]
    headlines: list = ["An empty memory: write the first pair."]
    sentences: list = [""]
    for n in NS[1:]:
        at = min(n, most)
        mean, newest, oldest, energy, own = (curve[name][at] for name in ("mean", "newest", "oldest", "energy", "own"))
        if n > most and question.stream == "hand":
            headlines.append(f"There are {most} pairs by hand, and all are written.")
        elif n > most:
            headlines.append(f"{n} orthonormal keys do not fit into {width} dimensions; {most} read back exactly.")
        elif n == 1 and rival is None:
            headlines.append(f"One pair in a memory {width:,} wide comes back at cosine {decimals(mean)}.")
        else:
            headlines.append(_headline(question, told, rival, n, at))
        if question.stream == "hand" and question.pair <= at:
            sentences.append(_read_by_hand(question, at))
            continue
        noise = [] if question.rule != "additive" else [decimals(1 / energy) if energy > 1e-12 else "without limit"]
        sentences.append([decimals(newest), decimals(oldest), *_held(question, own), _times(energy, own), *noise])
    return {"headline": headlines, "sentence": sentences}


def _headline(question: Question, told: dict, rival: dict | None, n: int, at: int) -> list[str] | str:
    """The numbers that go into the phrase.  Rules that forget or correct are for what is recent: that comes first, once
    there is anything else."""
    mean, recent = told["curve"]["mean"][at], told["curve"]["recent"][at]
    against = [] if rival is None else _against(mean, rival["curve"]["mean"][at])
    if question.rule == "additive" or question.stream != "plain":
        return [str(n), decimals(mean), *against]
    if n > RECENT:
        both = [decimals(recent), *([] if rival is None else [decimals(rival["curve"]["recent"][at])])]
        return [str(n), *both, decimals(mean), *against]
    if rival is None:
        return f"{n} pairs in a memory {told['width']:,} wide come back at cosine {decimals(mean)}."
    here = f"{rule_name(question.rule)} reads at cosine {decimals(mean)}"
    there = f"{rule_name(question.duel)} at {against[0]} ({against[1]})"
    return f"{n} pairs in a memory {told['width']:,} wide: {here}, {there}."


def _held(question: Question, own: float) -> list[str]:
    return [] if question.rule == "additive" else [decimals(own)]


def _against(mean: float, other: float) -> list[str]:
    gap = mean - other
    return [decimals(other), "equal" if abs(gap) < 0.005 else f"{'+' if gap > 0 else ''}{decimals(gap)}"]


def _times(energy: float, own: float) -> str:
    """Crosstalk in energies of what the read holds of its own value."""
    return f"{decimals(energy / own**2, 1)}×" if own > 1e-6 else "any multiple of"


def taken_apart(pair: int, told: dict) -> list:
    """What stands over the split of one read, a frame each: the numbers that go into the phrase, or a whole text."""
    texts: list = []
    for n, own, rest in zip(told["at"], told["own"], told["rest"]):
        if n < pair:
            texts.append(f"pair {pair} is not written after {n}")
        else:
            texts.append([str(n), decimals(own), decimals(rest / own**2, 1) + "×" if own > 1e-6 else "far above"])
    return texts


def subject(question: Question, told: dict) -> str:
    if question.stream == Topics.word and "alpha" in WRITE_RULES[question.rule].uses:
        return " · a gate sets α to 0 where a topic ends"
    if told["most"] < WIDTH:
        return " · three pairs in two dimensions"
    if told["most"] < PAIRS:
        return f" · only {told['most']} orthonormal keys exist at width {WIDTH}"
    return f" · {told['empty']} of {PAIRS} keys have no features" if told["empty"] else ""


def room(question: Question, width: int, rows: int) -> str:
    """Where exact room ends, and by what name."""
    name = "d_φ" if width != WIDTH and question.keys == "phi" else "d"
    if rows > PAIRS:
        return f"exact room for {rows:,} pairs ends beyond this axis"
    if rows < width:
        return f"n = {rows} distinct of {width}: exact room ends"
    return f"n = {name} = {rows}: exact room ends"


def shape(told: dict) -> str:
    rows, columns = told["width"], told["d_v"]
    shown = min(WIDTH, rows), min(WIDTH, columns)
    return f"{rows:,} × {columns}" + ("" if shown == (rows, columns) else f", every {_nth(rows, columns)} shown")


def _nth(rows: int, columns: int) -> str:
    told = [f"{-(-size // WIDTH)}th {what}" for size, what in ((rows, "row"), (columns, "column")) if size > WIDTH]
    return " and ".join(told).replace("2th", "2nd").replace("3th", "3rd") or "entry enlarged"


def far() -> str:
    return f"{tokens(FAR.tokens_per_row)} a row, cosine {decimals(FAR.cosine, 3)}"


def overlaps(asked: Stream) -> str:
    """Mean squared cosine of two keys, measured and as the law takes it to be."""
    told = decimals(overlap(asked), 3)
    return told if asked.stream == "hand" else f"{told}, by the law {decimals(law_overlap(asked), 3)}"


def values(question: Question, rules: list[Rule], width: int) -> str:
    """Formulas beside the figures: the read by hand, or each rule's update with its dials and what it descends."""
    if question.stream == "hand":
        return mathml(_by_hand(question), "block")
    classes = [WRITE_RULES[rule.word] for rule in rules]
    if [rule.word for rule in rules] == ["additive"]:
        blocks = [
            READ_LATEX,
            *([rf"{CROSSTALK_LATEX}{{\underset{{{width}}}{{d}}}}"] if question.keys == "random" else []),
        ]
    else:
        blocks = [_dialled(known.latex, rule) for known, rule in zip(classes, rules)]
    blocks += [rf"\text{{one step down }}\ {_dialled(known.objective_latex, r)}" for known, r in zip(classes, rules)]
    return "".join(mathml(block, "block") for block in blocks)


def _dialled(latex: str, rule: Rule) -> str:
    """The formula with the dials of this rule under their symbols."""
    for symbol, value in ((r"\alpha_t", rule.alpha), (r"\beta_t", rule.beta)):
        latex = latex.replace(symbol, with_values([(symbol, f"{value:g}")]))
    return latex


def _split_by_hand(question: Question, n: int) -> tuple[list[list[str]], list[str], list[tuple[str, int]]]:
    """The memory after the first n writes, the chosen read, and the values in it with their weights, in print."""
    K, V, *_ = pairs(stream_of(question))
    word, alpha, beta = rule_of(question, question.rule)
    told = split_read(K, V, word, n, question.pair - 1, alpha=alpha, beta=beta)
    (S,) = states(K, V, word, [n], alpha=alpha, beta=beta)
    weights = [(_short(w), s) for s, w in enumerate(told.weights, 1) if abs(w) > 1e-12]
    return [[_short(x) for x in row] for row in S], [_short(x) for x in told.read], weights


def _read_by_hand(question: Question, n: int) -> str:
    S, read, weights = _split_by_hand(question, n)
    parts = " + ".join(f"v{_low(s)}" if w == "1" else f"{w}·v{_low(s)}" for w, s in weights).replace("+ −", "− ")
    rows = ", ".join(f"[{', '.join(row)}]" for row in S)
    return f"S = [{rows}]; key {question.pair} reads ({', '.join(read)}) = {parts}."


def _by_hand(question: Question) -> str:
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


@lru_cache(maxsize=64)
def load(shape: ModelShape, name: str) -> list[str]:
    """What the context of the chosen model would ask of each of its states."""
    states_of = {group.family.rows for group in shape.layers if group.family.rows}
    if not states_of:
        return [f"{name} has no state: its cache keeps every token apart." for _ in AXES["T"].stops]
    rows, told = max(states_of), []
    for T in AXES["T"].stops:
        of = laws.Load(int(T), rows)
        if rows > T:
            told.append(f"{tokens(T)} tokens leave each {rows}-wide state of {name} partly empty.")
        else:
            told.append(
                f"{tokens(T)} tokens are {tokens(of.tokens_per_row)} per row of each {rows}-wide state of {name}: "
                f"plain adding would read all of them at cosine {decimals(of.cosine, 3)}, so rules choose what to keep."
            )
    return told


def named(shares: list[float]) -> list[str]:
    """How many reads still name the right value, one text a frame of the state."""
    return ["" if np.isnan(share) else percent(share) for share in shares]
