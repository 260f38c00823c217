"""The laws that the bytes of a model follow: of its caches, of its windows, of its states; with its numbers in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from components.formula import at_finger, mathml, under_finger, with_values
from components.sizing_bill import ROWS
from compute.sizing import LayerGroup, ModelShape, Options, human_bytes
from compute.sizing.arithmetic import share
from compute.sizing.dtypes import DTYPES
from compute.sizing.families import Both, Family, Latent, Softmax
from compute.sizing.options import ARITHMETIC
from compute.sizing.rates import layer_rates
from compute.sizing.states import Mamba1, MatrixLSTM, Rwkv, matrix_heads
from compute.sizing.twins import FEATURE_MAP_BYTES

CACHE = r"2\, n_{kv}\, d\, b"
UNEQUAL = r"n_{kv}\, (d_k + d_v)\, b"
LATENT, LATENT_INDEXED = r"(r + d_r)\, b", r"(r + d_r + d_i)\, b"
DECOMPRESSED, DECOMPRESSED_INDEXED = r"h\, (d_k + d_v)\, b", r"(h\, (d_k + d_v) + d_i)\, b"
STATE = r"h\, d_\phi\, d_v\, b"
WITH_SUMS = r"h\, (d_\phi\, d_v + d_\phi + 1)\, b"
WITH_SHIFTS = r"(h\, d_\phi\, d_v + 2\, d)\, b"
CHANNELS = r"d_\phi\, d_v\, b"
ORDER = ("cache", "window", "state")

BESIDE = "sizing.reel.beside_state"


@dataclass(frozen=True)
class Law:
    """What one layer keeps of one sequence: its name, LaTeX in bytes (of each token, where a cache grows), and the
    number of every symbol in it."""

    name: str
    latex: str
    numbers: Mapping[str, int | str]

    @property
    def whole(self) -> str:
        """LaTeX of the layer's bytes at any length."""
        return self.latex + {"cache": r"\, T", "window": r"\, \min(T, W-1)", "state": ""}[self.name]


def laws(shape: ModelShape, options: Options) -> str:
    """LaTeX of what this model's kinds of layers keep, each kind once; a state that is no matrix has none."""
    told = {rf"\text{{{law.name}}} = {law.whole}": law.name for g in shape.layers for law in laws_of(g.family, options)}
    return r" \quad ".join(sorted(told, key=lambda latex: ORDER.index(told[latex])))


def values(shape: ModelShape, options: Options) -> str:
    """MathML of the same for every group of L layers, with its numbers under the symbols, B sequences if there are
    several; nothing where an engine's pages are counted instead."""
    if options.engine != ARITHMETIC:
        return ""
    columns = _columns(shape)
    found = [(law, group, columns[i]) for i, group in enumerate(shape.layers) for law in laws_of(group.family, options)]
    return "".join(_block(*each, options) for each in sorted(found, key=lambda each: ORDER.index(each[0].name)))


def values_with(shape: ModelShape, options: Options, name: str, d_phi_of: Callable[[int], int]) -> str:
    """MathML of what the same linear layers would keep with a feature map, every group with its numbers."""
    told = []
    for group in shape.layers:
        if found := matrix_heads(group.family):
            heads, d_k, d_v = found
            wide = {"h": share(heads, options.tp), r"d_\phi": d_phi_of(d_k), "d_v": d_v, "b": str(FEATURE_MAP_BYTES)}
            numbers = prod((group.count, options.batch, wide["h"], wide[r"d_\phi"], d_v, FEATURE_MAP_BYTES))
            told.append(
                _product(f"with {name}", STATE, wide, group, options, rf" = \text{{{human_bytes(numbers, 3)}}}")
            )
    return "".join(told)


def _columns(shape: ModelShape) -> list[str]:
    """For each group the column that says at every length what its cache comes to: its row's in the bill, where that is
    its own and holds nothing else; of the first layers that keep a state too, one of its own; else none."""
    rows = len(shape.layers) if len(shape.layers) <= ROWS else ROWS - 1
    told = [f"sizing.reel.bytes_{i}" if i < rows else "" for i in range(len(shape.layers))]
    both = [i for i, group in enumerate(shape.layers) if isinstance(group.family, Both)]
    return [(BESIDE if i == both[0] else "") if i in both else column for i, column in enumerate(told)]


def beside_state(shape: ModelShape, options: Options, stops: tuple[int, ...]) -> list[str]:
    """The cache of the first layers that keep a state too, at every length."""
    group = next((group for group in shape.layers if isinstance(group.family, Both)), None)
    if group is None:
        return [""] * len(stops)
    rates = layer_rates(group.family, options)
    each = rates.token * group.count * options.batch
    return [human_bytes(each * min(T, T if rates.kept is None else rates.kept)) for T in stops]


def _block(law: Law, group: LayerGroup, column: str, options: Options) -> str:
    fixed = layer_rates(group.family, options).state * group.count * options.batch
    grown = rf" = {at_finger('T', column)}" if column else ""
    made = rf" = \text{{{human_bytes(fixed, 3)}}}" if law.name == "state" else grown
    return _product(law.name, law.whole, law.numbers, group, options, made)


def _product(
    name: str, latex: str, numbers: Mapping[str, int | str], group: LayerGroup, options: Options, made: str
) -> str:
    """What all layers of a group keep: a law times layers and sequences, every symbol with its number."""
    several = {"B": options.batch} if options.batch > 1 else {}
    product = _numbered(r"\, ".join(["L", *several, latex]), {"L": group.count, **several, **numbers})
    return mathml(rf"\text{{{name}}} = {product}{made}", "block")


def laws_of(family: Family, options: Options) -> list[Law]:
    """The laws of one layer, on one rank, the fullest."""
    attention, recurrent = (family.attention, family.recurrent) if isinstance(family, Both) else (family, family)
    told = []
    if isinstance(attention, Softmax):
        wide = {"d": attention.d_k} if attention.d_k == attention.d_v else {"d_k": attention.d_k, "d_v": attention.d_v}
        numbers = {"n_{kv}": share(attention.kv_heads, options.tp), **wide, "b": _bytes(options.kv_dtype)}
        window = {} if attention.window is None else {"W": attention.window}
        name = "window" if window else "cache"
        told.append(Law(name, CACHE if "d" in wide else UNEQUAL, {**numbers, **window}))
    if isinstance(attention, Latent):
        told.append(_latent(attention, options))
    if law := _state(recurrent, options):
        told.append(law)
    return told


def _latent(family: Latent, options: Options) -> Law:
    index = {"d_i": family.index} if family.index else {}
    b = {**index, "b": _bytes(options.kv_dtype)}
    if options.mla == "latent":
        return Law("cache", LATENT_INDEXED if index else LATENT, {"r": family.rank, "d_r": family.rope, **b})
    wide = {"h": share(family.heads, options.tp), "d_k": family.nope + family.rope, "d_v": family.d_v}
    return Law("cache", DECOMPRESSED_INDEXED if index else DECOMPRESSED, {**wide, **b})


def _state(family: Family, options: Options) -> Law | None:
    b = {"b": _bytes(options.state_dtype)}
    if isinstance(family, Mamba1):
        return Law("state", CHANNELS, {r"d_\phi": family.N, "d_v": share(family.inner, options.tp), **b})
    if isinstance(family, MatrixLSTM):
        heads, d_k, d_v = family.heads, family.d_k, family.d_v
    elif found := matrix_heads(family):
        heads, d_k, d_v = found
    else:
        return None
    wide = {"h": share(heads, options.tp), r"d_\phi": d_k, "d_v": d_v, **b}
    if isinstance(family, Rwkv):
        return Law("state", WITH_SHIFTS, {**wide, "d": share(family.hidden, options.tp)})
    return Law("state", WITH_SUMS if isinstance(family, MatrixLSTM) else STATE, wide)


def _bytes(dtype: str) -> str:
    return DTYPES[dtype].text.removesuffix(" B")


def _numbered(latex: str, numbers: Mapping[str, int | str]) -> str:
    """LaTeX with the number of each symbol under it, and the finger's under T."""
    symbols = "|".join(re.escape(symbol) for symbol in sorted(numbers, key=len, reverse=True))

    def told(found: re.Match) -> str:
        number = numbers[found[0]]
        return with_values([(found[0], number if isinstance(number, str) else f"{number:,}".replace(",", "{,}"))])

    numbered = re.sub(rf"(?<![\\A-Za-z_{{])(?:{symbols})(?![A-Za-z_])", told, latex)
    return re.sub(r"(?<![\\A-Za-z_{])T(?![A-Za-z_])", lambda _: under_finger("T", "T"), numbered)
