"""What the normaliser draws of random maps of thousands of features, at the draw with which a page begins: kept as a
file.

Their kernel values take 10 to 60 ms, and a link brings them to the page.
`python -m components.normaliser_wide` computes the file anew, in three seconds of one core.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache

import numpy as np

from components.assets import ASSETS
from components.kept import bytes_apart, bytes_together, is_readable, opened
from components.normaliser_draws import kernel_of
from components.normaliser_kept import beside_of
from components.normaliser_numbers import NEARBY, Numbers, computed, short_of
from components.normaliser_ways import STOPS, Way, ways
from components.offered import WIDE, slid
from components.words import SOFTMAX, WAYS, WIDTHS, WORDS
from compute.arriving import sums_at
from compute.feature_maps import FeatureMap, read_member, spell
from compute.streams import DRAWS

FILE = ASSETS / "arrived.npz"

FIRST = WORDS["seed"].default

DEAR = 2048
"""Features from which on kernel values take 10 ms, however wide the head is."""

PAIRS = [(phi, d_k) for phi, d_k in slid() if (phi, d_k) in WIDE or phi.d_phi(d_k) >= DEAR]
"""Maps that are kept, each with its width of a head."""

FAMILIES = list(dict.fromkeys(phi.word for phi, _ in PAIRS))

LINES = ("net", "gross", "share", "near", "lost", "negative", "bound", "law")
BANDS = ("denominator", "share", "near", "kernel")
"""What is kept over the stops: of one line each, and of three."""

WITH_PHI = [WAYS.index(way) for way in ("sum", "transnormer")]
"""And of the ways that read by φ."""


@lru_cache(maxsize=16)
def numbers(phi: str, d_k: int, seed: int) -> Numbers:
    """Of one map, width and seed: read, or else computed."""
    member = None if phi == SOFTMAX else read_member(phi)
    kept = seed == FIRST and (member, d_k) in PAIRS and holds(member.word, d_k)
    return read(member, d_k) if kept else computed(phi, d_k, seed)


@cache
def holds(word: str, d_k: int) -> bool:
    """Whether the file was made of the family as it is now: the same formula at its default number of directions tells,
    for a wide map's kernel values are what is saved."""
    if not is_readable(FILE, f"the denominator of wide maps of {word} at d_k = {d_k}", load):
        return False
    told, now = load()["first"][FAMILIES.index(word), WIDTHS.index(d_k)], first(word, d_k)
    return bool(np.all(np.abs(told - now) <= 1e-4 * now[1]))


def first(word: str, d_k: int) -> np.ndarray:
    """Sums with and without signs of a family's default, [2, stops]."""
    sums = sums_at(kernel_of(word, d_k, FIRST)[:1], STOPS)
    return np.concatenate([sums.net, sums.gross])


def read(phi: FeatureMap, d_k: int) -> Numbers:
    """What the file says of a map and a width, as `computed` has it to the digits of float32."""
    of = PAIRS.index((phi, d_k))
    rows, (positive, mean, empty, *sizes) = iter(load()["rows"][of].astype(float)), load()["rest"][of].tolist()
    lines = {name: next(rows) for name in LINES}
    bands = {name: np.stack([next(rows) for _ in range(3)]) for name in BANDS}
    plain, normed = ([next(rows) for _ in range(4)] for _ in WITH_PHI)
    with_phi = Way(*plain), Way(*normed, {"root": next(rows)})
    net, gross = lines["net"], lines["gross"]
    counts = {name: lines.pop(name).astype(int) for name in ("lost", "negative")}
    return Numbers(
        bool(positive), mean, left=net / np.where(gross == 0, np.nan, gross), empty=int(empty), sizes=np.array(sizes),
        bands={**bands, "score": beside_of(d_k, FIRST).score}, short=short_of(spell(phi), d_k, FIRST),
        ways=ways(with_phi, d_k, FIRST), **lines, **counts,
    )  # fmt: skip


def packed(found: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Of what is `read` the rows [29, stops] and the single numbers."""
    rows = [getattr(found, name) for name in LINES] + [row for name in BANDS for row in found.bands[name]]
    for i in WITH_PHI:
        rows += [*found.ways[i].columns().values(), *found.ways[i].divisors.values()]
    return np.array(rows, np.float32), np.array([found.positive, found.mean, found.empty, *found.sizes])


@cache
def load() -> dict[str, np.ndarray]:
    """Rows [maps, 29, stops], single numbers [maps, 5], and the `first` [families, widths, 2, stops].

    ValueError if the file was made for others."""
    with opened(FILE, _made(), "components.normaliser_wide") as told:
        return {"rows": bytes_together(told["rows"]), "rest": told["rest"], "first": told["first"]}


def _made() -> str:
    about = {"lines": LINES, "bands": BANDS, "near": NEARBY, "widths": WIDTHS, "draws": DRAWS, "stops": STOPS}
    return json.dumps({"maps": [f"{spell(phi)}.{d_k}" for phi, d_k in PAIRS], **about})


def save() -> None:
    rows, rest = zip(*(packed(computed(spell(phi), d_k, FIRST)) for phi, d_k in PAIRS))
    firsts = np.array([[first(word, d_k) for d_k in WIDTHS] for word in FAMILIES], np.float32)
    np.savez_compressed(FILE, made=_made(), rows=bytes_apart(np.array(rows)), rest=np.array(rest), first=firsts)


if __name__ == "__main__":
    save()
