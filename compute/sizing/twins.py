"""The same model imagined otherwise: all softmax, or its linear layers under another feature map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from compute.scalars import brief, made, whole

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


KEPT = {"softmax": "softmax", "window": "windows", "chunked": "chunks", "mla": "latents"}
"""What a twin is full of, by the kind of the softmax layer that it is made of."""


@dataclass(frozen=True)
class TwinName:
    """What a model's twin keeps.

    kept: softmax, windows or latents.  alone: whether nothing else is kept; throughout: whether all layers keep it.
    """

    kept: str
    alone: bool
    throughout: bool

    @property
    def line(self) -> str:
        """What the line of its bytes is called."""
        return f"all {self.kept}" if self.alone else f"{self.kept} for states"

    @property
    def bytes(self) -> str:
        """In a sentence, before its bytes."""
        return f"{self.kept} alone" if self.alone else self.line

    @property
    def layers(self) -> str:
        """What would have to be for these bytes to be kept."""
        if not self.throughout:
            return f"with {self.kept} for every state"
        return f"if every layer {'were' if self.kept == KEPT['softmax'] else 'kept'} {self.kept}"


def twin_name(shape: ModelShape, mla: str = "latent") -> TwinName | None:
    """What the all-softmax twin is called: its layers keep what the model's own layers with a cache keep.

    mla: in which form latent layers are billed; decompressed they keep keys and values, as any softmax does.  None
    where there is no twin, or it is the model itself.
    """
    twin = all_softmax_twin(shape)
    if twin is None or twin is shape:
        return None
    kinds = {group.kind for group in twin.layers if group.family.token()}
    kind = "softmax" if mla == "decompressed" and shape.softmax.kind == "mla" else shape.softmax.kind
    return TwinName(KEPT[kind], len(kinds) == 1, len(twin.layers) == 1)


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
    None if no layer keeps a matrix of keys by values.  ValueError naming shape, ranks, or d_phi_of where it is no
    function or gives no whole number of at least 1.
    """
    made("shape", shape, ModelShape)
    ranks = whole("ranks", ranks, 1)
    if not callable(d_phi_of):
        raise ValueError(f"d_phi_of must be a function of a key's width, got {brief(d_phi_of)}")
    found = [(group.count, matrix_heads(group.family)) for group in shape.layers]
    matrices = [(count, *heads) for count, heads in found if heads is not None]
    if not matrices:
        return None
    rows = (whole("d_phi_of", d_phi_of(d_k), 1) for _, _, d_k, _ in matrices)
    numbers = sum(n * share(heads, ranks) * d_phi * d_v for d_phi, (n, heads, _, d_v) in zip(rows, matrices))
    return numbers * FEATURE_MAP_BYTES
