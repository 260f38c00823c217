"""What is said of the way that is chosen: of the sum that divides, or of what stands in its place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from components.formula import mathml, under_finger
from components.normaliser_numbers import NEARBY, Numbers
from components.normaliser_said import SENTENCE, aside, said, values
from components.normaliser_ways import LOG_DECAYS, OWN, STOPS, TITLES, Way
from components.normaliser_wide import numbers
from components.powers import powers
from components.reel import Answer
from components.says import counted_tokens, decimals
from components.sharpness_answer import name_of
from components.view import props, texts
from components.words import WAYS
from compute.streams import DRAWS

SUM = WAYS[0]
"""The way that divides: the view's first, and what the others are beside."""

DOES = {
    "mlstm": "a floored division leaves the read at size",
    "retnet": "clamp and norm hold the read at size",
    "transnormer": "the norm holds the read at size",
    "lightning": "norm and gate leave the read at size",
}
"""What stands in the sum's place, and does to a read."""

BRINGS = {
    "mlstm": "never divides by less than one.",
    "retnet": "fades what is old; its norm undoes the clamp.",
    "transnormer": "A norm needs no sum, so φ may have any sign.",
    "lightning": "fades what is old, and a gate follows the norm.",
}
"""What else it does; of a way with its own map, what this map's layer does."""

NORM = r"\operatorname{norm}"
FLOOR = r"\max(|n_t^\top q_t|,\, 1)"
LATEX = {
    SUM: r"p_{ts} = \kappa_{ts} / \textstyle\sum_{r \le t} \kappa_{tr}",
    "mlstm": rf"o_t = S_t^\top q_t \,/\, {FLOOR}",
    "retnet": rf"o_t = {NORM}(S_t^\top q_t \,/\, {FLOOR})",
    "transnormer": rf"o_t = {NORM}(S_t^\top \phi(q_t))",
    "lightning": rf"o_t = \sigma(g_t) \odot {NORM}(S_t^\top \operatorname{{SiLU}}(q_t))",
}
DIVISORS = ("floor", "root")
FLOORED, ROOT = (
    under_finger(symbol, "tokens", f"normaliser.reel.{name}")
    for name, symbol in zip(DIVISORS, (FLOOR, r"\sqrt{\operatorname{mean}(x^2)}"))
)
NORMED = rf"{NORM}(x) = x \,/\, {ROOT}"
BESIDE_LATEX = {
    "mlstm": (r"n_t = \textstyle\sum_{s \le t} k_s", FLOORED),
    "retnet": (
        r"S_t = \underset{DECAYS}{\gamma}\, S_{t-1} + k_t v_t^\top",
        rf"n_t = \gamma\, n_{{t-1}} + k_t,\quad {FLOORED}",
        NORMED,
    ),
    "transnormer": (NORMED,),
    "lightning": (
        r"S_t = \underset{DECAYS}{\gamma}\, S_{t-1} + \operatorname{SiLU}(k_t) \operatorname{SiLU}(v_t)^\top",
        NORMED,
    ),
}
"""What the formula takes for known, a line each.  DECAYS: where γ of the heads stands."""

THICK, THIN = 3.2, 2.0


@lru_cache(maxsize=128)
def answer_of(phi: str, d_k: int, seed: int, way: str) -> Answer:
    """Headline, sentence and read-outs of the way, its formula, and which panel it is."""
    found = numbers(phi, d_k, seed)
    if way == SUM:
        told, sentence = said(found, d_k, seed), SENTENCE
        beside, formulas = aside(found), values(found)
    else:
        told, sentence = {**said(found, d_k, seed), **_said(way, found.ways)}, PHRASE
        beside = f"Its map is {name_of(OWN[way])}, whatever φ is, and it {BRINGS[way]}" if way in OWN else BRINGS[way]
        formulas = "".join(mathml(line.replace("DECAYS", _decays(way)), "block") for line in BESIDE_LATEX[way])
    own = found.ways[WAYS.index(way)]
    told |= {"size": [_size(x) for x in own.mid], "held": [_size(x) for x in own.newest]}
    nothing = [""] * len(STOPS)
    told |= {d: [powers(x) for x in own.divisors[d].tolist()] if d in own.divisors else nothing for d in DIVISORS}
    return {
        "normaliser.reel": told,
        "normaliser.phrases": {"sentence": [sentence]},
        "normaliser.texts": texts([("normaliser.aside", beside), *_titles(way, found)]),
        "normaliser.math": texts([("normaliser.formula", mathml(LATEX[way])), ("normaliser.values", formulas)]),
        "normaliser.props": props([
            (f"normaliser.way_{i}_{line}", "line_width", THICK if word == way else THIN)
            for i, word in enumerate(WAYS) for line in ("mid", "newest")
        ]),
    }  # fmt: skip


PHRASE = f"The middle one of {DRAWS} draws; nine in ten read at {{}}. φ divided by its sum {{}}."


def _said(way: str, ways: Sequence[Way]) -> dict[str, list]:
    own, divided = ways[WAYS.index(way)], ways[0]
    told: dict[str, list] = {"headline": [], "sentence": []}
    for i, t in enumerate(STOPS):
        after = f"After {counted_tokens(t)}"
        holds = f", with {decimals(own.newest[i])} of the newest value in it" * bool(np.isfinite(own.newest[i]))
        told["headline"].append(f"{after} {DOES[way]} {decimals(own.mid[i])}{holds}.")
        beside = "leaves most draws without a read"
        if np.isfinite(divided.mid[i]):
            beside = f"would read at size {decimals(divided.mid[i])}"
        low, high = decimals(own.low[i]), decimals(own.high[i])
        told["sentence"].append(["that size" if low == high else f"{low} to {high}", beside])
    return told


def _decays(way: str) -> str:
    """The least and the greatest γ of the heads."""
    if way not in LOG_DECAYS:
        return ""
    least, most = (f"{np.exp(of(LOG_DECAYS[way])):.4g}" for of in (np.min, np.max))
    return rf"\text{{{least} to {most}}}"


def _size(value: float) -> str:
    return decimals(value) if np.isfinite(value) else "not in most draws"


def _titles(way: str, found: Numbers) -> list[tuple[str, str]]:
    """Over the figures: what the sum would do, where another way is chosen, is said to be so."""
    divided = "" if way == SUM else "if divided: "
    negative = "" if found.positive else ", ○ where negative"
    share = f"weight on the newest token, and on the {NEARBY} newest"
    moves = f"how far one number moves a weight, median of {DRAWS} draws"
    if way != SUM:
        share, moves = (
            f"if divided: weight on the newest, and {NEARBY} newest",
            "if divided: how far one number moves a weight, median",
        )
    return [
        ("normaliser.denominator_title", f"{divided}denominator z·φ(q), this draw{negative}"),
        ("normaliser.share_title", share),
        ("normaliser.derivative_title", moves),
        *((f"normaliser.way_{i}_title", f"{'→ ' * (word == way)}{TITLES[word]}") for i, word in enumerate(WAYS)),
    ]
