"""Attention on a CUDA device, in one run: how exact, and how fast beside flash-linear-attention and torch's softmax.

    python -m benchmarks.cuda [FILE.json]

Needs torch and numpy (and array-api-compat); compares with `flash-linear-attention` where it is installed.
Times are medians of device events after a warm-up, bfloat16 in and out, d = 128; a ratio above 1 means slower than
the peer.  With a file name the times are written there as well, as in `assets/measured`.
"""

from __future__ import annotations

import datetime
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from torch.nn.functional import elu, normalize, scaled_dot_product_attention

from benchmarks.report import Row, table
from compute.attention import (
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_parallel,
    causal_linear_attention_recurrent,
    delta_attention_chunkwise,
    softmax_attention,
)
from compute.feature_maps import FEATURE_MAPS

D = 128
CHUNK, DELTA_CHUNK = 256, 64
REPEATS = 50
WARM_UP = 0.3
"""Seconds; a card that has rested is slow at first."""
LENGTHS = {1: (12, 14, 16, 18, 20), 16: (12, 14, 16, 18)}
LONGEST_SOFTMAX = 2**18
"""Tokens times heads up to which softmax is waited for."""
BUDGET_MISS = 1e-5
BUDGET_ONE_HEAD = 1.2
IDENTITY = FEATURE_MAPS["identity"]()
PEER = "flash-linear-attention"


def event_ms(*calls: Callable[[], object]) -> list[float]:
    """Median milliseconds of each call on the device, taken in turns: what slows the machine slows all of them."""
    until = perf_counter() + WARM_UP
    while perf_counter() < until:
        for call in calls:
            call()
        torch.cuda.synchronize()
    times = [[] for _ in calls]
    for _ in range(REPEATS):
        for call, told in zip(calls, times, strict=True):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
            told.append(start.elapsed_time(end))
    return [statistics.median(told) for told in times]


def misses() -> Iterator[Row]:
    """Relative miss of float32 on the device against float64 on the CPU."""
    rng = np.random.default_rng(0)
    Q, K, V = rng.standard_normal((3, 2, 4, 257, 64))
    V = V[..., :48]
    on = [torch.tensor(a, dtype=torch.float32, device="cuda") for a in (Q, K, V)]
    for word, kind in FEATURE_MAPS.items():
        phi = kind()
        if phi.positivity == "no" or phi.random:
            continue
        small = [a * 0.35 for a in (Q, K)]
        small_on = [a * 0.35 for a in on[:2]]
        want = causal_linear_attention_recurrent(*small, V, phi)
        for name, form in FORMS.items():
            yield _miss(f"{name}, {word}", form(*small_on, on[2], phi), want)
    yield _miss("softmax", softmax_attention(*on), softmax_attention(Q, K, V))
    unit = [a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (Q, K)]
    beta = np.full(Q.shape[:-1], 0.5)
    cast = [torch.tensor(a, dtype=torch.float32, device="cuda") for a in (*unit, beta)]
    want = delta_attention_chunkwise(*unit, V, beta=beta)
    yield _miss("delta, chunkwise", delta_attention_chunkwise(*cast[:2], on[2], beta=cast[2]), want)


def _miss(what: str, got: torch.Tensor, want: np.ndarray) -> Row:
    miss = _apart(got.double().cpu(), torch.from_numpy(want))
    return Row(f"float32 on CUDA against float64: {what}", miss, "of the norm", BUDGET_MISS)


def _apart(got: torch.Tensor, want: torch.Tensor) -> float:
    return float((got.double() - want).norm() / want.norm())


def peers() -> tuple[Callable, Callable] | None:
    """Their chunkwise linear attention and delta rule."""
    try:
        from fla.ops.delta_rule import chunk_delta_rule
        from fla.ops.linear_attn import chunk_linear_attn
    except Exception as reason:
        print(f"{PEER} not compared: {reason}")
        return None
    return chunk_linear_attn, chunk_delta_rule


def rounding() -> Iterator[Row]:
    """Relative miss of bfloat16, ours within theirs; the output's own rounding alone is 1.7e-3."""
    found = peers()
    for normalised in (False, True):
        for T in (257, 4096):
            ours, theirs, inputs = _linear(2, T, normalised, found)
            want = causal_linear_attention_parallel(
                *(x.double() for x in inputs), IDENTITY, eps=1e-10, normalise=normalised
            )
            miss = _apart(ours(), want)
            other = _apart(theirs().transpose(1, 2), want) if theirs else None
            what = f"bfloat16 against float64, T = {T:,}, {'with' if normalised else 'no'} denominator"
            note = f"{PEER} {other:.5f}" if other else ""
            yield Row(what, miss, "of the norm", other and 1.02 * other, note=note)


def _linear(heads: int, T: int, normalised: bool, found: tuple[Callable, Callable] | None) -> tuple:
    """Our call, theirs or None, and the inputs [1, heads, T, D]; positive features where there is a denominator."""
    q, k, v = (torch.randn(1, heads, T, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    if normalised:
        q, k = elu(q) + 1, elu(k) + 1
    ours = partial(causal_linear_attention_chunkwise, q, k, v, IDENTITY, 1e-10, CHUNK, normalise=normalised)
    if not found:
        return ours, None, (q, k, v)
    a, b, c = (x.transpose(1, 2).contiguous() for x in (q, k, v))
    return ours, lambda: found[0](a, b, c, scale=1.0, normalize=normalised)[0], (q, k, v)


def _delta(heads: int, T: int, found: tuple[Callable, Callable] | None) -> tuple:
    q, k, v = (torch.randn(1, heads, T, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    k = normalize(k.float(), dim=-1).bfloat16()
    beta = torch.full((1, heads, T), 0.5, device="cuda", dtype=torch.bfloat16)
    ours = partial(delta_attention_chunkwise, q, k, v, beta, DELTA_CHUNK)
    if not found:
        return ours, None, (q, k, v)
    a, b, c, s = (x.transpose(1, 2).contiguous() for x in (q, k, v, beta))
    return ours, lambda: found[1](a, b, c, s, scale=1.0)[0], (q, k, v)


def races(series: list[dict]) -> Iterator[Row]:
    """Each form and the peer's kernel on the same input, one after the other; times are added to `series`."""
    found = peers()
    forms = {
        "linear": lambda *size: _linear(*size, False, found),
        "linear with a denominator": lambda *size: _linear(*size, True, found),
        "delta": lambda *size: _delta(*size, found),
    }
    for heads, powers in LENGTHS.items():
        for form, prepare in forms.items():
            for T in (2**p for p in powers):
                ours, theirs, _ = prepare(heads, T)
                what = f"{form}, {heads} head{'s' * (heads > 1)}, T = 2^{T.bit_length() - 1}"
                kernels = {"torch, chunkwise": ours} | ({f"{PEER}, chunkwise": theirs} if theirs else {})
                time, *others = _timed(series, form, heads, T, kernels)
                if not others:
                    yield Row(what, time, "ms")
                    continue
                (other,) = others
                budget = BUDGET_ONE_HEAD if (form, heads) == ("linear", 1) else None
                yield Row(f"{what}: ours over theirs", time / other, "", budget, note=f"{time:.3f} ms, {other:.3f} ms")
        for T in (2**p for p in powers if heads * 2**p <= LONGEST_SOFTMAX):
            q, k, v = (torch.randn(1, heads, T, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            call = partial(scaled_dot_product_attention, q, k, v, is_causal=True)
            (time,) = _timed(series, "softmax", heads, T, {"torch scaled_dot_product_attention": call})
            ours = _time_at(series, "linear", heads, "torch, chunkwise", T)
            what = f"softmax, {heads} head{'s' * (heads > 1)}, T = 2^{T.bit_length() - 1}: softmax over linear"
            yield Row(what, time / ours, "", note=f"{time:.3f} ms")


def _timed(series: list[dict], form: str, heads: int, T: int, kernels: dict[str, Callable[[], object]]) -> list[float]:
    times = event_ms(*kernels.values())
    for kernel, time in zip(kernels, times, strict=True):
        who = {"form": form, "heads": heads, "kernel": kernel}
        line = next((line for line in series if who.items() <= line.items()), None)
        if line is None:
            line = {**who, "T": [], "ms": []}
            series.append(line)
        line["T"].append(T)
        line["ms"].append(round(time, 3))
    return times


def _time_at(series: list[dict], form: str, heads: int, kernel: str, T: int) -> float:
    (line,) = (line for line in series if (line["form"], line["heads"], line["kernel"]) == (form, heads, kernel))
    return line["ms"][line["T"].index(T)]


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
    series: list[dict] = []
    rows = []
    for part in (misses(), rounding(), races(series)):
        for row in part:
            rows.append(row)
            print(" | ".join(row.cells), flush=True)
    print(table(rows))
    if len(sys.argv) > 1:
        head = {
            "device": torch.cuda.get_device_name(),
            "date": datetime.date.today().isoformat(),
            "torch": torch.__version__.partition("+")[0],
            "peer": f"{PEER} {version(PEER)}" if peers() else None,
            "dtype": "bfloat16",
            "head": D,
            "causal": True,
            "statistic": "median of device-event timings",
            "chunk": CHUNK,
            "delta_chunk": DELTA_CHUNK,
        }
        told = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items())
        lines = ",\n".join(f"    {json.dumps(line)}" for line in series)
        Path(sys.argv[1]).write_text(f'{{\n{told},\n  "series": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
