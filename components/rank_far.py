"""Ranks at more tokens than a page can decompose while somebody waits: computed once, kept as a file.

`python -m components.rank_far` computes them anew; it takes about two minutes of one core.
"""

from __future__ import annotations

import json
import platform
from datetime import date
from functools import cache

import numpy as np

from components.assets import ASSETS
from components.axes import AXES
from components.rank_values import matrix
from components.words import PHIS, SOFTMAX, WIDTHS
from compute.feature_maps import read_member
from compute.rank import PRECISIONS, past_to_future, rank_of, spectrum
from compute.toys import queries_and_keys

FILE = ASSETS / "sweeps" / "rank.json"

LENGTHS = (512, 1024)
SEED = 0
PARTS = ("whole", "block")
"""What is counted: the matrix, or its block of later rows and earlier columns, which is all that the mask leaves to
ask about."""


def compute() -> dict:
    """`{precision: {part: {d_k: {map: ranks [lengths][tolerances]}}}}` for every map at its defaults."""
    told: dict = {}
    for precision in PRECISIONS:
        for part in PARTS:
            for d_k in WIDTHS:
                at = told.setdefault(precision, {}).setdefault(part, {}).setdefault(str(d_k), {})
                for word in PHIS:
                    at[word] = [_ranks(word, d_k, N, part, precision) for N in LENGTHS]
    return told


def _ranks(word: str, d_k: int, N: int, part: str, precision: str) -> list[int]:
    Q, K = (a[:N] for a in queries_and_keys(d_k, SEED))
    M = matrix(Q, K, None if word == SOFTMAX else read_member(word), precision)
    values = spectrum(past_to_future(M) if part == "block" else M, dtype=precision)
    return [rank_of(values, 10.0**-digits) for digits in AXES["rtol"].stops]


def save() -> None:
    made = {
        "date": date.today().isoformat(),
        "seed": SEED,
        "numpy": np.__version__,
        "machine": f"one core of an {platform.machine()} processor",
        "lengths": LENGTHS,
        "tolerances": [f"1e-{digits:g}" for digits in AXES["rtol"].stops],
    }
    FILE.write_text(json.dumps({"made": made, "ranks": compute()}, separators=(",", ":")), encoding="utf-8")


@cache
def load() -> dict:
    """The file, with ranks as arrays [lengths, tolerances].  ValueError if it was made for other tolerances."""
    told = json.loads(FILE.read_text(encoding="utf-8"))
    if told["made"]["tolerances"] != [f"1e-{digits:g}" for digits in AXES["rtol"].stops]:
        raise ValueError(f"{FILE.name} was made for other tolerances; run python -m components.rank_far")
    return told


@cache
def far_ranks(precision: str, part: str, d_k: int) -> np.ndarray:
    """Ranks [maps, lengths, tolerances]."""
    at = load()["ranks"][precision][part][str(d_k)]
    return np.array([at[word] for word in PHIS])


if __name__ == "__main__":
    save()
