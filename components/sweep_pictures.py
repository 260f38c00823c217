"""Which sweep is drawn on which page.  One more picture is one more entry."""

from __future__ import annotations

import numpy as np

from components.says import short_tokens, tokens
from components.sharpness_run import name_of
from components.sweep_columns import Picture
from compute.feature_error import positive_variance
from compute.memory_laws import mean_cosine

LEVELS = (0.9, 0.7, 0.5, 0.3)


def _additive(panel: str, across, up):
    """Where the law of a plain additive memory reaches each level: the same load at every width, but for n − 1."""
    if panel != "additive":
        return []
    loads = np.linspace(across[0], across[-1], 400)
    lines = []
    for level in LEVELS:
        at = [np.interp(-level, -mean_cosine(np.maximum(1, loads * d), 1 / d), loads) for d in up]
        lines.append((at, up))
    return lines


def _exact(kind: str, across, up):
    """Where the exact standard error of independent positive features is as large as the value itself."""
    if kind != "positive":
        return []
    lengths = np.linspace(across[0], across[-1], 400)
    return [(lengths, positive_variance(lengths))]


def clocked(ms: float) -> str:
    """`53 µs`, `0.24 ms`, `33 ms`, `0.59 s`: never wider than its cell."""
    if ms < 0.0995:
        return f"{1e3 * ms:.2g} µs"
    return f"{ms / 1e3:.2g} s" if ms >= 500 else f"{ms:.2g} ms" if ms < 99.5 else f"{ms:.0f} ms"


PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            sweep="crosstalk", view="memory", title="Every width, every load: mean cosine of all stored pairs",
            array="cosine", at={"quantile": 0.5}, panels="rule", across="load", up="d",
            across_label="pairs n / d", up_label="width d", value_label="mean cosine",
            contours=LEVELS, theory=_additive, theory_label="law of the additive rule",
            heading=lambda rule: rule.replace("delta_full", "delta, β = 1").replace("_", " "),
        ),
        Picture(
            sweep="recall", view="recall", title="Share of pairs whose nearest stored value is the right one, d_v = 64",
            array="recall", at={"d_v": 64}, panels="rule", across="n", up="d_phi",
            across_label="pairs n", up_label="width d_φ", value_label="recall",
            contours=(0.9, 0.5), heading=lambda rule: rule.replace("delta_full", "delta, β = 1").replace("_", " "),
        ),
        Picture(
            sweep="trained-recall", view="recall",
            title="Trained models of four layers: keys answered with their value, by pairs in the sequence",
            array="recall", over={"rate": np.nanmax, "draw": np.nanmean}, panels="mixer", across="n", up="d_k",
            across_label="pairs n", up_label="width d_k", value_label="recall",
            contours=(0.9, 0.5),
            heading=lambda mixer: mixer.replace("_", " ").replace("hybrid", "3 gated delta, 1 softmax"),
        ),
        Picture(
            sweep="random-features", view="random-features", title="Mean |estimate ÷ true value − 1|",
            array="error", every={"r": 5}, panels="kind", across="r", up="d_phi",
            across_label="‖q+k‖", up_label="features d_φ", value_label="mean error",
            tick=lambda value: f"{value:.2g}" if value < 10 else f"{value:,.0f}",
            marks=(0.01, 0.1, 1), contours=(0.1, 0.5, 1.0),
            theory=_exact, theory_label="standard error as large as the value",
            level=lambda error: (np.log10(error) + 2) / 2.3,
            heading=lambda kind: kind.replace("trig", "trigonometric").replace("orthogonal_", "orth., d_k = "),
        ),
        Picture(
            sweep="times", view="bracketing", title="Median time of one call (fla: kernels of flash-linear-attention)",
            array="ms", panels="heads", across="T", up="form",
            across_label="context T", up_label="form", value_label="time",
            shown=clocked, level=lambda ms: (np.log10(ms) + 1.5) / 4.5, written=True, height=310,
            heading=lambda heads: "one head" if heads == 1 else f"{heads} heads",
            tick=lambda value: value.replace("_", " ") if isinstance(value, str) else short_tokens(value),
        ),
        Picture(
            sweep="rank", view="rank", title="Rank over N at tolerance 10⁻¹⁰, median over draws",
            array="rank", at={"tolerance": -10, "spread": 0.5}, panels="d_k", across="N", up="map",
            across_label="N", up_label="φ", value_label="rank", level=lambda rank: np.log2(np.maximum(rank, 1)) / 11,
            written=True, shown="{:,.0f}".format, heading=lambda d_k: f"d_k = {d_k}",
            tick=lambda value: name_of(value) if isinstance(value, str) else tokens(value),
        ),
    )
}  # fmt: skip


def pictures_of(view: str) -> tuple[Picture, ...]:
    """The pictures of a page, in the order of the table."""
    return tuple(picture for picture in PICTURES.values() if picture.view == view)
