"""The bytes of a model as Python expressions, for the script that spells its arithmetic out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compute.sizing import DTYPES, ModelShape, Options
from compute.sizing.dtypes import Dtype
from compute.sizing.families import Family, Runs

PYTHON = str.maketrans({"×": "*", "−": "-", ",": None})


@dataclass(frozen=True)
class Sums:
    """Bytes of one sequence on one rank as expressions; `cache` and `windows` with the variable T."""

    state: str
    conv: str
    cache: str
    windows: str


def sums(shape: ModelShape, options: Options) -> Sums:
    """One term a kind of layer, its count in front; "0" where nothing is kept."""
    groups = [(group.count, group.family) for group in shape.layers]
    kv = DTYPES[options.kv_dtype]
    tokens = [(count, family, _bytes(family.token(options.mla, options.tp), kv)) for count, family in groups]
    return Sums(
        _added(f"{count} * {_state(family, options)}" for count, family in groups if family.state(options.tp)),
        _added(f"{count} * {_conv(family, options)}" for count, family in groups if family.conv("k", options.tp)),
        _added(f"{count} * {text} * T" for count, family, text in tokens if text and family.window is None),
        _added(
            f"{count} * {text} * min(T, {family.window - 1})"
            for count, family, text in tokens
            if text and family.window is not None
        ),
    )


def _state(family: Family, options: Options) -> str:
    return _bytes(family.state(options.tp), DTYPES[options.state_dtype])


def _conv(family: Family, options: Options) -> str:
    return _bytes(family.conv(options.conv_columns, options.tp), DTYPES[options.conv_dtype])


def _bytes(runs: Runs, dtype: Dtype) -> str:
    """Every run for itself: a format of blocks rounds each up to whole blocks."""
    terms = [_run(run.text.translate(PYTHON), run.is_sum, dtype) for run in runs]
    if len(terms) == 2 and terms[0] == terms[1]:
        return f"2 * {terms[0]}"
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})" if terms else ""


def _run(text: str, is_sum: bool, dtype: Dtype) -> str:
    if dtype.block > 1:
        return f"-(-({text}) // {dtype.block}) * {dtype.block_bytes}"
    return f"{f'({text})' if is_sum else text} * {dtype.block_bytes}"


def _added(terms: Iterable[str]) -> str:
    return " + ".join(terms) or "0"
