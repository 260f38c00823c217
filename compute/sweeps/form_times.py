"""Sweep (iv): how long the forms of attention take on this device, against the number of tokens."""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from compute.arrays import Array
from compute.attention import (
    causal_linear_attention_chunkwise,
    causal_linear_attention_parallel,
    causal_linear_attention_recurrent,
    delta_attention_chunkwise,
    softmax_attention,
)
from compute.families import knob
from compute.feature_maps import FEATURE_MAPS
from compute.memory import unit
from compute.sweeps.base import Question, Sweep, Work, several
from compute.sweeps.workbench import Bench

CHUNK, DELTA_CHUNK = 128, 64
KEEP, STRENGTH = 0.98, 0.5
"""Decay and write strength of the delta forms."""

ENOUGH_S, FEWEST, MOST = 0.04, 3, 20
"""A form is repeated until this long has passed, but at least and at most that often."""


OURS = ("left", "right", "softmax", "parallel", "recurrent", "chunkwise", "delta", "gated_delta")
PEERS = ("fla_linear", "fla_recurrent", "fla_delta", "fla_gated_delta")


class Call(NamedTuple):
    """One form: `make(bench, Q, K, V)` gives what is timed, or None where it cannot run.

    most: the largest size it is timed at, by kind of device: T·heads, or T²·heads where `square`.
    compiling: seconds that its first call takes, as seen on one H200: nothing of it is compiled or tuned yet.
    """

    make: Callable[[Bench, Array, Array, Array], Callable[[], Any] | None]
    most: dict[str, int]
    square: bool = False
    compiling: float = 0.0


@dataclass(frozen=True)
class TimesQuestion(Question):
    forms: tuple = several(
        OURS + PEERS, doc="forms of attention; those in fla_ need flash-linear-attention", among=OURS + PEERS
    )
    heads: tuple = several((1, 16), 1, 64, "heads")
    tokens: tuple = several(tuple(4**p for p in range(4, 11)), 16, 2**20, "tokens T")
    d: int = knob(128, 16, 256, "width of keys and values")


class FormTimes(Sweep):
    """Causal, except for the two orders; the identity as feature map, no denominator."""

    word = "times"
    title = "Measured time of the forms of attention"
    says = (
        "Median milliseconds of a call after a warm-up; NaN where a form would take too long or too much memory, or "
        "is not installed."
    )
    question = TimesQuestion
    quick = TimesQuestion(
        forms=("left", "right", "softmax", "parallel", "recurrent", "chunkwise", "delta"), heads=(1,),
        tokens=(256, 512, 1024, 2048, 4096), d=64,
    )  # fmt: skip
    timed = True
    dims: ClassVar = {"ms": ()}

    def grid(self, question):
        return {"form": question.forms, "heads": question.heads, "T": question.tokens}

    def work(self, question, point):
        form, heads, T = point
        left_out = tuple(kind for kind, most in FORMS[form].most.items() if _size(form, heads, T) > most)
        first = (heads, T) == (question.heads[0], question.tokens[0])
        return Work(seconds=0.25, compiling=FORMS[form].compiling if first else 0.0, left_out=left_out)

    def at(self, question, point, bench):
        form, heads, T = point
        call = FORMS[form]
        nothing = {"ms": np.array(np.nan, dtype=np.float32)}
        if _size(form, heads, T) > call.most[bench.place.kind]:
            return nothing
        dtype = dtype_on(bench.place.kind)

        def work(first: int, last: int) -> dict[str, Array]:
            Q, K, V = (
                bench.xp.astype(0.1 * bench.normal(0, heads, heads, (T, question.d), (side,)), getattr(bench.xp, dtype))
                if bench.place.library == "torch"
                else 0.1 * bench.normal(0, heads, heads, (T, question.d), (side,))
                for side in "qkv"
            )
            timed = call.make(bench, Q, K, V)
            return {"ms": np.array([np.nan if timed is None else _milliseconds(bench, timed)], dtype=np.float32)}

        told = bench.over(1, 1, 0.0, work)
        return {"ms": told["ms"][0]}


def dtype_on(kind: str) -> str:
    """What queries, keys and values are on a kind of device."""
    return "bfloat16" if kind == "cuda" else "float32"


def _size(form: str, heads: int, T: int) -> int:
    return T * heads * (T if FORMS[form].square else 1)


def _milliseconds(bench: Bench, call: Callable[[], Any]) -> float:
    """Median over repeats; on CUDA by device events."""
    took: list[float] = []
    call()
    began = time.perf_counter()
    if bench.place.kind == "cuda":
        import torch

        for _ in range(2):
            call()
        torch.cuda.synchronize()
        began = time.perf_counter()
        while len(took) < FEWEST or (len(took) < MOST and time.perf_counter() - began < ENOUGH_S):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
            took.append(start.elapsed_time(end))
        return statistics.median(took)
    while len(took) < FEWEST or (len(took) < MOST and time.perf_counter() - began < ENOUGH_S):
        start = time.perf_counter()
        _finish(bench, call())
        took.append(1e3 * (time.perf_counter() - start))
    return statistics.median(took)


def _finish(bench: Bench, told: Any) -> None:
    """A device that works in the background has finished when a number can be read."""
    if bench.place.kind == "mps":
        import torch

        torch.mps.synchronize()


def _softmax(bench: Bench, Q: Array, K: Array, V: Array) -> Callable[[], Any]:
    if bench.place.library == "numpy":
        return partial(softmax_attention, Q, K, V)
    import torch

    return partial(torch.nn.functional.scaled_dot_product_attention, Q[None], K[None], V[None], is_causal=True)


def _causal(form: Callable, **options: Any) -> Callable[..., Callable[[], Any]]:
    identity = FEATURE_MAPS["identity"]()
    return lambda bench, Q, K, V: partial(form, Q, K, V, identity, normalise=False, **options)


def _delta(bench: Bench, Q: Array, K: Array, V: Array, gated: bool = False) -> Callable[[], Any]:
    gates = {"log_alpha": bench.xp.zeros_like(K[..., 0]) + float(np.log(KEEP))} if gated else {}
    return partial(delta_attention_chunkwise, Q, unit(K), V, STRENGTH, chunk=DELTA_CHUNK, **gates)


@cache
def _kernel(path: str) -> Callable | None:
    """A function of flash-linear-attention, None where it is not installed or does not load."""
    if importlib.util.find_spec("fla") is None:
        return None
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except Exception:
        return None


def _fla(path: str, **extra: Any) -> Callable[..., Callable[[], Any] | None]:
    def make(bench: Bench, Q: Array, K: Array, V: Array) -> Callable[[], Any] | None:
        kernel = _kernel(path) if bench.place.kind == "cuda" else None
        if kernel is None:
            return None
        q, k, v = (a.transpose(0, 1)[None].contiguous() for a in (Q, unit(K), V))
        options = {name: value(k) if callable(value) else value for name, value in extra.items()}
        try:
            kernel(q, k, v, scale=1.0, **options)
        except Exception:
            return None
        return partial(kernel, q, k, v, scale=1.0, **options)

    return make


def _strengths(k: Array) -> Array:
    return k[..., 0] * 0 + STRENGTH


def _gates(k: Array) -> Array:
    return (k[..., 0] * 0).float() + float(np.log(KEEP))


_SQUARE = {"cpu": 2**24, "mps": 2**26, "cuda": 2**32}
_LINEAR = {"cpu": 2**17, "mps": 2**18, "cuda": 2**22}
_NOWHERE = {"cpu": 0, "mps": 0}

FORMS: dict[str, Call] = {
    "left": Call(lambda bench, Q, K, V: lambda: (Q @ K.mT) @ V, _SQUARE, True),
    "right": Call(lambda bench, Q, K, V: lambda: Q @ (K.mT @ V), _LINEAR),
    "softmax": Call(_softmax, {"cpu": 2**25, "mps": 2**28, "cuda": 2**40}, True),
    "parallel": Call(_causal(causal_linear_attention_parallel), _SQUARE, True),
    "recurrent": Call(_causal(causal_linear_attention_recurrent), {"cpu": 2**15, "mps": 2**12, "cuda": 2**13}),
    "chunkwise": Call(_causal(causal_linear_attention_chunkwise, chunk=CHUNK), _LINEAR),
    "delta": Call(_delta, {"cpu": 2**15, "mps": 2**15, "cuda": 2**21}),
    "gated_delta": Call(partial(_delta, gated=True), {"cpu": 2**15, "mps": 2**15, "cuda": 2**21}),
    "fla_linear": Call(
        _fla("fla.ops.linear_attn.chunk_linear_attn", normalize=False), {**_NOWHERE, "cuda": 2**22}, compiling=30.0
    ),
    "fla_recurrent": Call(
        _fla("fla.ops.linear_attn.fused_recurrent_linear_attn", normalize=False), {**_NOWHERE, "cuda": 2**18},
        compiling=10.0,
    ),
    "fla_delta": Call(
        _fla("fla.ops.delta_rule.chunk_delta_rule", beta=_strengths), {**_NOWHERE, "cuda": 2**22}, compiling=50.0
    ),
    "fla_gated_delta": Call(
        _fla("fla.ops.gated_delta_rule.chunk_gated_delta_rule", beta=_strengths, g=_gates), {**_NOWHERE, "cuda": 2**22},
        compiling=50.0,
    ),
}  # fmt: skip
"""Forms in teaching order; `fla_…` are the kernels of flash-linear-attention.  Once in each process Triton tunes them,
and once on each machine it compiles what it tries: minutes that a quick question does not spend."""
