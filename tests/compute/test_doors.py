"""The doors of the whole package: whatever bad value comes in, it is refused by name, and nothing given is changed."""

from __future__ import annotations

import inspect
import re
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
import torch
from attention_cases import as_torch
from public_calls import arguments, public

from compute.attention import rms_norm
from compute.ordering import rank_correlation
from compute.rank import past_to_future
from compute.sharpness import misplaced

PUBLIC = public()
every_function = pytest.mark.parametrize("function", PUBLIC.values(), ids=PUBLIC)
every_argument = pytest.mark.parametrize(
    "function, name",
    [(function, name) for function in PUBLIC.values() for name in arguments(function)],
    ids=[f"{called}-{name}" for called, function in PUBLIC.items() for name in arguments(function)],
)

KEEPS_NAN = {
    "linear_attention_step", "apart", "constant_outputs", "summary", "misplaced", "rank_correlation", "mean_stored",
    "mean_wanted", "nearby_share", "rank_of", "past_to_future", "round_to", "as_met", "ratios",
}  # fmt: skip
"""A step is too frequent to be searched; the others measure what may be undefined, and say so."""

NUMBERS = {
    "length", "sum_length", "difference_length", "value", "overlap", "age", "energy", "signal", "step", "rtol", "scale",
    "rho",
}  # fmt: skip
COUNTS_FROM_0 = {"j", "layer", "seed", "state_bytes", "free_bytes", "weight_bytes", "tokens", "speculative"}
WORDS = {
    "order", "rule", "dtype", "kind", "pitfall", "text", "kv_dtype", "state_dtype", "conv_dtype", "conv_columns", "mla",
    "engine", "word",
}  # fmt: skip
ROWS = {"stops", "lengths", "widths", "at", "t"}
LAWS = {"energy", "steady_energy", "mean_cosine", "signal"}
"""Of a memory, whose alpha is a plain number."""

DRAWS = {"positive_random_features", "per_head"}
"""What is always drawn or known in NumPy may stand beside a tensor."""

NO_NUMBER = ["3", "nan", None, float("nan"), 3j, {}, [], [1.0, "a"], np.array(["a"])]
NO_COUNT = [-1, 1.5, 2.0, True, "3", None, float("nan"), np.float64(3), np.array([1, 2]), [1], 3j, Fraction(3, 2)]
RAGGED = [[1.0, 2.0], [3.0]]
NO_WORD = ["no such", "", 3, None, ["left"], {}, np.array([1.0, 2.0])]


def spoilt(a: np.ndarray, value: float) -> np.ndarray:
    a = np.array(a, dtype=float)
    a.flat[-1] = value
    return a


def bad_arrays(good: np.ndarray, keeps_nan: bool) -> list:
    """Of another kind of entries, without entries, with NaN; a width of its own, an axis too few."""
    other = [good.astype(object), good.astype(str), good * 1j, good > 0, good[..., :0], "abc", {}, None, RAGGED]
    return other if keeps_nan else [*other, spoilt(good, np.nan), spoilt(good, np.inf), spoilt(good, -np.inf)]


def bad_gates(good: np.ndarray) -> list:
    good = np.asarray(good, dtype=float)
    return [np.ones((2, 77)) * good.mean(), good.astype(object) * np.ones(1, object), "a", {}, good * 1j]


def bad_values(function, name: str, good) -> list:
    """Values of every kind that this argument must not have."""
    called = getattr(function, "__name__", "")
    keeps_nan = called in KEEPS_NAN or not inspect.isroutine(function)
    if name == "phi":
        shapeless = [lambda x: 1.0, lambda x: None, lambda x: x[..., :0], lambda x: x[..., 0], lambda x: x + 0j]
        takes_a_function = "FeatureMap |" not in str(inspect.signature(function).parameters[name].annotation)
        return [
            "elu",
            3,
            *(shapeless if takes_a_function or called in ("weights", "match_weights", "match_kernel") else []),
        ]
    if name == "kernel" and callable(good):
        return [None, "rbf", lambda Q, K: Q, lambda Q, K: 1.0]
    if name == "mask":
        return [good[:, :-1], good.astype(float), good.astype(int), "all", 3, torch.from_numpy(good)]
    if name == "state":
        return [3, "a", (1, 2), (np.zeros(3),), np.zeros((7, 7)), np.full((2, 4, 3), np.nan)]
    if name == "log_alpha":
        positive = [] if called == "linear_attention_step" else [spoilt(good, np.nan), spoilt(good, -np.inf)]
        return [*bad_gates(good), *positive]
    if name in ("alpha", "beta", "write", "gain") and called not in LAWS:
        return [*bad_gates(good), float("nan"), float("inf"), 3j]
    if name in ROWS and isinstance(good, list):
        no_row = [None, 3, [], "13", ["a"], [float("nan")], [3j], np.array([[1]]), {}]
        return no_row if called in ("match_weights", "match_kernel", "spread_over_seeds") else [[-1], *no_row]
    if name in NUMBERS | {"alpha", "signal"}:
        return NO_NUMBER
    if name == "since":
        return [None, 3, [0], ["a"], [float("nan")], np.full(7, -1)]
    if name in ("eps", "norm_eps"):
        return [-1e-9, float("nan"), float("inf"), "1e-6", "small", None, 1j, np.ones(3), {}]
    if name in ("n", "m") and "Numbers" in str(inspect.signature(function).parameters[name].annotation):
        return [0, -1, *NO_NUMBER]
    if name in WORDS:
        return NO_WORD
    if name in ("rng", "shape", "options"):
        return [None, {}, 3, "a"]
    if name == "orthogonal":
        return []  # a switch
    if name == "d_phi_of":
        return [lambda d_k: 0, lambda d_k: 1.5, 3, None, "elu", np.ones(2)]
    if isinstance(good, np.ndarray):
        return bad_arrays(good, keeps_nan)
    assert isinstance(good, int), f"{name} is of no kind known here"
    return NO_COUNT if name in COUNTS_FROM_0 or called == "human_bytes" else [0, *NO_COUNT]


def optional(function, name: str) -> bool:
    return inspect.signature(function).parameters[name].default is None


@every_argument
def test_a_bad_value_is_refused_by_the_argument_s_name(function, name):
    """One sentence that begins with it, and no other exception, no number and no warning comes first."""
    given = arguments(function)
    for bad in bad_values(function, name, given[name]):
        if bad is None and optional(function, name):
            continue
        if isinstance(bad, int) and bad == -1 and name == "n" and getattr(function, "__name__", "") == "human_bytes":
            continue
        with pytest.raises(ValueError) as refused:
            print(f"{function} took {name} = {bad!r}", function(**{**given, name: bad}))
        assert re.match(rf"{name}\b.* ", str(refused.value)), f"{bad!r}: {refused.value}"
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("function, name", [(rank_correlation, "b"), (misplaced, "q"), (rms_norm, "gain")])
def test_rows_that_do_not_broadcast_are_refused_by_name(function, name):
    with pytest.raises(ValueError, match=rf"^{name} must broadcast against \(2, 6\), got \(3, 6\)"):
        function(np.ones((2, 6)), np.ones((3, 6)))


def arrays_of(given: dict) -> list[str]:
    """The arguments that are arrays of real numbers."""
    return [name for name, value in given.items() if isinstance(value, np.ndarray) and value.dtype.kind == "f"]


@pytest.mark.parametrize(
    "function",
    [f for f in PUBLIC.values() if arrays_of(arguments(f))],
    ids=[n for n, f in PUBLIC.items() if arrays_of(arguments(f))],
)
class TestArrays:
    """Of every function that takes arrays."""

    def test_what_is_given_is_not_changed(self, function):
        given = {name: deepcopy(value) for name, value in arguments(function).items()}
        function(**given)
        for name, value in arguments(function).items():
            if isinstance(value, np.ndarray):
                assert np.array_equal(given[name], value), name

    def test_numpy_and_torch_do_not_mix(self, function):
        given = arguments(function)
        for name in arrays_of(given):
            mixed = {**given, name: as_torch(np.array(given[name]))}
            if len(arrays_of(given)) > 1 and getattr(function, "__name__", "") not in DRAWS:
                with pytest.raises(ValueError) as refused:
                    function(**mixed)
                assert re.match(rf"({'|'.join(given)})\b.* ", str(refused.value)), str(refused.value)

    def test_torch_gives_what_numpy_gives(self, function):
        given = arguments(function)
        tensors = {name: as_torch(deepcopy(value)) for name, value in given.items()}
        if numpy_only(function):
            with pytest.raises(ValueError, match=r"numpy|NumPy"):
                function(**tensors)
            return
        got, want = parts(function(**tensors)), parts(function(**given))
        assert len(got) == len(want) > 0
        for ours, theirs in zip(got, want):
            assert isinstance(ours, torch.Tensor) == isinstance(theirs, np.ndarray | np.generic), type(ours)
            assert np.allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-12, atol=1e-14, equal_nan=True)

    @pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
    def test_the_dtype_that_came_in_goes_out(self, function, dtype):
        if numpy_only(function):
            return  # Fractions, rounding to a format that is named, and toys
        given = arguments(function)
        cast = {name: given[name].astype(dtype) for name in arrays_of(given)}
        if dtype == "int64":
            cast = {name: np.where(given[name] == 0, 0, 1) * (name != "log_alpha") for name in cast}
        out = [a for a in parts(function(**{**given, **cast})) if getattr(a, "dtype", np.dtype(int)).kind == "f"]
        always_wide = getattr(function, "__module__", "") == "compute.rank" and function is not past_to_future
        assert {str(a.dtype) for a in out} <= {"float64" if dtype == "int64" or always_wide else dtype}


def numpy_only(function) -> bool:
    """Whether its annotations ask for NumPy's arrays."""
    return "np.ndarray" in {str(p.annotation) for p in inspect.signature(function).parameters.values()}


def parts(told) -> list:
    """The arrays and numbers of a result, whatever it is wrapped in."""
    if isinstance(told, dict):
        told = list(told.values())
    if hasattr(told, "__dataclass_fields__"):
        told = [getattr(told, name) for name in told.__dataclass_fields__]
    return [part for one in told for part in parts(one)] if isinstance(told, (list, tuple)) else [told]
