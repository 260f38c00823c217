"""Which sweep is drawn on which page.  One more picture is one more entry."""

from __future__ import annotations

import numpy as np

from components import sweep_theory as theory
from components import sweep_times as times
from components.says import short_tokens, tokens
from components.sharpness_run import name_of
from components.sweep_shown import Picture
from components.sweep_theory import LEVELS
from compute.sweeps.form_times import CHUNK


def _rule(word: str) -> str:
    return word.replace("delta_full", "delta, β = 1").replace("_", " ")


PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            sweep="crosstalk", view="memory", title="Every width, every load: mean cosine of all stored pairs",
            array="cosine", at={"quantile": 0.5}, panels="rule", across="load", up="d",
            across_label="pairs n / d", up_label="width d", value_label="mean cosine",
            contours=LEVELS, theory=theory.cosine_lines, theory_label="law of the additive rule",
            heading=_rule, says=theory.crosstalk_says,
        ),
        Picture(
            sweep="recall", view="recall", title="Share of pairs whose nearest stored value is the right one",
            array="recall", at={"d_v": 64}, panels="rule", across="n", up="d_phi",
            across_label="pairs n", up_label="width d_φ", value_label="recall",
            contours=(0.9, 0.5), law=theory.recall_law, law_name="law", theory=theory.rows_without_law,
            theory_label="law of the additive rule at these, elsewhere n = d_φ", equal=theory.cache_line,
            equal_label="bytes of a cache of n pairs", more={"state, cache": theory.kept},
            heading=_rule, says=theory.recall_says,
        ),
        Picture(
            sweep="trained-recall", view="recall",
            title="Trained models of four layers: keys answered with their value, by pairs in the sequence",
            array="recall", over={"rate": np.max, "draw": np.mean}, panels="mixer", across="n", up="d_k",
            across_label="pairs n", up_label="width d_k", value_label="recall",
            contours=(0.9, 0.5), theory=theory.layer_rows, theory_label="n = d_k, rows of a layer's state",
            equal=theory.layer_line, equal_label="bytes of softmax's cache", more={"a layer keeps": theory.layer_keeps},
            says=theory.trained_say,
            heading=lambda mixer: mixer.replace("_", " ").replace("hybrid", "3 gated delta, 1 softmax"),
        ),
        Picture(
            sweep="random-features", view="random-features", title="Mean |estimate ÷ true value − 1|",
            array="error", every={"r": 5}, panels="kind", across="r", up="d_phi",
            across_label="‖q+k‖", up_label="features d_φ", value_label="mean error",
            tick=lambda value: f"{value:.2g}" if value < 10 else f"{value:,.0f}",
            marks=(0.01, 0.1, 1), contours=(0.1, 0.5, 1.0),
            theory=theory.error_lines, theory_label="standard error as large as the value", says=theory.features_say,
            level=lambda error: (np.log10(error) + 2) / 2.3,
            heading=lambda kind: kind.replace("trig", "trigonometric").replace("orthogonal_", "orth., d_k = "),
        ),
        Picture(
            sweep="times", view="bracketing",
            title=f"Median time of one call (chunkwise: in chunks of {CHUNK}; fla: kernels of flash-linear-attention)",
            array="ms", panels="heads", across="T", up="form",
            across_label="context T", up_label="form", value_label="time",
            shown=times.clocked, level=lambda ms: (np.log10(ms) + 1.5) / 4.5, written=True, height=310,
            turns=times.turns, theory_label="right of it fewer FLOPs than softmax", overtakes=times.overtakes,
            overtakes_label="right of it less time", says=times.says,
            more={"FLOPs against softmax": times.flops_against, "time against softmax": times.time_against},
            heading=lambda heads: "one head" if heads == 1 else f"{heads} heads",
            tick=lambda value: value.replace("_", " ") if isinstance(value, str) else short_tokens(value),
        ),
        Picture(
            sweep="rank", view="rank", title="Rank over N at tolerance 10⁻¹⁰, median over draws",
            array="rank", at={"tolerance": -10, "spread": 0.5}, panels="d_k", across="N", up="map",
            across_label="N", up_label="φ", value_label="rank", level=lambda rank: np.log2(np.maximum(rank, 1)) / 11,
            written=True, shown="{:,g}".format, heading=lambda d_k: f"d_k = {d_k}",
            law=theory.rank_law, law_name="at most", turns=theory.rank_turns, aside=theory.rank_aside,
            aside_label="bound", theory_label="left of it at most N, right of it at most d_φ", says=theory.rank_says,
            tick=lambda value: name_of(value) if isinstance(value, str) else tokens(value),
        ),
    )
}  # fmt: skip


def pictures_of(view: str) -> tuple[Picture, ...]:
    """The pictures of a page, in the order of the table."""
    return tuple(picture for picture in PICTURES.values() if picture.view == view)
