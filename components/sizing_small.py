"""Sizing, small cases: the share of softmax layers, what normalisers would add, what gradients would keep."""

from __future__ import annotations

from fractions import Fraction

from components.cases import Nodes, cases
from components.ledger_said import figures, found
from components.says import percent, tokens
from compute.cost import training_state_bytes
from compute.sizing import ModelShape, Options, human_bytes, normaliser_numbers
from compute.sizing.states import matrix_heads
from compute.sizing.sums import sums

TAYLOR = "C100"
SHARED = "shared"
"""The kind of a softmax layer that reads another layer's cache and keeps none."""

TRAINED = 8_192
"""Tokens of a training sequence."""

FLOAT32 = 4


def small_cases(shape: ModelShape) -> Nodes:
    """Of a model: one sequence and one rank, states in float32."""
    single, half = map(figures, found()[TAYLOR])
    return cases(
        "sizing",
        {
            **_softmax_layers(shape),
            **_normalisers(shape),
            **_gradients(shape),
            TAYLOR: f"8 Taylor heads of width 16, values of 64, S and z: {single} B; in 16 bits {half} B",
        },
    )


def _softmax_layers(shape: ModelShape) -> dict[str, str]:
    count = sum(group.count for group in shape.layers if group.family.token() or group.kind == SHARED)
    share = Fraction(count, shape.n_layers)
    return {"C159": f"softmax layers: {count} of {shape.n_layers}, {share}"} if count else {}


def _normalisers(shape: ModelShape) -> dict[str, str]:
    numbers = normaliser_numbers(shape)
    if numbers is None:
        return {}
    share = numbers * FLOAT32 / sums(shape, Options()).state_bytes
    return {"C143": f"normalisers z would add {tokens(numbers)} numbers, {percent(share)} of the states"}


def _gradients(shape: ModelShape) -> dict[str, str]:
    heads = next(filter(None, (matrix_heads(group.family) for group in shape.layers)), None)
    if heads is None:
        return {}
    _, d_k, d_v = heads
    kept = human_bytes(training_state_bytes(TRAINED, d_k, d_v, FLOAT32))
    at = f"one head of {d_k} × {d_v} at {tokens(TRAINED)} tokens"
    return {"C053": f"gradients that keep every state: {kept} for {at}"}
