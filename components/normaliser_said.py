"""What the normaliser says in words: headline, sentence and readouts at every stop."""

from __future__ import annotations

import numpy as np

from components.formula import mathml, under_finger
from components.ledger import claims
from components.normaliser_kept import beside_of
from components.normaliser_numbers import LOWEST, Numbers, T
from components.normaliser_ways import STOPS
from components.powers import PLAIN_BELOW, powers
from components.says import counted_tokens, decimals, percent
from components.sharpness_answer import name_of
from compute.arriving import power_of
from compute.streams import DRAWS

QUOTED = "C169"
LATE = 64
"""From so many tokens on a power of t is read off."""

SUM_TEXT = "normaliser.reel.den_text"
"""What is written beside the dot on the sum also stands under the sum's symbols."""

MEAN_TEXT = "normaliser.reel.mean_text"
"""And the mean of the draw's kernel values so far, of which this sum is t times as much."""

SENTENCE = (
    f"Over {DRAWS} draws the newest token gets {{}}. In a typical one a kernel value moves a weight by up to "
    "{}; a softmax score moves one by {}, and never by more than ¼."
)
NODES = (
    *("headline", "sentence", "spread", "newest", "near", "kernel", "score", "negative", "lost", "below"),
    *("walks", "short"),
)


def said(found: Numbers, d_k: int, seed: int) -> dict[str, list]:
    told: dict[str, list] = {node: [] for node in NODES}
    counts = {"lost": found.lost.tolist(), "negative": found.negative.tolist()}
    below = {name_of(slot): of.below.tolist() for slot, of in beside_of(d_k, seed).signed.items()}
    for i, t in enumerate(STOPS):
        counted = {node: f"{count[i]} of {DRAWS}" for node, count in counts.items()}
        counted["below"] = ", ".join(f"{name} {count[i]}" for name, count in below.items())
        counted["walks"] = f"identity: {below[name_of('identity')][i]} of {DRAWS} draws are below zero"
        for node, text in (counted | _at(i, t, found, counted["lost"])).items():
            told[node].append(text)
    return told


def _at(i: int, t: int, found: Numbers, lost: str) -> dict[str, str | list[str]]:
    net, gross, share, bands = found.net[i], float(found.gross[i]), found.share[i], found.bands
    low, mid, high = bands["share"][:, i].tolist()
    few, _, many = bands["denominator"][:, i].tolist()
    kernel, score = (moved(float(bands[b][1, i])) for b in ("kernel", "score"))
    sentence: str | list[str] = [_from_to(low, high), kernel, score]
    if t == 1:
        none = ", and in this draw there is none" * bool(gross == 0)
        sentence = f"A first token has nobody beside it: it gets all the weight there is{none}."
    if not np.isfinite(mid):
        sentence = (
            f"In {lost} draws too little is left to divide by, and a weight's derivative has no bound. "
            f"A softmax score moves a weight by {score}, and never by more than ¼."
        )
    return {
        "headline": _headline(t, float(net), gross, found.left[i], share),
        "sentence": sentence,
        "spread": f"{powers(few)} to {powers(many)}" if np.isfinite(few) else "0",
        "newest": percent(share),
        "near": percent(found.near[i]),
        "kernel": kernel,
        "score": score,
        "short": _short(1 - found.short[i] / net),
    }


def _from_to(low: float, high: float) -> str:
    """The share that the newest token gets in nine draws of ten."""
    least, most = percent(low), percent(high)
    if least == most:
        return f"{most} in nine of ten"
    return f"up to {most}" if 0 < low < 1e-3 else f"{least} to {most}"


def moved(value: float) -> str:
    """A derivative in words."""
    return "no limit" if not np.isfinite(value) else decimals(value) if value >= 1e-4 else powers(float(value))


def _short(by: float) -> str:
    """How much of a denominator few digits have lost; nothing for maps that are not summed so."""
    return "" if not np.isfinite(by) else f"{percent(by)} short" if by > 0.02 else "within 2 %"


def _headline(t: int, net: float, gross: float, left: float, share: float) -> str:
    after = f"After {counted_tokens(t)}"
    if gross == 0:
        return f"{after} every kernel value is zero: the read is 0/0."
    if not np.isfinite(share):
        return f"{after} signs leave {percent(abs(left))} of the kernel values: too little to divide by."
    return f"{after} the denominator is {powers(net)}, and the newest one gets {percent(share)} of the weight."


def aside(found: Numbers) -> str:
    if found.empty:
        return f"{found.empty} of {DRAWS} draws begin with 0/0: no feature of query and key meets."
    if not found.positive:
        return "Where signs leave almost nothing, no read is drawn."
    return "Toy vectors; a real layer's queries and keys are not independent."


def power(found: Numbers) -> str:
    """Powers of t with which the denominator and the newest token's share go, where there are such powers."""
    late, bands = T >= LATE, found.bands
    if not found.positive or not (bands["share"][1, late] > LOWEST).all():
        return ""
    grows, falls = (power_of(T[late], bands[b][1, late]) for b in ("denominator", "share"))
    return f"{decimals(grows)} and {decimals(falls)}"


def quoted() -> str:
    """The published spreads of gradients, from the ledger."""
    names = ("elu+1", "Performer", "softmax", "TransNormer")
    return ", ".join(f"{name} {value:.2f}" for name, value in zip(names, claims()[QUOTED].expected, strict=True))


def mean_of(kappa: float) -> str:
    """A mean kernel value, with the digits that t times it needs to be the sum that stands beside it."""
    text = f"{kappa:,.0f}" if 1000 <= abs(kappa) < PLAIN_BELOW else f"{kappa:.4g}"
    return powers(kappa) if "e" in text else text.replace("-", "−")


def values(found: Numbers) -> str:
    """The denominator as t times a mean, and a weight's derivative, with the numbers of the draw that the headline
    speaks of."""
    written = ((r"z_t^\top \phi(q)", SUM_TEXT), (r"\bar\kappa", MEAN_TEXT), (r"\sum\kappa", SUM_TEXT))
    denominator, mean, total = (under_finger(symbol, "tokens", text) for symbol, text in written)
    grows = rf"{denominator} = {under_finger('t', 'tokens')} \, {mean}"
    grows += "" if found.positive else r" \gtrless 0"
    moves = rf"\frac{{\partial p_s}}{{\partial \kappa_r}} = \frac{{\delta_{{sr}} - p_s}}{{{total}}}"
    return mathml(rf"{grows},\quad {moves}", "block")
