"""Bytes of a shape as constants and rates, from which a bill at any T is one line of arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from compute.scalars import made, whole

from .arithmetic import Count, Terms, Told, bracketed, derived, joined, number, plus, times
from .dtypes import DTYPES, Dtype
from .families import Family, Runs
from .options import Options
from .shape import LayerGroup, ModelShape

DEFAULT = Options()


@dataclass(frozen=True)
class LayerRates:
    """Bytes of one layer for one sequence; `kept` is the most tokens its cache holds, None if it grows for ever."""

    state: int
    conv: int
    token: int
    kept: int | None


@dataclass(frozen=True)
class Rates:
    """Bytes of the whole model: fixed parts for all sequences, rates for one.

    windows: (bytes per token, most tokens kept) of the layers whose cache stops growing, one pair per kind.
    The `*_bytes(tokens)` methods take an int and answer an exact int, or take an array and answer float64,
    each entry the nearest to the exact value.
    """

    batch: int
    state_bytes: int
    conv_bytes: int
    kv_bytes_per_token: int
    windows: tuple[tuple[int, int], ...]

    @property
    def fixed_bytes(self) -> int:
        """State and convolution windows of all sequences."""
        return self.state_bytes + self.conv_bytes

    def kv_bytes(self, tokens):
        """Caches that grow without limit, all sequences."""
        return each(tokens, lambda T: self.batch * self.kv_bytes_per_token * T)

    def window_bytes(self, tokens):
        """Caches that stop at their window, all sequences."""
        return each(tokens, self._window)

    def total_bytes(self, tokens):
        """Everything, all sequences."""
        return each(tokens, lambda T: self.fixed_bytes + self.batch * self.kv_bytes_per_token * T + self._window(T))

    def _window(self, T: int) -> int:
        return self.batch * sum(rate * min(T, kept) for rate, kept in self.windows)


def each(tokens: int | np.ndarray, exact: Callable[[int], int]) -> int | np.ndarray:
    """An exact int for a whole number, or float64 for an array, entry by entry."""
    if not getattr(tokens, "ndim", 0) and not isinstance(tokens, (list, tuple)):
        return exact(whole("tokens", tokens, 0))
    tokens = np.asarray(tokens)
    return np.array([float(exact(int(T))) for T in tokens.ravel()], dtype=np.float64).reshape(tokens.shape)


def rates(shape: ModelShape, options: Options = DEFAULT) -> Rates:
    """Constants and rates of the whole model, in bytes; agrees with `bill` at every T.

    ValueError unless shape is a ModelShape and options are Options.
    """
    return _rates(made("shape", shape, ModelShape), made("options", options, Options))


@lru_cache(maxsize=512)
def _rates(shape: ModelShape, options: Options) -> Rates:
    pairs = [(group.count, layer_rates(group.family, options)) for group in shape.layers]
    windows: dict[int, int] = {}
    for count, layer in pairs:
        if layer.kept is not None and layer.token:
            windows[layer.kept] = windows.get(layer.kept, 0) + count * layer.token
    return Rates(
        batch=options.batch,
        state_bytes=options.batch * sum(count * layer.state for count, layer in pairs),
        conv_bytes=options.batch * sum(count * layer.conv for count, layer in pairs),
        kv_bytes_per_token=sum(count * layer.token for count, layer in pairs if layer.kept is None),
        windows=tuple((rate, kept) for kept, rate in sorted(windows.items())),
    )


@lru_cache(maxsize=2048)
def layer_rates(family: Family, options: Options) -> LayerRates:
    """Bytes of one layer, on one rank, for one sequence."""
    return LayerRates(
        state=_bytes(family.state(options.tp), DTYPES[options.state_dtype]),
        conv=_bytes(family.conv(options.conv_columns, options.tp), DTYPES[options.conv_dtype]),
        token=_bytes(family.token(options.mla, options.tp), DTYPES[options.kv_dtype]),
        kept=None if family.window is None else family.window - 1,
    )


def _bytes(runs: Runs, dtype: Dtype) -> int:
    return sum(dtype.bytes(run.value) for run in runs)


KEYS_AND_VALUES = Told(2, "keys and values")


def arithmetic(group: LayerGroup, options: Options, tokens: int | str) -> Terms:
    """One layer's bytes as an expression with the numbers in it, such as "64 × 128 × 128 × 4 B", cut into terms.

    tokens: the context length, or the letter that stands for it.
    """
    family = group.family
    parts = [
        _terms(family.state(options.tp), options.state_dtype, "dtype of the state"),
        _terms(family.conv(options.conv_columns, options.tp), options.conv_dtype, "dtype of the convolution window"),
    ]
    cache = _terms(family.token(options.mla, options.tp), options.kv_dtype, "dtype of the cache")
    if cache:
        parts.append((*cache, (" × ", ""), *_span(tokens, family.window), (" tokens", "")))
    parts = [part for part in parts if part]
    said = joined(" + ", parts) or (("0 B", ""),)
    if options.batch == 1 or not parts:
        return said
    several = len(parts) > 1 or sum(text.endswith(" B") for text, _ in said) > 1
    inner = (("(", ""), *said, (")", "")) if several else said
    return ((f"{options.batch:,}", "sequences"), (" sequences × ", ""), *inner)


def _span(tokens: int | str, window: int | None) -> Terms:
    T = (tokens if isinstance(tokens, str) else f"{tokens:,}", "context length")
    if window is None:
        return (T,)
    return (("min(", ""), T, (", ", ""), *number(derived(window - 1, window, " − 1")).terms, (")", ""))


def _terms(runs: Runs, dtype: str, what: str) -> Terms:
    if not runs:
        return ()
    same = len(runs) == 2 and runs[0] == runs[1]
    numbers: Count = times(KEYS_AND_VALUES, runs[0]) if same else runs[0] if len(runs) == 1 else plus(*runs)
    return (*bracketed(numbers), (" × ", ""), (DTYPES[dtype].text, f"{what}, {dtype}"))
