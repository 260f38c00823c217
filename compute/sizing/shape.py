"""What is kept of a config: the layers by kind, and where each number came from."""

from __future__ import annotations

from dataclasses import dataclass

from .families import Family, Latent, Softmax

Pairs = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class LayerGroup:
    """`count` layers of one kind, and the config keys that decided kind and widths."""

    count: int
    family: Family
    keys: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Kind of layer, as a bill's row calls it."""
        return self.family.kind


@dataclass(frozen=True)
class ModelShape:
    """The part of a model that decides its decode memory; hashable, so it can key a cache.

    layers: groups in the order of first appearance.  softmax: the model's own softmax layer, from which the
    all-softmax twin is made; None if it has none.  native_context: tokens, None if the file does not say.
    kv_dtype, state_dtype: what the config asks for, None if it says nothing.
    used: (key, value read) pairs; assumed: (quantity, what was assumed and why) pairs.
    """

    model_type: str
    layers: tuple[LayerGroup, ...]
    softmax: Softmax | Latent | None = None
    native_context: int | None = None
    kv_dtype: str | None = None
    state_dtype: str | None = None
    used: Pairs = ()
    assumed: Pairs = ()
    ignored: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def n_layers(self) -> int:
        """All layers, those without a cache included."""
        return sum(group.count for group in self.layers)

    @property
    def has_state(self) -> bool:
        """Whether any layer keeps a recurrent state."""
        return any(group.family.state() for group in self.layers)

    @property
    def has_conv(self) -> bool:
        """Whether any layer keeps a convolution window."""
        return any(group.family.conv() for group in self.layers)
