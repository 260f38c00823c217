"""What contexts of everyday size would ask of a memory: laws alone, for their pairs lie far off the axis."""

from __future__ import annotations

from functools import lru_cache

from components.axes import AXES
from components.says import counted_tokens, decimals, each_row, tokens
from compute import memory_laws as laws
from compute.sizing import ModelShape

FAR = laws.Load(100_000, 128)
"""A context and a state of everyday size: off the axis, so only its law can be shown."""


def far() -> str:
    return f"{tokens(FAR.tokens_per_row)} a row, cosine {decimals(FAR.cosine, 3)}"


def _apart(shape: ModelShape, name: str) -> str:
    """Of a model without a matrix of pairs, what it keeps instead."""
    if shape.has_state:
        return f"{name} keeps one number a channel as its state, no matrix of pairs."
    if all(group.family.window for group in shape.layers if group.family.token()):
        return f"{name} has no state: its windows keep the newest tokens apart."
    return f"{name} has no state: its cache keeps every token apart."


@lru_cache(maxsize=64)
def load(shape: ModelShape, name: str) -> list[str]:
    """What the context of the chosen model would ask of each of its states."""
    states_of = {group.family.rows for group in shape.layers if group.family.rows}
    if not states_of:
        return [_apart(shape, name)] * len(AXES["T"].stops)
    rows, told = max(states_of), []
    for T in AXES["T"].stops:
        of = laws.Load(int(T), rows)
        if rows > T:
            leave = "leaves" if T == 1 else "leave"
            told.append(f"{counted_tokens(T)} {leave} each {rows}-wide state of {name} partly empty.")
        else:
            told.append(
                f"{tokens(T)} tokens are {each_row(of.tokens_per_row)} per row of each {rows}-wide state of {name}: "
                f"plain adding would read all of them at cosine {decimals(of.cosine, 3)}, so rules choose what to keep."
            )
    return told
