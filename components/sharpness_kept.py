"""What random maps would cost a page too much, computed once, kept as a file.

Of a map that is not chosen the page draws its weight on the match alone, and ten draws of directions at every sharpness
take longer than all other maps together: of maps at their defaults it is kept for every draw of the page.  Of a chosen
map that is wide the directions alone take 20 to 120 ms: it is kept for the draw with which a page begins.
`python -m components.sharpness_kept` computes the file anew, in ten seconds of one core.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from components.assets import ASSETS
from components.kept import is_readable, opened
from components.offered import WIDE
from components.sharpness_run import KEYS, STOPS, bars
from components.words import PHIS, SEEDS, SOFTMAX, WIDTHS, WORDS
from compute.feature_maps import FeatureMap, read_member, spell

FILE = ASSETS / "sharpness.npz"

MEMBERS = [member for member in (read_member(word) for word in PHIS if word != SOFTMAX) if member.random]

FIRST = WORDS["seed"].default


def curve(phi: FeatureMap | None, d_k: int, seed: int, row: int | None, match: float) -> dict:
    """Weight on the match at every stop of sharpness, and its limit, as `bars` has them: read, or else computed."""
    if row is None and match == 1 and phi in MEMBERS and d_k in WIDTHS and 0 <= seed < SEEDS and holds(phi, d_k):
        *weights, limit = load()["rows"][MEMBERS.index(phi), WIDTHS.index(d_k), seed].astype(float)
        return {"match": np.array(weights), "limit": limit}
    return bars(phi, d_k, seed, row, match, 0)


def own_bars(phi: FeatureMap | None, d_k: int, seed: int, row: int | None, match: float, single: int) -> dict:
    """`bars` of the chosen map: read, or else computed."""
    at_first = row is None and match == 1 and not single and seed == FIRST
    # The same formula at fewer features tells whether it is the map as it is now: the directions are what is saved.
    if at_first and (phi, d_k) in WIDE and holds(next(m for m in MEMBERS if m.word == phi.word), d_k):
        return _unpacked(*(load()[name] for name in _names(phi, d_k)))
    return bars(phi, d_k, seed, row, match, single, True)


def _names(phi: FeatureMap, d_k: int) -> list[str]:
    return [f"{spell(phi)}.{d_k}.{part}" for part in ("bars", "lines")]


@cache
def holds(phi: FeatureMap, d_k: int) -> bool:
    """Whether the file was made of the map as it is now, by its first draw."""
    if not is_readable(FILE, f"what {phi.label} weighs at d_k = {d_k}", load):
        return False
    told = load()["rows"][MEMBERS.index(phi), WIDTHS.index(d_k), FIRST]
    return np.allclose(told, computed(phi, d_k, FIRST), rtol=1e-5, atol=1e-6, equal_nan=True)


def computed(phi: FeatureMap, d_k: int, seed: int) -> np.ndarray:
    """A row of the file, [stops + 1]: weights on the match, and the limit."""
    told = bars(phi, d_k, seed, None, 1.0, 0)
    return np.append(told["match"], told["limit"])


@cache
def load() -> dict[str, np.ndarray]:
    """Rows [maps, widths, draws, stops + 1] of all curves, and the two parts of each wide map by their names.

    ValueError if the file was made for other stops or maps."""
    with opened(FILE, _made(), "components.sharpness_kept") as told:
        return {name: told[name] for name in told.files if name != "made"}


def _made() -> str:
    maps, wide = [spell(phi) for phi in MEMBERS], sorted(_names(*of)[0] for of in WIDE)
    return json.dumps({"maps": maps, "wide": wide, "widths": WIDTHS, "draws": SEEDS, "stops": [*STOPS], "keys": KEYS})


def _packed(told: dict) -> tuple[np.ndarray, np.ndarray]:
    """`bars` of a chosen random map: what has a number for every key [9, stops, keys], and the rest [7, stops]."""
    kernel = told["kernel"]
    by_key = told["weight"], told["low"], told["high"], kernel["log"], kernel["sign"], *kernel["low"], *kernel["high"]
    rest = told["match"], told["limit"], told["signed"], told["left"], told["order"], *told["wrong"]
    return np.stack(by_key).astype(np.float32), np.stack(np.broadcast_arrays(*rest)).astype(np.float32)


def _unpacked(by_key: np.ndarray, rest: np.ndarray) -> dict:
    weight, low, high, *pairs = by_key
    log, sign, low_log, low_sign, high_log, high_sign = (
        of.astype(np.int8) if i % 2 else of for i, of in enumerate(pairs)
    )
    match, limit, signed, left, order, *wrong = rest.astype(float)
    kernel = {"log": log, "sign": sign, "low": (low_log, low_sign), "high": (high_log, high_sign)}
    return {
        "weight": weight, "low": low, "high": high, "match": match, "limit": limit[0], "signed": bool(signed[0]),
        "left": left, "order": order, "wrong": np.stack(wrong), "kernel": kernel,
    }  # fmt: skip


def save() -> None:
    rows = [[[computed(phi, d_k, seed) for seed in range(SEEDS)] for d_k in WIDTHS] for phi in MEMBERS]
    parts = {}
    for phi, d_k in WIDE:
        packed = _packed(bars(phi, d_k, FIRST, None, 1.0, 0, True))
        parts |= dict(zip(_names(phi, d_k), packed))
    np.savez_compressed(FILE, made=_made(), rows=np.array(rows, dtype=np.float32), **parts)


if __name__ == "__main__":
    save()
