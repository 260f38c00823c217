"""Sweep (vi): small trained models that must recall what they were told, by mixer and size of state."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compute.families import knob
from compute.sweeps.base import Question, Sweep, Work, several
from compute.sweeps.recall_models import logits, shapes, start
from compute.sweeps.workbench import Bench

MIXERS = ("additive", "delta", "gated_delta", "softmax", "hybrid")
BETAS, TINY = (0.9, 0.98), 1e-8
"""Adam's averages, and what keeps it from dividing by zero."""

WARM = 0.1
"""Share of the steps over which the learning rate rises; it then falls to zero along a cosine."""

LONGEST_STEP = 1.0
"""Gradients are scaled down to this norm, each replica's by itself."""

ASKED = 16_384
"""Queries answered for every point of the result."""


@dataclass(frozen=True)
class TrainedQuestion(Question):
    mixers: tuple = several(MIXERS, doc="rule of the layers", among=MIXERS)
    widths: tuple = several((8, 16, 32, 64), 2, 128, "widths d_k of keys and queries")
    layers: int = knob(4, 1, 8, "layers")
    d: int = knob(64, 8, 256, "width of the model, and d_v of its one head")
    words: int = knob(512, 8, 8192, "keys there are, and as many values")
    trained: tuple = several((8, 32, 64), 1, 256, "pairs in the sequences of training")
    pairs: tuple = several((4, 8, 16, 32, 64, 128, 256), 1, 512, "pairs in the sequences of the test")
    rates: tuple = several((4e-3, 1.2e-2), 1e-5, 1e-1, "learning rates")
    draws: int = knob(2, 1, 8, "independent first weights; the data are shared")
    steps: int = knob(1000, 10, 100_000, "training steps")
    tokens: int = knob(12_288, 96, 1 << 20, "tokens in a step")

    def __post_init__(self):
        super().__post_init__()
        if max(*self.trained, *self.pairs) > self.words:
            raise ValueError("pairs must not be more than the keys there are")


class TrainedRecall(Sweep):
    """Multi-query associative recall: n pairs of a key and a value, then every key once, in a new order."""

    word = "trained-recall"
    title = "Recall of trained models against the size of their state"
    says = (
        "Share of keys answered with their value, and loss at the end of training, by learning rate and first "
        "weights.  More pairs than in training ask for what was never practised."
    )
    question = TrainedQuestion
    needs_torch = True
    quick = TrainedQuestion(
        mixers=("additive", "delta", "softmax"), widths=(8,), layers=2, d=32, words=32, trained=(4, 8),
        pairs=(4, 8, 16), rates=(4e-3, 1e-2), draws=1, steps=300, tokens=768,
    )  # fmt: skip
    dims: ClassVar = {"recall": ("rate", "draw", "n"), "loss": ("rate", "draw")}

    def grid(self, question):
        return {"d_k": question.widths, "mixer": question.mixers}

    def axes(self, question):
        return {"rate": question.rates, "draw": tuple(range(question.draws)), "n": question.pairs}

    def work(self, question, point):
        replicas = len(question.rates) * question.draws
        d = question.d
        per_token = 6.0 * (question.layers * (2 * point[0] * d + 6 * d * d) + 3 * question.words * d)
        per_token += 30.0 * question.layers * 3 * max(question.trained) * d
        tokens = question.steps * question.tokens * replicas
        return Work(flops=2 * per_token * tokens, bytes=150.0 * question.layers * 4 * d * tokens,
                    steps=question.steps * 3.0)  # fmt: skip

    def at(self, question, point, bench):
        if importlib.util.find_spec("torch") is None:
            raise ValueError("torch must be installed to train")
        d_k, mixer = point
        told = bench.over(1, 1, 0.0, lambda first, last: _trained(question, mixer, d_k, bench))
        return {name: a[0] for name, a in told.items()}


def _trained(question: TrainedQuestion, mixer: str, d_k: int, bench: Bench) -> dict[str, np.ndarray]:
    import torch

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True  # training forgives ten bits of mantissa
    try:
        return _train(question, mixer, d_k, bench)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _train(question: TrainedQuestion, mixer: str, d_k: int, bench: Bench) -> dict[str, np.ndarray]:
    import torch

    device = bench.device
    generator = torch.Generator(device=device).manual_seed(question.seed)
    layout = shapes(question.layers, question.d, d_k, 2 * question.words, question.words)
    drawn, rates = question.draws, len(question.rates)

    def normal(shape: tuple[int, ...]) -> Any:
        """The same first weights for every learning rate."""
        return torch.randn((1, drawn, *shape), generator=generator, device=device).expand(
            rates, -1, *shape
        ).flatten(0, 1).clone()  # fmt: skip

    flat = torch.cat([start(name, shape, normal).flatten(1) for name, shape in layout.items()], dim=1)
    rate = torch.tensor(question.rates, device=device).repeat_interleave(drawn)[:, None]
    step = _Step(flat, layout, rate, mixer)
    graphs: dict[int, _Captured] = {}
    loss = None
    for i in range(question.steps):
        n = question.trained[i % len(question.trained)]
        data = recall_task(max(1, question.tokens // (3 * n)), n, question.words, generator)
        step.scale.fill_(_schedule(i, question.steps) * math.sqrt(1 - BETAS[1] ** (i + 1)) / (1 - BETAS[0] ** (i + 1)))
        if bench.place.kind == "cuda":
            if n not in graphs:
                graphs[n] = _Captured(step, data)
            loss = graphs[n](data)
        else:
            loss = step(*data)
        if i % 25 == 0:
            bench.tick(0.95 * i / question.steps)
            if device == "cuda":
                torch.cuda.synchronize()
    recall = _tested(flat, layout, mixer, question, generator, bench)
    shape = (1, rates, drawn)
    return {
        "recall": recall.reshape(*shape, -1).astype(np.float32),
        "loss": loss.detach().cpu().numpy().reshape(shape).astype(np.float32),
    }


def cache_tokens(n: int) -> int:
    """Tokens that tell n pairs: what a softmax layer has to keep."""
    return 2 * n


def recall_task(sequences: int, n: int, words: int, generator: Any) -> tuple[Any, Any]:
    """Tokens [sequences, 3n] (key, value, key, value, …, then all keys in a new order) and the values asked for
    [sequences, n].  Keys are tokens 0…words−1, values the tokens after them."""
    import torch

    device = generator.device
    random = torch.rand(sequences, words, generator=generator, device=device)
    keys = random.argsort(-1)[:, :n]
    values = torch.randint(words, (sequences, n), generator=generator, device=device)
    order = torch.rand(sequences, n, generator=generator, device=device).argsort(-1)
    told = torch.stack([keys, values + words], dim=-1).flatten(1)
    return torch.cat([told, keys.gather(1, order)], dim=1), values.gather(1, order)


def _schedule(i: int, steps: int) -> float:
    warm = WARM * steps
    return (i + 1) / warm if i < warm else 0.5 + 0.5 * math.cos(math.pi * (i - warm) / (steps - warm))


def _views(flat: Any, layout: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Named weights `[R, *shape]` inside the flat ones `[R, P]`."""
    parts = flat.split([math.prod(shape) for shape in layout.values()], dim=1)
    return {name: part.unflatten(1, shape) for (name, shape), part in zip(layout.items(), parts)}


class _Step:
    """One step of Adam for all replicas; `scale` multiplies every learning rate and is set before each step."""

    def __init__(self, flat: Any, layout: dict[str, tuple[int, ...]], rate: Any, mixer: str):
        import torch

        self.flat, self.layout, self.rate, self.mixer = flat, layout, rate, mixer
        self.first, self.second = torch.zeros_like(flat), torch.zeros_like(flat)
        self.scale = torch.zeros((), device=flat.device)

    def __call__(self, tokens: Any, targets: Any) -> Any:
        import torch

        n = targets.shape[-1]
        leaf = self.flat.detach().requires_grad_()
        scores = logits(_views(leaf, self.layout), tokens, n, self.mixer)
        right = scores.gather(-1, targets.expand(len(scores), -1, -1)[..., None])[..., 0]
        loss = (torch.logsumexp(scores, dim=-1) - right).mean((1, 2))
        (gradient,) = torch.autograd.grad(loss.sum(), leaf)
        with torch.no_grad():
            gradient *= (LONGEST_STEP / (gradient.norm(dim=1, keepdim=True) + TINY)).clamp(max=1.0)
            self.first.lerp_(gradient, 1 - BETAS[0])
            self.second.lerp_(gradient.square(), 1 - BETAS[1])
            self.flat -= self.scale * self.rate * self.first / (self.second.sqrt() + TINY)
        return loss


class _Captured:
    """A step as one graph of the device: its thousand small launches cost one."""

    def __init__(self, step: _Step, data: tuple[Any, Any]):
        import torch

        self.data = tuple(a.clone() for a in data)
        kept = [a.detach().clone() for a in (step.flat, step.first, step.second)]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # first calls set up libraries, which a graph must not hold
            for _ in range(2):
                step(*self.data)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = step(*self.data)
        with torch.no_grad():
            for a, value in zip((step.flat, step.first, step.second), kept):
                a.copy_(value)

    def __call__(self, data: tuple[Any, Any]) -> Any:
        for mine, given in zip(self.data, data):
            mine.copy_(given)
        self.graph.replay()
        return self.loss


def _tested(
    flat: Any, layout: dict[str, tuple[int, ...]], mixer: str, question: TrainedQuestion, generator: Any, bench: Bench
) -> np.ndarray:
    """Share of right answers, [R, pairs]."""
    import torch

    weights, told = _views(flat, layout), []
    with torch.no_grad():
        for n in question.pairs:
            left = max(1, min(ASKED, 40 * question.tokens // 3) // n)
            piece, right, asked = max(1, min(question.tokens, 24_576) // (3 * n) // 2), 0, left * n
            while left > 0:
                tokens, targets = recall_task(min(piece, left), n, question.words, generator)
                found = logits(weights, tokens, n, mixer).argmax(-1)
                right = right + (found == targets).sum((1, 2))
                left -= piece
            told.append((right / asked).cpu().numpy())
            bench.tick(0.95)
    return np.stack(told, axis=-1)
