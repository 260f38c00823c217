"""Theory over the pictures of sweeps: laws, marks and lines where an independent calculation has them."""

from dataclasses import replace

import numpy as np
import pytest

from components.sweep_columns import NO_LAW, STEP, columns
from components.sweep_pictures import PICTURES
from components.sweep_shown import Panel, finding, panels_of
from components.sweep_theory import features_say, recall_says
from components.sweep_times import equal_time, overtakes, times_of, turns
from components.sweep_times import says as times_say
from compute.sweeps.base import Result
from compute.sweeps.places import find
from compute.sweeps.registry import SWEEPS
from compute.sweeps.running import run
from compute.sweeps.shipped import shipped

RANK, TIMES = PICTURES["rank.rank_sweep"], PICTURES["bracketing.times_sweep"]
RECALL, TRAINED = PICTURES["recall.recall_sweep"], PICTURES["recall.trained-recall_sweep"]
CROSSTALK = PICTURES["memory.crosstalk_sweep"]
FEATURES = {"elu": 16, "relu": 16, "hedgehog": 32, "dpfp": 96, "taylor": 153, "favor": 64}
"""How many features the maps of the sweep have at d_k = 16, as the lessons count them."""


@pytest.fixture(scope="module")
def ranks():
    return run(SWEEPS["rank"], replace(SWEEPS["rank"].quick, widths=(4, 16), draws=2), find("cpu"))


def marks(told, picture, part):
    """(row, column) of the upright marks of each panel, the rows counted over all panels' heights."""
    lines, found = told[f"{picture.name}_{part}"], {}
    for xs, ys in zip(lines["xs"], lines["ys"]):
        assert xs[0] == xs[1] and ys[0] < ys[1]
        found.setdefault(int((xs[0] + 1e-9) // STEP), []).append((ys[0], xs[0] % STEP if xs[0] >= 0 else 0.0))
    return found


def test_marks_of_rank_stand_where_n_passes_the_features_of_a_map(ranks):
    told = columns(RANK, ranks)
    maps, N = list(ranks.axes["map"]), list(ranks.axes["N"])
    found = {round(y * len(maps)): round(x * len(N)) for y, x in marks(told, RANK, "theory")[1]}
    assert found == {maps.index(word): sum(n <= most for n in N) for word, most in FEATURES.items()}  # no softmax


def test_a_cell_of_rank_says_its_bound_and_holds_it(ranks):
    cells = columns(RANK, ranks)[f"{RANK.name}_cells"]
    seen = set()
    for panel, N, word, rank, most in zip(*(cells[c] for c in ("panel", "x", "y", "said", "more_0"))):
        if panel == "d_k = 16":
            d_phi = dict(zip(map(RANK.tick, FEATURES), FEATURES.values())).get(word, 10**9)
            assert int(most) == min(int(N), d_phi) >= float(rank)
            seen.add(word)
    assert len(seen) == 7


def test_the_bound_stands_behind_each_row_of_rank(ranks):
    (_, panel) = panels_of(ranks, RANK)
    assert RANK.aside(panel) == ["≤ N", *(f"≤ {most}" for most in FEATURES.values())]
    texts = columns(RANK, ranks)[f"{RANK.name}_texts"]
    assert texts["text"].count(RANK.aside_label) == 2 and "≤ 153" in texts["text"]


def timed(ms, forms=("right", "softmax", "left"), T=(64, 256, 1024), d=128):
    about = {"axes": {"heads": (1,), "form": forms, "T": T}, "dims": {"ms": ["heads", "form", "T"]}}
    return Result({"ms": np.array([ms], dtype=float)}, {**about, "question": {"d": d}})


def test_marks_of_times_stand_where_flops_and_times_fall_below_those_of_softmax():
    """At width 128 the right order takes fewer FLOPs from 129 tokens; its time falls below between 256 and 1,024."""
    told = columns(TIMES, timed([[4, 4, 4], [1, 2, 8], [9, 9, 9]]))
    assert marks(told, TIMES, "theory") == {0: [(0.0, pytest.approx(1 / 3))]}
    assert marks(told, TIMES, "contours") == {0: [(0.0, pytest.approx(2 / 3))]}
    cells = told[f"{TIMES.name}_cells"]
    assert cells["more_0"][:3] == ["2 ×", "0.5 ×", "0.12 ×"]  # 128/T
    assert cells["more_1"][:3] == ["4 ×", "2 ×", "0.5 ×"]


@pytest.mark.parametrize(
    ("row", "other", "first"),
    [
        ([4, 4, 4], [5, 6, 7], 0),  # faster everywhere
        ([4, 1, 4], [2, 2, 8], 1),
        ([1, 4, 1], [2, 2, 2], 2),  # ahead, behind, ahead: from the last time on
        ([1, 1, 4], [2, 2, 2], None),
        ([4, 1, np.nan], [2, 2, 2], 1),
        ([4, 1, 1], [2, 2, np.nan], 1),
        ([np.nan] * 3, [2, 2, 2], None),
    ],
)
def test_a_form_has_overtaken_where_it_stays_ahead_of_what_both_have(row, other, first):
    panel = Panel(1, [64, 256, 1024], ["right", "softmax"], np.array([row, other], dtype=float), {"d": 16})
    assert overtakes(panel) == [first, None]


def test_times_are_equal_where_their_powers_of_t_cross():
    """One grows like T, the other not at all: from 16 at 16 to 16·√(256·16)/16 = 64 where the other has its 64."""
    panel = Panel(1, [16, 256], ["right", "softmax"], np.array([[64, 64], [16, 256]], dtype=float), {"d": 16})
    assert equal_time(panel, "right") == pytest.approx(64)
    alone = replace(panel, up=["right", "left"])
    assert overtakes(alone) == [None, None] and equal_time(alone, "right") is None
    assert turns(alone) == [1, None]  # FLOPs need no clock: 17 tokens on


@pytest.mark.parametrize("ratio, text", [(1 / 512, "1/512"), (0.31, "0.31 ×"), (12.2, "12 ×"), (2048, "2,048 ×")])
def test_a_ratio_is_said_as_a_person_says_it(ratio, text):
    assert times_of(ratio) == text and times_of(np.nan) == "not measured"


def places(xs, across):
    """Columns, counted in cells from the first one's middle."""
    return (np.asarray(xs) % STEP) * len(across) - 0.5


def test_equal_bytes_of_recall_are_those_of_a_cache_of_so_many_pairs():
    """State d·(d_v + 1), cache n·(d + d_v) numbers: 64 rows of 65 are 32.5 pairs of 128."""
    result = shipped("recall")
    (across, up), told = (result.axes[name] for name in ("n", "d_phi")), columns(RECALL, result)
    lines = told[f"{RECALL.name}_equal"]
    assert len(lines["xs"]) == len(result.axes["rule"])
    for xs, ys in zip(lines["xs"], lines["ys"]):
        rows, cols = np.asarray(ys) * len(up) - 0.5, places(xs, across)
        i = int(np.argmin(np.abs(rows - list(up).index(64))))
        assert rows[i] == pytest.approx(list(up).index(64))
        low, high = list(across).index(32), list(across).index(45)
        assert low < cols[i] < high and cols[i] == pytest.approx(low + np.log(32.5 / 32) / np.log(45 / 32))


def test_the_law_of_recall_lies_on_its_contours_and_is_told_for_the_additive_rule_alone():
    result = shipped("recall")
    told = columns(RECALL, result)
    cells = told[f"{RECALL.name}_cells"]
    for rule, recall, law in zip(cells["panel"], cells["said"], cells["more_0"]):
        if rule == "additive":
            assert float(law) == pytest.approx(float(recall), abs=0.021)
        else:
            assert law == NO_LAW or rule == "scale of colours"
    lines = [np.array(told[f"{RECALL.name}_{part}"]["xs"][:2], dtype=object) for part in ("theory", "contours")]
    for law, measured in zip(*lines):
        assert max(law) < 1 and max(measured) < 1  # both in the first panel
        assert law[-1] == pytest.approx(measured[-1], abs=0.02) and law[0] == pytest.approx(measured[0], abs=0.02)


@pytest.mark.parametrize("picture", [RECALL, TRAINED], ids=lambda picture: picture.sweep)
def test_as_many_pairs_as_rows_stand_on_the_diagonal(picture):
    result = shipped(picture.sweep)
    panels, told = panels_of(result, picture), columns(picture, result)[f"{picture.name}_theory"]
    lines = {}
    for xs, ys in zip(told["xs"], told["ys"]):
        lines.setdefault(int(xs[0] // STEP), []).append((xs, ys))
    without = {panel.value for p, panel in enumerate(panels) if p not in lines}
    assert without == (set() if picture is RECALL else {"softmax"})
    up, across = panels[0].up, panels[0].across
    for p, panel in enumerate(panels):
        if panel.value in without or (picture is RECALL and panel.value == "additive"):
            continue
        ((xs, ys),) = lines[p]
        rows = np.interp(np.asarray(ys) * len(up) - 0.5, range(len(up)), np.log2(up))
        pairs = np.interp(places(xs, across), range(len(across)), np.log2(across))
        np.testing.assert_allclose(rows, pairs, atol=1e-9)


def test_a_trained_layers_state_and_a_cache_of_two_tokens_a_pair_have_equal_bytes():
    """d_k = 16 rows of 64 against 2n(16 + 64) numbers: 6.4 pairs; a softmax layer has no state."""
    told, panels = columns(TRAINED, shipped("trained-recall")), panels_of(shipped("trained-recall"), TRAINED)
    lines, across = told[f"{TRAINED.name}_equal"], panels[0].across
    assert len(lines["xs"]) == len(panels) - 1
    rows = np.asarray(lines["ys"][0]) * len(panels[0].up) - 0.5
    i = int(np.argmin(np.abs(rows - 1)))
    assert 2.0 ** np.interp(places(lines["xs"][0], across)[i], range(len(across)), np.log2(across)) == pytest.approx(
        6.4
    )
    cells = told[f"{TRAINED.name}_cells"]
    kept = {
        panel: more
        for panel, d_k, n, more in zip(*(cells[c] for c in ("panel", "y", "x", "more_0")))
        if (d_k, n) == ("16", "8")
    }
    assert kept["delta"] == "state 4 KiB" and kept["softmax"] == "cache 5 KiB"
    assert kept["3 gated delta, 1 softmax"] == "state 4 KiB or cache 5 KiB"


def test_a_level_that_a_law_does_not_reach_has_no_line():
    """At eight pairs a row the cosine is 1/3, so nothing is drawn for 0.3."""
    lines = columns(CROSSTALK, shipped("crosstalk"))[f"{CROSSTALK.name}_theory"]
    assert lines["xs"] and max(max(xs) for xs in lines["xs"]) < 0.5


def test_in_a_panel_of_one_row_a_line_is_a_mark_through_it():
    question = replace(SWEEPS["trained-recall"].quick, steps=10)
    about = {
        "axes": {"d_k": (8,), "mixer": ("delta",), "rate": (1e-3,), "draw": (0,), "n": (4, 8, 16)},
        "dims": {"recall": ["d_k", "mixer", "rate", "draw", "n"]}, "question": question.told(),
    }  # fmt: skip
    told = columns(TRAINED, Result({"recall": np.full((1, 1, 1, 1, 3), 0.5)}, about))
    assert told[f"{TRAINED.name}_theory"] == {"xs": [[0.5, 0.5]], "ys": [[0.0, 1.0]]}  # n = 8, the middle of three


@pytest.mark.parametrize("name", PICTURES)
def test_a_part_of_a_result_is_drawn_and_described_too(name):
    picture = PICTURES[name]
    whole = shipped(picture.sweep)
    for keep in (0, 1):
        holes = {word: np.full_like(a, np.nan) for word, a in whole.arrays.items()}
        for word, a in whole.arrays.items():
            holes[word].reshape(-1)[: a.size // 3 * keep] = a.reshape(-1)[: a.size // 3 * keep]
        part = Result(holes, whole.about)
        assert bool(columns(picture, part)[f"{name}_cells"]["panel"]) == (bool(keep) or not picture.written)
        assert "nan" not in finding(part, picture)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rank.rank_sweep", "No rank exceeds the bound min(N, d_φ), and 103 of 105 reach it."),
        ("rank.rank_sweep", "FAVOR+ has m = 64 directions here."),
        ("bracketing.times_sweep", "fewer FLOPs than softmax, counted without a mask, from 257 tokens"),
        ("bracketing.times_sweep", "in chunks of 128"),
        ("bracketing.times_sweep", "(the right order fewer than the left from 129)"),
        ("recall.recall_sweep", "Law and sweep of the additive rule differ by at most 0.01"),
        ("recall.trained-recall_sweep", "recall is additive 0.47 to 1.00, delta 0.92 to 1.00"),
        ("recall.trained-recall_sweep", "sequences of 8, 32 and 64 pairs; 128 and 256 are beyond training."),
        ("memory.crosstalk_sweep", "law for wide values and this sweep differ by at most 0.009"),
        ("random-features.random-features_sweep", "at ‖q+k‖ = 1.7 with 16 of them, and at 2.9 with 4,096"),
    ],
)
def test_every_picture_is_described_with_its_theory(name, says):
    assert says in finding(shipped(PICTURES[name].sweep), PICTURES[name])


def test_sentences_speak_of_what_was_computed_and_of_laws_beyond_the_picture():
    """√ln 17 = 1.68 and √ln 65 = 2.04, though the picture begins at 3; a share that rises again counts no further."""
    told = features_say([Panel("positive", [3.0, 6.0], [16, 64], np.ones((2, 2)))])
    assert "1.7 with 16 of them, and at 2.0 with 64." in told
    values = np.full((3, 3), np.nan)
    values[0] = 1, 0.8, 0.95
    told = recall_says([Panel("additive", [4, 8, 16], [8, 16, 32], values, {}, {"d_v": 32})])
    assert "a state 8 wide" in told and "nine in ten up to 4." in told
    values[0, 2] = np.nan
    assert recall_says([Panel("additive", [4, 8, 16], [8, 16, 32], values, {}, {"d_v": 32})]) == ""


@pytest.mark.parametrize(
    ("mine", "other", "told"),
    [
        ([2, 2, 1, 1], [1, 1, 2, 2], "less time from about 1,000 with one head (4 times as many)."),
        ([1, 1, 1, 3], [2, 2, 2, 2], "less time at 3 of 4 lengths with one head."),
        ([2, np.nan, 1, 1], [1, 2, 3, 4], "less time at 2 of 3 lengths with one head."),
        ([1, 1, 1, 1], [2, 2, 2, 2], "less time at all that were measured with one head."),
        ([2, 2, 2, 2], [1, 1, 1, 1], "less time at none that were measured with one head."),
        ([np.nan] * 4, [1, 1, 1, 1], "from 129)."),
    ],
)
def test_the_sentence_of_times_says_no_more_than_was_measured(mine, other, told):
    panel = Panel(1, [256, 512, 2048, 4096], ["softmax", "chunkwise"], np.array([other, mine], float), {"d": 128})
    assert times_say([panel]).endswith(told)


def test_the_legend_names_what_is_drawn():
    assert RANK.key == "up: φ; dashed: left of it at most N, right of it at most d_φ"
    for picture in PICTURES.values():
        told = columns(picture, shipped(picture.sweep))
        for part, word in (("theory", "dashed"), ("equal", "dotted")):
            assert bool(told[f"{picture.name}_{part}"]["xs"]) == (f"{word}: " in picture.key)
