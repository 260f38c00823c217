"""The door for arrays: kinds that do not mix, dtypes, one look for NaN, and values brought beside others."""

import warnings

import numpy as np
import pytest
import torch

from compute.arrays import admit, like, namespace

KINDS = {"numpy": np.asarray, "torch": torch.tensor}
every_kind = pytest.mark.parametrize("of_kind", KINDS.values(), ids=KINDS)


@every_kind
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("guilty", ["Q", "K"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_array_that_holds_nan_or_inf_is_named(of_kind, bad, guilty, dtype):
    named = {name: np.ones((2, 3), dtype) for name in ("Q", "K")}
    named[guilty][1, 2] = bad
    with pytest.raises(ValueError, match=f"^{guilty} must be finite"):
        admit(**{name: of_kind(a) for name, a in named.items()})


@every_kind
def test_infinities_that_cancel_in_a_sum_are_still_found(of_kind):
    with pytest.raises(ValueError, match=r"^K "):
        admit(Q=of_kind(np.ones(2)), K=of_kind(np.array([np.inf, -np.inf])))


@every_kind
def test_a_sum_that_overflows_is_not_taken_for_inf(of_kind):
    admit(Q=of_kind(np.full(4, 1e308)), K=of_kind(np.full(4, 1e308)))


def test_kinds_do_not_mix_whichever_came_first():
    a, b = np.ones(2), torch.ones(2)
    assert namespace(a) is namespace(a, a) is not namespace(b, b)
    for pair in ((a, b), (b, a)):
        with pytest.raises(ValueError, match="numpy and torch"):
            namespace(*pair)


def test_sixteen_bits_are_widened_unless_they_are_to_stay():
    x = torch.ones(2, 3, dtype=torch.bfloat16)
    assert admit(x=x).arrays[0].dtype == torch.float32
    assert admit(x=x, narrow=True).arrays[0] is x


def test_values_come_beside_others_without_a_warning_and_trainable_ones_stay_trainable():
    fixed = np.arange(3.0)
    fixed.setflags(write=False)
    trained = torch.ones(3, dtype=torch.float64, requires_grad=True)
    x = torch.ones(3, dtype=torch.float32, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        beside = like(x, fixed)
        beside += 1  # its own memory
        assert beside.dtype == torch.float32 and fixed.tolist() == [0, 1, 2]
        like(x, trained).sum().backward()
        assert trained.grad.tolist() == [1, 1, 1]
        assert like(np.ones(1, "float32"), fixed).dtype == np.float32
