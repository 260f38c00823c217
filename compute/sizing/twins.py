"""The same model imagined otherwise: all softmax, or its linear layers under another feature map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compute.scalars import made, whole

from .arithmetic import share
from .families import Both
from .shape import LayerGroup, ModelShape
from .states import matrix_heads

FEATURE_MAP_BYTES = 4
"""The state under a feature map is counted in float32."""


def all_softmax_twin(shape: ModelShape) -> ModelShape | None:
    """The model with every recurrent layer replaced by its own softmax layer.

    A model without recurrent layers is its own twin.  None where there is no such twin: no softmax layer to copy, or
    layers that pay for cache and state at once.  ValueError unless shape is a ModelShape.
    """
    made("shape", shape, ModelShape)
    recurrent = [group for group in shape.layers if _recurrent(group)]
    if not recurrent:
        return shape
    if shape.softmax is None or any(isinstance(group.family, Both) for group in shape.layers):
        return None
    keys = next(group.keys for group in shape.layers if group.family == shape.softmax)
    counts: dict = {}
    for group in shape.layers:
        family, origin = (shape.softmax, keys) if _recurrent(group) else (group.family, group.keys)
        count = counts.get(family, (0, origin))[0]
        counts[family] = (count + group.count, origin)
    return replace(shape, layers=tuple(LayerGroup(count, family, origin) for family, (count, origin) in counts.items()))


def _recurrent(group: LayerGroup) -> bool:
    return bool(group.family.state() or group.family.conv())


def normaliser_numbers(shape: ModelShape) -> int | None:
    """Entries of z that the same linear layers would keep beside their states, features as wide as keys: layers · heads
    · d_k, one sequence.  None if no layer keeps a matrix of keys by values.  ValueError unless shape is a ModelShape.
    """
    made("shape", shape, ModelShape)
    found = [(group.count, matrix_heads(group.family)) for group in shape.layers]
    numbers = [count * heads[0] * heads[1] for count, heads in found if heads is not None]
    return sum(numbers) if numbers else None


def with_feature_map(shape: ModelShape, d_phi_of: Callable[[int], int], ranks: int = 1) -> int | None:
    """Bytes of the same linear layers with a feature map: layers · heads · d_phi(d_k) · d_v · 4, one sequence.

    d_phi_of: width after the map for a key width.  ranks: tensor-parallel ranks; the bytes are then one rank's.
    None if no layer keeps a matrix of keys by values.  ValueError naming shape, ranks, or d_phi_of where it gives no
    whole number of at least 1.
    """
    made("shape", shape, ModelShape)
    ranks = whole("ranks", ranks, 1)
    found = [(group.count, matrix_heads(group.family)) for group in shape.layers]
    matrices = [(count, *heads) for count, heads in found if heads is not None]
    if not matrices:
        return None
    rows = (whole("d_phi_of", d_phi_of(d_k), 1) for _, _, d_k, _ in matrices)
    numbers = sum(n * share(heads, ranks) * d_phi * d_v for d_phi, (n, heads, _, d_v) in zip(rows, matrices))
    return numbers * FEATURE_MAP_BYTES
