"""One denominator and four ways to do without it, on the same tokens: how large a read is, and what of it is new."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from components.axes import AXES
from components.reel import Columns
from components.words import WAYS
from compute.arriving import Sums, denominators_at, numerators_at
from compute.attention import lightning_log_alpha, retnet_log_alpha, rms_norm
from compute.attention.normalisers import IDENTITY, SILU, at_least_one, floored, sigmoid
from compute.streams import D_V, DRAWS, TOKENS, as_met, kernel_values, stream

STOPS = tuple(int(t) for t in AXES["tokens"].stops)

FEWEST = 0.5
"""Share of draws that must be defined for a band over them."""

HEADS = 8
"""Draws are read as the heads of DRAWS/HEADS tokens where a layer gives each head its own decay."""

TITLES = dict(
    zip(
        WAYS,
        (
            "φ divided by Σκ",
            "mLSTM, gates at 1: a floor",
            "RetNet: decay, clamp, norm",
            "TransNormer: norm of φ’s sum",
            "lightning: decay, norm, gate",
        ),
        strict=True,
    )
)
OWN = {"mlstm": "identity", "retnet": "identity", "lightning": "silu"}
"""Ways that bring a map of their own, which stays whatever φ is."""

LOG_DECAYS = {"retnet": retnet_log_alpha(HEADS), "lightning": lightning_log_alpha(HEADS)}
"""Log of γ, one a head, of the ways whose state decays."""

SIZES = (1.5e-5, 80.0)
"""Ends of the axis of sizes, the same in all panels."""

NAMES, NAME_AT = {"the read": 60, "newest value": 12}, 3_600.0
"""Of the two lines, and on the axis of tokens from where each name covers something, and up to where."""


@dataclass(frozen=True)
class Way:
    """Bands over draws after each number of tokens, [n]: the size of a read (its root mean square over the value's
    entries, where values have size 1), and the factor with which the newest value stands in it.

    divisors: what its formula divides by, [n], the middle one over draws: `floor`, `root` of a mean square, or both."""

    low: np.ndarray
    mid: np.ndarray
    high: np.ndarray
    newest: np.ndarray
    divisors: dict[str, np.ndarray] = field(default_factory=dict)

    def columns(self) -> dict[str, np.ndarray]:
        return {"low": self.low, "mid": self.mid, "high": self.high, "newest": self.newest}

    def names(self) -> Columns:
        """What the two lines are, above and below them; nothing where a line does not get to the end."""
        read, newest = (np.array(STOPS) >= since for since in NAMES.values())
        ends = np.array([self.high[read].max() * 4, self.newest[newest].min() * 0.25])
        return {
            "x": np.full(2, NAME_AT),
            "y": np.clip(np.nan_to_num(ends, nan=1.0), 2 * SIZES[0], SIZES[1] / 3),
            "text": [name if np.isfinite(end) else "" for name, end in zip(NAMES, ends)],
        }


class Read(NamedTuple):
    """What draws read: out and the numerator in it, [DRAWS, n, D_V], the newest key's kernel value, [DRAWS, n], and
    what the formula divides by, [draws, n] each, of heads that share one, [tokens, n]."""

    out: np.ndarray
    num: np.ndarray
    newest: np.ndarray
    divisors: dict[str, np.ndarray]


def band(samples: np.ndarray) -> np.ndarray:
    """5, 50, 95 % of the draws that are defined, [draws, n] → [3, n]; NaN where fewer than half are."""
    ordered, seen = np.sort(samples, axis=0), np.sum(np.isfinite(samples), axis=0)  # what is undefined comes last
    place = np.maximum(seen - 1, 0) * np.array([[0.05], [0.5], [0.95]])
    below = place.astype(int)
    low, high = (np.take_along_axis(ordered, i, axis=0) for i in (below, np.ceil(place).astype(int)))
    return np.where(seen >= FEWEST * len(samples), low + (place - below) * (high - low), np.nan)


def ways(with_phi: tuple[Way, ...], d_k: int, seed: int) -> tuple[Way, ...]:
    """All five, in the order of WAYS."""
    over_sum, transnormer = with_phi
    mlstm, retnet, lightning = _without_phi(d_k, seed)
    return (over_sum, mlstm, retnet, transnormer, lightning)


def ways_with_phi(d_k: int, seed: int, kappa: np.ndarray, sums: Sums, defined: np.ndarray) -> tuple[Way, ...]:
    """The two that read by φ: divided by its sum, and TransNormer's norm.  kappa [DRAWS, TOKENS], its sums, and where
    [DRAWS, n] they can be divided by."""
    num = numerators_at(kappa, as_met(stream(d_k, seed).V), STOPS)
    divided = num / np.where(defined, sums.net, np.nan)[..., None]
    return _over_draws(
        Read(divided, num, sums.newest, {}),
        Read(rms_norm(num), num, sums.newest, {"root": _size(num)}),
    )


@lru_cache(maxsize=32)
def _without_phi(d_k: int, seed: int) -> tuple[Way, ...]:
    """The three that bring their own map: the identity twice, and SiLU."""
    drawn, plain = stream(d_k, seed), kernel_values(IDENTITY, d_k, seed)
    net, last = denominators_at(plain, STOPS), np.array(STOPS) - 1
    kept, faded = (np.tile(LOG_DECAYS[way], DRAWS // HEADS).astype(np.float32) for way in ("retnet", "lightning"))
    one_more = as_met(np.append(drawn.V, np.ones((TOKENS, 1), np.float32), axis=1))  # whose sums are the kernel's own
    num, decayed = numerators_at(plain, one_more, STOPS, np.stack([np.zeros_like(kept), kept]))
    num, decayed, clamp = num[..., :D_V], decayed[..., :D_V], decayed[..., D_V]
    clamped = floored(decayed, clamp)
    silu = kernel_values(SILU, d_k, seed, tempered=False)
    light = numerators_at(silu, as_met(SILU(drawn.V)), STOPS, faded)
    wide = _heads_beside(light)
    gated = _heads_apart(rms_norm(wide)) * sigmoid(drawn.gate)[:, None, :]
    return _over_draws(
        Read(floored(num, net), num, plain[:, last], {"floor": at_least_one(net)}),
        Read(rms_norm(clamped), decayed, plain[:, last], {"floor": at_least_one(clamp), "root": _size(clamped)}),
        Read(gated, light, silu[:, last], {"root": _size(wide)}),
    )


def _heads_beside(num: np.ndarray) -> np.ndarray:
    """Heads of a token in one row, for the one norm that they share: [DRAWS, n, D_V] → [tokens, n, HEADS·D_V]."""
    tokens = num.reshape(DRAWS // HEADS, HEADS, len(STOPS), D_V)
    return np.moveaxis(tokens, 1, 2).reshape(DRAWS // HEADS, len(STOPS), HEADS * D_V)


def _heads_apart(wide: np.ndarray) -> np.ndarray:
    """And back."""
    tokens = wide.reshape(DRAWS // HEADS, len(STOPS), HEADS, D_V)
    return np.moveaxis(tokens, 2, 1).reshape(DRAWS, len(STOPS), D_V)


def _over_draws(*reads: Read) -> tuple[Way, ...]:
    """Whatever stands in the denominator's place scales the numerator: the newest value's factor scales with it."""
    size, before = _size(np.array([[of.out for of in reads], [of.num for of in reads]]))
    factor = np.abs([of.newest for of in reads]) * size / np.where(before == 0, np.nan, before)
    both = np.moveaxis(np.array([size, factor]), 2, 0)
    sizes, factors = np.moveaxis(band(both.reshape(DRAWS, -1)).reshape(3, *both.shape[1:]), 1, 0)
    return tuple(
        Way(*sizes[:, i], np.maximum(factors[1, i], SIZES[0] / 10), {
            name: _middle(divisor) for name, divisor in of.divisors.items()
        })
        for i, of in enumerate(reads)
    )  # fmt: skip


def _size(x: np.ndarray) -> np.ndarray:
    """Root of the mean square along the last axis.  A value's few squares are added in pairs, as NumPy adds eight:
    its own sum begins anew with every row."""
    if x.shape[-1] != D_V:
        return np.sqrt(np.mean(x * x, axis=-1))
    total = x * x
    while total.shape[-1] > 1:
        total = total[..., ::2] + total[..., 1::2]
    return np.sqrt(total[..., 0] / D_V)


def _middle(divisor: np.ndarray) -> np.ndarray:
    """The median over draws, of which there is an even number, and none is NaN."""
    half = len(divisor) // 2
    return np.sort(divisor, axis=0)[half - 1 : half + 1].mean(axis=0)
