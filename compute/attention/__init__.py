"""Attention in all its forms.  One room per subject; the names of the contract stand here.

softmax.py      softmax, any kernel, sliding window
linear.py       linear attention without a mask
causal.py       causal linear attention: recurrent, parallel, chunkwise
half.py         the chunkwise form for bfloat16 on a CUDA device
step.py         one decode step
delta.py        the delta rule, plain and gated: recurrent and chunkwise
wy.py           its memory from chunk to chunk
normalisers.py  what modern layers put in the denominator's place
gradients.py    gradients as cumulative sums
decay.py        the decay between two tokens (shared)
doors.py        the checks at the door (shared)
"""

from compute.attention.causal import (
    FORMS,
    causal_linear_attention_chunkwise,
    causal_linear_attention_parallel,
    causal_linear_attention_recurrent,
)
from compute.attention.delta import DELTA_FORMS, delta_attention_chunkwise, delta_attention_recurrent
from compute.attention.gradients import autograd_gradients, cumulative_sum_gradients
from compute.attention.linear import linear_attention
from compute.attention.normalisers import (
    lightning_attention,
    lightning_log_alpha,
    mlstm_attention,
    per_head,
    retnet_attention,
    retnet_log_alpha,
    rms_norm,
    transnormer_attention,
)
from compute.attention.softmax import kernel_attention, sliding_window_attention, softmax_attention
from compute.attention.step import linear_attention_step

__all__ = [
    "DELTA_FORMS",
    "FORMS",
    "autograd_gradients",
    "causal_linear_attention_chunkwise",
    "causal_linear_attention_parallel",
    "causal_linear_attention_recurrent",
    "cumulative_sum_gradients",
    "delta_attention_chunkwise",
    "delta_attention_recurrent",
    "kernel_attention",
    "lightning_attention",
    "lightning_log_alpha",
    "linear_attention",
    "linear_attention_step",
    "mlstm_attention",
    "per_head",
    "retnet_attention",
    "retnet_log_alpha",
    "rms_norm",
    "sliding_window_attention",
    "softmax_attention",
    "transnormer_attention",
]
