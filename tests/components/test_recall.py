"""The recall view: what the sweep found, in bytes, and said as it is."""

import re
from urllib.parse import urlencode

import numpy as np
import pytest
from shown import opened

from components.axes import AXES
from components.formula import at_stops
from components.lesson import Question
from components.placing import share
from components.recall_answer import BYTES, answer
from components.recall_found import cache_bytes, found, name_of, rules
from components.says import percent
from components.teaching import teaching
from compute.sizing.units import human_bytes
from compute.sweeps.shipped import shipped

STOPS = AXES["pairs"].stops


def recall(rule: str, d_phi: int, d_v: int, n: int) -> float:
    """The sweep's own number."""
    axes = {name: values.tolist() for name, values in found().axes.items()}
    at = (axes["rule"].index(rule), axes["d_phi"].index(d_phi), axes["d_v"].index(d_v), axes["n"].index(n))
    return float(found().arrays["recall"][at])


@pytest.mark.parametrize("d_v", [8, 32, 128])
def test_every_point_of_both_figures_is_what_the_sweep_found(d_v):
    told = answer(Question(d_v=d_v, d_k=32))
    widths, last = found().axes["d_phi"], found().axes["n"][-1]
    for k, n in enumerate(STOPS):
        n = min(n, last)
        for rule in rules():
            want = [recall(rule, width, d_v, n) for width in widths]
            np.testing.assert_array_equal(told["recall.reel"][rule][k], want)
    for k, n in enumerate(told["recall.by_pairs"]["n"]):
        assert told["recall.by_pairs"]["delta"][k] == recall("delta", 32, d_v, int(n))
    # d_φ rows of d_v numbers, and as many for the normaliser, of four bytes each
    np.testing.assert_array_equal(told["recall.by_bytes"]["bytes"], [4 * (w * d_v + w) for w in widths])


@pytest.mark.parametrize("rule", ["additive", "decay", "delta", "gated_delta"])
def test_the_headline_names_the_least_state_that_keeps_nine_in_ten(rule):
    told = answer(Question(rule=rule))
    for k, n in enumerate(STOPS):
        n = int(min(n, found().axes["n"][-1]))
        enough = [w for w in found().axes["d_phi"].tolist() if recall(rule, w, 32, n) >= 0.9]
        most = found().axes["d_phi"].tolist()[-1]
        need = f"at most {human_bytes(132 * min(enough))}" if enough else f"more than {human_bytes(132 * most)}"
        assert told["recall.reel"]["headline"][k] == (
            f"Nine in ten of {n:,} pairs: {need} of state with the {rule.replace('_', ' ')} rule; "
            f"a cache of all, {human_bytes(n * (16 + 32) * 4)}."
        )


@pytest.mark.parametrize("d_v, rule", [(32, "additive"), (128, "delta"), (8, "decay"), (32, "gated_delta")])
def test_the_ring_lies_on_the_line_of_the_chosen_rule_at_the_state_of_the_headline(d_v, rule):
    """And its width and bytes stand under the symbols of the formula; without a ring the largest state does."""
    told = answer(Question(d_v=d_v, rule=rule))
    (formula,) = [t for node, t in zip(*told["recall.math"].values()) if node == "recall.values"]
    for k in range(len(STOPS)):
        said, x, y = told["recall.reel"]["headline"][k], *(told["recall.reel"][c][k] for c in ("least", "least_share"))
        assert f" {human_bytes(int(x))} of state" in said
        at = told["recall.by_bytes"]["bytes"].tolist().index(x)
        line, numbers = told["recall.reel"][rule][k], at_stops(formula, {"pairs": k}, told)
        assert f">{int(x):,}<" in numbers and f">{found().axes['d_phi'][at]}<" in numbers
        if "more than" in said:
            assert np.isnan(y) and line.max() < 0.9 and at == len(line) - 1
            assert told["recall.reel"]["title"][k].endswith("no state computed keeps nine in ten")
        else:
            assert y == line[at] >= 0.9 and (line[:at] < 0.9).all()
            assert told["recall.reel"]["title"][k].endswith(f"keeps nine in ten ({percent(y)})")


def test_the_rings_of_the_answer_lie_on_the_lines_of_the_answer():
    told = answer(Question(rule="decay", d_v=8))
    lines, rings = told["recall.predicted_lines"], told["recall.predicted"]
    for column, n, x, y in zip(("once", "twice"), (64, 128), rings["x"], rings["y"]):
        want = [recall("additive", width, 32, n) for width in found().axes["d_phi"].tolist()]
        np.testing.assert_array_equal(lines[column], want)
        assert y == want[lines["bytes"].tolist().index(x)] == min(share for share in want if share >= 0.9)
        assert f"{n}{' pairs' * (n == 64)}: {human_bytes(int(x))}" in told["recall.predicted_said"]["text"][0]


def test_a_cache_of_64_pairs_of_16_and_32_numbers_takes_twelve_kibibytes_at_the_dtype_of_the_state():
    assert cache_bytes(64, 16, 32) == 12 * 1024
    k, told = STOPS.index(64), answer(Question())["recall.reel"]
    assert told["cache"][k] == 12 * 1024 and told["cache_said"][k] == "a cache of all pairs, 12 KiB"
    assert told["headline"][k].endswith("a cache of all, 12 KiB.") and told["sentence"][k].endswith(" Both in float32.")


@pytest.mark.parametrize(
    "d_k, d_v, rule", [(16, 32, "additive"), (32, 128, "additive"), (8, 8, "delta"), (64, 32, "decay")]
)
def test_the_sentence_says_between_which_numbers_of_pairs_a_state_pays(d_k, d_v, rule):
    """By trying every number of pairs: d_φ(d_v + 1) numbers of state against d_φ + d_v a pair."""
    text = answer(Question(d_k=d_k, d_v=d_v, rule=rule))["recall.reel"]["sentence"][0]
    smaller = next(n for n in range(1, 10_000) if d_k * (d_v + 1) < n * (d_k + d_v))
    assert f" smaller than the cache from {smaller} pairs on" in text
    reached = 0
    for n in found().axes["n"].tolist():
        if recall(rule, d_k, d_v, n) < 0.9:
            break
        reached = n
    assert (f" keeps nine in ten up to {reached}." if reached else " keeps nine in ten of none.") in text


def test_the_bars_are_two_memories_of_520_pairs_that_are_asked_for_eight():
    """The claim's own numbers, filled here by the rule itself."""
    want = []
    for width, kept in ((16, 0.0), (64, 1.0)):
        cosines = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            K, V = rng.standard_normal((520, width)), rng.standard_normal((520, 32))
            K /= np.linalg.norm(K, axis=1, keepdims=True)
            S = kept * K[:512].T @ V[:512] + K[512:].T @ V[512:]
            reads = K[512:] @ S
            cosines.append(
                np.sum(reads * V[512:], axis=1) / np.linalg.norm(reads, axis=1) / np.linalg.norm(V[512:], axis=1)
            )
        want.append(np.mean(cosines))
    bars = answer(Question())["recall.flushed_bars"]
    assert bars["cosine"] == pytest.approx(want, abs=0.04) and bars["text"][0] == f"{bars['cosine'][0]:.2f}"


def test_a_width_that_was_not_computed_says_which_one_is_shown():
    told = dict(zip(*answer(Question(d_k=4))["recall.texts"].values()))
    assert told["recall.width"] == "8, the nearest that was computed"
    assert dict(zip(*answer(Question(d_k=8))["recall.texts"].values()))["recall.width"] == "8"


def test_the_chosen_rule_is_the_thick_line_at_both_of_its_strengths():
    props = answer(Question(rule="delta"))["recall.props"]
    thick = {model for model, width in zip(props["model"], props["value"]) if width > 2}
    assert thick == {f"recall.{where}_{rule}" for where in ("by_bytes", "by_pairs") for rule in ("delta", "delta_full")}


@pytest.mark.parametrize("d_k, d_v", [(16, 32), (64, 128), (8, 8)])
def test_names_begin_where_their_own_lines_end_and_stand_apart_in_their_order(d_k, d_v):
    told = answer(Question(d_k=d_k, d_v=d_v))
    bytes_, pairs = told["recall.by_bytes"]["bytes"][-1], told["recall.by_pairs"]["n"][-1]
    reel, under = told["recall.reel"], told["recall.pair_names"]
    figures = [(told["recall.names"], bytes_, reel["ends"][k], reel["names"][k], reel, k) for k in range(len(STOPS))]
    for names, x, ends, heights, lines, k in [*figures, (under, pairs, under["end"], under["y"], None, -1)]:
        drawn = lines or told["recall.by_pairs"]
        np.testing.assert_array_equal(ends, [(drawn[rule][k] if lines else drawn[rule])[-1] for rule in rules()])
        assert (names["from"] == x).all() and (x < names["tick"]).all() and (names["tick"] < names["x"]).all()
        assert (np.diff(np.asarray(heights)[np.argsort(ends, kind="stable")]) >= 0.0749).all()


@pytest.mark.parametrize("d_k, d_v", [(8, 8), (64, 128)])
def test_the_name_of_the_cache_is_not_cut_where_its_axis_begins_and_ends(d_k, d_v):
    """On a frame of 590 px, a letter 6 px wide."""
    reel = answer(Question(d_k=d_k, d_v=d_v))["recall.reel"]
    for size, text, align in zip(reel["cache"], reel["cache_said"], reel["cache_align"]):
        left = share(size, *BYTES, log=True) * 590 - {"left": 0, "center": 0.5, "right": 1}[align] * 6 * len(text)
        assert 0 <= left <= 590 - 6 * len(text), (size, align)


def test_names_are_said_in_words():
    assert [name_of(rule) for rule in ("delta_full", "gated_delta")] == ["delta (β = 1)", "gated delta"]


@pytest.mark.parametrize("preset", [p for p in teaching("recall").presets if "nine in ten of" in p.caption])
def test_bytes_that_a_caption_gives_for_nine_in_ten_are_those_of_the_headline(preset):
    headline = opened("recall", urlencode(preset.words))[0]["recall.headline"]
    assert set(re.findall(r"[\d.]+ [KM]iB", preset.caption)) == set(re.findall(r"[\d.]+ [KM]iB", headline))
    (pairs,) = re.findall(r"nine in ten of (\d+)", preset.caption)
    assert f"Nine in ten of {pairs} pairs" in headline


def test_no_two_presets_open_the_same_state():
    states = [urlencode(sorted(preset.words.items())) for preset in teaching("recall").presets]
    assert len(set(states)) == len(states)


def test_the_pale_row_of_plain_adding_is_a_run_that_learned_nothing_and_the_rules_are_else_alike():
    """What the caption of the trained layers says; a mean over two runs alone would have delta win."""
    result = shipped("trained-recall")
    dims = [list(result.about["dims"]["recall"]).index(d) for d in ("mixer", "d_k", "draw", "rate", "n")]
    best = np.nanmax(np.transpose(result.arrays["recall"], dims), axis=3)
    adding, delta, gated = (best[list(result.axes["mixer"]).index(m)] for m in ("additive", "delta", "gated_delta"))
    assert adding[0].max(axis=1).min() < 0.05 < 0.9 < adding[0].max()
    for other in (delta, gated):
        assert np.abs(adding[0].max(axis=0) - other[0].max(axis=0)).max() < 0.1
        assert np.abs(adding[1:].mean(axis=1) - other[1:].mean(axis=1)).max() < 0.15
