"""Rank: spectra are scipy's singular values, and the headline counts those that are drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import DEFAULT, VIEWS, relevant, said, shown
from scipy import linalg, stats

from components.axes import AXES
from components.lesson import Question
from components.sharpness_answer import name_of
from components.words import PHIS, SOFTMAX
from compute.feature_maps import read_member
from compute.rank import kernel_matrix
from compute.toys import queries_and_keys


def answer(question=DEFAULT):
    return VIEWS["rank"].answer(question)


@pytest.mark.parametrize("d_k, seed", [(16, 0), (4, 3)])
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
