"""Rank: spectra are scipy's singular values, and the headline counts those that are drawn."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from asked import DEFAULT, VIEWS, relevant, said, shown
from scipy import linalg, stats

from components.axes import AXES
from components.lesson import Question
from components.rank_far import _ranks, far_ranks, load
from components.sharpness_run import name_of
from components.words import PHIS, SOFTMAX
from compute.feature_maps import read_member
from compute.rank import kernel_matrix
from compute.toys import queries_and_keys


def answer(question=DEFAULT):
    return VIEWS["rank"].answer(question)


@pytest.mark.parametrize("d_k, seed", [(16, 0), (4, 3), (8, 77)])
@pytest.mark.parametrize("word", PHIS)
def test_the_spectra_are_scipys_singular_values(word, d_k, seed):
    Q, K = (a[:256] for a in queries_and_keys(d_k, seed))
    phi = None if word == SOFTMAX else read_member(word)
    drawn = shown("rank", Question(d_k=d_k, seed=seed), "rank.spectrum", word)
    for i, N in enumerate(AXES["N"].stops):
        values = linalg.svdvals(kernel_matrix(Q[:N], K[:N], phi))
        relative = values / values[0]
        clear = relative > 1e-11  # below lies the roundoff of the full matrix
        assert len(drawn[i]) == N or drawn[i][-1] < 1e-13  # what a map has no features for is not sent
        np.testing.assert_allclose(drawn[i][clear[: len(drawn[i])]], relative[clear], rtol=2e-3)
        assert np.all(drawn[i][~clear[: len(drawn[i])]] < 1e-10)


def ranks(question, word):
    return np.array([np.sum(values > 1e-10) for values in shown("rank", question, "rank.spectrum", word)])


def plain(text):
    return int(text.replace(",", ""))


@pytest.mark.parametrize(
    "question", relevant("rank"), ids=lambda q: f"{q.phi}-{q.d_k}-{q.seed}-{q.row}-{q.mask}-{q.precision}"
)
def test_the_rank_headline_counts_the_singular_values_that_are_drawn(question):
    own, soft = ranks(question, question.map_word), ranks(question, SOFTMAX)
    for i, text in enumerate(said("rank", question, "rank.headline")):
        N = AXES["N"].stops[i]
        block = plain(said("rank", question, "rank.block")[i].split()[0])
        numbers = {plain(x) for x in re.findall(r"(?<![\w.])\d[\d,]*(?![\w.]*\d)", text)}
        labels = {int(x) for x in re.findall(r"\d+", name_of(question.map_word))}  # elu+1
        assert {own[i], N} <= numbers <= {own[i], soft[i], N, block} | labels, (text, own[i], soft[i])
        assert said("rank", question, "rank.own")[i] == f"{own[i]} of {N}"


FEW = [Question(), Question(phi="softmax", d_k=4), Question(phi="favor", seed=7), Question(precision="float32")]


@pytest.mark.parametrize("question", FEW, ids=lambda q: f"{q.phi}-{q.d_k}-{q.seed}-{q.precision}")
def test_every_tolerance_counts_the_values_above_its_line(question):
    """All stops of both axes: numbers beside names, headline, and rank against N."""
    told, lines = answer(question), answer(question)["rank.tolerance"]["location"]
    assert len(lines) == len(AXES["rtol"].stops)
    for k, word in enumerate(PHIS):
        drawn = shown("rank", question, "rank.spectrum", word)
        for i in (0, 4, len(drawn) - 1):
            counted = [int(np.sum(drawn[i] > float(rtol))) for rtol in lines]
            at = slice(i * len(lines), (i + 1) * len(lines))
            edge = [np.any(np.abs(drawn[i] / rtol - 1) < 1e-5) for rtol in lines]  # float32 may fall on the other side
            for told_rank, growth, want, close in zip(
                told["rank.counts"]["rank"][at, k], told["rank.tolerance"][f"growth_{word}"][:, i], counted, edge
            ):
                assert close or told_rank == growth == want
    name = PHIS.index(question.map_word)
    for row, (_, rank, *_) in zip(told["rank.counts"]["rank"], told["rank.counts"]["headline"], strict=True):
        assert plain(rank) == row[name]


@pytest.mark.parametrize("word", [SOFTMAX, "elu", "taylor"])
def test_the_mask_leaves_softmax_and_the_chosen_map_and_fills_the_rank(word):
    question = Question(phi=word, mask="causal")
    Q, K = (a[:256] for a in queries_and_keys(16, 0))
    M = np.tril(kernel_matrix(Q, K, question.map))
    values = linalg.svdvals(M)
    drawn = {w: shown("rank", question, "rank.spectrum", w)[-1] for w in PHIS}
    assert {w for w, v in drawn.items() if len(v)} == {SOFTMAX, word}
    clear = values / values[0] > 1e-10
    np.testing.assert_allclose(drawn[word][clear], (values / values[0])[clear], rtol=2e-3)
    frames = shown("rank", question, "rank.kernel", "image")
    assert not np.triu(frames[-1], k=1).any()
    assert said("rank", question, "rank.block") == said("rank", replace(question, mask="none"), "rank.block")


@pytest.mark.parametrize("question", [Question(mask="causal"), Question(phi="taylor", d_k=8, seed=3, mask="causal")])
def test_under_the_mask_the_lower_figure_counts_the_block_of_every_map(question):
    """SciPy on the block itself, and by hand what bounds it; the axis, the headline and the sentence say the same."""
    told, at = answer(question), AXES["rtol"].stops.index(10.0)
    Q, K = (a[:256] for a in queries_and_keys(question.d_k, question.seed))
    for word in PHIS:
        M = kernel_matrix(Q, K, None if word == SOFTMAX else read_member(word))
        drawn = told["rank.tolerance"][f"growth_{word}"][at]
        for i, N in enumerate(AXES["N"].stops):
            values = linalg.svdvals(M[N // 2 : N, : N // 2])
            assert np.sum(values > 2e-10 * values[0]) <= drawn[i] <= np.sum(values > 0.5e-10 * values[0]), (word, N)
    own = told["rank.tolerance"][f"growth_{question.map_word}"]
    assert np.all(own <= told["rank.limits"]["bound"][: own.shape[1]])
    assert told["rank.limits"]["full"].tolist() == [N // 2 for N in (*AXES["N"].stops, 512, 1024)]
    assert told["rank.tolerance"]["far"].max() <= 512 and np.isfinite(told["rank.tolerance"]["far"]).all()
    assert all(told["rank.ends"]["text"])
    axes = dict(zip(told["rank.props"]["model"], told["rank.props"]["value"]))
    assert axes["rank.growth_axis"] == "rank of the block" and "masked matrix" in axes["rank.values_axis"]
    soft = told["rank.tolerance"][f"growth_{SOFTMAX}"][at]
    for i, (headline, sentence) in enumerate(
        zip(said("rank", question, "rank.headline"), said("rank", question, "rank.sentence"))
    ):
        assert f"passes rank {own[at, i]:.0f};" in headline
        assert f"rank {own[at, i]:.0f} passes the causal mask; softmax passes {soft[i]:.0f}." in sentence


def test_without_the_mask_it_counts_the_whole_matrix():
    axes = dict(zip(answer()["rank.props"]["model"], answer()["rank.props"]["value"]))
    assert axes["rank.growth_axis"] == "rank" and answer()["rank.limits"]["full"][-1] == 1024


def test_float32_counts_roundoff_as_rank_and_a_higher_tolerance_does_not():
    question = Question(precision="float32")
    at = {digits: AXES["rtol"].stops.index(digits) - len(AXES["rtol"].stops) for digits in (6.0, 10.0)}
    counts = answer(question)["rank.counts"]["rank"][:, PHIS.index("elu")]
    assert counts[at[6.0]] == 16 and counts[at[10.0]] > 200
    M = kernel_matrix(*(a[:256] for a in queries_and_keys(16, 0)), Question().map).astype(np.float32)
    assert np.sum(linalg.svdvals(M) > 1e-6 * linalg.svdvals(M)[0]) == 16


@pytest.mark.parametrize("word, at_1024", [("elu", 16), ("taylor", 153), ("dpfp", 96), (SOFTMAX, 1024)])
def test_the_kept_ranks_of_long_sequences_are_those_of_the_lesson(word, at_1024):
    """The file against what needs no decomposition: the bound, and softmax's full rank."""
    told = far_ranks("float64", "whole", 16)[PHIS.index(word)]
    at = AXES["rtol"].stops.index(10.0)
    assert told[:, at].tolist() == [min(512, at_1024), at_1024]
    shown_ = answer()["rank.tolerance"]["far"][at].reshape(len(PHIS), 2)
    assert shown_[PHIS.index(word)].tolist() == told[:, at].tolist()


def test_the_kept_ranks_are_what_their_script_gives():
    """One matrix of the file computed anew."""
    assert (
        _ranks("hedgehog", 8, 512, "block", "float64")
        == far_ranks("float64", "block", 8)[PHIS.index("hedgehog"), 0].tolist()
    )
    assert load()["made"]["seed"] == 0 and load()["made"]["date"] in told_text("rank.made")


def told_text(node):
    texts = answer()["rank.texts"]
    return texts["text"][texts["node"].index(node)]


def test_the_overview_counts_at_one_tolerance():
    told = VIEWS["rank"].card.answer(Question(precision="float32", mask="causal"))
    assert len(told["rank.counts"]["rank"]) == len(AXES["N"].stops) and "rank.tolerance" not in told
    np.testing.assert_array_equal(told["rank.counts"]["rank"][-1], [ranks(DEFAULT, word)[-1] for word in PHIS])


@pytest.mark.parametrize("phi, d_k, seed", [(SOFTMAX, 16, 0), ("elu", 8, 5), ("taylor", 64, 2), ("dpfp~nu~6", 16, 7)])
def test_the_overview_says_what_the_page_says_at_its_tolerance(phi, d_k, seed):
    """Spectra, names, counts and sentences; of the matrix every second row and column of the page's picture."""
    question = Question(phi=phi, d_k=d_k, seed=seed)
    told, card = answer(question), VIEWS["rank"].card.answer(question)
    at, every = AXES["rtol"].stops.index(10.0), len(AXES["rtol"].stops)
    for column, values in card["rank.counts"].items():
        np.testing.assert_array_equal(values, told["rank.counts"][column][at::every])
    np.testing.assert_array_equal(card["rank.pictures"]["picture"], told["rank.pictures"]["picture"][:, ::2, ::2])
    for word in PHIS:
        np.testing.assert_array_equal(card[f"rank.spectra_{word}"][word], told[f"rank.spectra_{word}"][word])
    reel = {column: values for column, values in card["rank.reel"].items() if column != "row"}
    assert reel["names_y"].shape == (len(AXES["N"].stops), len(PHIS))
    for column, values in reel.items():
        np.testing.assert_array_equal(values, told["rank.reel"][column])


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
    bound, own = answer(question)["rank.reel"]["bound"], ranks(question, phi)
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


@pytest.mark.parametrize("d_k", [4, 16, 64])
def test_the_answer_to_the_question_is_drawn_at_any_width_of_the_page(d_k):
    Q, K = (a[:256] for a in queries_and_keys(32, 0))
    told = answer(Question(d_k=d_k))["rank.predicted"]
    at_the_end = np.linalg.matrix_rank(kernel_matrix(Q, K, read_member("elu")), rtol=1e-10)
    assert told["y"][-1] == at_the_end == 32 and "d_k = 32: rank 32" in told["text"]
