"""The family of feature maps φ: what can be chosen, by address word, in teaching order.

To add one: write its class beside its kin and its line in FEATURE_MAPS.  `base` says what a map must know.
"""

from __future__ import annotations

from functools import lru_cache

from compute.families import read, spell
from compute.feature_maps.base import FeatureMap
from compute.feature_maps.learned import Hedgehog
from compute.feature_maps.pointwise import EluPlusOne, Identity, Relu, Silu
from compute.feature_maps.polynomial import Dpfp, Taylor, taylor_features
from compute.feature_maps.sampled import PositiveRandom, Trigonometric
from compute.random_features import (
    orthogonal_directions,
    positive_random_features,
    softmax_kernel_estimate,
    trigonometric_kernel_estimate,
)

__all__ = [
    "FEATURE_MAPS",
    "FeatureMap",
    "orthogonal_directions",
    "positive_random_features",
    "read_member",
    "softmax_kernel_estimate",
    "spell",
    "taylor_features",
    "trigonometric_kernel_estimate",
]

FEATURE_MAPS: dict[str, type[FeatureMap]] = {
    "identity": Identity,
    "elu": EluPlusOne,
    "relu": Relu,
    "silu": Silu,
    "favor": PositiveRandom,
    "trig": Trigonometric,
    "taylor": Taylor,
    "hedgehog": Hedgehog,
    "dpfp": Dpfp,
}


def read_member(text: str) -> FeatureMap:
    """The map that an address word spells, e.g. `favor~m~64`.  ValueError, one sentence, on anything else."""
    return _read(text) if isinstance(text, str) else read(text, FEATURE_MAPS, "phi")  # no key of a cache: refused


@lru_cache(maxsize=256)
def _read(text: str) -> FeatureMap:
    """An answer asks for the same few words hundreds of times; a refusal is not kept."""
    return read(text, FEATURE_MAPS, "phi")
