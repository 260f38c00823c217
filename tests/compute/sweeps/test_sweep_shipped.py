"""The results that come with the explorer: complete, small, labelled, and right where something is known."""

from __future__ import annotations

import numpy as np
import pytest

from compute.feature_error import ratio_spread
from compute.memory_laws import energy
from compute.sweeps.base import default
from compute.sweeps.feature_surface import LENGTHS, WIDTHS
from compute.sweeps.registry import SWEEPS
from compute.sweeps.shipped import FOLDER, shipped

every_sweep = pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)


@every_sweep
def test_every_sweep_ships_the_whole_answer_to_its_default_question(sweep):
    result = shipped(sweep.word)
    assert result.complete
    assert result.about["question"] == default(sweep).told()
    assert set(result.arrays) == set(sweep.dims)
    for name, a in result.arrays.items():
        assert a.shape == tuple(len(result.axes[axis]) for axis in result.about["dims"][name])


@every_sweep
def test_it_says_on_which_device_when_with_what_and_from_which_seed(sweep):
    about = shipped(sweep.word).about
    assert "H200" in about["device"]["name"] and "torch" in about["device"]["versions"]
    assert about["date"].startswith("20") and len(about["version"]) == 16
    assert about["seed"] == about["question"]["seed"] and about["seconds"] > 0


def test_no_file_is_large():
    assert all(path.stat().st_size < 300_000 for path in FOLDER.glob("*.npz"))
    assert {path.stem for path in FOLDER.glob("*.npz")} == set(SWEEPS)


def test_the_additive_memory_misses_by_its_law_at_every_width():
    result = shipped("crosstalk")
    rule = result.about["axes"]["rule"].index("additive")
    for i, d in enumerate(result.axes["d"]):
        n = result.axes["load"] * d
        law = energy(n, 1 / d) * 64 / 62  # normal values of width 64 differ in length
        np.testing.assert_allclose(result.arrays["miss"][rule, i, 4:, 2], law[4:], rtol=0.08)


def test_full_strength_reads_the_newest_pair_and_no_other_rule_does():
    newest = shipped("crosstalk").arrays["newest"][..., 2]
    rules = shipped("crosstalk").about["axes"]["rule"]
    assert newest[rules.index("delta_full")].min() > 0.999
    assert newest[rules.index("additive"), :, -1].max() < 0.5


def test_estimates_spread_as_fresh_draws_of_numpy_do():
    result = shipped("random-features")
    lengths, widths = (0.5, 1.0, 2.0), (16, 256, 4096)
    rows, columns = [LENGTHS.index(r) for r in lengths], [WIDTHS.index(m) for m in widths]
    for kind, options in (("positive", {}), ("orthogonal_16", {"d_k": 16})):
        fresh = ratio_spread(lengths, widths, at=(0.25, 0.5, 0.75), draws=1500, seed=5, **options)
        i = result.about["axes"]["kind"].index(kind)
        told = result.arrays["quantiles"][i][np.ix_(rows, columns)][..., 1:4]
        width = fresh.quantiles[..., 2:] - fresh.quantiles[..., :1]
        assert (np.abs(told - fresh.quantiles) < 0.12 * width).all()
        np.testing.assert_allclose(result.arrays["share"][i][np.ix_(rows, columns)], fresh.below, atol=0.06)


def test_ranks_are_those_that_were_known():
    """d_k = 16, N = 512: softmax 512, elu+1 16, Taylor 153 of its 273 features; relative tolerance 1e-10."""
    result = shipped("rank")
    axes = result.about["axes"]
    at = result.arrays["rank"][:, axes["d_k"].index(16), axes["N"].index(512), axes["tolerance"].index(-10.0)]
    told = dict(zip(axes["map"], at.tolist()))
    assert told["softmax"] == [512] * 3 and told["elu"] == [16] * 3 and told["taylor"] == [153] * 3


def test_recall_falls_with_pairs_and_rises_with_state():
    recall = shipped("recall").arrays["recall"][0]
    assert (np.diff(recall, axis=-1) < 0.02).all()
    assert (np.diff(recall, axis=0) > -0.02).all()


def test_trained_models_recall_more_with_more_state_and_softmax_recalls_all():
    result = shipped("trained-recall")
    axes = result.about["axes"]
    best = result.arrays["recall"].max(axis=(2, 3))  # of learning rates and first weights
    n = axes["n"].index(64)
    assert best[:, axes["mixer"].index("softmax")].min() > 0.99
    for mixer in ("additive", "delta", "gated_delta"):
        told = best[:, axes["mixer"].index(mixer), n]
        assert (np.diff(told) > 0).all() and told[0] < 0.4 and told[-1] > 0.95


def test_linear_forms_overtake_softmax_only_at_long_context():
    result = shipped("times")
    axes = result.about["axes"]
    ms = {form: result.arrays["ms"][i, 0] for i, form in enumerate(axes["form"])}
    assert ms["softmax"][0] < ms["chunkwise"][0] and ms["softmax"][-1] > 100 * ms["chunkwise"][-1]
