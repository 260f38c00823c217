"""Formulas beside the memory: what a read is made of, and what each rule writes."""

from __future__ import annotations

from components.formula import mathml, under_finger, with_values
from components.lesson import Question
from components.memory_by_hand import by_hand_latex
from components.memory_run import Rule
from compute.memory import WRITE_RULES

READ_LATEX = r"\hat v_j = S^\top k_j = v_j + \sum_{s \ne j} (k_s^\top k_j)\, v_s"
"""What a plain additive memory reads: the value, and crosstalk."""

CROSSTALK_LATEX = rf"\text{{crosstalk}}\,/\,\text{{signal}} \approx \frac{{{under_finger('n', 'n')} - 1}}"
"""Its energy where keys are random, up to the width below the bar."""


def values(question: Question, rules: list[Rule], width: int) -> str:
    """Formulas beside the figures: the read by hand, or each rule's update with its dials and what it descends."""
    if question.stream == "hand":
        return mathml(by_hand_latex(question), "block")
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
