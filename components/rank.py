"""Rank: how many independent things can the past tell the future?"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from bokeh.models import CategoricalColorMapper, CustomJS, TapTool

from components.axes import AXES
from components.formula import mathml
from components.lesson import Question
from components.palette import FONT, LIGHT, rising
from components.plots import hover, image_plot, labels, line, mark, plot, ticks
from components.reel import Answer, Bind, Reel
from components.sharpness_answer import members, name_of
from components.view import Cell, Drawing, View, props, texts
from components.words import PHIS, SOFTMAX
from compute.feature_maps import FeatureMap
from compute.rank import block_rank, kernel_matrix, rank_of, spectra
from compute.toys import queries_and_keys

STOPS = AXES["N"].stops
LARGEST = STOPS[-1]
CELLS = 64
"""Rows and columns of a picture of the kernel matrix."""

EXTENTS = (64, 128, 256)
"""Tokens that a picture spans: every one, every second or every fourth is drawn.  A stop shows a corner of one."""

FRAMES = np.searchsorted(EXTENTS, STOPS)
STARTS = np.concatenate([[0], np.cumsum(STOPS)[:-1]]).astype(np.int32)
"""Where each stop's spectrum begins in the stack of all."""

TOLERANCE = 1e-10
FLOOR = 1e-13
"""Where the axis ends; a singular value that is zero exactly is drawn below it."""

SOFTMAX_LATEX = r"\operatorname{rank}\, e^{QK^\top/\sqrt{d_k}} \le N"
BOUND_LATEX = r"\operatorname{rank}\, \phi(Q)\phi(K)^\top \le d_\phi"

REELS = (
    Reel(
        "rank.reel",
        "N",
        (
            *(Bind(word, source="rank.spectrum", pool="rank.spectra", start="start", stop="stop") for word in PHIS),
            Bind("names_text", source="rank.names", to="text"),
            Bind("names_y", source="rank.names", to="y"),
            Bind("picture", source="rank.kernel", to="image", pool="rank.pictures", start="frame", image=True),
            Bind("extent", source="rank.kernel", to="dw"),
            Bind("extent", source="rank.kernel", to="dh"),
            Bind("N", model="rank.matrix.x", property="end"),
            Bind("N", model="rank.matrix.y", property="start"),
            Bind("N", source="rank.outline", to="bottom"),
            Bind("half", source="rank.outline", to="right"),
            Bind("half", source="rank.outline", to="top"),
            Bind("frame_title", node="rank.frame"),
            Bind("bound", model="rank.bound", property="location"),
            Bind("headline", node="rank.headline"),
            Bind("sentence", node="rank.sentence"),
            Bind("own", node="rank.own"),
            Bind("block", node="rank.block"),
            Bind("limit", node="rank.limit"),
        ),
    ),
)


@lru_cache(maxsize=1024)
def spectrum_of(phi: FeatureMap | None, d_k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Relative singular values of all stops, one after the other, float32, and the ranks at the tolerance [stops]."""
    Q, K = queries_and_keys(d_k, seed)
    values = spectra(Q[:LARGEST], K[:LARGEST], phi, STOPS)
    relative = values / values[:, :1]
    drawn = np.where(relative <= FLOOR / 10, FLOOR / 10, relative)
    stacked = np.concatenate([row[:N] for row, N in zip(drawn, STOPS)])
    return stacked.astype(np.float32), rank_of(values, TOLERANCE)


@lru_cache(maxsize=128)
def kernel_of(phi: FeatureMap | None, d_k: int, seed: int) -> tuple[np.ndarray, list[int]]:
    """Pictures of the kernel matrix [extents, 64, 64] uint8, rows relative to their largest entry, and block ranks."""
    Q, K = queries_and_keys(d_k, seed)
    M = kernel_matrix(Q[:LARGEST], K[:LARGEST], phi)
    size = np.abs(M)
    size = np.sqrt(size / np.maximum(size.max(axis=1, keepdims=True), np.finfo(float).tiny))
    pictures = np.stack([size[: extent : extent // CELLS, : extent : extent // CELLS] for extent in EXTENTS])
    return np.rint(255 * pictures).astype(np.uint8), [block_rank(M[:N, :N], TOLERANCE) for N in STOPS]


def answer(question: Question) -> Answer:
    told = _answer(question.phi, question.d_k, question.seed)
    row = question.row
    return {
        **told,
        "rank.chosen": {
            "x": np.array([0.0]),
            "y": np.array([-10.0 if row is None else row + 0.5]),
            "right": np.array([float(LARGEST)]),
        },
    }


@lru_cache(maxsize=128)
def _answer(phi: str, d_k: int, seed: int) -> Answer:
    question = Question(phi=phi, d_k=d_k, seed=seed)
    word, member = question.map_word, question.map
    every = {w: spectrum_of(m, d_k, seed) for w, m in members(question).items()}
    pictures, blocks = kernel_of(member, d_k, seed)
    limit = None if member is None else member.rank_bound(d_k)
    return {
        "rank.reel": {
            "start": STARTS,
            "stop": STARTS + np.array(STOPS, dtype=np.int32),
            "names_y": _name_heights(every),
            "names_text": _names(every),
            "N": np.array(STOPS, dtype=float),
            "half": np.array(STOPS) / 2,
            "frame": FRAMES.astype(np.int32),
            "extent": np.array(EXTENTS, dtype=float)[FRAMES],
            "frame_title": [f"kernel matrix, {N} × {N}" for N in STOPS],
            "bound": np.array([-100.0 if limit is None or limit >= N else limit + 0.5 for N in STOPS]),
            **_said(word, member, d_k, every, blocks),
        },
        "rank.spectra": {w: values for w, (values, _) in every.items()},
        "rank.pictures": {"picture": pictures},
        "rank.diagonal": {"x": np.array([0.0, LARGEST]), "y": np.array([0.0, LARGEST])},
        "rank.outline": {"left": np.zeros(1)},
        "rank.spectrum": {"index": np.arange(1, LARGEST + 1)},
        "rank.names": {"word": list(PHIS), "x": np.full(len(PHIS), 274.0), "tick": np.full(len(PHIS), 266.0)},
        "rank.props": props([(f"rank.curve.{w}", "line_width", 3.2 if w == word else 1.4) for w in PHIS]),
        "rank.math": texts(
            [
                ("rank.formula", mathml(SOFTMAX_LATEX if member is None else BOUND_LATEX)),
                ("rank.values", mathml(_values(member, d_k), "block")),
            ]
        ),
        "rank.texts": texts([("rank.aside", ""), ("rank.subject", "")]),
    }  # fmt: skip


def _values(member: FeatureMap | None, d_k: int) -> str:
    if member is None:
        return r"\operatorname{rank} \le N"
    return (
        rf"\operatorname{{rank}} \le \min(N,\ \underset{{{member.d_phi(d_k)}}}{{d_\phi}},\ "
        rf"\underset{{{member.rank_bound(d_k)}}}{{\text{{distinct monomials}}}})"
    )


def _names(every: dict) -> list[list[str]]:
    """Name and rank of every map, one list a stop, in the order of the selector."""
    return [[f"{name_of(w)}  {int(every[w][1][i])}" for w in PHIS] for i in range(len(STOPS))]


def _name_heights(every: dict) -> np.ndarray:
    """Where the names stand, highest rank on top: [stops, maps]."""
    rows = np.array([[int(every[w][1][i]) for w in PHIS] for i in range(len(STOPS))])
    order = np.argsort(np.argsort(-rows, axis=1, kind="stable"), axis=1)
    levels = 10.0 ** np.linspace(-0.1, np.log10(FLOOR) + 0.9, len(PHIS))
    return levels[order]


def _said(word: str, member: FeatureMap | None, d_k: int, every: dict, blocks: list[int]) -> dict[str, list[str]]:
    name, said = name_of(word), {"headline": [], "sentence": [], "own": [], "block": [], "limit": []}
    for i, N in enumerate(STOPS):
        rank, soft, block = int(every[word][1][i]), int(every[SOFTMAX][1][i]), blocks[i]
        if member is None:
            headline = f"The softmax kernel of {N} tokens has rank {rank}" + (
                ": full." if rank == N else f", short of {N} in float64."
            )
        elif rank < N:
            headline = f"The {name} kernel matrix stops at rank {rank} of {N}; softmax reaches {soft}."
        else:
            headline = f"Up to {N} tokens the {name} kernel has full rank {rank}, and so has softmax."
            if soft < N:
                headline = f"At {N} tokens the {name} kernel has full rank {rank}; softmax shows {soft} in float64."
        said["headline"].append(headline)
        half = N // 2
        bound = N if member is None else min(N, member.rank_bound(d_k))
        faint = (
            f" The bound is {bound}: the other {bound - rank} values lie below the tolerance." if rank < bound else ""
        )
        said["sentence"].append(
            f"From the first {half} tokens to the last {half}, rank {block} of {half} passes the causal mask.{faint}"
        )
        said["own"].append(f"{rank} of {N}")
        said["block"].append(f"{block} of {half}")
        if member is None:
            said["limit"].append("none")
        else:
            width, bound = member.d_phi(d_k), member.rank_bound(d_k)
            said["limit"].append(f"{width:,}" if width == bound else f"{width:,}, {bound:,} of them distinct")
    return said


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    fig = plot(
        "rank.values", 172 if compact else 440, (0, 372 if compact else 350), (FLOOR, 3), y_log=True,
        x_label="singular value, largest first", y_label="σᵢ / σ₁", 
    )  # fmt: skip
    ticks(fig.xaxis[0], {n: str(n) for n in range(0, 257, 64 if compact else 32)})
    ticks(fig.yaxis[0], {1: "1", 1e-4: "10⁻⁴", 1e-8: "10⁻⁸", 1e-12: "10⁻¹²"})
    fig.quad(
        left=0, right=258, bottom=FLOOR, top=TOLERANCE, fill_color=LIGHT["band"], line_color=None, level="underlay"
    )
    fig.text(
        x=36,
        y=3e-12,
        text={"value": "below 10⁻¹⁰"},
        text_color=LIGHT["muted"],
        text_font={"value": FONT},
        text_font_size="10px",
    )
    drawn = []
    for word in reversed(PHIS):
        renderer = line(fig, sources["rank.spectrum"], "index", word, word, line_width=1.4)
        renderer.glyph.name, renderer.name = f"rank.curve.{word}", f"rank.line.{word}"
        drawn.append(renderer)
    colours = CategoricalColorMapper(factors=list(PHIS), palette=[LIGHT[w] for w in PHIS])
    fig.scatter(
        "tick", "y", source=sources["rank.names"], marker="square", size=7, line_color=None,
        fill_color={"field": "word", "transform": colours},
    )  # fmt: skip
    labels(fig, sources["rank.names"])
    mark(fig, "rank.bound", -100, slot="muted", dash="dashed")
    for renderer in drawn:
        hover(fig, [renderer], [], callback=CustomJS(code="Explorer.hover?.(cb_data)")).tooltips = None
    heat = image_plot("rank.matrix", 172 if compact else 300, sources["rank.kernel"], (LARGEST, LARGEST), rising())
    heat.line("x", "y", source=sources["rank.diagonal"], line_color=LIGHT["muted"], line_dash=[4, 3], line_width=1)
    block = heat.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        source=sources["rank.outline"],
        fill_color=None,
        line_color=LIGHT["ink"],
        line_width=1.6,
    )
    block.name = "rank.block"
    heat.segment("x", "y", "right", "y", source=sources["rank.chosen"], line_color=LIGHT["dpfp"], line_width=2)
    heat.add_tools(TapTool())
    heat.js_on_event("tap", CustomJS(code="Explorer.tapRow?.(cb_obj)"))
    return Drawing(
        (
            (
                Cell(fig),
                Cell(
                    heat, width=188 if compact else 330, title_node="rank.frame", hint=" · click a row to ask with it"
                ),
            ),
        ),
        sources,
    )


VIEW = View(
    word="rank",
    title="Rank",
    place=6,
    question="How many independent things can the past tell the future?",
    axis="N",
    asks=(),
    reels=REELS,
    draw=draw,
    answer=answer,
    readouts=(
        ("rank at tolerance 10⁻¹⁰", "rank.own"),
        ("rank of the block below the diagonal", "rank.block"),
        ("features of the map", "rank.limit"),
    ),
)
