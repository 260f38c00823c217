"""Every sentence and formula of the random features view, and the lengths and widths that it speaks of."""

from __future__ import annotations

import numpy as np

from components.axes import AXES
from components.formula import mathml, under_finger, with_values
from components.powers import powers
from components.random_features_sweep import WIDTHS, stored
from components.says import decimals, percent
from compute.feature_error import orthogonal_variance, positive_variance, usual_square

STOPS = np.array(AXES["r"].stops)
KINDS = ("positive", "trig")
D_PHI = 256
"""The width that numbers in words are given for: Performer's usual one."""

USUAL = WIDTHS.index(D_PHI)
WIDER = WIDTHS.index(4 * D_PHI)

LADDER = (16, 32, 64, 128, 256)
EXACT = STOPS.astype(float)
for _d in LADDER:  # a stop is a usual length to three decimals; its number of features is the exact one's
    EXACT[AXES["r"].index(usual_square(_d) ** 0.5)] = usual_square(_d) ** 0.5
EXACT.setflags(write=False)

LATEX = r"\phi(x) = e^{\Omega x - \|x\|^2 / 2} / \sqrt{d_\phi}"


def kept(d_k: int) -> np.ndarray:
    """Share of the variance that is left when directions are orthogonal in blocks of d_k, exactly."""
    return orthogonal_variance(STOPS, D_PHI, d_k) / positive_variance(STOPS, D_PHI)


def whole_features(needed: float) -> str:
    return powers(float(np.ceil(needed)))


def said(d_k: int) -> dict[str, list]:
    """Every string of the view, one a stop."""
    positive, trig = (stored()[0][kind] for kind in KINDS)
    left = kept(d_k)
    usual = {AXES["r"].index(usual_square(d) ** 0.5): f", usual at d_k = {d}" for d in LADDER}
    said: dict[str, list] = {
        name: []
        for name in ("headline", "sentence", "variance", "needed", "low", "negative", "four", "kept")
    }  # fmt: skip
    for i, r in enumerate(STOPS):
        one = float(positive_variance(EXACT[i]))
        said["headline"].append([little(positive.quantiles[i, USUAL, 2]), percent(positive.share[i, USUAL])])
        said["sentence"].append([f"{r:g}", usual.get(i, ""), little(one), little(one / D_PHI)])
        said["variance"].append(little(one / D_PHI))
        said["needed"].append(whole_features(one))
        said["low"].append(percent(positive.share[i, USUAL]))
        said["negative"].append(percent(trig.share[i, USUAL]))
        said["four"].append(percent(positive.error[i, WIDER] / positive.error[i, USUAL]))
        said["kept"].append(percent(left[i]))
    return said


def little(value: float) -> str:
    """Two decimals, or a power of ten where they would not show anything."""
    return decimals(value) if 0.01 <= abs(value) < 100 else powers(value)


def aside(d_k: int) -> str:
    square = usual_square(d_k)
    return f"‖q+k‖² is 2√d_k on average: {square:.3g} at d_k = {d_k}, or {square**0.5:.4g}²."


def made() -> str:
    made = stored()[1]
    return f"{made['draws']:,} draws, {made['date']}, NumPy {made['numpy']}"


def values(d_k: int) -> str:
    """The relative variance: at the length under the finger, and at the usual one of a head so wide."""
    usual = powers(float(f"{positive_variance(usual_square(d_k) ** 0.5, D_PHI):.3g}")).replace(",", "{,}")
    features = with_values([(r"d_\phi", str(D_PHI))])
    length, width = under_finger(r"\lVert q+k\rVert", "r"), with_values([("d_k", str(d_k))])
    blocks = (
        rf"\text{{relative variance}} = \frac{{\exp({length}^2) - 1}}{{{features}}}",
        rf"\text{{usually}}\ \frac{{\exp(2\sqrt{{{width}}}) - 1}}{{d_\phi}} = {usual}",
    )
    return "".join(mathml(block, "block") for block in blocks)
