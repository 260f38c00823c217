"""Every sentence and formula of the rank view."""

from __future__ import annotations

import numpy as np

from components.formula import mathml, under_finger, with_values
from components.lesson import Question
from components.rank_far import SEED, load
from components.rank_run import file_of
from components.rank_values import STOPS
from components.sharpness_run import name_of
from components.words import SOFTMAX
from compute.feature_maps import FeatureMap

SOFTMAX_LATEX = r"\operatorname{rank}\, e^{QK^\top/\sqrt{d_k}} \le N"
BOUND_LATEX = r"\operatorname{rank}\, \phi(Q)\phi(K)^\top \le d_\phi"
HALF = "rank.reel.half_said"
"""The column of the block's rows, N/2, at every stop."""

_COMMA = r",\ "
PROOF_LATEX = (
    r"e^{x_i x_j} = \sum_{m \ge 0} \frac{x_i^m x_j^m}{m!}",
    r"\det\big(x_i^m\big)_{i,\,m<n} = \prod_{i<j} (x_j - x_i) \ne 0",
)
"""Why softmax's kernel has full rank whatever floating point sees: a sum of squares whose first n vectors are the
columns of a Vandermonde matrix."""


def bound_latex(question: Question) -> str:
    """The bound by name: under the mask it holds for the outlined block alone."""
    if question.map is None:
        return SOFTMAX_LATEX
    return BOUND_LATEX.replace("{rank}", r"{rank}\text{ of block }") if question.mask == "causal" else BOUND_LATEX


def values(question: Question) -> str:
    """What bounds the rank, with its numbers: tokens, features, and what is distinct of these where not all are."""
    member = question.map
    if member is None:
        return "".join(mathml(latex, "block") for latex in PROOF_LATEX)
    width, bound = member.d_phi(question.d_k), member.rank_bound(question.d_k)
    masked = question.mask == "causal"
    limits = [under_finger(r"\frac{N}{2}", "N", HALF) if masked else under_finger("N", "N"), _under(r"d_\phi", width)]
    limits += [_under(r"\text{distinct monomials}", bound)] * (bound < width)
    what = r"\operatorname{rank}" + r"\text{ of block}" * masked
    return mathml(rf"{what} \le \min({_COMMA.join(limits)})", "block")


def _under(symbol: str, number: int) -> str:
    return with_values([(symbol, f"{number:,}".replace(",", "{,}"))])


def width(member: FeatureMap | None, d_k: int) -> str:
    if member is None:
        return "no finite number"
    width, bound = member.d_phi(d_k), member.rank_bound(d_k)
    return f"{width:,}" if width == bound else f"{width:,}, {bound:,} of them distinct"


def made() -> str:
    made = load()["made"]
    return f"computed {made['date']}, seed {SEED}, NumPy {made['numpy']}"


def found(question: Question) -> str:
    """Where the chosen map's singular values come from."""
    asked = question.map, question.d_k, question.seed, question.precision, question.mask
    if file := file_of(*asked):
        day, near = file.made(*asked)
        return f"computed {day}, kept to {100 * near:.1g} %"
    return "computed now"


def aside(question: Question) -> str:
    block = "The lower figure counts the outlined block." * (question.mask == "causal")
    rounded = "In float32 everything below about 10⁻⁷ is roundoff, and a tolerance down there counts it as rank."
    return " ".join(filter(None, (block, rounded * (question.precision == "float32"))))


def values_axis(question: Question) -> str:
    return "σᵢ / σ₁" + " of the masked matrix" * (question.mask == "causal")


def growth_axis(question: Question) -> str:
    return "rank" + " of the block" * (question.mask == "causal")


def counted_of(question: Question, N: int) -> int:
    """Rows of what the lower figure counts at N: the matrix, or under the mask the block below its diagonal."""
    return N if question.mask == "none" else N // 2


def bound_of(question: Question, N: int) -> int:
    """What its rank cannot exceed."""
    full, member = counted_of(question, N), question.map
    return full if member is None else min(full, member.rank_bound(question.d_k))


def subject(question: Question) -> str:
    return " · causal mask" * (question.mask == "causal") + " · float32" * (question.precision == "float32")


def phrases(question: Question) -> dict[str, list[str]]:
    name = name_of(question.map_word)
    has = "has" if question.precision == "float64" else "seems to have"  # roundoff counts as rank there
    if question.mask == "causal":
        passes = "passes" if question.precision == "float64" else "seems to pass"
        headline = f"Past to future, {name} {passes} rank {{}}; the masked matrix of {{}} tokens {has} rank {{}}."
    elif question.map is None:
        headline = f"The softmax kernel of {{}} tokens {has} rank {{}}{{}}."
    else:
        headline = f"The {name} kernel of {{}} tokens {has} rank {{}}{{}}; softmax reaches {{}}."
    beside = "; softmax passes {}" * (question.mask == "causal" and question.map is not None)
    return {
        "headline": [headline],
        "sentence": [f"From the first {{}} tokens to the last {{}}, rank {{}} passes the causal mask{beside}.{{}}"],
        "own": ["{} of {}"],
    }


def said(question: Question, counted: dict, grown: dict, blocks: np.ndarray) -> dict[str, list]:
    """The numbers that go into the phrases, a row for each stop and, within it, for each tolerance.

    counted: ranks of the matrix by map, [stops, tolerances]; grown: what the lower figure counts; blocks: ranks of the
    chosen map's block.
    """
    said: dict[str, list] = {"headline": [], "sentence": [], "own": [], "block": []}
    word, masked, alone = question.map_word, question.mask == "causal", question.map is None
    columns = (counted[word], blocks, grown[word], grown[SOFTMAX] if masked else counted[SOFTMAX])
    for N, *rows in zip(STOPS, *(column.tolist() for column in columns)):
        bound, all_, half = bound_of(question, N), str(N), str(N // 2)
        faint = f" The bound is {bound}."
        for rank, block, grows, soft in zip(*rows):
            own, passed, beside = str(rank), str(block), [] if alone else [str(soft)]
            if masked:
                said["headline"].append([passed, all_, own])
            else:
                said["headline"].append([all_, own, ": full" if rank == N else "", *beside])
            said["sentence"].append([half, half, passed, *beside * masked, faint if grows < bound else ""])
            said["own"].append([own, all_])
            said["block"].append([passed, half])
    return said
