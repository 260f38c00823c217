"""Singular values of every map at its defaults, for the draws of a page: computed once, kept as a file.

A draw that nobody asked for before would cost a page 30 ms of decompositions, in float32 twice that.
`python -m components.rank_kept` computes them anew; it takes a minute of one core.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import product
from zipfile import is_zipfile

import numpy as np

from components.assets import ASSETS
from components.kept import is_readable
from components.rank_values import LARGEST, STOPS, computed
from components.words import PHIS, SEEDS, SOFTMAX, WIDTHS
from compute.feature_maps import FeatureMap, read_member

FILE = ASSETS / "spectra.npz"

FINE, COARSE = 600, 50
"""A value is kept as the step it lies on, so many to a decade.  Each tolerance of the page lies between two steps: the
ranks are those of the values themselves."""

KEPT = {
    ("float64", "none"): (PHIS, FINE),
    ("float64", "causal"): ((SOFTMAX,), FINE),
    ("float32", "none"): (PHIS, COARSE),
    ("float32", "causal"): ((SOFTMAX,), COARSE),
}
"""The maps that are kept, by precision and mask, and how finely.  What else may be chosen is one map, a few ms."""

INDEX = np.arange(LARGEST)

DECADES = 14
"""Where the steps end: what is smaller is zero."""

CLEAR = 1e-11
"""Above it lies what roundoff does not reach in float64."""

MEMBERS: dict[FeatureMap | None, str] = {None: SOFTMAX, **{read_member(w): w for w in PHIS if w != SOFTMAX}}


def near(steps: int) -> float:
    """How far a value that is kept in so many steps may be from one computed anew, as a share of it."""
    return 10 ** (0.5 / steps) - 1 + 1e-4


def is_kept(phi: FeatureMap | None, d_k: int, seed: int, precision: str = "float64", mask: str = "none") -> bool:
    """Whether the file holds the singular values of a map as it is now."""
    word = MEMBERS.get(phi)
    if word not in KEPT[precision, mask][0] or d_k not in WIDTHS or not 0 <= seed < SEEDS:
        return False
    return readable(0, d_k) and readable(seed, d_k) and holds(word, d_k)


@cache
def readable(seed: int, d_k: int) -> bool:
    """Whether the file gives this draw."""
    return is_readable(FILE, f"draw {seed} at d_k = {d_k}", lambda: (load(), _steps(seed, d_k)))


def kept(phi: FeatureMap | None, d_k: int, seed: int, precision: str = "float64", mask: str = "none") -> np.ndarray:
    """`computed` of what `is_kept`, as `near` as its steps; every value has the ranks that it had."""
    return _values((precision, mask, MEMBERS[phi]), d_k, seed)


@cache
def holds(word: str, d_k: int) -> bool:
    """Whether the file was made of the map as it is now: as wide, and with the same spectrum of the first tokens."""
    phi = next(phi for phi, name in MEMBERS.items() if name == word)
    if load()["most"].get(str(d_k), {}).get(word) != _most(phi, d_k):
        return False
    now = computed(phi, d_k, 0, stops=STOPS[:1])[0]
    told = _values(("float64", "none", word), d_k, 0)[0, : STOPS[0]]
    return np.allclose(told, now, rtol=near(FINE), atol=CLEAR)


def _most(phi: FeatureMap | None, d_k: int) -> int:
    """Values that may differ from zero, at any number of tokens here, where neither roundoff nor a mask adds some."""
    return LARGEST if phi is None else min(LARGEST, phi.rank_bound(d_k))


def _values(key: tuple[str, str, str], d_k: int, seed: int) -> np.ndarray:
    start, lengths = _places(d_k)[key]
    _, grain = KEPT[key[:2]]
    told = np.where(np.array(STOPS)[:, None] > INDEX, 0.0, np.nan)
    told[np.array(lengths)[:, None] > INDEX] = _middles(grain)[_steps(seed, d_k)[start : start + sum(lengths)]]
    told[:, 0] = 1
    return told


def steps_of(values: np.ndarray, grain: int) -> np.ndarray:
    """The steps, so many to a decade, that relative singular values lie on: 0 from 1 downwards."""
    return np.minimum(np.floor(-np.log10(np.maximum(values, np.finfo(float).tiny)) * grain), DECADES * grain)


def values_at(steps: np.ndarray, grain: int) -> np.ndarray:
    """The middles of steps; the first value is 1, the last step stands for 0."""
    told = _middles(grain)[steps.astype(int)]
    told[0] = 1
    return told


@cache
def _middles(grain: int) -> np.ndarray:
    """The middle of every step: looked up, for powers of ten take longer than all else that is read."""
    return np.append(10 ** (-(np.arange(DECADES * grain) + 0.5) / grain), 0.0)


@cache
def load() -> dict:
    """What is said of the file.  ValueError if it was made for other numbers of tokens."""
    made = json.loads(str(_archive()["made"]))
    if (made["stops"], made["steps"], made["draws"]) != (list(STOPS), [FINE, COARSE], SEEDS):
        raise ValueError(f"{FILE.name} was made for other stops; run python -m components.rank_kept")
    return made


@cache
def _archive() -> np.lib.npyio.NpzFile:
    """The file, open: its list of contents takes longer to read than a draw."""
    if not is_zipfile(FILE):  # NumPy would leave it open
        raise ValueError("no archive in one piece")
    return np.load(FILE)


if hasattr(os, "register_at_fork"):  # two processes would move each other's place in one open file
    os.register_at_fork(after_in_child=_archive.cache_clear)


@cache
def _places(d_k: int) -> dict[tuple[str, str, str], tuple[int, list[int]]]:
    """Where the steps of a map begin in a draw at this width, and how many there are at each stop."""
    told, start = {}, 0
    for (precision, mask), (words, _) in KEPT.items():
        for word in words:
            most = load()["most"][str(d_k)][word] if (precision, mask) == ("float64", "none") else LARGEST
            told[precision, mask, word] = start, [min(N, most) for N in STOPS]
            start += sum(told[precision, mask, word][1])
    return told


@lru_cache(maxsize=8)
def _steps(seed: int, d_k: int) -> np.ndarray:
    """All steps of a draw at a width, one after the other, at most a tenth of a megabyte."""
    low, high = _archive()[f"{seed}.{d_k}"]
    lengths = np.concatenate([lengths for _, lengths in _places(d_k).values()])
    ends = np.cumsum(lengths)
    total = np.cumsum(low + 256 * high.astype(np.int64))
    before = np.concatenate([[0], total[ends[:-1] - 1]])  # steps begin anew with each spectrum
    return (total - np.repeat(before, lengths)).astype(np.uint16)


def _packed(seed: int, d_k: int) -> np.ndarray:
    """The steps of a draw, each as the distance from the one before: low bytes [n], then high ones."""
    rows = [row for kind, (words, _) in KEPT.items() for word in words for row in _rows(kind, word, d_k, seed)]
    return np.ascontiguousarray(np.concatenate(rows).astype("<u2").view(np.uint8).reshape(-1, 2).T)


def _rows(kind: tuple[str, str], word: str, d_k: int, seed: int) -> Iterator[np.ndarray]:
    phi = None if word == SOFTMAX else read_member(word)
    most = _most(phi, d_k) if kind == ("float64", "none") else LARGEST
    for N, row in zip(STOPS, computed(phi, d_k, seed, *kind)):
        yield np.diff(steps_of(row[: min(N, most)], KEPT[kind][1]), prepend=0)


def save() -> None:
    made = {
        "date": date.today().isoformat(),
        "numpy": np.__version__,
        "stops": STOPS,
        "steps": (FINE, COARSE),
        "draws": SEEDS,
        "most": {str(d): {word: _most(phi, d) for phi, word in MEMBERS.items()} for d in WIDTHS},
    }
    draws = {f"{seed}.{d_k}": _packed(seed, d_k) for seed, d_k in product(range(SEEDS), WIDTHS)}
    np.savez_compressed(FILE, made=json.dumps(made), **draws)


if __name__ == "__main__":
    save()
