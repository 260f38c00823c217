"""How what a copied script prints compares with what its view shows."""

from __future__ import annotations

import contextlib
import io
import re
from fractions import Fraction

import numpy as np
import pytest
from asked import VIEWS
from copied_states import STATES

from components.axes import AXES
from components.forms_frames import CEILING, FLOOR
from components.forms_run import CHANNELS, HAND, RANDOM
from components.forms_said import brief, fraction, sci, vector
from components.lesson import Question
from components.powers import powers
from components.random_features_said import little
from components.recall_found import rules
from components.reel import frame_columns, frame_texts
from components.says import decimals, percent
from components.sharpness_run import name_of, toy
from components.view import start_positions
from components.words import PHIS, WAYS
from compute.sizing import human_bytes
from compute.streams import DRAWS


def parsed(printed: str) -> dict[str, list[str]]:
    """Every `label: value value ...` of the lines."""
    label = r"(?!nan|None)[^\W\d][^:\n]*"
    pairs = re.findall(rf"({label}): (.*?)(?= {label}: |$)", printed, re.MULTILINE)
    return {name: value.split() for name, value in pairs}


def printed_by(text: str) -> dict[str, list[str]]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "copied.py", "exec"), {"__name__": "__main__"})
    return parsed(out.getvalue())


class Page:
    """What a view shows at a state, by the rule with which pages are drawn."""

    def __init__(self, view: str, question: Question, at: dict):
        self.view, self.question, self.answer = view, question, VIEWS[view].answer(question)
        self.positions = start_positions(at)
        self.i = self.positions[VIEWS[view].axis]

    def text(self, node: str) -> str:
        """Of a text node, its view's name left out."""
        fixed = self.answer[f"{self.view}.texts"]
        told = dict(zip(fixed["node"], fixed["text"])) | frame_texts(
            VIEWS[self.view].reels, self.answer, self.positions
        )
        return told[f"{self.view}.{node}"]

    def column(self, source: str, name: str):
        """Of a figure's source, its view's name left out."""
        source = f"{self.view}.{source}"
        framed = frame_columns(VIEWS[self.view].reels, self.answer, self.positions)
        return {**self.answer.get(source, {}), **framed.get(source, {})}[name]


def near(told: list[str], value: float, rtol: float = 1e-5) -> None:
    assert float(told[0]) == pytest.approx(float(value), rel=rtol, abs=1e-9, nan_ok=True)


def check_sharpness(told, page, plain):
    question = page.question
    match, name = toy(question.d_k, question.seed, question.row, question.match)[2], name_of(question.map_word)
    near(told["softmax on the match"], page.column("curves", "softmax")[page.positions["c"]])
    near(told[f"{name} on the match"], page.column("bars", "weight")[match])
    own = float(told[f"{name} on the match"][0])
    assert ("nearly cancel" if np.isnan(own) else percent(own)) in page.text("headline")
    for label, node, say in (
        ("entropy", "entropy", decimals),
        ("effective keys", "effective", decimals),
        ("largest weight", "top", percent),
        ("misplaced", "misplaced", percent),
    ):
        assert page.text(node).startswith(say(float(told[label][0])))
    title = page.text("pair_title")
    assert f"score s {' to '.join(decimals(float(told[end][0])) for end in ('scores from', 'to'))}:" in title
    ends = [float(told[end][0]) for end in ("kernel from", "up to")]
    lost = [not np.isfinite(end) or (end == 0 and question.phi.startswith("favor")) for end in ends]  # by a float
    assert any(lost) or f" {' to '.join(map(powers, ends))}" in title


def check_memory(told, page, plain):
    question, n = page.question, page.i
    headline, sentence = (page.text(node) for node in ("headline", "sentence"))
    answer, stored = page.answer, int(told["pairs stored"][0])
    if n == 0:
        assert stored == 0 and told["numbers in S other than zero"] == ["0"] and "empty" in headline
        return
    assert stored == answer["memory.reel"]["n"][n]
    near(told["mean cosine"], answer["memory.curve"]["mean"][stored])
    near(told["newest"], answer["memory.curve"]["newest"][stored])
    near(told["oldest"], answer["memory.reel"]["ends_y"][n][0])
    near(told["crosstalk energy"], answer["memory.energies"]["energy"][stored - 1])
    assert stored < n or decimals(float(told["mean cosine"][0])) in headline
    own = float(told["own value left"][0])
    assert question.rule == "additive" or f"{decimals(own)} of its value" in sentence
    assert f"{decimals(float(told['newest'][0]))}, oldest {decimals(float(told['oldest'][0]))}" in sentence
    if (rival := f"{question.duel} instead") in told:
        near(told[rival], answer["memory.curve"]["rival"][stored])
    else:
        assert plain or question.duel in ("none", question.rule)


def check_rank(told, page, plain):
    question, N = page.question, AXES["N"].stops[page.i]
    assert (told["tokens"], told["half"]) == ([str(N)], [str(N // 2)])
    assert page.text("own") == f"{told['rank'][0]} of {N}"
    assert page.text("block") == f"{told['block below the diagonal'][0]} of {N // 2}"
    assert page.column("names", "rank")[PHIS.index("softmax")] == int(told["softmax"][0])
    if question.phi != "softmax" and not plain:
        widths = [int(told[label][0]) for label in ("features", "distinct")]
        assert widths == [question.map.d_phi(question.d_k), question.map.rank_bound(question.d_k)]


def check_forms(told, page, plain):
    question, t = page.question, page.i
    answer, hand = page.answer, question.example == "hand"
    at = min(t, (HAND if hand else RANDOM) - 1)
    column = answer["forms.outputs"]["recurrent" if hand else "parallel"]
    drawn = [column[channel * (RANDOM + 1) + at] for channel in range(CHANNELS)]
    if "undefined," in told["output"]:
        assert np.isnan(drawn).all()
    else:
        assert [number(x) for x in told["output"]] == pytest.approx(drawn, rel=1e-5, abs=1e-9, nan_ok=True)
    say = fraction if hand and question.pitfall != "eps_inside" else lambda x: brief(float(x))
    den, row = (say(Fraction(told[x][0])) if x in told else "none" for x in ("denominator", "sum of the row"))
    assert f"{den} · {row}" == page.text("denominator")
    if hand and not plain and question.pitfall != "eps_inside":
        own, right = (
            vector([float(x) if x == "nan" else Fraction(x) for x in told[name]]) for name in ("output", "instead of")
        )
        headline = page.text("headline")
        assert own in headline and (right in headline or own == right)
    for form in ("recurrent", "chunkwise"):
        check_gap(told, page, form, at, plain)
    for value, node in zip(told.get("gradients, loop and chunks", ()), ("loop", "chunk")):
        assert sci(float(value)) == page.text(f"{node}_gradients")


def number(text: str) -> float:
    return float(text if text == "nan" else Fraction(text))


def check_gap(told, page, form, at, plain):
    text = page.text(f"{form}_gap").removeprefix("0/0, then ")
    if f"{form} - parallel" not in told:
        assert text == "none exists" or (plain and page.question.example == "hand")  # fractions: nothing is rounded
        return
    gap = float(told[f"{form} - parallel"][0])
    if not plain:  # the same sums in the same order: equal to the last digit
        assert text in (sci(gap), "0/0")
    seen = np.nan_to_num(page.column("checks", f"gap_{form}")[: at + 1]).max()
    assert np.clip(gap, FLOOR, CEILING) == pytest.approx(seen, rel=1e-4, abs=1e-9)


def check_bracketing(told, page, plain):
    question, i = page.question, page.i
    curves = page.answer["bracketing.curves"]
    orders = ["left"] if question.phi == "softmax" else ["left", "right"]
    for order in orders:
        near(told[f"{order} order, FLOPs"], curves[order][i], 1e-12)
    held = " or ".join(human_bytes(int(told[f"{o} order, bytes between the products"][0]), 3) for o in orders)
    sums = " or ".join(f"{int(told[f'{o} order, additions of the denominators'][0]):,}" for o in orders)
    assert held == page.text("between")
    assert sums == page.text("sums")
    decoding = f"{int(told['comparisons to decode T by softmax'][0]):,}"
    assert decoding == page.text("decoding")
    if len(orders) == 2:
        first = f"{int(told['fewer FLOPs from'][0]):,}"
        assert page.column("cross", "text") == [f"fewer FLOPs\nfrom {first} tokens"]
    modes = ["parallel"] if len(orders) == 1 else ["recurrent", "parallel", "chunkwise"]
    for row, mode in enumerate(["recurrent", "parallel", "chunkwise"]):
        text = page.text(f"row.{row}.bytes")
        assert (f"{mode}, FLOPs" in told) == (mode in modes)
        assert text == (f"{int(told[f'{mode}, FLOPs'][0]):,} FLOPs" if mode in modes else "not possible")


def check_random_features(told, page, plain):
    headline, own = page.text("headline"), page.column("positive_band", "own")
    assert f"read {little(float(told['typical estimate over true value'][0]))} of the true value" in headline
    assert page.text("low") == percent(float(told["draws below the true value"][0]))
    assert page.text("negative") == percent(float(told["trigonometric draws below zero"][0]))
    left = float(told["mean error left by four times as many"][0])  # the page reads it from a file of four digits
    assert float(page.text("four").removesuffix(" %")) == pytest.approx(100 * left, abs=0.6)
    assert page.text("variance") == little(float(told["relative variance"][0]))
    assert page.text("needed") == powers(float(told["features for an error of 100 %"][0]))
    assert page.text("kept") == percent(float(told["variance left by orthogonal directions"][0]))
    widths = list(page.column("positive_band", "d_phi"))
    near(told[f"draw {page.question.seed}"], own[widths.index(256)])


def check_normaliser(told, page, plain):
    i = page.i
    answer, rtol = page.answer, 1e-3 if plain else 1e-5  # the page adds in float32
    if page.question.way != WAYS[0]:
        own = answer[f"normaliser.read_{WAYS.index(page.question.way)}"]
        near(told["size of the read"], own["mid"][i], rtol)
        near(told["nine in ten"], own["low"][i], rtol)
        near(told["of the newest value in it"], own["newest"][i], rtol)
        if not plain:
            size, held = (decimals(float(told[x][0])) for x in ("size of the read", "of the newest value in it"))
            assert f"size {size}, with {held} of the newest value in it." in page.text("headline")
        return
    own = np.nan_to_num([answer["normaliser.sums"]["own"][i], -answer["normaliser.sums"]["negative"][i]]).sum()
    near(told["denominator"], own, rtol)
    near(told["denominators, nine in ten"], answer["normaliser.sums"]["low"][i], rtol)
    near([told["weight on the newest"][0].removeprefix("-")], answer["normaliser.reel"]["share"][i], rtol)
    near(told["a kernel value moves a weight by"], answer["normaliser.derivatives"]["kernel_mid"][i], rtol)
    near(told["a softmax score, by"], answer["normaliser.derivatives"]["score_mid"][i], rtol)
    for label, node in (("below zero", "negative"), ("too little left", "lost")):
        assert f"{told[label][0]} of {DRAWS}" == page.text(node)
    if not plain:
        low, high = (float(x) for x in told["denominators, nine in ten"])
        spread = page.text("spread")
        assert spread == (f"{powers(low)} to {powers(high)}" if np.isfinite(low) else "0")
        newest, near_by = (float(told[x][0]) for x in ("weight on the newest", "on the 64 newest"))
        assert percent(newest) == page.text("newest")
        assert percent(near_by) == page.text("near")


def check_recall(told, page, plain):
    curves = page.answer["recall.by_pairs"]
    n = list(curves["n"]).index(AXES["pairs"].stops[page.i])
    for rule in rules():  # the plain script fills a few memories of its own
        assert float(told[rule][0]) == pytest.approx(curves[rule][n], abs=0.05 if plain else 1e-4)
    assert page.text("state") == human_bytes(int(told["state"][0]))
    assert f"; a cache of all, {human_bytes(int(told['cache of all pairs'][0]))}." in page.text("headline")
    if not plain:
        *more, size = told["bytes of state for nine in ten"]
        assert f": {' '.join(more)} {human_bytes(int(size))} of state" in page.text("headline")


def check_sizing(told, page, plain):
    one = {label: told.get(label, ["None"])[0] for label in told}
    for label, name in (("cache", "cache"), ("windows", "window"), ("state", "state"), ("convolutions", "conv")):
        near(told[label], np.nan_to_num(page.column("curves", name)[page.i]), 1e-12)
    total = int(one["in all"])
    assert page.text("total") == f"{human_bytes(total)} = {total:,} B"
    entered = one.get("at the length entered")
    assert page.text("exact").endswith(f"= {int(entered):,} B" if entered else "")
    assert bool(entered) == bool(page.question.exact)
    twin = one.get(page.text("twin_name"))
    assert page.text("twin") == (human_bytes(int(twin)) if twin else "")
    for label, node in (("cache passes state at", "meets"), (page.text("beats_name").removeprefix("model: "), "beats")):
        at = one.get(label, "None")
        paged = plain and page.question.engine != "arithmetic"  # pages come in steps: the plain script leaves it out
        assert page.text(node) in (("", "never") if at == "None" else (f"{int(at):,} tokens", "1 token")) or paged
    assert page.text("fits") == f"{int(one['sequences that fit']):,}" if "sequences that fit" in one else "without end"
    longest = one.get("longest context", "None")
    said = {"None": "any length", "-1": "not even the states fit"}
    assert page.text("longest").startswith(said.get(longest) or f"{int(longest):,} tokens")
    if not plain:
        assert page.text("traffic") == human_bytes(int(one["moved per token"]))
        speed, text = one["tokens/s at most"], page.text("speed")
        value = float(speed.replace("None", "nan"))
        assert text == "no bound" or f" {f'{value:,.0f}' if value >= 10 else decimals(value)} " in text


CHECKS = {view: globals()[f"check_{view.replace('-', '_')}"] for view in STATES}
