"""The laws that the bytes of a model follow, a layer: of its caches, of its windows, of its states."""

from __future__ import annotations

from compute.sizing import ModelShape, Options

CACHE = r"2\, n_{kv}\, d\, b"
LATENT = r"(r + d_r)\, b"
DECOMPRESSED = r"h\, (d_k + d_v)\, b"
STATE = r"\text{state} = h\, d_\phi\, d_v\, b"


def laws(shape: ModelShape, options: Options) -> str:
    """LaTeX of what this model's kinds of layers keep, each kind once; a state that is no matrix has none."""
    kinds = {part for group in shape.layers for part in group.kind.split("+")}
    latent = LATENT if options.mla == "latent" else DECOMPRESSED
    caches = [law for law, words in ((CACHE, {"softmax", "attn"}), (latent, {"mla"})) if kinds & words]
    told = [rf"\text{{cache}} = {law}\, T" for law in caches]
    if kinds & {"window", "chunked"}:
        told.append(rf"\text{{window}} = {CACHE}\, \min(T, W-1)")
    if any(group.family.rows for group in shape.layers):
        told.append(STATE)
    return r" \quad ".join(told)
