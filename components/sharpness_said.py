"""Sentences, names and formulas of sharpness."""

from __future__ import annotations

import re

import numpy as np

from components.formula import mathml, under_finger, with_values
from components.lesson import Question
from components.plots import spread
from components.says import decimals, percent
from components.sharpness_run import DRAWS, KEYS, STOPS, name_of
from components.words import SOFTMAX
from compute.feature_maps import FEATURE_MAPS, FeatureMap
from compute.sharpness import misplaced, summary


def subject(question: Question) -> str:
    if question.row is not None:
        return f" · the query is row {question.row} of Q"
    told = "" if question.match == 1 else f" · match ρ = {question.match:g}"
    return told + (f" · draw {question.single} of {DRAWS}" if question.single else "")


def end_name(word: str, told: dict) -> str:
    if word != SOFTMAX and FEATURE_MAPS[word].homogeneity is not None:
        return f"{name_of(word)} · flat"
    return name_of(word) if np.isfinite(told["limit"]) else f"{name_of(word)} · no limit"


def weight_latex(word: str) -> str:
    if word == SOFTMAX:
        return r"w_s \propto \exp(c\, q^\top k_s / \sqrt{d_k})"
    return r"w_s \propto \phi(c\, q)^\top \phi(k_s)"


def map_math(member: FeatureMap | None, d_k: int) -> str:
    """The map, and what both sides are multiplied by before it, so that q·k becomes softmax's q·k/√d_k."""
    scaled = rf"{with_values([('d_k^{-1/4}', f'{d_k**-0.25:.3g}')])}\, {under_finger('c', 'c')}\, q"
    temperature = rf"c\, q \to {scaled},\quad k_s \to d_k^{{-1/4}}\, k_s"
    own = "" if member is None else mathml(_with_knobs(member), "block")
    return own + mathml(temperature, "block")


def _with_knobs(member: FeatureMap) -> str:
    """LaTeX of a map with its own knobs' numbers under their symbols."""
    told = member.latex
    for knob, symbol in (("m", "m"), ("nu", r"\nu")):
        if hasattr(member, knob):
            under = with_values([(symbol, f"{getattr(member, knob):,}".replace(",", "{,}"))])
            told = re.sub(rf"(?<![\\A-Za-z]){re.escape(symbol)}(?![A-Za-z])", under.replace("\\", r"\\"), told)
    return told


def said(word: str, own: dict, soft: dict, match: int, question: Question, quantiles: np.ndarray) -> dict[str, list]:
    """Every string of the view, one a stop."""
    name = name_of(word)
    own_summary, soft_summary = (summary(b["weight"].astype(float)) for b in (own, soft))
    wrong = misplaced(own["weight"].astype(float), soft["weight"].astype(float))
    told: dict[str, list] = {
        k: [] for k in ("headline", "sentence", "label", "label_y", "entropy", "effective", "top", "misplaced", "order")
    }
    there = np.isfinite(own["weight"])
    floors = np.where(there.any(axis=1), np.max(own["weight"], axis=1, where=there, initial=-np.inf), 0.0)
    tips = np.nan_to_num(own["match"])
    for i in range(len(STOPS)):
        s, w = soft["match"][i], own["match"][i]
        if np.isnan(w):
            told["headline"].append(
                f"Softmax puts {percent(s)} of its weight on the matching key; {name}’s scores nearly cancel."
            )
        else:
            told["headline"].append([percent(s)] if word == SOFTMAX else [percent(s), percent(w)])
        told["sentence"].append(_aside(quantiles[:, i], own["left"][i]))
        above = max(tips[i], floors[i]) + 0.07  # of all bars of the map; softmax's name stands higher if its bar does
        lines = spread([max(s, above + 1e-6) if s > tips[i] else s, above], 0.13, 0.13, 1.02)
        own_label = "" if word == SOFTMAX else f"{name} {'undefined' if np.isnan(w) else percent(w)}"
        told["label"].append([f"softmax {percent(s)}", own_label])
        told["label_y"].append(lines)
        told["entropy"].append(_beside(own_summary.entropy[i], soft_summary.entropy[i], word, " nats"))
        told["effective"].append(_beside(own_summary.effective[i], soft_summary.effective[i], word, f" of {KEYS}"))
        told["top"].append(percent(own_summary.top[i]))
        draws = "" if question.map is None or not question.map.random else _draws(own["wrong"][:, i])
        told["misplaced"].append(percent(wrong[i]) + draws)
        told["order"].append(decimals(own["order"][i]))
    told["label_y"] = np.asarray(told["label_y"], dtype=np.float32)
    return told


def _draws(ends: np.ndarray) -> str:
    return "" if np.isnan(ends).any() else f" by their medians · draws {percent(ends[0])} to {percent(ends[1])}"


def _beside(own: float, soft: float, word: str, unit: str) -> list[str]:
    """The numbers of a read-out: this map's, and softmax's for comparison."""
    text = f"{decimals(own)}{unit}" if np.isfinite(own) else "undefined"
    return [text] if word == SOFTMAX else [text, decimals(soft)]


def phrases(question: Question, seeds: int) -> dict[str, list[str]]:
    """The sentences of this map, with gaps for the numbers of a stop."""
    word, member = question.map_word, question.map
    soft = "Softmax puts {} of its weight on the matching key"
    about = ""
    if member is not None and member.homogeneity is not None:
        about = " Scaling the query changes nothing."
    elif question.single:
        about = f" Bars: draw {question.single}, whiskers the range of {DRAWS} draws."
    elif member is not None and member.random:
        about = f" Bars: median of {DRAWS} feature draws, whiskers their range."
    elif member is not None and member.positivity == "no":
        about = " After signs cancel {} of the scores is left."
    return {
        "headline": [f"{soft}." if word == SOFTMAX else f"{soft}; {name_of(word)} puts {{}}."],
        "sentence": [f"Over {seeds} draws {{}}, 5 to 95 % of them {{}} to {{}}.{about}"],
        "beside": ["{}" if word == SOFTMAX else "{} · softmax {}"],
    }


def _aside(quantiles: np.ndarray, left: float) -> list[str] | str:
    """What stands beside the draw: the numbers of the band over other draws."""
    low, middle, high = quantiles
    if not np.isfinite(middle):
        return "In most other draws, too, the denominator is nearly zero."
    return [percent(middle), percent(low), percent(high), percent(left)]
