"""What theory says of the panels of a sweep's picture: laws, lines, marks, and the sentences that hold both together.

Formulas are those of `compute`; here is only where they are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import numpy as np

from components.recall_found import NINE, cache_bytes, state_bytes
from components.says import decimals, tokens
from components.sharpness_run import name_of
from components.sweep_shown import Lines, Panel
from compute.cost import intermediate_bytes
from compute.feature_error import positive_variance
from compute.memory_laws import mean_cosine, told_apart
from compute.sizing.units import human_bytes
from compute.sweeps.rank_curves import MAPS, bound
from compute.sweeps.trained_recall import cache_tokens

LEVELS = (0.9, 0.7, 0.5, 0.3)
FINE = 400
"""Places at which a line is asked for between the ends of an axis."""

ADDITIVE = "additive"


def _panel(panels: list[Panel], value: object) -> Panel | None:
    """The panel of a value, if anything of it was computed."""
    return next((panel for panel in panels if panel.value == value and np.isfinite(panel.values).any()), None)


def _apart(panel: Panel, law: np.ndarray) -> str:
    """The furthest that law and numbers are from each other."""
    return decimals(float(np.nanmax(np.abs(law - panel.values))), 3)


# Crosstalk


def cosine_law(panel: Panel) -> np.ndarray | None:
    """Mean cosine of a plain additive memory; for the other rules none is drawn."""
    if panel.value != ADDITIVE:
        return None
    return np.array([mean_cosine(np.maximum(1, np.asarray(panel.across) * d), 1 / d) for d in panel.up])


def cosine_lines(panel: Panel) -> Lines:
    """Where that law reaches each level: the same load at every width, but for n − 1; NaN where it does not."""
    if panel.value != ADDITIVE:
        return []
    loads = np.linspace(panel.across[0], panel.across[-1], FINE)
    laws = [-mean_cosine(np.maximum(1, loads * d), 1 / d) for d in panel.up]
    return [([np.interp(-level, law, loads, np.nan, np.nan) for law in laws], panel.up) for level in LEVELS]


def crosstalk_says(panels: list[Panel]) -> str:
    panel = _panel(panels, ADDITIVE)
    if panel is None:
        return ""
    return (
        f"The additive rule's law for wide values and this sweep differ by at most {_apart(panel, cosine_law(panel))}."
    )


# Random features


def error_lines(panel: Panel) -> Lines:
    """Where the exact standard error of independent positive features is as large as the value itself."""
    if panel.value != "positive":
        return []
    lengths = np.linspace(panel.across[0], panel.across[-1], FINE)
    return [(lengths, positive_variance(lengths))]


def features_say(panels: list[Panel]) -> str:
    panel = _panel(panels, "positive")
    if panel is None:
        return ""
    lengths = np.linspace(0, 8, 8_001)  # whatever part of them the picture shows
    widths = positive_variance(lengths)
    few, many = (decimals(float(np.interp(d, widths, lengths)), 1) for d in (panel.up[0], panel.up[-1]))
    return (
        "By their exact variance, independent positive features are off by as much as the value itself at ‖q+k‖ = "
        f"{few} with {tokens(panel.up[0])} of them, and at {many} with {tokens(panel.up[-1])}."
    )


# Recall


def recall_law(panel: Panel) -> np.ndarray | None:
    """Share of pairs that a plain additive memory tells apart; no law is known for rules that correct."""
    if panel.value != ADDITIVE:
        return None
    return np.array([told_apart(panel.across, d, panel.taken["d_v"]) for d in panel.up])


def a_pair_a_row(panel: Panel) -> Lines:
    """As many pairs as rows: beyond, no state of that width reads all of them exactly, however it is written."""
    return [(widths := np.geomspace(panel.up[0], panel.up[-1], FINE), widths)]


def rows_without_law(panel: Panel) -> Lines:
    return [] if panel.value == ADDITIVE else a_pair_a_row(panel)


def cache_line(panel: Panel) -> Lines:
    """Where a cache of all pairs has as many bytes as the state."""
    d_v = panel.taken["d_v"]
    return _widths(panel, lambda d: state_bytes(d, d_v) / cache_bytes(1, d, d_v))


def _widths(panel: Panel, pairs: Callable[[int], float]) -> Lines:
    """At every whole width the pairs that it is equal to."""
    widths = np.arange(panel.up[0], panel.up[-1] + 1)
    return [([pairs(int(d)) for d in widths], widths)]


def kept(panel: Panel) -> list[list[str]]:
    d_v = panel.taken["d_v"]
    return panel.each(lambda d, n: f"{human_bytes(state_bytes(d, d_v), 3)}, {human_bytes(cache_bytes(n, d, d_v), 3)}")


def recall_says(panels: list[Panel]) -> str:
    panel = _panel(panels, ADDITIVE)
    if panel is None:
        return ""
    computed = [d for d, row in zip(panel.up, panel.values) if np.isfinite(row).all()]
    if not computed:
        return ""
    d_v, d = panel.taken["d_v"], computed[len(computed) // 2]
    shares = zip(panel.across, panel.values[panel.up.index(d)])
    nine = [n for n, _ in takewhile(lambda told: told[1] >= NINE, shares)]
    same = state_bytes(d, d_v) / cache_bytes(1, d, d_v)
    reach = f"keeps nine in ten up to {nine[-1]:,}" if nine else f"keeps nine in ten of fewer than {panel.across[0]:,}"
    return (
        f"Values are {d_v} wide. Law and sweep of the additive rule differ by at most "
        f"{_apart(panel, recall_law(panel))}; with it a state {d} wide has the bytes of a cache of {same:.0f} pairs "
        f"and {reach}."
    )


# Trained recall


def layer_bytes(panel: Panel, d_k: int) -> int:
    """Bytes of the state of one layer in float32; these models keep no normaliser."""
    return intermediate_bytes(1, d_k, panel.question["d"], "right")


def layer_rows(panel: Panel) -> Lines:
    return [] if panel.value == "softmax" else a_pair_a_row(panel)


def layer_line(panel: Panel) -> Lines:
    """Where softmax's cache has as many bytes as the state, in each layer and so in a hybrid too."""
    if panel.value == "softmax":
        return []
    return _widths(panel, lambda d: layer_bytes(panel, d) / cache_bytes(cache_tokens(1), d, panel.question["d"]))


def layer_keeps(panel: Panel) -> list[list[str]]:
    """What a layer of this mixer keeps; of a hybrid both kinds."""

    def told(d_k: int, n: int) -> str:
        state = f"state {human_bytes(layer_bytes(panel, d_k), 3)}"
        cache = f"cache {human_bytes(cache_bytes(cache_tokens(n), d_k, panel.question['d']), 3)}"
        return {"softmax": cache, "hybrid": f"{state} or {cache}"}.get(panel.value, state)

    return panel.each(told)


def trained_say(panels: list[Panel]) -> str:
    told = []
    for panel in panels:
        at_rows = [row[panel.across.index(d)] for d, row in zip(panel.up, panel.values) if d in panel.across]
        shares = [float(share) for share in at_rows if np.isfinite(share)]
        if shares and panel.value not in ("softmax", "hybrid"):
            low, high = (decimals(share) for share in (min(shares), max(shares)))
            told.append(f"{panel.value.replace('_', ' ')} {low if low == high else f'{low} to {high}'}")
    if not told:
        return ""
    return (
        f"At a pair for each row of one layer's state, the most that it can keep exactly, recall is {', '.join(told)}."
        f"{_practised(panels[0])}"
    )


def _practised(panel: Panel) -> str:
    """How long the sequences of training were, and which of the test are longer."""
    trained = sorted(panel.question["trained"])
    beyond = [n for n in panel.across if n > trained[-1]]
    longer = f"; {_listed(beyond)} {'are' if len(beyond) > 1 else 'is'} beyond training" if beyond else ""
    return f" Training had sequences of {_listed(trained)} pairs{longer}."


def _listed(counts: list[int]) -> str:
    """`8, 32 and 64`."""
    *first, last = map(tokens, counts)
    return f"{', '.join(first)} and {last}" if first else last


# Rank


def rank_law(panel: Panel) -> np.ndarray:
    return np.array(panel.each(lambda word, N: bound(word, panel.value, N)), dtype=float)


def rank_turns(panel: Panel) -> list[int | None]:
    """The first N that a map's features do not fill."""
    return [next((i for i, N in enumerate(panel.across) if most[i] < N), None) for most in rank_law(panel)]


def rank_aside(panel: Panel) -> list[str]:
    """The bound of each row's map."""
    most = [None if MAPS[word] is None else MAPS[word].rank_bound(panel.value) for word in panel.up]
    return ["≤ N" if limit is None else f"≤ {limit:,}" for limit in most]


def rank_says(panels: list[Panel]) -> str:
    cells = [
        (value / most, value, panel.value, panel.up[j], panel.across[i])
        for panel in panels
        for (j, i), most in np.ndenumerate(rank_law(panel))
        if np.isfinite(value := panel.values[j, i])
    ]
    if not cells:
        return ""
    met = sum(share == 1 for share, *_ in cells)
    most = "No rank exceeds" if max(cells)[0] <= 1 else "Some ranks exceed"
    least, rank, d_k, word, N = min(cells)
    told = [f"{most} the bound min(N, d_φ), and {met} of {len(cells)} reach it."]
    if least < 1:
        told.append(f"Furthest below: {name_of(word)} at d_k = {d_k} and N = {N:,} counts {rank:,g}.")
    drawn = [(name_of(word), m) for word in panels[0].up if (m := getattr(MAPS[word], "m", None))]
    return " ".join([*told, *(f"{name} has m = {m:,} directions here." for name, m in drawn)])
