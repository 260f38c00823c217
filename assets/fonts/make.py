"""Cut the shipped fonts out of their originals: `python assets/fonts/make.py INTER STIX_MATH STIX_TEXT_ITALIC`.

What is kept stands in kept.toml; README.md says where the originals come from.  Needs fonttools and brotli, which come
with the tests.
"""

from __future__ import annotations

import re
import sys
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import GlyphCoordinates
from fontTools.ttLib.tables.TupleVariation import TupleVariation
from fontTools.varLib.instancer import instantiateVariableFont

HERE = Path(__file__).resolve().parent
KEPT: dict[str, dict[str, Any]] = tomllib.loads((HERE / "kept.toml").read_text(encoding="utf-8"))
NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]
"""Copyright, names, version and licence stay in the file."""

RAISED = 0x1D40
"""The raised capital T of a transpose, which Inter has not."""
SCALE, LIFT = 0.545, 898
"""Of a capital to the height and foot of Inter's raised letters."""
HEAVIER = {400: 600, 700: 900}
"""The weight whose stem, so much smaller, is as strong as those of the raised letters beside it."""


def characters(ranges: str) -> set[int]:
    """Code points of a list such as `U+0020-007E, U+00D7`."""
    found = re.findall(r"U\+([0-9A-F]+)(?:-([0-9A-F]+))?", ranges)
    return {code for first, last in found for code in range(int(first, 16), int(last or first, 16) + 1)}


def cut(original: Path, name: str) -> TTFont:
    """The part of an original that kept.toml names."""
    kept, font = KEPT[name], TTFont(original)
    if kept["family"] == "Inter":
        equal_digits(font)
    options = Options(
        layout_features=kept["features"], hinting=False, notdef_outline=True, glyph_names=False, name_IDs=NAMES
    )
    options.drop_tables += ["DSIG"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters(kept["kept"]))
    subsetter.subset(font)
    if "fvar" in font:
        low, _, high = kept["weight"].partition(" ")
        limits = {"wght": (float(low), float(high)) if high else float(low), "opsz": 14}
        font = instantiateVariableFont(font, {a.axisTag: limits[a.axisTag] for a in font["fvar"].axes})
    if kept["family"] == "Inter":
        raise_t(font, original)
    font.flavor = "woff2"
    return font


def equal_digits(font: TTFont) -> None:
    """Digits of equal width are the usual ones: a canvas has no way to ask for them."""
    features = {record.FeatureTag: record.Feature for record in font["GSUB"].table.FeatureList.FeatureRecord}
    lookups = font["GSUB"].table.LookupList.Lookup
    equal: dict[str, str] = {}
    for index in features["tnum"].LookupListIndex:
        for table in lookups[index].SubTable:
            equal.update(getattr(table, "ExtSubTable", table).mapping)
    for table in font["cmap"].tables:
        for code in range(ord("0"), ord("9") + 1):
            table.cmap[code] = equal.get(table.cmap[code], table.cmap[code])  # tables may share one dict


def raise_t(font: TTFont, original: Path) -> None:
    """Give Inter, cut to its weights, a raised capital T."""
    (points, advance), (bold, wide) = (_raised(original, weight) for weight in HEAVIER)
    name = "T.raised"
    font.ensureDecompiled()  # every table counts the glyphs when it is read
    font.setGlyphOrder([*font.getGlyphOrder(), name])
    font["glyf"][name] = glyph = deepcopy(font["glyf"][font.getBestCmap()[ord("T")]])
    glyph.coordinates = points
    glyph.recalcBounds(font["glyf"])
    font["hmtx"][name] = (advance, glyph.xMin)
    moves = [(x - u, y - v) for (x, y), (u, v) in zip(bold, points)] + [(0, 0), (wide - advance, 0), (0, 0), (0, 0)]
    font["gvar"].variations[name] = [TupleVariation({"wght": (0, 1, 1)}, moves)]
    del font["HVAR"]  # it knows no such glyph; without it a width follows from the outline's own
    for table in font["cmap"].tables:
        table.cmap[RAISED] = name


def _raised(original: Path, weight: int) -> tuple[GlyphCoordinates, int]:
    """Points and width."""
    heavy = instantiateVariableFont(TTFont(original), {"opsz": 14, "wght": HEAVIER[weight]})
    name = heavy.getBestCmap()[ord("T")]
    points, *_ = heavy["glyf"][name].getCoordinates(heavy["glyf"])
    moved = GlyphCoordinates([(round(x * SCALE), round(y * SCALE) + LIFT) for x, y in points])
    return moved, round(heavy["hmtx"][name][0] * SCALE)


def main(originals: list[str]) -> int:
    if len(originals) != len(KEPT):
        print(__doc__, file=sys.stderr)
        return 2
    for original, name in zip(originals, KEPT):
        cut(Path(original), name).save(HERE / name)
        print(f"{name}  {(HERE / name).stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
