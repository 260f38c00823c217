"""The laws beside the sweeps: FLOPs of every form that is timed, bounds of every rank that is counted."""

import numpy as np
import pytest

from compute.cost import crossover_T
from compute.sweeps.form_flops import FLOPS, fewer_from
from compute.sweeps.form_times import FORMS
from compute.sweeps.rank_curves import MAPS, bound
from compute.sweeps.shipped import shipped
from compute.sweeps.trained_recall import cache_tokens, recall_task


def test_every_form_that_is_timed_is_counted():
    assert set(FLOPS) == set(FORMS)


@pytest.mark.parametrize("d", [16, 48, 128])
@pytest.mark.parametrize("form", FLOPS)
def test_a_form_takes_fewer_flops_from_there_on_and_not_before(form, d):
    start = fewer_from(form, d)
    fewer = [FLOPS[form](T, d) < FLOPS["softmax"](T, d) for T in range(1, 3000)]
    assert fewer == [start is not None and start <= T for T in range(1, 3000)]


def test_crossovers_are_those_of_the_orders_and_of_chunks_as_wide_as_the_head():
    """Beside the left order the right one crosses at d + 1, and chunks of d, twice as dear, at 2d + 1."""
    assert fewer_from("right", 128) == fewer_from("recurrent", 128) == crossover_T(128, 128) == 129
    assert fewer_from("chunkwise", 128) == 257
    assert fewer_from("left", 128) is fewer_from("softmax", 128) is None


def test_no_rank_that_was_counted_exceeds_its_bound():
    result = shipped("rank")
    most = result.arrays["rank"].max(axis=(-2, -1))
    for index, rank in np.ndenumerate(most):
        word, d_k, N = (result.axes[name][i] for name, i in zip(("map", "d_k", "N"), index))
        assert rank <= bound(str(word), int(d_k), int(N)) <= N


def test_a_map_is_bound_by_its_features_and_softmax_by_the_matrix():
    assert [bound(word, 16, 512) for word in MAPS] == [512, 16, 16, 32, 96, 153, 64]
    assert {bound(word, 16, 8) for word in MAPS} == {8}


def test_a_pair_is_told_in_as_many_tokens_as_a_cache_of_it_counts():
    torch = pytest.importorskip("torch")
    tokens, targets = recall_task(1, 5, 8, torch.Generator().manual_seed(0))
    assert tokens.shape[1] - targets.shape[1] == cache_tokens(5) == 10
