"""Two tables of costs: the modes of one linear-attention layer, and kinds of layer beside each other.

Every number comes from `cost`; a row adds only its growth law as LaTeX and what it is good for.  One head,
counts as there.  ValueError, beginning with the argument's name, on anything but whole numbers >= 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from compute.cost import (
    attention_flops,
    cache_numbers,
    chunkwise_flops,
    counted,
    decode_flops,
    softmax_decode_flops,
    state_numbers,
)


@dataclass(frozen=True)
class Mode:
    """One way to compute causal linear attention over T tokens.

    flops: of the matrix products.  steps: products that wait for one another.  numbers: kept besides
    input and output.  Each with its law as LaTeX.
    """

    word: str
    flops: int
    steps: int
    numbers: int
    flops_latex: str
    steps_latex: str
    numbers_latex: str
    used_for: str


@dataclass(frozen=True)
class LayerCost:
    """One kind of attention layer at T tokens.

    flops: of training on them.  decode_flops: of the T-th token.  numbers: kept to decode on.  Each with its
    growth law as LaTeX.  exact: whether it is softmax attention.  recall: what it remembers, in words.
    """

    word: str
    flops: int
    decode_flops: int
    numbers: int
    label: str
    flops_latex: str
    decode_latex: str
    numbers_latex: str
    exact: str
    recall: str
    source: str


@counted
def modes(T: int, d_phi: int, d_v: int, chunk: int = 64) -> tuple[Mode, ...]:
    """The three forms of causal linear attention over T tokens, d_phi features and d_v values wide, in teaching order.

    chunk: tokens per chunk of the chunkwise form.
    The parallel row counts the whole matrix, masked half included, as the product computes it.
    Sources: Katharopoulos et al. 2020, arXiv:2006.16236; Yang et al. 2023, arXiv:2312.06635.
    """
    n, state = -(-T // chunk), state_numbers(d_phi, d_v)
    left, right = (attention_flops(T, d_phi, d_v, order) for order in ("left", "right"))
    laws = {
        "recurrent": (r"4Td_\phi d_v", "T", r"d_\phi d_v + d_\phi", "decoding"),
        "parallel": (r"2T^2(d_\phi + d_v)", "1", "T^2", "short sequences, and inside chunks"),
        "chunkwise": (r"2TC(d_\phi + d_v) + 4Td_\phi d_v", "T/C", r"(T/C)(d_\phi d_v + d_\phi)", "training, prefill"),
    }
    counts = {
        "recurrent": (right, T, state),
        "parallel": (left, 1, T * T),
        "chunkwise": (chunkwise_flops(T, d_phi, d_v, chunk), n, n * state),
    }
    return tuple(Mode(word, *counts[word], *laws[word]) for word in laws)


@counted
def layers(
    T: int, d: int = 64, features: int = 256, taylor_d: int = 16, window: int = 64, chunk: int = 64, every: int = 4
) -> tuple[LayerCost, ...]:
    """Softmax, the linear layers and their hybrid at T tokens, heads of width d.

    features: of the Performer.  taylor_d: width that Based projects queries and keys to.  window: tokens
    its exact half sees.  chunk: of the linear layers' training.  every: the hybrid has one softmax layer in
    this many; its row is the mean layer, rounded down.
    """

    def softmax(seen: int) -> tuple[int, int, int]:
        flops = attention_flops(T, d, d, "left") * seen // T
        return flops, softmax_decode_flops(seen, d, d), cache_numbers(seen, d, d)

    def linear(d_phi: int) -> tuple[int, int, int]:
        return chunkwise_flops(T, d_phi, d, chunk), decode_flops(d_phi, d), state_numbers(d_phi, d)

    based = zip(linear(1 + taylor_d + taylor_d**2), softmax(min(T, window)))
    counts = {
        "softmax": softmax(T),
        "elu": linear(d),
        "favor": linear(features),
        "based": tuple(map(sum, based)),
        "decayed": linear(d),
        "hybrid": tuple((s + (every - 1) * x) // every for s, x in zip(softmax(T), linear(d))),
    }
    return tuple(LayerCost(word, *counts[word], *LAYERS[word]) for word in LAYERS)


LAYERS = {
    "softmax": (
        "softmax attention",
        *("O(T^2 d)", "O(Td)", "O(Td)"),
        "yes",
        "exact, the reference",
        "Vaswani et al. 2017, arXiv:1706.03762",
    ),
    "elu": (
        "linear attention, elu+1",
        *("O(Td^2)", "O(d^2)", "O(d^2)"),
        "no",
        "weak: about d pairs",
        "Katharopoulos et al. 2020, arXiv:2006.16236",
    ),
    "favor": (
        "Performer",
        *(r"O(Td_\phi d)", r"O(d_\phi d)", r"O(d_\phi d)"),
        "in expectation",
        "weak in practice",
        "Choromanski et al. 2020, arXiv:2009.14794",
    ),
    "based": (
        "Based: Taylor features and a window of w",
        *(r"O(Td_\phi d + Twd)", r"O(d_\phi d + wd)", r"O(d_\phi d + wd)"),
        "to second order, and in the window",
        "strong for its state",
        "Arora et al. 2024, arXiv:2402.18668",
    ),
    "decayed": (
        "decay and output norm: RetNet, lightning attention",
        *("O(Td^2)", "O(d^2)", "O(d^2)"),
        "no",
        "forgets smoothly, still finite",
        "Sun et al. 2023, arXiv:2307.08621; MiniMax 2025, arXiv:2501.08313",
    ),
    "hybrid": (
        "hybrid, one softmax layer in n",
        *("O(T^2 d/n + Td^2)", "O(Td/n + d^2)", "O(Td/n + d^2)"),
        "in some layers",
        "exact where a softmax layer looks",
        "MiniMax 2025, arXiv:2501.08313",
    ),
}
"""Label, three growth laws, exactness, recall and source of each kind of layer, in teaching order."""
