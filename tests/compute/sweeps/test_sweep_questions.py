"""Every sweep of the registry keeps its promises about questions, grids and estimates."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import numpy as np
import pytest

from compute.sweeps.base import default
from compute.sweeps.places import RATES, estimate, seconds
from compute.sweeps.registry import SWEEPS, find_sweep
from compute.sweeps.running import run
from compute.sweeps.store import key

every_sweep = pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
FAST = [sweep for sweep in SWEEPS.values() if sweep.word not in ("trained-recall", "times")]
every_fast_sweep = pytest.mark.parametrize("sweep", FAST, ids=lambda sweep: sweep.word)


@every_sweep
def test_a_question_comes_back_from_json_as_it_was(sweep):
    for question in (sweep.quick, default(sweep)):
        back = type(question).read(json.loads(json.dumps(question.told())))
        assert back == question
        assert hash(back) == hash(question)


@every_sweep
def test_every_setting_says_what_it_means(sweep):
    for f in fields(sweep.question):
        assert len(f.metadata["doc"]) > 4, f.name
    assert sweep.title and sweep.says.endswith(".")


@every_sweep
def test_a_setting_of_another_kind_is_refused_by_name(sweep):
    for f in fields(sweep.question):
        for bad in ("x", None, [], [["a"]], float("nan"), -1e300, {"a": 1}, [1] * 200):
            with pytest.raises(ValueError, match=f"^{f.name} "):
                sweep.question.read({f.name: bad})
    with pytest.raises(ValueError, match=r"^nonsense "):
        sweep.question.read({"nonsense": 1})


def test_a_value_twice_is_refused():
    with pytest.raises(ValueError, match=r"^widths must not hold a value twice"):
        SWEEPS["crosstalk"].question(widths=(16, 16))


@every_sweep
def test_a_gpu_is_expected_to_be_faster_and_quick_questions_are_quick(sweep):
    works = [sweep.work(default(sweep), point) for point in sweep.points(default(sweep))]
    everywhere = [work for work in works if not work.left_out]  # what one device leaves out says nothing of the other
    full = {kind: sum(seconds(work, kind) for work in everywhere) for kind in RATES}
    assert 0 < full["cuda"] <= full["cpu"] + sum(work.compiling for work in everywhere)
    assert estimate(sweep, sweep.quick, "cpu") < min(60, full["cpu"])


@every_sweep
def test_the_key_names_question_and_sweep(sweep):
    keys = {key(sweep, sweep.quick), key(sweep, default(sweep)), key(sweep, sweep.quick, "a GPU")}
    assert len(keys) == 3
    assert all(name.startswith(sweep.word) for name in keys)


@every_fast_sweep
def test_arrays_lie_over_the_axes_that_are_named(sweep):
    result = run(sweep, sweep.quick)
    assert result.complete
    assert set(result.arrays) == set(sweep.dims)
    for name, a in result.arrays.items():
        assert a.shape == tuple(len(result.axes[axis]) for axis in result.about["dims"][name])
        assert not a.flags.writeable
        assert np.isfinite(a).any()
    assert math.prod(len(values) for values in sweep.grid(sweep.quick).values()) == result.about["points"]
    json.dumps(result.about, allow_nan=False)


@every_fast_sweep
def test_the_same_question_gives_the_same_bits(sweep):
    a, b = (run(sweep, sweep.quick) for _ in range(2))
    for name, x in a.arrays.items():
        assert x.tobytes() == b.arrays[name].tobytes()


@every_fast_sweep
def test_another_seed_gives_other_numbers(sweep):
    other = type(sweep.quick).read({**sweep.quick.told(), "seed": 1})
    a, b = run(sweep, sweep.quick), run(sweep, other)
    assert any(not np.array_equal(a.arrays[name], b.arrays[name], equal_nan=True) for name in a.arrays)


@every_fast_sweep
def test_progress_never_goes_back_and_ends_at_one(sweep):
    told = []
    run(sweep, sweep.quick, progress=lambda fraction, note: told.append(fraction))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)
    assert len(told) > 2


def test_points_that_are_missing_are_nan_and_the_result_says_so():
    sweep = SWEEPS["recall"]
    whole = run(sweep, sweep.quick)
    first = {0: {name: a.reshape(-1, *a.shape[3:])[0] for name, a in whole.arrays.items()}}
    part = sweep.result(sweep.quick, first)
    assert not part.complete
    assert part.about["finished"] == 1
    recall = part.arrays["recall"].reshape(-1, 6)
    assert np.array_equal(recall[0], whole.arrays["recall"].reshape(-1, 6)[0])
    assert np.isnan(recall[1:]).all()


def test_an_unknown_sweep_is_refused_with_the_words_there_are():
    with pytest.raises(ValueError, match=r"^sweep must be one of crosstalk, "):
        find_sweep("nonsense")


def test_compiling_counts_on_cuda_alone_and_once_for_each_form_and_no_quick_question_compiles():
    times = SWEEPS["times"]
    forms = ("softmax", "fla_linear", "fla_delta")
    question = times.question(forms=forms)
    costs = {point: times.work(question, point).compiling for point in times.points(question)}
    assert sorted(point[0] for point, cost in costs.items() if cost) == ["fla_delta", "fla_linear"]
    for kind, compiling in (("cuda", sum(costs.values())), ("cpu", 0.0)):
        works = [times.work(question, point)._replace(compiling=0.0) for point in times.points(question)]
        rest = sum(seconds(work, kind) for work in works)
        assert estimate(times, question, kind) == pytest.approx(rest + compiling)
    assert not any(times.work(times.quick, point).compiling for point in times.points(times.quick))
