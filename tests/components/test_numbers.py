"""What is drawn is what compute says, and what a headline says is what is drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import DEFAULT, QUESTIONS, VIEWS, relevant, said, shown
from scipy import linalg, special, stats

from components.axes import AXES
from components.lesson import Question
from components.memory_answer import pairs
from components.says import decimals
from components.sharpness_answer import name_of
from components.words import PHIS, SOFTMAX
from compute.feature_maps import FEATURE_MAPS, read_member
from compute.memory import WRITE_RULES, crosstalk_energy
from compute.rank import kernel_matrix
from compute.sharpness import UNDEFINED_BELOW, match_weights
from compute.sizing import all_softmax_twin, bill, load_model, model_crossings, models
from compute.toys import queries_and_keys

STOPS = {word: np.asarray(axis.stops, dtype=float) for word, axis in AXES.items()}
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
SOME_SHARPNESS = [Question(phi=phi, d_k=d_k, seed=seed) for phi in PHIS for d_k, seed in ((16, 0), (4, 7))]


def answer(view, question=DEFAULT):
    return VIEWS[view].answer(question)


def percentages(text):
    """Shares that a sentence says, with the half unit of their last digit; below a thousandth only a bound."""
    found = []
    for under, number in re.findall(r"(under )?(−?\d+(?:\.\d+)?) %", text):
        value, digits = float(number.replace("−", "-")) / 100, len(number.partition(".")[2])
        found.append((0.0005, 0.0005) if under else (value, 0.5001 * 10.0 ** (-2 - digits)))
    return found


# Sharpness


def bars(question, column="weight"):
    return np.asarray(shown("sharpness", question, "sharpness.bars", column), dtype=float)


@pytest.mark.parametrize("question", SOME_SHARPNESS, ids=lambda q: f"{q.phi}-{q.d_k}")
def test_the_bars_are_the_weights_that_compute_gives(question):
    K = queries_and_keys(question.d_k, question.seed)[1][:32]
    w, left = match_weights(question.map, K[11], K, STOPS["c"], draws=10)
    w = np.where((left < UNDEFINED_BELOW)[..., None], np.nan, w)
    drawn = bars(question)
    if w.ndim == 2:
        np.testing.assert_allclose(drawn, w, rtol=1e-5, atol=1e-7)
        return
    whole = ~np.isnan(w).any(axis=(0, 2))  # stops at which all ten draws are defined
    ordered = np.sort(w, axis=0)
    assert np.all(drawn[whole] >= ordered[4][whole] - 1e-6) and np.all(drawn[whole] <= ordered[5][whole] + 1e-6)


def test_the_softmax_bars_are_scipys_softmax():
    K = queries_and_keys(16, 0)[1][:32]
    by_scipy = special.softmax(STOPS["c"][:, None] * (K @ K[11]) / 4, axis=1)
    np.testing.assert_allclose(bars(Question(phi="favor"), "softmax"), by_scipy, rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize("word", [word for word, kind in FEATURE_MAPS.items() if not kind.random])
def test_the_bars_of_a_map_are_products_of_features(word):
    defined = 0
    for seed in range(4):
        phi, K = read_member(word), queries_and_keys(16, seed)[1][:32]
        kernel = phi(STOPS["c"][:, None] * K[11] / 2) @ phi(K / 2).T
        drawn = bars(Question(phi=word, seed=seed))
        there = ~np.isnan(drawn).any(axis=1)
        expected = kernel / kernel.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(drawn[there], expected[there], rtol=1e-4, atol=1e-6)
        defined += there.sum()
    assert defined >= len(STOPS["c"])


def test_a_row_of_the_kernel_matrix_becomes_the_query():
    Q, K = queries_and_keys(16, 0)
    by_scipy = special.softmax(STOPS["c"][:, None] * (K[:32] @ Q[101]) / 4, axis=1)
    told = answer("sharpness", Question(phi=SOFTMAX, row=101))
    np.testing.assert_allclose(bars(Question(phi=SOFTMAX, row=101)), by_scipy, rtol=2e-6, atol=1e-9)
    match = int(np.argmax(K[:32] @ Q[101]))
    np.testing.assert_allclose(told["sharpness.curves"][SOFTMAX], by_scipy[:, match], rtol=2e-6)


@pytest.mark.parametrize("question", SOME_SHARPNESS, ids=lambda q: f"{q.phi}-{q.d_k}")
def test_a_curve_is_the_height_of_the_matching_bar(question):
    told = answer("sharpness", question)
    np.testing.assert_allclose(told["sharpness.curves"][question.map_word], bars(question)[:, 11], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        told["sharpness.curves"][SOFTMAX], bars(question, "softmax")[:, 11], rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("phi", PHIS)
def test_a_curve_tends_to_its_dashed_end(phi, seed):
    """At c = 16 a curve that has a limit is near it, a flat curve is on it, and no curve has no end."""
    told = answer("sharpness", Question(phi=phi, seed=seed))
    limit = told["sharpness.ends"]["limit"][PHIS.index(phi)]
    last = told["sharpness.curves"][phi][-1]
    if np.isfinite(limit):
        assert last == pytest.approx(limit, abs=1e-6 if phi != SOFTMAX and FEATURE_MAPS[phi].homogeneity else 0.08)


@pytest.mark.parametrize("question", relevant("sharpness"), ids=lambda q: f"{q.phi}-{q.d_k}-{q.seed}-{q.row}")
def test_the_sharpness_headline_says_the_heights_of_the_bars(question):
    match = 11 if question.row is None else int(np.argmax(_scores(question)))
    soft, own = bars(question, "softmax")[:, match], bars(question)[:, match]
    for i, text in enumerate(said("sharpness", question, "sharpness.headline")):
        expected = [soft[i]] if question.phi == SOFTMAX or np.isnan(own[i]) else [soft[i], own[i]]
        numbers = percentages(text)
        assert len(numbers) == len(expected), text
        for (number, half), height in zip(numbers, expected, strict=True):
            assert number == pytest.approx(height, abs=half), (text, height)


def _scores(question):
    Q, K = queries_and_keys(question.d_k, question.seed)
    return K[:32] @ Q[question.row]


@pytest.mark.parametrize("phi", PHIS)
def test_the_read_outs_of_sharpness_are_entropy_and_largest_weight(phi):
    question = Question(phi=phi)
    drawn = bars(question)
    for i in (0, len(drawn) // 2, len(drawn) - 1):
        row = drawn[i]
        entropy = said("sharpness", question, "sharpness.entropy")[i].partition("·")[0]
        if np.isnan(row).any() or (row < 0).any():
            assert "undefined" in entropy
        else:
            proper = row / row.sum() if abs(row.sum() - 1) < 1e-3 else None
            if proper is not None:
                assert float(entropy.split()[0]) == pytest.approx(stats.entropy(proper), abs=0.0051)
        top = percentages(said("sharpness", question, "sharpness.top")[i])
        if not np.isnan(row).any():
            assert top[0][0] == pytest.approx(row.max(), abs=top[0][1])


# Memory

MEMORIES = [q for q in relevant("memory") if q.model == DEFAULT.model]
memory_ids = [f"{q.keys}-{q.rule}-{q.phi}-{q.d_k}-{q.rho:g}-{q.alpha:g}-{q.beta:g}-{q.seed}" for q in MEMORIES]


def written_one_by_one(question):
    """Cosine of every read after every write, and every state, from the rule itself."""
    own = question.keys == "phi"
    K, V = pairs(question.keys, question.rho if question.keys == "correlated" else 0.5,
                 question.phi if own else SOFTMAX, question.d_k if own else 32, question.seed)  # fmt: skip
    rule, S = WRITE_RULES[question.rule](), np.zeros((K.shape[1], V.shape[1]))
    states, cosines = [S], [np.empty(0)]
    for n in range(len(K)):
        S = rule(S, K[n], V[n], alpha=question.alpha, beta=question.beta)
        reads = K[: n + 1] @ S
        lengths = np.maximum(np.linalg.norm(reads, axis=1) * np.linalg.norm(V[: n + 1], axis=1), 1e-300)
        states.append(S)
        cosines.append(np.sum(reads * V[: n + 1], axis=1) / lengths)
    return states, cosines


@pytest.mark.parametrize("question", MEMORIES[:: max(1, len(MEMORIES) // 24)] + [q for q in MEMORIES if q.phi == "elu"][:20],
                         ids=lambda q: f"{q.keys}-{q.rule}-{q.phi}-{q.d_k}-{q.alpha:g}-{q.beta:g}")  # fmt: skip
def test_memory_shows_what_writing_one_by_one_gives(question):
    told, cosines = answer("memory", question), written_one_by_one(question)[1]
    most, reads = len(cosines) - 1, shown("memory", question, "memory.pairs", "cosine")
    for n in range(257):
        np.testing.assert_allclose(reads[n], cosines[min(n, most)], atol=0.5 / 127 + 1e-6, err_msg=str(n))
    mean = np.array([np.nan, *(c.mean() for c in cosines[1:])])
    newest = np.array([np.nan, *(c[-1] for c in cosines[1:])])
    curve = told["memory.curve"]
    np.testing.assert_allclose(curve["mean"][1 : most + 1], mean[1:], atol=1e-5)
    np.testing.assert_allclose(curve["newest"][1 : most + 1], newest[1:], atol=1e-5)
    assert np.isnan(curve["mean"][most + 1 :]).all()
    oldest = np.array([c[0] for c in cosines[1:]])
    last = np.minimum(np.arange(1, 257), most)
    ends = np.asarray(shown("memory", question, "memory.ends", "y"))[1:]
    np.testing.assert_allclose(ends, np.stack([oldest[last - 1], newest[last]], axis=1), atol=1e-5)


@pytest.mark.parametrize("rule", WRITE_RULES)
def test_the_picture_of_the_state_is_the_state(rule):
    question = Question(rule=rule)
    states, frames = written_one_by_one(question)[0], shown("memory", question, "memory.state", "image")
    numbers = [written_at(title) for title in said("memory", question, "memory.frame")]
    scale = max(np.abs(states[n]).max() for n in numbers)
    told = answer("memory", question)["memory.texts"]
    assert told["text"][told["node"].index("memory.scale")] == f"±{decimals(scale)}"
    for frame, n in zip(frames, numbers, strict=True):
        np.testing.assert_allclose((frame.astype(float) - 127.5) / 127.5 * scale, states[n], atol=scale * 0.51 / 127.5)


def test_the_frame_shown_is_the_last_one_sent_up_to_n():
    """The first writes each have their own."""
    numbers = [written_at(title) for title in said("memory", DEFAULT, "memory.frame")]
    assert numbers[:17] == list(range(17))
    for n, at in enumerate(numbers):
        assert at == max(m for m in numbers if m <= n) and n - at < 64


def written_at(title):
    return int(re.search(r"\d+", title)[0])


def test_crosstalk_of_an_additive_memory_is_about_the_gram_matrix():
    """Measured over one draw of values, expected over all of them."""
    K = pairs("random", 0.5, SOFTMAX, 32, 0)[0]
    drawn = answer("memory")["memory.energies"]["energy"]
    for n in (32, 128, 256):
        assert drawn[n - 1] == pytest.approx(crosstalk_energy(K[:n]), rel=0.15)


@pytest.mark.parametrize("question", MEMORIES, ids=memory_ids)
def test_the_memory_headline_says_the_mean_cosine_that_is_drawn(question):
    curve = answer("memory", question)["memory.curve"]["mean"]
    most = int(np.max(np.flatnonzero(np.isfinite(curve))))
    for n, text in enumerate(said("memory", question, "memory.headline")):
        if 1 < n <= most:
            assert text.startswith(f"{n} ") or f" {n} " in text, text
            if re.search("cosine (under 0.0001|about 0)", text):
                assert abs(curve[n]) < 1e-4
                continue
            number = re.search(r"cosine (−?\d+(?:\.\d+)?)", text)[1].replace("−", "-")
            half = 0.5001 * 10.0 ** -len(number.partition(".")[2])
            assert float(number) == pytest.approx(curve[n], abs=half + 1e-6), text


@pytest.mark.parametrize("question", MEMORIES, ids=memory_ids)
def test_the_mean_of_the_bars_is_the_point_on_the_curve(question):
    curve = answer("memory", question)["memory.curve"]["mean"]
    reads, here = (shown("memory", question, f"memory.{s}", c) for s, c in (("pairs", "cosine"), ("here", "y")))
    for n in (1, 2, 31, 32, 33, 128, 256):
        assert np.mean(reads[n]) == pytest.approx(here[n], abs=0.5 / 127 + 1e-6)
        if np.isfinite(curve[n]):
            assert here[n] == pytest.approx(curve[n], abs=1e-6)


def test_a_law_is_drawn_only_where_one_holds():
    for rule, kind in WRITE_RULES.items():
        law = answer("memory", Question(rule=rule))["memory.curve"]["law"]
        assert np.isfinite(law[2:]).all() != kind.corrects
    law, mean = (answer("memory")["memory.curve"][name] for name in ("law", "mean"))
    np.testing.assert_allclose(law[8:], 1 / np.sqrt(1 + np.arange(7, 256) / 32), rtol=0.03)
    np.testing.assert_allclose(mean[8:], law[8:], atol=0.06)


# Rank


@pytest.mark.parametrize("d_k, seed", [(16, 0), (4, 3), (64, 0)])
@pytest.mark.parametrize("word", PHIS)
def test_the_spectra_are_scipys_singular_values(word, d_k, seed):
    Q, K = (a[:256] for a in queries_and_keys(d_k, seed))
    phi = None if word == SOFTMAX else read_member(word)
    drawn = shown("rank", Question(d_k=d_k, seed=seed), "rank.spectrum", word)
    for i, N in enumerate(AXES["N"].stops):
        values = linalg.svdvals(kernel_matrix(Q[:N], K[:N], phi))
        relative = values / values[0]
        clear = relative > 1e-11  # below lies the roundoff of the full matrix
        assert len(drawn[i]) == N
        np.testing.assert_allclose(drawn[i][clear], relative[clear], rtol=2e-3)
        assert np.all(drawn[i][~clear] < 1e-10)


def ranks(question, word):
    return np.array([np.sum(values > 1e-10) for values in shown("rank", question, "rank.spectrum", word)])


@pytest.mark.parametrize("question", relevant("rank"), ids=lambda q: f"{q.phi}-{q.d_k}-{q.seed}-{q.row}")
def test_the_rank_headline_counts_the_singular_values_that_are_drawn(question):
    own, soft = ranks(question, question.map_word), ranks(question, SOFTMAX)
    for i, text in enumerate(said("rank", question, "rank.headline")):
        N = AXES["N"].stops[i]
        numbers = {int(x.replace(",", "")) for x in re.findall(r"(?<![\w.])\d[\d,]*(?![\w.]*\d)", text)}
        labels = {int(x) for x in re.findall(r"\d+", name_of(question.map_word))} | {64}  # elu+1, float64
        assert {own[i], N} <= numbers <= {own[i], soft[i], N} | labels, (text, own[i], soft[i])
        assert said("rank", question, "rank.own")[i] == f"{own[i]} of {N}"


@pytest.mark.parametrize("phi", PHIS)
def test_the_rank_below_the_diagonal_is_scipys(phi):
    Q, K = (a[:256] for a in queries_and_keys(16, 0))
    for i, N in enumerate(AXES["N"].stops):
        M = kernel_matrix(Q[:N], K[:N], Question(phi=phi).map)
        values = linalg.svdvals(M[N // 2 :, : N // 2])
        clear = np.sum(values > 2e-10 * values[0]), np.sum(values > 0.5e-10 * values[0])
        assert clear[0] <= int(said("rank", Question(phi=phi), "rank.block")[i].split()[0]) <= clear[1]


@pytest.mark.parametrize("phi", PHIS)
def test_the_rank_never_exceeds_the_dashed_bound(phi):
    question = Question(phi=phi)
    bound, own = answer("rank", question)["rank.reel"]["bound"], ranks(question, phi)
    drawn = np.asarray(bound) > 0
    assert np.all(own[drawn] <= np.asarray(bound)[drawn])


@pytest.mark.parametrize("phi", [SOFTMAX, "elu", "taylor"])
def test_the_picture_of_the_kernel_matrix_keeps_the_order_of_its_entries(phi):
    Q, K = (a[:256] for a in queries_and_keys(16, 0))
    M = np.abs(kernel_matrix(Q, K, Question(phi=phi).map))
    frames, extents = (shown("rank", Question(phi=phi), "rank.kernel", column) for column in ("image", "dw"))
    for frame, extent, N in zip(frames, extents, AXES["N"].stops, strict=True):
        assert extent >= N
        step = int(extent) // frame.shape[1]
        for row in (1, 5, N // step - 1):
            assert stats.spearmanr(frame[row], M[row * step, : int(extent) : step]).statistic > 0.98


# Sizing


@pytest.mark.parametrize("model", models())
def test_the_sizing_curves_are_the_bill(model):
    shape = load_model(model)
    told, twin = answer("sizing", Question(model=model))["sizing.curves"], all_softmax_twin(shape)
    for i, T in enumerate(AXES["T"].stops):
        b = bill(shape, T)
        whole = {
            "cache": b.kv_bytes,
            "window": b.window_bytes,
            "state": b.state_bytes,
            "conv": b.conv_bytes,
            "total": b.total_bytes,
        }
        if twin not in (None, shape):
            whole["twin"] = bill(twin, T).total_bytes
        for name in ("cache", "window", "state", "conv", "total", "twin"):
            drawn = told[name][i]
            if np.isfinite(drawn):
                assert drawn == pytest.approx(whole[name], rel=1e-12), (name, T)
            else:
                parts = [x for x in list(whole.values())[:4] if x]
                assert not whole.get(name) or (name == "total" and len(parts) == 1), (name, T)


def quantities(text):
    """Bytes that a sentence says, with half a unit of the last digit."""
    found = []
    for number, unit in re.findall(r"(\d[\d,]*(?:\.\d+)?) ([KMGTP]iB|B)\b", text):
        digits = len(number.partition(".")[2])
        value = float(number.replace(",", ""))
        # Three significant digits: 280 may stand for 279.6, and 1,024 for itself.
        found.append((value * UNITS[unit], 0.501 * 10.0**-digits * UNITS[unit]))
    return found


@pytest.mark.parametrize("model", models())
def test_the_sizing_headline_says_the_bytes_that_are_drawn(model):
    question, shape = Question(model=model), load_model(model)
    curves = {name: np.nan_to_num(values) for name, values in answer("sizing", question)["sizing.curves"].items()}
    for i, text in enumerate(said("sizing", question, "sizing.headline")):
        T = AXES["T"].stops[i]
        assert f"{T:,}" in text
        growing, state = curves["cache"][i] + curves["window"][i], curves["state"][i] or curves["conv"][i]
        drawn = [x for x in (growing, state, curves["state"][i] + curves["conv"][i], curves["twin"][i]) if x]
        numbers = quantities(text)
        assert numbers, text
        for number, half in numbers:
            assert any(abs(number - x) <= half for x in drawn), (text, drawn)
        if growing:
            assert abs(numbers[0][0] - growing) <= numbers[0][1], text
    assert bill(shape, T).total_bytes == pytest.approx(
        max(curves["total"][-1], growing + curves["state"][-1] + curves["conv"][-1])
    )


@pytest.mark.parametrize("model", models())
def test_curves_meet_where_the_points_stand(model):
    """A crossing is the first whole token: the curves have passed it there, and not one token before."""
    shape = load_model(model)
    told, meet = answer("sizing", Question(model=model)), model_crossings(shape)
    points = {name: told[f"sizing.{name}"] for name in ("meet", "beat")}
    for point, at in ((points["meet"], meet.state), (points["beat"], meet.twin)):
        if point["text"][0]:
            assert point["x"][0] == at and f"{at:,}" in point["text"][0]
    if points["meet"]["text"][0]:
        T = meet.state
        assert (
            bill(shape, T).kv_bytes + bill(shape, T).window_bytes
            >= bill(shape, T).state_bytes
            == points["meet"]["y"][0]
        )
        if T > 1:
            assert bill(shape, T - 1).kv_bytes + bill(shape, T - 1).window_bytes < bill(shape, T - 1).state_bytes
    if points["beat"]["text"][0]:
        T, twin = meet.twin, all_softmax_twin(shape)
        assert bill(twin, T).total_bytes >= bill(shape, T).total_bytes
        if T > 1:
            assert bill(twin, T - 1).total_bytes < bill(shape, T - 1).total_bytes


@pytest.mark.parametrize("model", models())
def test_the_table_of_the_bill_has_the_rows_of_the_bill(model):
    question, T = Question(model=model), 2**20
    rows = bill(load_model(model), T).layers
    i = AXES["T"].stops.index(T)
    told = dict(zip(*(answer("sizing", question)["sizing.texts"][key] for key in ("node", "text")), strict=True))
    for k, row in enumerate(rows):
        assert told[f"sizing.row.{k}.kind"].startswith(f"{row.count} × ")
        (number, half), *_ = quantities(said("sizing", question, f"sizing.row.{k}.bytes")[i])
        assert abs(number - row.bytes) <= half


def test_the_questions_cover_every_word():
    """A walk that misses a choice would prove nothing about it."""
    for name in set(Question.__dataclass_fields__) - {"own"}:  # a pasted model has its own tests
        assert len({getattr(question, name) for question in QUESTIONS}) > 1, name
