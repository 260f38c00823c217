"""Singular values of the maps that a page offers, for its draws: computed once, kept as a file.

A draw that nobody asked for before would cost a page 30 ms of decompositions of the maps at their defaults, in float32
twice that, and the chosen one with a knob turned up to 10 ms more.
`python -m components.rank_kept` computes them anew; it takes a minute of one core.
"""

from __future__ import annotations

import json
import os
from datetime import date
from functools import cache, lru_cache
from itertools import product
from zipfile import is_zipfile

import numpy as np

from components.assets import ASSETS
from components.kept import is_readable
from components.offered import turned
from components.rank_steps import COARSE, FINE, near, packed, stacked, steps_of, unpacked
from components.rank_values import LARGEST, STOPS, computed, is_first
from components.words import PHIS, SEEDS, SOFTMAX, WIDTHS
from compute.feature_maps import FeatureMap, read_member, spell

FILE = ASSETS / "spectra.npz"

KEPT = {
    ("float64", "none"): (PHIS, FINE),
    ("float64", "causal"): ((SOFTMAX,), FINE),
    ("float32", "none"): (PHIS, COARSE),
    ("float32", "causal"): ((SOFTMAX,), COARSE),
}
"""The maps that are kept at their defaults, by precision and mask, and in how many steps to a decade.  What else may be
chosen is one map, a few ms."""

TURNED = "turned"
"""Entry of a draw with the other members that the knobs offer, of all widths: a page reads it when one is chosen."""

Key = tuple[str, str, str, int]
"""Of a map's spectra: precision, mask, word, width."""

ENTRIES: dict[str, dict[Key, int]] = {
    **{str(d): {(*kind, word, d): grain for kind, (words, grain) in KEPT.items() for word in words} for d in WIDTHS},
    TURNED: {("float64", "none", spell(phi), d): COARSE for d in WIDTHS for phi in turned(d)},
}
"""What an entry of a draw holds, one after the other, and in how many steps to a decade."""

ENTRY_OF = {key: entry for entry, keys in ENTRIES.items() for key in keys}

DEFAULTS: dict[FeatureMap | None, str] = {None: SOFTMAX, **{read_member(w).merged(): w for w in PHIS if w != SOFTMAX}}
MEMBERS = {**DEFAULTS, **{phi.merged(): spell(phi) for d in WIDTHS for phi in turned(d)}}
"""Words of the maps; members of one kernel have one spectrum."""


def word_of(phi: FeatureMap | None) -> str | None:
    """The word by which a map is kept; None where it is not."""
    return MEMBERS.get(phi and phi.merged())


def is_kept(phi: FeatureMap | None, d_k: int, seed: int, precision: str = "float64", mask: str = "none") -> bool:
    """Whether the file holds the singular values of a map as it is now."""
    key = precision, mask, word_of(phi), d_k
    if key not in ENTRY_OF or not 0 <= seed < SEEDS:
        return False
    entry = ENTRY_OF[key]
    return readable(0, entry) and readable(seed, entry) and holds(key[2], d_k)


@cache
def readable(seed: int, entry: str) -> bool:
    """Whether the file gives this draw."""
    what = "with a knob turned" if entry == TURNED else f"at d_k = {entry}"
    return is_readable(FILE, f"draw {seed} {what}", lambda: (load(), _steps(seed, entry)))


def kept(phi: FeatureMap | None, d_k: int, seed: int, precision: str = "float64", mask: str = "none") -> np.ndarray:
    """`computed` of what `is_kept`, as `near` as its steps; every value has the ranks that it had."""
    return _values((precision, mask, word_of(phi), d_k), seed)


def made(phi: FeatureMap | None, d_k: int, seed: int, precision: str, mask: str) -> tuple[str, float]:
    """When what `is_kept` was computed, and how far a value may be from one computed anew, as a share of it."""
    return load()["date"], _near((precision, mask, word_of(phi), d_k))


def _near(key: Key) -> float:
    return near(ENTRIES[ENTRY_OF[key]][key])


@cache
def holds(word: str, d_k: int) -> bool:
    """Whether the file was made of the map as it is now: as wide, and with the same spectrum of the first tokens."""
    phi = next(phi for phi, name in MEMBERS.items() if name == word)
    if load()["most"].get(str(d_k), {}).get(word) != _most(phi, d_k):
        return False
    key = "float64", "none", word, d_k
    return is_first(_values(key, 0)[0, : STOPS[0]], phi, d_k, _near(key))


def _most(phi: FeatureMap | None, d_k: int) -> int:
    """Values that may differ from zero, at any number of tokens here, where neither roundoff nor a mask adds some."""
    return LARGEST if phi is None else min(LARGEST, phi.rank_bound(d_k))


def _values(key: Key, seed: int) -> np.ndarray:
    entry = ENTRY_OF[key]
    start, lengths = _places(entry)[key]
    return stacked(_steps(seed, entry)[start : start + sum(lengths)], lengths, ENTRIES[entry][key])


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
def _places(entry: str) -> dict[Key, tuple[int, list[int]]]:
    """Where the steps of a map begin in an entry, and how many there are at each stop."""
    told, start = {}, 0
    for key in ENTRIES[entry]:
        precision, mask, word, d_k = key
        most = load()["most"][str(d_k)][word] if (precision, mask) == ("float64", "none") else LARGEST
        told[key] = start, [min(N, most) for N in STOPS]
        start += sum(told[key][1])
    return told


@lru_cache(maxsize=8)
def _steps(seed: int, entry: str) -> np.ndarray:
    """All steps of an entry of a draw, one after the other, at most a tenth of a megabyte."""
    lengths = np.concatenate([lengths for _, lengths in _places(entry).values()])
    return unpacked(_archive()[f"{seed}.{entry}"], lengths)


def _packed(seed: int, entry: str) -> np.ndarray:
    rows = []
    for (precision, mask, word, d_k), grain in ENTRIES[entry].items():
        phi = None if word == SOFTMAX else read_member(word)
        most = _most(phi, d_k) if (precision, mask) == ("float64", "none") else LARGEST
        values = computed(phi, d_k, seed, precision, mask)
        rows += [steps_of(row[: min(N, most)], grain) for N, row in zip(STOPS, values)]
    return packed(rows)


def save() -> None:
    most = {d: {word: _most(phi, d) for phi, word in DEFAULTS.items()} for d in WIDTHS}
    for d, words in most.items():
        words |= {spell(phi): _most(phi, d) for phi in turned(d)}
    made = {
        "date": date.today().isoformat(),
        "numpy": np.__version__,
        "stops": STOPS,
        "steps": (FINE, COARSE),
        "draws": SEEDS,
        "most": most,
    }
    draws = {f"{seed}.{entry}": _packed(seed, entry) for seed, entry in product(range(SEEDS), ENTRIES)}
    np.savez_compressed(FILE, made=json.dumps(made), **draws)


if __name__ == "__main__":
    save()
