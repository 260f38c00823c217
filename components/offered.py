"""Members of the families of feature maps that a visitor can reach without writing an address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache

from components.words import WIDTHS
from compute.feature_maps import FEATURE_MAPS, FeatureMap, read_member

KNOBS = {"m": (16, 64, 256), "nu": (1, 2, 3, 4, 5, 6), "symmetric": (False, True)}
"""The knobs a visitor can turn, with their stops.  One row of a family's choices is shown at a time.  Random maps go on
to 4,096 features where these make a difference, by the slider of `components.feature_controls`."""

OFFERED = next(f for f in fields(read_member("favor")) if f.name == "m").metadata["offered"]
"""Fewest and most directions that the slider gives a random map."""

MANY = 1 << 16
"""Numbers in the directions of a draw from which on they alone take 20 to 120 ms."""


def turns(member: FeatureMap) -> Iterator[FeatureMap]:
    """What a turn of a knob makes of a map, whether it exists at a width or not."""
    for knob in fields(member):
        for stop in KNOBS.get(knob.name, ()):
            yield replace(member, **{knob.name: stop})


@cache
def turned(d_k: int) -> tuple[FeatureMap, ...]:
    """Members that a turn of a knob makes of the defaults at a width, where their kernel is another than theirs."""
    defaults = [read_member(word) for word in FEATURE_MAPS]
    kernels = {member.merged() for member in defaults}
    return tuple(m for of in defaults for m in turns(of) if m.merged() not in kernels and _exists(m, d_k))


def _exists(phi: FeatureMap, d_k: int) -> bool:
    try:
        return phi.d_phi(d_k) > 0
    except ValueError:
        return False


def slid() -> list[tuple[FeatureMap, int]]:
    """What the slider, whose stops are powers of two, makes of random maps, each with every width of a head."""
    stops = [2**i for i in range(OFFERED[0].bit_length() - 1, OFFERED[1].bit_length())]
    random = [member for member in (read_member(word) for word in FEATURE_MAPS) if member.random]
    return [(replace(member, m=m), d_k) for member in random for m in stops for d_k in WIDTHS]


WIDE = {(phi, d_k) for phi, d_k in slid() if phi.m * d_k >= MANY}
"""Random maps of many directions, each with its width of a head."""
