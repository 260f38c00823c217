"""Small models that are trained to recall: several of them, each with weights of its own, in one pass.

Every tensor of weights carries a leading axis of R replicas, so that seeds and learning rates train side by side in
the same matrix products.  torch only; nothing here looks at a value, so a training step can be captured as a graph.

A layer: q, k, v by projections and a short causal convolution, which lets a value see the key just before it; one head
of a memory d_k × d_v; then a feed-forward part.  No positions are encoded.
Source of the task and of the recipe: Arora et al. 2023, Zoology, arXiv:2312.04927.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compute.triangular import inverse_unit_lower

TAPS = 3
"""Tokens that the short convolution sees."""

EVERY, SECOND = 4, 1
"""Of so many layers of the hybrid one is softmax, the second: put last it stays unused, for the layers before it have
learned what they can by then."""

KEEP_START = 4.0
"""Logit of the decay at the start of training: 98 % kept."""


def mixer_of(mixer: str, layer: int) -> str:
    """The rule of one layer: the hybrid is gated delta with softmax in every fourth layer."""
    if mixer != "hybrid":
        return mixer
    return "softmax" if layer % EVERY == SECOND else "gated_delta"


def shapes(layers: int, d: int, d_k: int, words: int, values: int) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight of one replica."""
    told: dict[str, tuple[int, ...]] = {"embed": (words, d)}
    for i in range(layers):
        told |= {
            f"{i}.norm": (d,), f"{i}.q": (d, d_k), f"{i}.k": (d, d_k), f"{i}.v": (d, d),
            f"{i}.conv": (TAPS, 2 * d_k + d), f"{i}.gates": (d, 2), f"{i}.bias": (2,), f"{i}.read": (d,),
            f"{i}.out": (d, d), f"{i}.norm2": (d,), f"{i}.up": (d, 2 * d), f"{i}.down": (2 * d, d),
        }  # fmt: skip
    return {**told, "norm": (d,), "unembed": (d, values)}


def start(name: str, shape: tuple[int, ...], normal: Callable[[tuple[int, ...]], Any]) -> Any:
    """First weights `[R, *shape]`; `normal` draws them."""
    kind = name.rpartition(".")[2]
    drawn = normal(shape)
    if kind in ("norm", "norm2", "read"):
        return drawn * 0 + 1
    if kind == "conv":
        drawn = drawn * 0.3
        drawn[:, 0] += 1.0
        return drawn
    if kind == "bias":
        return drawn * 0 + drawn.new_tensor([KEEP_START, 0.0])
    if kind == "embed":
        return drawn * 0.5
    return drawn * shape[0] ** -0.5


def logits(weights: dict[str, Any], tokens: Any, asked: int, mixer: str) -> Any:
    """Scores of the values at the last `asked` tokens, [R, B, asked, values], from tokens [B, T] whole numbers."""
    import torch

    words = weights["embed"].shape[1]
    seen = torch.nn.functional.one_hot(tokens, words).to(weights["embed"].dtype)
    x = (seen.flatten(0, 1) @ weights["embed"]).unflatten(1, tokens.shape)
    layers = sum(name.endswith(".out") for name in weights)
    for i in range(layers):
        w = {name.partition(".")[2]: a for name, a in weights.items() if name.startswith(f"{i}.")}
        x = x + _mixed(w, _normed(x, w["norm"]), mixer_of(mixer, i))
        x = x + _times(torch.nn.functional.silu(_times(_normed(x, w["norm2"]), w["up"])), w["down"])
    return _times(_normed(x[:, :, -asked:], weights["norm"]), weights["unembed"])


def _times(x: Any, w: Any) -> Any:
    """Each replica's x [R, B, T, d] times its own weights [R, d, e]."""
    return (x.flatten(1, 2) @ w).unflatten(1, x.shape[1:3])


def _normed(x: Any, gain: Any) -> Any:
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gain[:, None, None]


def _mixed(w: dict[str, Any], h: Any, mixer: str) -> Any:
    import torch

    d_k = w["q"].shape[-1]
    qkv = _convolved(_times(h, torch.cat([w["q"], w["k"], w["v"]], dim=-1)), w["conv"])
    q, k, v = qkv.split([d_k, d_k, h.shape[-1]], dim=-1)
    gates = _times(h, w["gates"]) + w["bias"][:, None, None]
    return _times(_normed(mix(mixer, q, k, v, gates[..., 0], gates[..., 1]), w["read"]), w["out"])


def mix(mixer: str, q: Any, k: Any, v: Any, keep: Any, strength: Any) -> Any:
    """What every token reads, [*, T, d_v], from q, k [*, T, d_k], v [*, T, d_v] and gates [*, T] before squashing.

    All tokens at once: sequences are short, and a loop over chunks would only be waited for.
    """
    import torch

    T = q.shape[-2]
    past = torch.ones(T, T, dtype=torch.bool, device=q.device).tril()
    if mixer == "softmax":
        scores = (q @ k.mT) * q.shape[-1] ** -0.5
        return torch.softmax(scores.masked_fill(~past, -torch.inf), dim=-1) @ v
    q, k = (torch.nn.functional.normalize(a, dim=-1) for a in (q, k))
    reads, writes = q @ k.mT, k @ k.mT
    if mixer == "gated_delta":
        logs = torch.nn.functional.logsigmoid(keep).cumsum(-1)
        decay = torch.exp((logs[..., :, None] - logs[..., None, :]).masked_fill(~past, -torch.inf))
        reads, writes = reads * decay, writes * decay
    if mixer != "additive":
        beta = torch.sigmoid(strength)[..., None]
        v = inverse_unit_lower(beta * writes) @ (beta * v)
    return reads.masked_fill(~past, 0.0) @ v


def _convolved(x: Any, taps: Any) -> Any:
    """Causal, every channel for itself: y_t = silu(Σ_i taps_i · x_(t−i))."""
    import torch

    T = x.shape[-2]
    padded = torch.nn.functional.pad(x, (0, 0, TAPS - 1, 0))
    shifted = (padded[..., TAPS - 1 - i : TAPS - 1 - i + T, :] * taps[:, i, None, None] for i in range(TAPS))
    return torch.nn.functional.silu(sum(shifted))
