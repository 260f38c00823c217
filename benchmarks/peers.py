"""Every form of attention beside the fastest of what others offer for it: torch on one thread of a CPU, one input.

Peers come with the `outside` extra; a form without one installed is left out.  All compute in float32, which is what
most of the peers do whatever comes in.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.report import Row, timed
from compute.attention import (
    DELTA_FORMS,
    FORMS,
    autograd_gradients,
    cumulative_sum_gradients,
    linear_attention,
    mlstm_attention,
    retnet_attention,
    sliding_window_attention,
    softmax_attention,
)
from compute.feature_maps import FEATURE_MAPS

TOKENS, WIDTH, WINDOW, BETA, KEPT = 2048, 64, 64, 0.5, 0.98
FLA, PERFORMER, TRANSFORMERS = "flash-linear-attention", "performer-pytorch", "transformers"

Calls = dict[str, tuple[Callable[[], Any], dict[str, Callable[[], Any]]]]
"""By form: ours, and theirs by whose they are."""


def peers() -> Iterator[Row]:
    """Our time over that of the fastest peer, form by form."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without a GPU they say on import that their kernels are off
        calls = _calls(torch)
    for form, (ours, theirs) in calls.items():
        if theirs:
            took, _ = timed(ours)
            others = {who: timed(call)[0] for who, call in theirs.items()}
            who = min(others, key=others.get)
            what = f"{form}, {TOKENS:,} tokens, d = {WIDTH}, torch on a CPU: time over that of {who}"
            yield Row(what, took / others[who], "×", note=f"{1e3 * took:.1f} ms for {1e3 * others[who]:.1f} ms")


def _calls(torch: Any) -> Calls:
    rng = np.random.default_rng(0)
    Q, K, V = (torch.from_numpy(a)[None, None].float() for a in rng.standard_normal((3, TOKENS, WIDTH)))
    K = K / torch.linalg.vector_norm(K, dim=-1, keepdim=True)
    beta, gates = torch.full(K.shape[:-1], BETA), torch.full(K.shape[:-1], np.log(KEPT))
    wide = gates[..., None].expand(K.shape).contiguous()
    q, k, v, b, g, w = (a.transpose(1, 2).contiguous() for a in (Q, K, V, beta, gates, wide))
    identity, elu = FEATURE_MAPS["identity"](), FEATURE_MAPS["elu"]()
    phi_q, phi_k = elu(Q), elu(K)  # features are the input here: peers are handed them
    plain = dict(normalise=False)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    t = torch.arange(TOKENS)
    near = (t <= t[:, None]) & (t > t[:, None] - WINDOW)

    def found(*options: tuple[str, str, str, Callable[[Any], Callable[[], Any]]]) -> dict[str, Callable[[], Any]]:
        """Of (whose, module, function, how it is called) those that are installed."""
        there = {}
        for who, module, name, called in options:
            with suppress(ImportError, AttributeError):
                there[who] = called(getattr(import_module(module), name))
        return there

    def fla(family: str, name: str, *arrays: Any, **options: Any) -> tuple:
        return FLA, f"fla.ops.{family}.naive", name, lambda f: partial(f, *arrays, **options)

    def qwen(name: str) -> tuple:
        # What transformers wraps it in would take flash-linear-attention's kernel for a GPU.
        call = lambda f: partial(inspect.unwrap(f), q, k, v, g=g, beta=b)  # noqa: E731
        return TRANSFORMERS, "transformers.models.qwen3_next.modeling_qwen3_next", name, call

    def xlstm(f: Callable) -> Callable[[], Any]:
        forget = torch.full(K.shape[:-1], float(np.log(KEPT / (1 - KEPT))))
        return partial(f, Q, K, V, torch.zeros_like(beta), forget)

    one, normal = dict(scale=1.0), dict(scale=1.0, normalize=True)
    performer = (PERFORMER, "performer_pytorch.performer_pytorch")
    local = lambda f: f(WINDOW - 1, causal=True, exact_windowsize=True, autopad=True, use_rotary_pos_emb=False)  # noqa: E731
    linear = {word: partial(form, phi_q, phi_k, V, identity) for word, form in FORMS.items()}
    decayed = {word: partial(form, Q, K, V, identity, log_alpha=gates, **plain) for word, form in FORMS.items()}
    channels = {word: partial(form, Q, K, V, identity, log_alpha=wide, **plain) for word, form in FORMS.items()}
    delta = {word: partial(form, Q, K, V, beta) for word, form in DELTA_FORMS.items()}
    gated = {word: partial(form, Q, K, V, beta, log_alpha=gates) for word, form in DELTA_FORMS.items()}
    kda = {word: partial(form, Q, K, V, beta, log_alpha=wide) for word, form in DELTA_FORMS.items()}
    return {
        "softmax": (partial(softmax_attention, Q, K, V), {"torch": partial(sdpa, Q, K, V, is_causal=True)}),
        f"softmax over a window of {WINDOW}": (
            partial(sliding_window_attention, Q, K, V, WINDOW),
            {
                "torch": partial(sdpa, Q, K, V, attn_mask=near),
                **found(("local-attention", "local_attention", "LocalAttention", lambda f: partial(local(f), Q, K, V))),
            },
        ),
        "linear without a mask": (
            partial(linear_attention, phi_q, phi_k, V, identity),
            found((*performer, "linear_attention", lambda f: partial(f, phi_q, phi_k, V))),
        ),
        "recurrent": (
            linear["recurrent"],
            found(fla("linear_attn", "naive_recurrent_linear_attn", elu(q), elu(k), v, **normal)),
        ),
        "chunkwise": (
            linear["chunkwise"],
            found(
                fla("linear_attn", "naive_chunk_linear_attn", elu(q), elu(k), v, **normal),
                (*performer, "causal_linear_attention_noncuda", lambda f: partial(f, phi_q, phi_k, V)),
            ),
        ),
        "parallel, a gate per token": (
            decayed["parallel"],
            found(fla("simple_gla", "naive_parallel_simple_gla", q, k, v, g, **one)),
        ),
        "recurrent, a gate per token": (
            decayed["recurrent"],
            found(fla("simple_gla", "naive_recurrent_simple_gla", q, k, v, g, **one)),
        ),
        "chunkwise, a gate per token": (
            decayed["chunkwise"],
            found(fla("simple_gla", "naive_chunk_simple_gla", q, k, v, g, **one)),
        ),
        "recurrent, a gate per channel": (
            channels["recurrent"],
            found(fla("gla", "naive_recurrent_gla", q, k, v, w)),
        ),
        "RetNet's read": (
            partial(retnet_attention, Q, K, V, gates),
            found(fla("retention", "naive_retention", Q, K, V)),
        ),
        "mLSTM's read": (
            partial(mlstm_attention, Q, K, V, log_alpha=gates),
            found((TRANSFORMERS, "transformers.models.xlstm.modeling_xlstm", "mlstm_chunkwise_native_autograd", xlstm)),
        ),
        "delta, recurrent": (
            delta["recurrent"],
            found(fla("delta_rule", "delta_rule_recurrence", Q, K, V, beta)),
        ),
        "delta, chunkwise": (
            delta["chunkwise"],
            found(fla("delta_rule", "delta_rule_chunkwise", Q, K, V, beta)),
        ),
        "gated delta, recurrent": (
            gated["recurrent"],
            found(
                fla("gated_delta_rule", "naive_recurrent_gated_delta_rule", q=q, k=k, v=v, beta=b, g=g),
                qwen("torch_recurrent_gated_delta_rule"),
            ),
        ),
        "gated delta, chunkwise": (
            gated["chunkwise"],
            found(
                fla("gated_delta_rule", "naive_chunk_gated_delta_rule", q=q, k=k, v=v, beta=b, g=g),
                qwen("torch_chunk_gated_delta_rule"),
            ),
        ),
        "delta with a gate per channel, chunkwise": (
            kda["chunkwise"],
            found(fla("kda", "naive_chunk_kda", q=q, k=k, v=v, g=w, beta=b)),
        ),
        "gradients as running sums": (
            partial(cumulative_sum_gradients, phi_q, phi_k, V, V),
            {
                "torch's autograd of the chunkwise form": partial(
                    autograd_gradients, phi_q, phi_k, V, V, form=FORMS["chunkwise"]
                )
            },
        ),
    }
