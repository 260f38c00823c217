"""Attention on a CUDA device: float32 against float64, and time against flash-linear-attention, in one run.

    python -m benchmarks.cuda

Needs torch and numpy (and array-api-compat); compares with `flash-linear-attention` where it is installed.
Times are medians of device events after a warm-up, bf16 in and out, d = 128.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch

from benchmarks.report import Row, table
from compute.attention import (
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_recurrent,
    delta_attention_chunkwise,
    softmax_attention,
)
from compute.feature_maps import FEATURE_MAPS

D = 128
REPEATS = 20
BUDGET_MISS = 1e-5
BUDGET_ONE_HEAD = 1.2


def event_ms(call: Callable[[], object]) -> float:
    """Median milliseconds of a call on the device."""
    for _ in range(3):
        call()
    times = []
    for _ in range(REPEATS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


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
    got = got.double().cpu().numpy()
    return Row(
        f"float32 on CUDA against float64: {what}",
        float(np.linalg.norm(got - want) / np.linalg.norm(want)),
        "of the norm",
        BUDGET_MISS,
    )


def peer() -> Callable | None:
    try:
        from fla.ops.linear_attn import chunk_linear_attn
    except Exception as reason:
        print(f"flash-linear-attention not compared: {reason}")
        return None
    return chunk_linear_attn


def races() -> Iterator[Row]:
    """Our chunkwise form and the peer's kernel on the same input."""
    identity, theirs = FEATURE_MAPS["identity"](), peer()
    for heads, lengths in ((1, (12, 14, 16, 18, 20)), (16, (12, 14, 16, 18))):
        for p in lengths:
            T = 2**p
            q, k, v = (0.1 * torch.randn(1, heads, T, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            ours = event_ms(partial(causal_linear_attention_chunkwise, q, k, v, identity, chunk=128, normalise=False))
            yield Row(f"chunkwise, {heads} head{'s' * (heads > 1)}, T = 2^{p}", ours, "ms")
            if theirs:
                a, b, c = (x.transpose(1, 2).contiguous() for x in (q, k, v))
                time = event_ms(partial(theirs, a, b, c, scale=1.0, normalize=False))
                yield Row("  flash-linear-attention", time, "ms")
                yield Row("  ratio", ours / time, "times", BUDGET_ONE_HEAD if heads == 1 else None)


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(table([*misses(), *races()]))


if __name__ == "__main__":
    main()
