"""Sums in few digits: rounding against torch's, stalling points against doing the additions."""

import numpy as np
import pytest
import torch

from compute.attention import causal_linear_attention_recurrent
from compute.rounding import DIGITS, round_to, running_sum, stalls_at


def test_bfloat16_is_torchs():
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(20_000) * 10.0 ** rng.integers(-44, 38, 20_000)).astype(np.float32)
    x = np.concatenate([x, np.array([0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 1e-45, 257, 259], np.float32)])
    x = np.append(x, np.array([0x7FFFFFFF, 0xFFFFFFFF], np.uint32).view(np.float32))  # NaN of whatever bits
    want = torch.from_numpy(x).to(torch.bfloat16).float().numpy()
    for given in (x, x.astype(np.float64)):
        assert np.array_equal(round_to(given, "bfloat16"), want, equal_nan=True)


def test_ties_go_to_even():
    assert round_to(257.0, "bfloat16") == 256 and round_to(259.0, "bfloat16") == 260


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_other_formats_are_numpys(dtype):
    x = np.random.default_rng(0).standard_normal(100)
    assert np.array_equal(round_to(x, dtype), x.astype(dtype)) and round_to(x, dtype).dtype == dtype


@pytest.mark.parametrize("step, dtype, stall", [(1, "bfloat16", 256), (0.01, "bfloat16", 4), (1, "float32", 2**24)])
def test_stalling_points_as_claimed(step, dtype, stall):
    assert stalls_at(step, dtype) == stall
    assert round_to(np.asarray(stall, dtype="float64") + float(round_to(step, dtype)), dtype) == stall


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("step", [1, 0.01, 0.3, 1 / 3, 7, 2**-5, 1.5])
def test_adding_on_and_on_stalls_where_predicted(step, dtype):
    assert running_sum(np.full(6000, step), dtype)[-1] == stalls_at(step, dtype)


def test_a_sum_that_overflows_first_never_stalls():
    assert stalls_at(60, "float16") == np.inf
    assert running_sum(np.full(2000, 60.0), "float16")[-1] == np.inf


RNG = np.random.default_rng(5)
TERMS = {
    "even": RNG.random((3000, 5)),
    "ties": 2.0 ** RNG.integers(-12, 3, (3000, 3)),
    "some zero": np.maximum(RNG.standard_normal((1500, 4)), 0) * [1, 0, 1, 1e-3],
    "of every size": np.exp(12 * RNG.standard_normal((800, 3))),
    "signed": RNG.standard_normal((800, 3)),
    "without all digits": 1e-39 * RNG.random((800, 3)),
    "overflowing": 2e36 * RNG.random((800, 3)),
}


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS)
def test_every_running_sum_in_bfloat16_is_the_one_before_and_a_term_rounded(terms):
    terms = round_to(terms, "bfloat16")
    sums = running_sum(terms, "bfloat16").astype(float)
    for before, term, after in zip(np.vstack([0 * sums[:1], sums]), terms.astype(float), sums):
        np.testing.assert_array_equal(round_to(before + term, "bfloat16"), after)


def test_running_sums_in_float64_are_numpys():
    terms = np.random.default_rng(0).standard_normal((50, 3))
    assert np.array_equal(running_sum(terms, "float64"), np.cumsum(terms, axis=0))


def test_a_bfloat16_normaliser_is_far_short_after_4096_tokens():
    """elu+1 features of standard-normal keys: about 78 percent is lost."""
    K = np.random.default_rng(0).standard_normal((4096, 16))
    features = np.where(K > 0, K + 1, np.exp(np.minimum(K, 0)))
    short = 1 - running_sum(features, "bfloat16")[-1].sum() / features.sum()
    assert 0.75 < short < 0.81
    assert abs(1 - running_sum(features, "float32")[-1].sum() / features.sum()) < 1e-5


def test_bfloat16_inputs_are_not_accumulated_in_bfloat16():
    ones = torch.ones((600, 1), dtype=torch.bfloat16)
    _, (S, z) = causal_linear_attention_recurrent(ones, ones, ones, lambda x: x, return_state=True)
    assert S.item() == z.item() == 600


def test_bad_arguments_are_refused_by_name():
    for call in (lambda: round_to(1.0, "fp8"), lambda: running_sum(np.ones(3), "bf16"), lambda: stalls_at(1, "int8")):
        with pytest.raises(ValueError, match=r"^dtype must be one of bfloat16"):
            call()
    for step in (0, -1, np.nan, np.inf, 1e-80):
        with pytest.raises(ValueError, match=r"^step "):
            stalls_at(step, "bfloat16")
    with pytest.raises(ValueError, match=r"^terms "):
        running_sum(np.array([np.nan]), "float32")
    with pytest.raises(ValueError, match=r"^x "):
        round_to(torch.ones(1), "bfloat16")
    assert list(DIGITS) == ["bfloat16", "float16", "float32", "float64"]
