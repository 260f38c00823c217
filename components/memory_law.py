"""What a law says of a memory of such keys, where one holds, and the least that any memory must miss."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from components.memory_run import NS, PAIRS, WIDTH, Rule, Stream, mapped, pairs
from compute import memory_laws as laws
from compute.feature_maps import read_member
from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES


def law_overlap(asked: Stream) -> float:
    """Mean squared cosine of two different keys, were they what the law takes them for: uniform on a sphere where they
    are features."""
    maker = KEY_MAKERS["random" if asked.keys == "phi" else asked.keys]
    return 1 / read_member(asked.phi).d_phi(asked.d_k) if mapped(asked) else maker.overlap(WIDTH, asked.rho)


def room(asked: Stream) -> int:
    """Pairs that the best memory of so many rows reads exactly."""
    return read_member(asked.phi).rank_bound(asked.d_k) if mapped(asked) else WIDTH


class Law(NamedTuple):
    """Expected mean cosine and crosstalk energy at every n where a law holds, NaN elsewhere; what it is called; and the
    least energy and largest cosine that any memory of so many rows can reach.

    The least energy is that of a read's miss, which is its crosstalk only where the read holds its whole value: where
    plain adding wrote it.  A rule that lets values shrink has little crosstalk and misses all the same.
    """

    cosine: np.ndarray
    energy: np.ndarray
    name: str
    least: np.ndarray
    best: np.ndarray


@lru_cache(maxsize=128)
def _law_cosine(most: int, overlap: float, alpha: float, d_v: int) -> np.ndarray:
    """The law's mean cosine of 1 to most pairs; the draw has no part in it."""
    return laws.mean_cosine(np.arange(1, most + 1), overlap, alpha=alpha, d_v=d_v)


@lru_cache(maxsize=128)
def law(asked: Stream, rule: Rule) -> Law:
    cosine, energy, least = np.full((3, PAIRS + 1), np.nan)
    maker = KEY_MAKERS["random" if asked.keys == "phi" else asked.keys]
    most = maker.most(WIDTH) or PAIRS
    if asked.stream == "plain":
        least[1 : most + 1] = laws.best_energy(NS[1 : most + 1], room(asked))
    new = asked.stream == "plain" or (asked.stream == "topics" and most == PAIRS)
    if new and not WRITE_RULES[rule.word].corrects:
        n = NS[1 : most + 1]
        age = n - pairs(asked).since[n] if "alpha" in WRITE_RULES[rule.word].uses else n
        cosine[n] = _law_cosine(most, law_overlap(asked), rule.alpha, asked.d_v)[age - 1]
        energy[n] = laws.energy(age, law_overlap(asked), alpha=rule.alpha)
    comparable = least if rule.word == "additive" else np.full_like(least, np.nan)
    return Law(cosine, energy, "if φ(k) were uniform" if mapped(asked) else "law", comparable, np.sqrt(1 - least))
