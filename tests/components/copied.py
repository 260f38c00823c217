"""How what a copied script prints compares with what its view shows."""

from __future__ import annotations

import contextlib
import io
import re
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from asked import VIEWS, said, shown
from copied_states import STATES

from components.axes import AXES
from components.code import VIEWS as SCRIPTED
from components.forms_frames import CEILING, FLOOR
from components.forms_run import CHANNELS, HAND, RANDOM
from components.forms_said import brief, fraction, sci, vector
from components.lesson import Question
from components.powers import powers
from components.random_features_answer import little
from components.says import decimals, percent
from components.sharpness_answer import name_of, toy
from components.words import WORDS
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


@cache
def answered(view: str, question: Question):
    return VIEWS[view].answer(question)


def fixed(view: str, question: Question, node: str) -> str:
    columns = answered(view, question)[f"{view}.texts"]
    return dict(zip(columns["node"], columns["text"]))[node]


def stop_of(view: str, at: dict) -> int:
    axis = AXES[SCRIPTED[view][0]]
    return axis.index(at.get(axis.word, WORDS[axis.word].default))


def near(told: list[str], value: float, rtol: float = 1e-5) -> None:
    assert float(told[0]) == pytest.approx(float(value), rel=rtol, abs=1e-9, nan_ok=True)


def check_sharpness(told, question, i, plain):
    match, name = toy(question.d_k, question.seed, question.row)[2], name_of(question.map_word)
    for label, column in (("softmax", "softmax"), (name, "weight")):
        near(told[f"{label} on the match"], shown("sharpness", question, "sharpness.bars", column)[i][match])
    own = float(told[f"{name} on the match"][0])
    assert ("nearly cancel" if np.isnan(own) else percent(own)) in said("sharpness", question, "sharpness.headline")[i]
    for label, node, say in (
        ("entropy", "entropy", decimals),
        ("effective keys", "effective", decimals),
        ("largest weight", "top", percent),
        ("misplaced", "misplaced", percent),
    ):
        assert said("sharpness", question, f"sharpness.{node}")[i].startswith(say(float(told[label][0])))


def check_memory(told, question, n, plain):
    headline, sentence = (said("memory", question, f"memory.{node}")[n] for node in ("headline", "sentence"))
    answer, stored = answered("memory", question), int(told["pairs stored"][0])
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


def check_rank(told, question, i, plain):
    N = AXES["N"].stops[i]
    assert (told["tokens"], told["half"]) == ([str(N)], [str(N // 2)])
    assert said("rank", question, "rank.own")[i] == f"{told['rank'][0]} of {N}"
    assert said("rank", question, "rank.block")[i] == f"{told['block below the diagonal'][0]} of {N // 2}"
    assert f"softmax  {told['softmax'][0]}" in shown("rank", question, "rank.names", "text")[i]
    if question.phi != "softmax":
        limit = said("rank", question, "rank.limit")[i]
        assert limit.startswith(f"{int(told['features'][0]):,}")
        assert plain or limit.endswith((told["features"][0], f"{int(told['distinct'][0]):,} of them distinct"))


def check_forms(told, question, t, plain):
    answer, hand = answered("forms", question), question.example == "hand"
    at = min(t, (HAND if hand else RANDOM) - 1)
    column = answer["forms.outputs"]["recurrent" if hand else "parallel"]
    drawn = [column[channel * (RANDOM + 1) + at] for channel in range(CHANNELS)]
    if "undefined," in told["output"]:
        assert np.isnan(drawn).all()
    else:
        assert [number(x) for x in told["output"]] == pytest.approx(drawn, rel=1e-5, abs=1e-9, nan_ok=True)
    say = fraction if hand and question.pitfall != "eps_inside" else lambda x: brief(float(x))
    den, row = (say(Fraction(told[x][0])) if x in told else "none" for x in ("denominator", "sum of the row"))
    assert f"{den} · {row}" == said("forms", question, "forms.denominator")[t]
    if hand and not plain and question.pitfall != "eps_inside":
        own, right = (
            vector([float(x) if x == "nan" else Fraction(x) for x in told[name]]) for name in ("output", "instead of")
        )
        headline = said("forms", question, "forms.headline")[t]
        assert own in headline and (right in headline or own == right)
    for form in ("recurrent", "chunkwise"):
        check_gap(told, question, form, t, at, plain)
    for value, node in zip(told.get("gradients, loop and chunks", ()), ("loop", "chunk")):
        assert sci(float(value)) == fixed("forms", question, f"forms.{node}_gradients")


def number(text: str) -> float:
    return float(text if text == "nan" else Fraction(text))


def check_gap(told, question, form, t, at, plain):
    text = said("forms", question, f"forms.{form}_gap")[t].removeprefix("0/0, then ")
    if f"{form} - parallel" not in told:
        assert text == "none exists" or (plain and question.example == "hand")  # fractions: nothing is rounded
        return
    gap = float(told[f"{form} - parallel"][0])
    if not plain:  # the same sums in the same order: equal to the last digit
        assert text in (sci(gap), "0/0")
    seen = np.nan_to_num(answered("forms", question)["forms.checks"][f"gap_{form}"][: at + 1]).max()
    assert np.clip(gap, FLOOR, CEILING) == pytest.approx(seen, rel=1e-4, abs=1e-9)


def check_bracketing(told, question, i, plain):
    curves = answered("bracketing", question)["bracketing.curves"]
    orders = ["left"] if question.phi == "softmax" else ["left", "right"]
    for order in orders:
        near(told[f"{order} order, FLOPs"], curves[order][i], 1e-12)
    held = " or ".join(human_bytes(int(told[f"{o} order, bytes between the products"][0]), 3) for o in orders)
    sums = " or ".join(powers(int(told[f"{o} order, additions of the denominators"][0])) for o in orders)
    assert held == said("bracketing", question, "bracketing.between")[i]
    assert sums == said("bracketing", question, "bracketing.sums")[i]
    decoding = powers(int(told["comparisons to decode T by softmax"][0]))
    assert decoding == said("bracketing", question, "bracketing.decoding")[i]
    if len(orders) == 2:
        first = f"{int(told['fewer FLOPs from'][0]):,}"
        assert answered("bracketing", question)["bracketing.cross"]["text"] == [f"fewer FLOPs from {first} tokens"]
    modes = ["parallel"] if len(orders) == 1 else ["recurrent", "parallel", "chunkwise"]
    for row, mode in enumerate(["recurrent", "parallel", "chunkwise"]):
        text = said("bracketing", question, f"bracketing.row.{row}.bytes")[i]
        assert (f"{mode}, FLOPs" in told) == (mode in modes)
        assert text == (f"{powers(int(told[f'{mode}, FLOPs'][0]))} FLOPs" if mode in modes else "not possible")


def check_random_features(told, question, i, plain):
    def text(node):
        return said("random-features", question, f"random-features.{node}")[i]

    headline, own = text("headline"), shown("random-features", question, "random-features.positive_band", "own")[i]
    assert f"read {little(float(told['typical estimate over true value'][0]))} of the true value" in headline
    assert text("low") == percent(float(told["draws below the true value"][0]))
    assert text("negative") == percent(float(told["trigonometric draws below zero"][0]))
    left = float(told["mean error left by four times as many"][0])  # the page reads it from a file of four digits
    assert float(text("four").removesuffix(" %")) == pytest.approx(100 * left, abs=0.6)
    assert text("variance") == little(float(told["relative variance"][0]))
    assert text("needed") == powers(float(told["features for an error of 100 %"][0]))
    assert text("kept") == percent(float(told["variance left by orthogonal directions"][0]))
    widths = list(answered("random-features", question)["random-features.positive_band"]["d_phi"])
    near(told[f"draw {question.seed}"], own[widths.index(256)])


def check_normaliser(told, question, i, plain):
    answer, rtol = answered("normaliser", question), 1e-3 if plain else 1e-5  # the page adds in float32
    own = np.nan_to_num([answer["normaliser.sums"]["own"][i], -answer["normaliser.sums"]["negative"][i]]).sum()
    near(told["denominator"], own, rtol)
    near(told["denominators, nine in ten"], answer["normaliser.sums"]["low"][i], rtol)
    near([told["weight on the newest"][0].removeprefix("-")], answer["normaliser.reel"]["share"][i], rtol)
    near(told["a kernel value moves a weight by"], answer["normaliser.derivatives"]["kernel_mid"][i], rtol)
    near(told["a softmax score, by"], answer["normaliser.derivatives"]["score_mid"][i], rtol)
    for label, node in (("below zero", "negative"), ("too little left", "lost")):
        assert f"{told[label][0]} of {DRAWS}" == said("normaliser", question, f"normaliser.{node}")[i]
    if not plain:
        low, high = (float(x) for x in told["denominators, nine in ten"])
        spread = said("normaliser", question, "normaliser.spread")[i]
        assert spread == (f"{powers(low)} to {powers(high)}" if np.isfinite(low) else "0")
        newest, near_by = (float(told[x][0]) for x in ("weight on the newest", "on the 64 newest"))
        assert percent(newest) == said("normaliser", question, "normaliser.newest")[i]
        assert percent(near_by) == said("normaliser", question, "normaliser.near")[i]


def check_sizing(told, question, i, plain):
    columns = answered("sizing", question)
    for label, name in (("cache", "cache"), ("windows", "window"), ("state", "state"), ("convolutions", "conv")):
        near(told[label], np.nan_to_num(columns["sizing.curves"][name][i]), 1e-12)
    assert human_bytes(int(told["in all"][0])) == said("sizing", question, "sizing.total")[i]
    twin = told.get("if every layer were softmax")
    assert said("sizing", question, "sizing.twin")[i] == (human_bytes(int(twin[0])) if twin else "the model itself")
    for label, node, never in (
        ("cache passes state at", "sizing.meets", "never"),
        ("cheaper than all softmax from", "sizing.beats", "—"),
    ):
        at = told.get(label, ["None"])[0]
        assert fixed("sizing", question, node) == (f"{int(at):,} tokens" if at not in ("None", "0") else never)
    fits = told.get("sequences that fit", ["None"])[0]
    assert said("sizing", question, "sizing.fits")[i] == ("without end" if fits == "None" else f"{int(fits):,}")
    longest = told.get("longest context", ["None"])[0]
    shown = {"None": "any length", "-1": "not even the states fit"}
    assert fixed("sizing", question, "sizing.longest") == (shown.get(longest) or f"{int(longest):,} tokens")
    if not plain:
        assert said("sizing", question, "sizing.traffic")[i] == human_bytes(int(told["moved per token"][0]))
        speed, text = told["tokens/s at most"][0], said("sizing", question, "sizing.speed")[i]
        value = float(speed.replace("None", "nan"))
        assert text == "no bound" or f" {f'{value:,.0f}' if value >= 10 else decimals(value)} " in text


CHECKS = {view: globals()[f"check_{view.replace('-', '_')}"] for view in STATES}
