"""Weight on the match of the random maps at their defaults, for the draws of a page: computed once, kept as a file.

Of a map that is not chosen a page draws this alone, and ten draws of directions at every sharpness take longer than
all other maps together.  `python -m components.sharpness_kept` computes it anew, in a few seconds of one core.
"""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path

import numpy as np

from components.sharpness_run import STOPS, bars
from components.words import PHIS, SEEDS, SOFTMAX, WIDTHS
from compute.feature_maps import FeatureMap, read_member, spell

LOG = logging.getLogger(__name__)
FILE = Path(__file__).resolve().parent.parent / "assets" / "matches.npz"

MEMBERS = [member for member in (read_member(word) for word in PHIS if word != SOFTMAX) if member.random]


def curve(phi: FeatureMap | None, d_k: int, seed: int, row: int | None, match: float) -> dict:
    """Weight on the match at every stop of sharpness, and its limit, as `bars` has them: read, or else computed."""
    if row is None and match == 1 and phi in MEMBERS and d_k in WIDTHS and 0 <= seed < SEEDS and holds(phi, d_k):
        *weights, limit = load()[MEMBERS.index(phi), WIDTHS.index(d_k), seed].astype(float)
        return {"match": np.array(weights), "limit": limit}
    return bars(phi, d_k, seed, row, match, 0)


@cache
def holds(phi: FeatureMap, d_k: int) -> bool:
    """Whether the file was made of the map as it is now, by its first draw.  What is missing or damaged is computed
    instead, and said once in the log."""
    try:
        told = load()[MEMBERS.index(phi), WIDTHS.index(d_k), 0]
    except Exception as error:  # a broken archive has a dozen ways to say so, and no page depends on it
        LOG.warning("%s: the random maps at d_k = %d are computed instead of read (%s)", FILE, d_k, error)
        return False
    return np.allclose(told, computed(phi, d_k, 0), rtol=1e-5, atol=1e-6, equal_nan=True)


def computed(phi: FeatureMap, d_k: int, seed: int) -> np.ndarray:
    """A row of the file, [stops + 1]: weights on the match, and the limit."""
    told = bars(phi, d_k, seed, None, 1.0, 0)
    return np.append(told["match"], told["limit"])


@cache
def load() -> np.ndarray:
    """All rows [maps, widths, draws, stops + 1].  ValueError if the file was made for other stops or maps."""
    with FILE.open("rb") as file, np.load(file) as told:  # NumPy would leave a damaged one open
        if str(told["made"]) != _made():
            raise ValueError(f"{FILE.name} was made for other stops or maps; run python -m components.sharpness_kept")
        return told["rows"]


def _made() -> str:
    return json.dumps({"maps": [spell(phi) for phi in MEMBERS], "widths": WIDTHS, "seeds": SEEDS, "stops": [*STOPS]})


def save() -> None:
    rows = [[[computed(phi, d_k, seed) for seed in range(SEEDS)] for d_k in WIDTHS] for phi in MEMBERS]
    np.savez_compressed(FILE, made=_made(), rows=np.array(rows, dtype=np.float32))


if __name__ == "__main__":
    save()
