"""Where curves meet, what fits, and what a decode step reads.

shape: what `read_config` made of a config.  options: how it is billed.  Sizes are exact ints in bytes, contexts in
tokens.  Every function raises ValueError, beginning with the argument's name, on another kind of object, or on counts
that are no whole numbers or too small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from compute.scalars import made, whole

from .families import Both
from .options import ARITHMETIC, Options
from .rates import DEFAULT, LayerRates, Rates, layer_rates, rates
from .shape import ModelShape
from .sums import Paged, first, plan_of, sums
from .twins import all_softmax_twin


@dataclass(frozen=True)
class LayerCrossing:
    """One kind of recurrent layer against the softmax layer it replaces.

    state_tokens: first T at which the cache takes at least as many bytes as the recurrent state, None if there is none;
    fixed_tokens: the same with the convolution window counted.  Both None if the cache stops before.  Under an engine
    both count pages, of which a state takes whole ones.
    """

    kind: str
    state_tokens: int | None
    fixed_tokens: int | None


def layer_crossings(shape: ModelShape, options: Options = DEFAULT) -> tuple[LayerCrossing, ...]:
    """Crossing of each kind of recurrent layer; empty when there is none, or when layers pay for both at once."""
    _admit(shape, options)
    if shape.softmax is None or any(isinstance(group.family, Both) for group in shape.layers):
        return ()
    if options.engine != ARITHMETIC:
        return _page_crossings(shape, options)
    cache = layer_rates(shape.softmax, options)
    found = []
    for group in shape.layers:
        layer = layer_rates(group.family, options)
        if layer.state or layer.conv:
            at = _first(layer.state, cache) if layer.state else None
            found.append(LayerCrossing(group.kind, at, _first(layer.state + layer.conv, cache)))
    return tuple(found)


def _page_crossings(shape: ModelShape, options: Options) -> tuple[LayerCrossing, ...]:
    rows = plan_of(shape, options).rows
    cache = next(row for row in rows if row.family == shape.softmax)
    found = []
    for state in (row for row in rows if row.states):
        at = first(cache.pages, state.pages)
        found.append(LayerCrossing(state.kind, at, at))
    return tuple(found)


def _first(needed: int, cache: LayerRates) -> int | None:
    """Smallest T with rate · min(T, kept) ≥ needed."""
    T = _ceil(needed, cache.token)
    return T if cache.kept is None or cache.kept >= T else None


@dataclass(frozen=True)
class ModelCrossings:
    """Whole-model crossings in tokens, None where curves never meet.

    state: first T at which the caches together take at least the recurrent state; fixed: the same with convolution
    windows; twin: first T at which the all-softmax twin takes at least as much as the model.
    """

    state: int | None
    fixed: int | None
    twin: int | None


def model_crossings(shape: ModelShape, options: Options = DEFAULT) -> ModelCrossings:
    """Where the model's cache overtakes its state, and its all-softmax twin overtakes the model."""
    _admit(shape, options)
    if not (shape.has_state or shape.has_conv):
        return ModelCrossings(None, None, None)
    own = sums(shape, options)
    twin_shape = all_softmax_twin(shape)
    twin = sums(twin_shape, options) if twin_shape else None
    if isinstance(own, Paged):
        state = first(lambda T: own.kv_bytes(T) + own.window_bytes(T), lambda T: own.state_bytes)
        return ModelCrossings(state, state, twin and first(twin.total_bytes, own.total_bytes))
    none = Rates(own.batch, 0, 0, 0, ())
    caches = Rates(own.batch, 0, 0, own.kv_bytes_per_token, own.windows)
    return ModelCrossings(
        state=_meet(caches, Rates(own.batch, own.state_bytes, 0, 0, ())) if own.state_bytes else None,
        fixed=_meet(caches, Rates(own.batch, own.fixed_bytes, 0, 0, ())) if own.fixed_bytes else None,
        twin=_meet(twin, own) if twin and own != none else None,
    )


def _meet(rising: Rates, other: Rates) -> int | None:
    """Smallest T at which `rising` takes at least as many bytes as `other`; their difference is piecewise linear."""
    stops = sorted({0, *(kept for r in (rising, other) for _, kept in r.windows)})
    for start, end in zip(stops, [*stops[1:], None]):
        gap = other.total_bytes(start) - rising.total_bytes(start)
        if gap <= 0:
            return start
        slope = rising.total_bytes(start + 1) - other.total_bytes(start + 1) + gap
        T = start + _ceil(gap, slope) if slope > 0 else None
        if T is not None and (end is None or end >= T):
            return T
    return None


def _admit(shape: ModelShape, options: Options) -> None:
    made("shape", shape, ModelShape)
    made("options", options, Options)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def sequences_that_fit(shape: ModelShape, free_bytes: int, tokens: int, options: Options = DEFAULT) -> int | None:
    """How many sequences of `tokens` fit in free_bytes, states included; None if a sequence takes no memory."""
    _admit(shape, options)
    free, T = whole("free_bytes", free_bytes, 0), whole("tokens", tokens, 0)
    one = sums(shape, replace(options, batch=1)).total_bytes(T)
    return free // one if one else None


def longest_context(shape: ModelShape, free_bytes: int, options: Options = DEFAULT) -> int | None:
    """Longest T at which all of options.batch sequences fit in free_bytes.

    -1 if not even the states fit; None if memory never runs out, because nothing grows.
    """
    _admit(shape, options)
    free = whole("free_bytes", free_bytes, 0)
    own = sums(shape, options)
    if own.fixed_bytes > free:
        return -1
    if isinstance(own, Paged):
        over = first(own.total_bytes, lambda T: free + 1)
        return None if over is None else over - 1
    over = _meet(own, Rates(own.batch, free + 1, 0, 0, ()))
    return None if over is None else over - 1


@dataclass(frozen=True)
class DecodeStep:
    """Bytes one decode step moves for all sequences: caches are read and grow by a token, states read and written."""

    cache_read: int
    cache_written: int
    fixed_read: int
    fixed_written: int

    @property
    def total(self) -> int:
        """Everything moved, weights aside."""
        return self.cache_read + self.cache_written + self.fixed_read + self.fixed_written


def decode_step(shape: ModelShape, tokens: int, options: Options = DEFAULT) -> DecodeStep:
    """Memory traffic of decoding one token after `tokens`; a windowed layer reads min(T, W) tokens."""
    _admit(shape, options)
    T = whole("tokens", tokens, 0)
    own = rates(shape, options.counted)
    windowed = sum(rate * min(T, kept + 1) for rate, kept in own.windows)
    a_token = own.kv_bytes_per_token + sum(rate for rate, _ in own.windows)
    return DecodeStep(
        cache_read=own.kv_bytes(T) + own.batch * windowed,
        cache_written=own.batch * a_token,
        fixed_read=own.fixed_bytes,
        fixed_written=own.fixed_bytes,
    )


def tokens_per_second_bound(
    shape: ModelShape, tokens: int, bytes_per_second: int, weight_bytes: int = 0, options: Options = DEFAULT
) -> float | None:
    """Upper bound on decoded tokens a second from memory bandwidth alone, all sequences together.

    bytes_per_second: the memory's bandwidth.  weight_bytes: active weights read once a step.  None if nothing is read.
    """
    bandwidth = whole("bytes_per_second", bytes_per_second, 1)
    moved = whole("weight_bytes", weight_bytes, 0) + decode_step(shape, tokens, options).total
    return float(Fraction(options.batch * bandwidth, moved)) if moved else None


def tokens_per_row(shape: ModelShape, tokens: int) -> tuple[tuple[str, Fraction], ...]:
    """How many tokens have been written per row of each state matrix, by kind of layer: the state's load."""
    T = whole("tokens", tokens, 0)
    made("shape", shape, ModelShape)
    return tuple((group.kind, Fraction(T, group.family.rows)) for group in shape.layers if group.family.rows)
