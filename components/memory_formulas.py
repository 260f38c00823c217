"""Formulas beside the memory: what a read is made of, what each rule writes, and what theory says of n pairs."""

from __future__ import annotations

from components.formula import mathml, under_finger, with_values
from components.lesson import Question
from components.memory_by_hand import by_hand_latex
from components.memory_law import room
from components.memory_run import Rule, mapped, overlap, stream_of
from components.says import decimals
from compute.memory import WRITE_RULES

READ_LATEX = r"\hat v_j = S^\top k_j = v_j + \sum_{s \ne j} (k_s^\top k_j)\, v_s"
"""What a plain additive memory reads: the value, and crosstalk."""

WRITTEN = under_finger("n", "n")


def values(question: Question, rules: list[Rule], width: int) -> str:
    """Formulas beside the figures: the read by hand, or each rule's update with its dials, what it descends, and what
    the first of them leaves of n pairs."""
    if question.stream == "hand":
        return "".join(mathml(line, "block") for line in by_hand_latex(question))
    classes = [WRITE_RULES[rule.word] for rule in rules]
    plain = [rule.word for rule in rules] == ["additive"]
    blocks = [READ_LATEX] if plain else [_dialled(known.latex, rule) for known, rule in zip(classes, rules)]
    blocks += _law(question, rules[0], width)
    blocks += [rf"\text{{one step down }}\ {_dialled(known.objective_latex, r)}" for known, r in zip(classes, rules)]
    return "".join(mathml(block, "block") for block in blocks)


def _law(question: Question, rule: Rule, width: int) -> list[str]:
    """Energy of crosstalk after n writes of different keys where a law is known: orthonormal ones have none, whatever
    the rule, but there are only so many.  Of a rule that corrects, which has no law, what no memory of so many rows can
    miss by less."""
    if question.stream != "plain":
        return []
    if question.keys == "orthonormal":
        fit = rf"\min\left({WRITTEN},\ {with_values([('d', str(width))])}\right)"
        return [rf"\text{{crosstalk}} = 0,\ \text{{pairs kept apart}} = {fit}"]
    if WRITE_RULES[rule.word].corrects:
        rows = with_values([("d", f"{room(stream_of(question)):,}".replace(",", "{,}"))])
        return [rf"\text{{least miss of any write}} = \max\left(0,\ 1 - \frac{{{rows}}}{{{WRITTEN}}}\right)"]
    alike, others = _alike(question, width), rf"({WRITTEN} - 1)"
    if "alpha" not in WRITE_RULES[rule.word].uses:
        return [rf"\text{{crosstalk}}\,/\,\text{{signal}} \approx {others}\, {alike}"]
    alpha = with_values([(r"\alpha", f"{rule.alpha:g}")])
    kept = "" if rule.alpha == 1 else rf"\, \frac{{1 - {alpha}^{{2n}}}}{{n\, (1 - \alpha^2)}}"
    return [rf"\text{{crosstalk}} \approx {others}\, {alike}{kept}"]


def _alike(question: Question, width: int) -> str:
    """Mean squared cosine of two keys: by the law of their kind, or as features have it."""
    rows = with_values([("d", str(width))])
    if mapped(stream_of(question)):
        return with_values([(r"\overline{\cos^2}", decimals(overlap(stream_of(question)), 3))])
    if question.keys == "correlated":
        rho = with_values([(r"\rho", f"{question.rho:g}")])
        return rf"\left({rho}^2 + \frac{{(1 - \rho)^2}}{{{rows} - 1}}\right)"
    return rf"\frac{{1}}{{{rows}}}"


def _dialled(latex: str, rule: Rule) -> str:
    """The formula with the dials of this rule under their symbols."""
    for symbol, value in ((r"\alpha_t", rule.alpha), (r"\beta_t", rule.beta)):
        latex = latex.replace(symbol, with_values([(symbol, f"{value:g}")]))
    return latex
