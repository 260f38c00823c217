"""What sharpness says: weights of every map at every stop, and the sentences about them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from components.axes import AXES
from components.formula import mathml
from components.lesson import Question
from components.plots import spread
from components.reel import Answer
from components.says import decimals, percent
from components.view import props, texts
from components.words import PHIS, SOFTMAX
from compute.feature_maps import FEATURE_MAPS, FeatureMap, read_member
from compute.sharpness import UNDEFINED_BELOW, limit_weights, match_weights, misplaced, spread_over_seeds, summary
from compute.toys import queries_and_keys

KEYS = 32
MATCH = 11
"""The key that the toy query is a copy of."""

DRAWS = 10
STOPS = np.asarray(AXES["c"].stops)
END, LIMIT_END, TICK_AT, LABEL_AT, EDGE = 16, 22, 28, 31, 110
"""On the axis of sharpness: where curves end, where limits end, where colour ticks and names stand, where it ends."""


@lru_cache(maxsize=256)
def toy(d_k: int, seed: int, row: int | None) -> tuple[np.ndarray, np.ndarray, int]:
    """The query, the keys and the index of the key that matches.

    A row of the kernel matrix may be the query; its match is then the key with the largest score.
    """
    Q, K = queries_and_keys(d_k, seed)
    keys = K[:KEYS]
    if row is None:
        return keys[MATCH], keys, MATCH
    return Q[row], keys, int(np.argmax(keys @ Q[row]))


@lru_cache(maxsize=512)
def bars(phi: FeatureMap | None, d_k: int, seed: int, row: int | None) -> dict[str, np.ndarray]:
    """Weights [C, 32] of one map: the draw itself, or for a random map the median and range of ten draws."""
    q, K, match = toy(d_k, seed, row)
    w, left = match_weights(phi, q, K, STOPS, draws=DRAWS)
    w = np.where((left < UNDEFINED_BELOW)[..., None], np.nan, w)
    limit = limit_weights(phi, q, K, draws=DRAWS)[..., match]
    if w.ndim == 3:
        defined = np.mean(~np.isnan(w[..., 0]), axis=0) > 0.5
        with np.errstate(all="ignore"):
            low, middle, high = (np.where(defined[:, None], _over(w, at), np.nan) for at in (0, 0.5, 1))
            limit = float(np.median(limit))
    else:
        middle, low, high = w, *np.full((2, len(w), 1), np.nan)  # no whiskers: a short row leaves the rest empty
    return {
        "weight": middle.astype(np.float32),
        "low": low.astype(np.float32),
        "high": high.astype(np.float32),
        "left": np.median(left, axis=0) if left.ndim == 2 else left,
        "match": middle[:, match],
        "limit": np.float64(limit if np.isfinite(middle[-1, match]) else np.nan),  # no weights, no limit to draw
    }


def _over(w: np.ndarray, at: float) -> np.ndarray:
    """Quantile over draws; a draw without a denominator counts as the lowest."""
    return np.quantile(np.where(np.isnan(w), -np.inf, w), at, axis=0, method="nearest")


@lru_cache(maxsize=512)
def spread_of(phi: FeatureMap | None, d_k: int) -> tuple[np.ndarray, int]:
    told = spread_over_seeds(phi, d_k, STOPS)
    return told.quantiles, told.seeds


def members(question: Question) -> dict[str, FeatureMap | None]:
    """Every map of the selector at its default, the chosen one with its knobs."""
    told: dict[str, FeatureMap | None] = {SOFTMAX: None, **{word: read_member(word) for word in FEATURE_MAPS}}
    told[question.map_word] = question.map
    return told


def name_of(word: str) -> str:
    return SOFTMAX if word == SOFTMAX else FEATURE_MAPS[word].label


def answer(question: Question) -> Answer:
    return _answer(question.phi, question.d_k, question.seed, question.row)


@lru_cache(maxsize=256)
def _answer(phi: str, d_k: int, seed: int, row: int | None) -> Answer:
    question = Question(phi=phi, d_k=d_k, seed=seed, row=row)
    word = question.map_word
    every = {w: bars(member, d_k, seed, row) for w, member in members(question).items()}
    own, soft, match = every[word], every[SOFTMAX], toy(d_k, seed, row)[2]
    ends = {w: b["limit"] if np.isfinite(b["limit"]) else b["match"][-1] for w, b in every.items()}
    drawn = [w for w in PHIS if np.isfinite(ends[w])]
    heights = dict(zip(drawn, spread([ends[w] for w in drawn], 0.104, 0.0, 1.02)))
    left = match > 2 * KEYS // 3
    return {
        "sharpness.bars": {"key": np.arange(KEYS)},
        "sharpness.phrases": _phrases(word, spread_of(question.map, d_k)[1], question.map),
        "sharpness.labels": {"x": np.full(2, match - 0.7 if left else match + 0.7)},
        "sharpness.reel": {
            "c": STOPS,
            **{column: own[column] for column in ("weight", "low", "high")},
            "softmax": soft["weight"],
            **_said(word, own, soft, match, question),
        },
        "sharpness.curves": {"c": STOPS, **{w: b["match"] for w, b in every.items()}},
        "sharpness.ends": {
            "word": list(PHIS),
            "text": [name_of(w) if w in heights else "" for w in PHIS],
            "x": np.full(len(PHIS), LABEL_AT, dtype=float),
            "y": np.array([heights.get(w, np.nan) for w in PHIS]),
            "limit": np.array([np.clip(every[w]["limit"], 0, 1) for w in PHIS]),
            "from": np.full(len(PHIS), END, dtype=float),
            "to": np.full(len(PHIS), LIMIT_END, dtype=float),
            "tick": np.full(len(PHIS), TICK_AT, dtype=float),
        },
        "sharpness.props": props(
            [
                ("sharpness.weight", "fill_color", f"slot:{word}"),
                ("sharpness.whisker", "line_color", f"slot:{word}"),
                ("sharpness.names", "text_align", "right" if left else "left"),
                *((f"sharpness.curve.{w}", "line_width", 3.2 if w == word else 1.6) for w in PHIS),
            ]
        ),
        "sharpness.texts": texts(
            [("sharpness.subject", "" if row is None else f" · the query is row {row} of Q"), ("sharpness.aside", "")]
        ),
        "sharpness.math": texts(
            [("sharpness.formula", mathml(_weight_latex(word))), ("sharpness.values", _map_math(word))]
        ),
    }


def _weight_latex(word: str) -> str:
    if word == SOFTMAX:
        return r"w_s \propto \exp(c\, q^\top k_s / \sqrt{d_k})"
    return r"w_s \propto \phi(c\, q)^\top \phi(k_s)"


def _map_math(word: str) -> str:
    return "" if word == SOFTMAX else mathml(FEATURE_MAPS[word].latex, "block")


def _said(word: str, own: dict, soft: dict, match: int, question: Question) -> dict[str, list]:
    """Every string of the view, one a stop."""
    name, member = name_of(word), question.map
    quantiles, seeds = spread_of(member, question.d_k)
    own_summary, soft_summary = (summary(b["weight"].astype(float)) for b in (own, soft))
    wrong = misplaced(own["weight"].astype(float), soft["weight"].astype(float))
    said: dict[str, list] = {
        k: [] for k in ("headline", "sentence", "label", "label_y", "entropy", "effective", "top", "misplaced")
    }
    for i in range(len(STOPS)):
        floor = np.nanmax(own["weight"][i]) if np.isfinite(own["weight"][i]).any() else 0.0
        s, w = soft["match"][i], own["match"][i]
        if np.isnan(w):
            said["headline"].append(
                f"Softmax puts {percent(s)} of its weight on the matching key; {name}’s scores nearly cancel."
            )
        else:
            said["headline"].append([percent(s)] if word == SOFTMAX else [percent(s), percent(w)])
        said["sentence"].append(_aside(member, quantiles[:, i], seeds, own["left"][i]))
        tip = np.nan_to_num(w)
        lines = spread([s, max(tip, floor) + 0.07], 0.13, 0.13, 1.02)
        own_label = "" if word == SOFTMAX else f"{name} {'undefined' if np.isnan(w) else percent(w)}"
        said["label"].append([f"softmax {percent(s)}", own_label])
        said["label_y"].append(lines)
        said["entropy"].append(_beside(own_summary.entropy[i], soft_summary.entropy[i], word, " nats"))
        said["effective"].append(_beside(own_summary.effective[i], soft_summary.effective[i], word, f" of {KEYS}"))
        said["top"].append(percent(own_summary.top[i]))
        said["misplaced"].append(percent(wrong[i]))
    said["label_y"] = np.asarray(said["label_y"], dtype=np.float32)
    return said


def _beside(own: float, soft: float, word: str, unit: str) -> str:
    text = f"{decimals(own)}{unit}" if np.isfinite(own) else "undefined"
    return text if word == SOFTMAX else f"{text} · softmax {decimals(soft)}"


def _phrases(word: str, seeds: int, member: FeatureMap | None) -> dict[str, list[str]]:
    """The sentences of this map, with gaps for the numbers of a stop."""
    soft = "Softmax puts {} of its weight on the matching key"
    about = ""
    if member is not None and member.homogeneity is not None:
        about = " Scaling the query changes nothing."
    elif member is not None and member.random:
        about = f" Bars: median of {DRAWS} feature draws, whiskers their range."
    elif member is not None and member.positivity == "no":
        about = " After signs cancel {} of the scores is left."
    return {
        "headline": [f"{soft}." if word == SOFTMAX else f"{soft}; {name_of(word)} puts {{}}."],
        "sentence": [f"Over {seeds} draws {{}}, 5 to 95 % of them {{}} to {{}}.{about}"],
    }


def _aside(member: FeatureMap | None, quantiles: np.ndarray, seeds: int, left: float) -> list[str] | str:
    """What stands beside the draw: the numbers of the band over other draws."""
    low, middle, high = quantiles
    if not np.isfinite(middle):
        return f"In most of {seeds} draws the denominator is nearly zero."
    return [percent(middle), percent(low), percent(high), percent(left)]
