"""The numbers of the sweeps: against the plain way, against theory, and against themselves on another library."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from compute.feature_error import orthogonal_variance, positive_variance, trigonometric_variance
from compute.memory_laws import energy
from compute.sweeps.base import Result
from compute.sweeps.crosstalk_map import CrosstalkMap, CrosstalkQuestion, keys_and_values, naive
from compute.sweeps.feature_surface import FeatureQuestion, FeatureSurface, projections
from compute.sweeps.places import Place
from compute.sweeps.quantiles import quantiles
from compute.sweeps.rank_curves import MAPS, TOLERANCES, RankCurves, RankQuestion, singular_values
from compute.sweeps.recall_map import RecallMap, RecallQuestion, recalled
from compute.sweeps.registry import SWEEPS
from compute.sweeps.running import run
from compute.sweeps.workbench import Bench

TORCH = Place("cpu", "torch", "torch on the CPU")
FAST = [sweep for sweep in SWEEPS.values() if sweep.word not in ("trained-recall", "times")]


def farthest(a: Result, b: Result) -> float:
    """Largest difference, relative to the largest value beside it."""
    worst = 0.0
    for name, x in a.arrays.items():
        y = b.arrays[name]
        assert np.array_equal(np.isnan(x), np.isnan(y)), name
        x, y = np.nan_to_num(x), np.nan_to_num(y)
        scale = np.maximum(np.max(np.abs(y), axis=-1, keepdims=True), 1.0)
        worst = max(worst, float(np.max(np.abs(x - y) / scale)))
    return worst


@pytest.mark.parametrize("sweep", FAST, ids=lambda sweep: sweep.word)
def test_numpy_and_torch_agree_on_the_same_draws(sweep):
    assert farthest(run(sweep, sweep.quick, TORCH, injected=True), run(sweep, sweep.quick)) < 1e-5


def test_torch_has_draws_of_its_own_unless_they_are_injected():
    sweep = SWEEPS["recall"]
    own, injected = (run(sweep, sweep.quick, TORCH, injected=injected) for injected in (False, True))
    assert not np.array_equal(own.arrays["recall"], injected.arrays["recall"])
    assert own.about["draws"] == "torch on cpu" and injected.about["draws"] == "NumPy"


def test_draws_do_not_depend_on_how_they_are_cut():
    whole = Bench().normal(0, 24, 8, (3,), ("x",))
    parts = [Bench().normal(a, a + 8, 8, (3,), ("x",)) for a in (0, 8, 16)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert not np.array_equal(whole, Bench().normal(0, 24, 8, (3,), ("y",)))


@pytest.mark.parametrize("rule", CrosstalkQuestion().rules)
def test_crosstalk_is_what_writing_one_by_one_and_reading_all_gives(rule):
    d, trials = 8, 8
    question = CrosstalkQuestion(widths=(d,), rules=(rule,), trials=trials, d_v=16)
    result = run(CrosstalkMap(), question)
    K, V = keys_and_values(Bench(), 0, trials, 64, d, 16)
    plain = [naive(question, (rule, d), k, v) for k, v in zip(K.astype(np.float64), V.astype(np.float64))]
    for name in ("cosine", "miss"):
        means = np.array([[np.mean(trial[name][n, : n + 1]) for n in range(1, 64, 2)] for trial in plain])
        expected = np.moveaxis(np.quantile(means, (0.05, 0.25, 0.5, 0.75, 0.95), axis=0), 0, -1)
        np.testing.assert_allclose(result.arrays[name][0, 0], expected, rtol=2e-3, atol=2e-4)
    newest = np.array([[trial["cosine"][n, n] for n in range(1, 64, 2)] for trial in plain])
    np.testing.assert_allclose(result.arrays["newest"][0, 0, :, 2], np.median(newest, axis=0), atol=2e-4)
    pair = np.mean([trial["cosine"] for trial in plain], axis=0)
    np.testing.assert_allclose(result.arrays["pair"][0, 0, 31, 5], np.mean(pair[63, 10:12]), atol=2e-4)


def test_additive_crosstalk_follows_its_law():
    question = CrosstalkQuestion(widths=(32,), rules=("additive",), trials=80)
    found = run(CrosstalkMap(), question).arrays["miss"][0, 0, :, 2]
    n = 8 * np.arange(1, 33)
    # Normal values of width 64 differ in length, which raises the mean by 64/62.
    np.testing.assert_allclose(found, energy(n, 1 / 32) * 64 / 62, rtol=0.05)


def test_a_pair_that_is_not_stored_yet_has_no_read():
    pair = run(CrosstalkMap(), CrosstalkQuestion(widths=(8,), trials=8)).arrays["pair"]
    later = np.triu(np.ones((32, 32), dtype=bool), k=1)
    assert np.isnan(pair[..., later]).all()
    assert np.isfinite(pair[..., ~later]).all()


@pytest.mark.parametrize(
    "kind, variance",
    [
        ("positive", lambda r, m: positive_variance(r, m)),
        ("trig", lambda r, m: trigonometric_variance(r, m // 2)),
        ("orthogonal_4", lambda r, m: orthogonal_variance(r, m, 4)),
    ],
)
def test_estimates_spread_as_their_exact_variance_says(kind, variance):
    """Quantiles of a mean of 1,024 terms are nearly normal at short lengths: 5 % lie 1.645 deviations below 1."""
    question = FeatureQuestion(kinds=(kind,), lengths=(0.5,), widths=(1024,), draws=8000)
    told = run(FeatureSurface(), question).arrays["quantiles"][0, 0, 0]
    deviation = (told[4] - told[0]) / (2 * 1.645)
    assert deviation == pytest.approx(float(variance(0.5, 1024)) ** 0.5, rel=0.05)
    assert float(told[2]) == pytest.approx(1, abs=3 * float(deviation))


def test_directions_of_a_block_are_orthogonal_and_of_independent_length():
    """Σ over a full block of (ω·u)²/‖ω‖² is ‖u‖² = 1; with χ(d) lengths every projection alone is standard normal."""
    g = projections(Bench(), 0, 2000, 8, 8)
    assert np.var(g) == pytest.approx(1, rel=0.05)
    assert np.mean(g**4) == pytest.approx(3, rel=0.15)
    corner = np.corrcoef((g**2).T)
    assert np.mean(corner[~np.eye(8, dtype=bool)]) == pytest.approx(-0.5 * 2 / (8 + 2) * 0.4, abs=0.08)


def test_ranks_are_those_of_numpy():
    question = RankQuestion(maps=("softmax", "elu"), widths=(4,), lengths=(32,), draws=3)
    told = run(RankCurves(), question)
    bench = Bench()
    Q, K = (bench.normal(0, 3, 1, (32, 4), (side, 4), "float64") for side in ("queries", "keys"))
    M = np.exp(Q @ K.mT / 2)
    at = TOLERANCES.index(-8.0)
    ranks = sorted(np.linalg.matrix_rank(m, rtol=1e-8) for m in M)
    assert told.arrays["rank"][0, 0, 0, at].tolist() == ranks
    assert told.arrays["rank"][1, 0, 0, at].tolist() == [4, 4, 4]
    assert (np.diff(told.arrays["rank"], axis=3) <= 0).all()
    sigma = np.linalg.svd(M, compute_uv=False)
    np.testing.assert_allclose(told.arrays["spectrum"][0, 0, 0, 1, 1], np.median(sigma[:, 1] / sigma[:, 0]), rtol=1e-12)


@pytest.mark.parametrize("word", MAPS)
def test_the_way_round_singular_values_on_a_gpu_gives_them(word):
    """A bench that says it is a GPU takes the route through eigenvalues, on the CPU here."""
    bench = Bench(Place("cpu", "torch"))
    Q, K = (torch.as_tensor(a) for a in np.random.default_rng(0).standard_normal((2, 2, 48, 4)))
    usual = singular_values(bench, Q, K, word, 0.5)
    bench.place = Place("cuda", "torch")
    other = singular_values(bench, Q, K, word, 0.5)
    assert torch.allclose(other, usual, rtol=0, atol=1e-13 * float(usual.max()))


def test_recall_is_the_share_of_reads_nearest_to_their_own_value():
    """Perpendicular keys read back exactly; two pairs under one key read the same, so one of them is wrong."""
    K = np.eye(4, dtype=np.float32)[None]
    V = np.eye(4, dtype=np.float32)[None, ::-1].copy()
    bench = Bench()
    assert recalled(bench, K, V, K.mT @ V).tolist() == [1.0]
    K[0, 1] = K[0, 0]
    assert recalled(bench, K, V, K.mT @ V).tolist() == [0.75]


def test_more_state_recalls_more_and_more_pairs_less():
    question = RecallQuestion(rules=("additive",), widths=(8, 64), values=(32,), pairs=(4, 16, 64), trials=40)
    recall = run(RecallMap(), question).arrays["recall"][0, :, 0]
    assert (np.diff(recall, axis=1) < 0.01).all()
    assert (recall[1] >= recall[0]).all() and recall[1, 2] > recall[0, 2] + 0.2


def test_recall_without_training_is_the_figure_known_for_random_pairs():
    """0.81 at d = 32, d_v = 32, n = 64 for the plain additive memory."""
    question = RecallQuestion(rules=("additive",), widths=(32,), values=(32,), pairs=(64,), trials=200)
    assert run(RecallMap(), question).arrays["recall"].item() == pytest.approx(0.81, abs=0.03)


def test_quantiles_are_numpys():
    a = np.random.default_rng(0).standard_normal((37, 3))
    np.testing.assert_allclose(quantiles(a), np.moveaxis(np.quantile(a, (0.05, 0.25, 0.5, 0.75, 0.95), axis=0), 0, -1))
    assert quantiles(a[:1], (0.0, 1.0)).tolist() == np.stack([a[0], a[0]], axis=-1).tolist()
