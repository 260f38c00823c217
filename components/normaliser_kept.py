"""What the normaliser draws beside the chosen map, for the draws of a page: computed once, kept as a file.

It is the same whatever the map is, and took a new draw or width as long as the map itself.
`python -m components.normaliser_kept` computes it anew, in a few seconds of one core.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache

import numpy as np

from components.assets import ASSETS
from components.kept import bytes_apart, bytes_together, is_readable, opened
from components.normaliser_draws import BFLOAT, SIGNED, Beside, Signed, computed
from components.normaliser_ways import STOPS
from components.words import SEEDS, WIDTHS
from compute.streams import DRAWS

FILE = ASSETS / "beside.npz"


@lru_cache(maxsize=32)
def beside_of(d_k: int, seed: int) -> Beside:
    """Of one width and seed: read, or else computed."""
    kept = d_k in WIDTHS and 0 <= seed < SEEDS and holds(d_k)
    return read(d_k, seed) if kept else computed(d_k, seed)


@cache
def holds(d_k: int) -> bool:
    """Whether the file was made of the maps as they are now, by its first draw."""
    readable = is_readable(FILE, f"what is beside a map at d_k = {d_k}", lambda: read(d_k, 0))
    return readable and agree(read(d_k, 0), computed(d_k, 0))


def agree(told: Beside, now: Beside) -> bool:
    """Whether both are of the same maps: the same numbers up to roundoff, which moves a sum in bfloat16 by a step, and
    a sum of a signed map across zero where almost nothing is left of it."""
    close = np.allclose(told.score, now.score, rtol=1e-4) and np.allclose(told.short, now.short, rtol=2**-8)
    return bool(close) and all(
        np.allclose(told.signed[slot].left, signed.left, rtol=0, atol=1e-4)
        and np.abs(told.signed[slot].below - signed.below).max() <= 1
        for slot, signed in now.signed.items()
    )


def read(d_k: int, seed: int) -> Beside:
    """What the file says of a width and a seed."""
    lines, counts = (of[WIDTHS.index(d_k), seed] for of in load())
    *score, short = lines[len(SIGNED) :]
    signed = {slot: Signed(left, below.astype(int)) for slot, left, below in zip(SIGNED, lines, counts)}
    return Beside(np.array(score), short, signed)


@cache
def load() -> tuple[np.ndarray, np.ndarray]:
    """All lines and counts, [widths, draws, of each, stops].  ValueError if the file was made for others."""
    with opened(FILE, _made(), "components.normaliser_kept") as told:
        return bytes_together(told["lines"]), told["counts"]


def _made() -> str:
    about = {"signed": SIGNED, "bfloat16": BFLOAT, "widths": WIDTHS, "seeds": SEEDS, "draws": DRAWS, "stops": STOPS}
    return json.dumps(about)


def save() -> None:
    rows = [[computed(d_k, seed) for seed in range(SEEDS)] for d_k in WIDTHS]
    lines = [[[*(s.left for s in of.signed.values()), *of.score, of.short] for of in row] for row in rows]
    counts = [[[s.below for s in of.signed.values()] for of in row] for row in rows]
    lines = bytes_apart(np.array(lines, dtype=np.float32))
    np.savez_compressed(FILE, made=_made(), lines=lines, counts=np.array(counts, np.uint8))


if __name__ == "__main__":
    save()
