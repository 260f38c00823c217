"""The bytes of a model as Python expressions, for the script that spells its arithmetic out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from compute.sizing import DTYPES, ModelShape, Options
from compute.sizing.dtypes import Dtype
from compute.sizing.engine import Plan
from compute.sizing.families import Runs
from compute.sizing.options import ARITHMETIC
from compute.sizing.sums import grows, held, plan_of

SIGNS = {"×": "*", "−": "-", "÷": "//", "⌈": "-(-", "⌉": ")"}
"""How a bill writes, and how Python does; rounding up is rounding down between two signs."""


@dataclass(frozen=True)
class Spelled:
    """Bytes of one sequence on one rank as expressions, those of caches with the variable T; "0" for nothing kept."""

    state: str
    conv: str
    cache: str
    windows: str


def spelled(shape: ModelShape, options: Options) -> Spelled:
    """One term a kind of layer, its count in front: bytes of the arithmetic, or of an engine's pages."""
    return _bytes(shape, options) if options.engine == ARITHMETIC else _pages(plan_of(shape, options))


def _bytes(shape: ModelShape, options: Options) -> Spelled:
    told: dict[str, list[str]] = {"state": [], "conv": [], "cache": [], "windows": []}
    for group in shape.layers:
        family = group.family
        cache, times = ("cache", "T") if family.window is None else ("windows", f"min(T, {family.window - 1})")
        for part, runs, dtype, more in (
            ("state", family.state(options.tp), options.state_dtype, ""),
            ("conv", family.conv(options.conv_columns, options.tp), options.conv_dtype, ""),
            (cache, family.token(options.mla, options.tp), options.kv_dtype, f" * {times}"),
        ):
            if runs:
                told[part].append(f"{group.count} * {_added_runs(runs, DTYPES[dtype])}{more}")
    return Spelled(*map(_added, told.values()))


def _pages(plan: Plan) -> Spelled:
    told: dict[str, list[str]] = {"state": [], "cache": [], "windows": []}
    for row in plan.rows:
        part = "state" if row.states else "cache" if grows(row) else "windows"
        told[part].append(f"{held(row)} * {python(row.expression)} * {plan.page_bytes}")
    return Spelled(conv="0", **{part: _added(terms) for part, terms in told.items()})  # a state's page holds its window


def python(text: str) -> str:
    """An expression of a bill as Python, its thousands not separated."""
    for sign, written in SIGNS.items():
        text = text.replace(sign, written)
    return re.sub(r"(?<=\d),(?=\d)", "", text)


def _added_runs(runs: Runs, dtype: Dtype) -> str:
    """Every run for itself: a format of blocks rounds each up to whole blocks."""
    terms = [_run(python(run.text), run.is_sum, dtype) for run in runs]
    if len(terms) == 2 and terms[0] == terms[1]:
        return f"2 * {terms[0]}"
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"


def _run(text: str, is_sum: bool, dtype: Dtype) -> str:
    if dtype.block > 1:
        return f"-(-({text}) // {dtype.block}) * {dtype.block_bytes}"
    return f"{f'({text})' if is_sum else text} * {dtype.block_bytes}"


def _added(terms: Iterable[str]) -> str:
    return " + ".join(terms) or "0"
