"""Every kind of attention by name, called the same way: f(Q, K, V, **options), with gates that open and shut."""

from __future__ import annotations

import numpy as np
import torch
from attention_cases import as_torch, elu

from compute.attention import (
    FORMS,
    delta_attention_chunkwise,
    delta_attention_recurrent,
    kernel_attention,
    lightning_attention,
    linear_attention,
    mlstm_attention,
    retnet_attention,
    sliding_window_attention,
    softmax_attention,
    transnormer_attention,
)


def like(Q, a):
    """An array of Q's kind."""
    return as_torch(a) if isinstance(Q, torch.Tensor) else a


def gates(Q):
    """The same log decay for every token."""
    return like(Q, np.full(tuple(Q.shape[:-1]), -0.1))


def gate(V):
    """Numbers before a sigmoid that depend on the place alone."""
    return like(V, np.linspace(-1, 1, int(np.prod(V.shape))).reshape(tuple(V.shape)))


CALLS = {
    **{name: lambda Q, K, V, form=form, **o: form(Q, K, V, elu, **o) for name, form in FORMS.items()},
    "linear": lambda Q, K, V, **o: linear_attention(Q, K, V, elu, **o),
    "softmax": softmax_attention,
    "kernel": lambda Q, K, V, **o: kernel_attention(Q, K, V, lambda Q, K: elu(Q) @ elu(K).mT, **o),
    "window": lambda Q, K, V, **o: sliding_window_attention(Q, K, V, 4, **o),
    "delta recurrent": delta_attention_recurrent,
    "delta chunkwise": delta_attention_chunkwise,
    "mlstm": mlstm_attention,
    "retnet": lambda Q, K, V, **o: retnet_attention(Q, K, V, gates(Q), **o),
    "transnormer": lambda Q, K, V, **o: transnormer_attention(Q, K, V, elu, **o),
    "lightning": lambda Q, K, V, **o: lightning_attention(Q, K, V, gate(V), gates(Q), **o),
}

AVERAGES = (*FORMS, "linear", "softmax", "kernel", "window")
"""Those whose weights sum to one."""

RESUMABLE = (*FORMS, "delta recurrent", "delta chunkwise", "mlstm", "retnet", "transnormer")
"""Those that take a state and give one."""
