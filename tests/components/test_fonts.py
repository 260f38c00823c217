"""The shipped fonts: every character that the product shows has a glyph in them."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from functools import cache
from html import unescape
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont

from app.page import figures_of, pages, view, views_of
from app.session import answers
from components.fonts import FONTS, fonts_script, shipped
from components.formula import mathml
from components.lesson import Question
from components.palette import FAMILIES, FONT
from components.words import PHIS
from compute.memory import WRITE_RULES
from compute.sizing.models import models

ROOT = Path(__file__).resolve().parents[2]
TEXT, MATH, QUESTION = shipped()

NOT_SHOWN = set("\n\r\t")
"""Characters of texts that draw nothing."""


@cache
def font(name: str) -> TTFont:
    return TTFont(FONTS / name)


@cache
def drawn(*names: str) -> set[str]:
    """The characters that fonts have."""
    return {chr(code) for name in names for code in font(name).getBestCmap()}


# What the files are


def test_the_fonts_are_light_licensed_and_said_to_be_what_they_are():
    assert sum((FONTS / name).stat().st_size for name in shipped()) <= 110_000
    said = (FONTS / "README.md").read_text(encoding="utf-8")
    for name, kept in shipped().items():
        told = font(name)["name"]
        assert kept["family"] in told.getDebugName(1) or kept["family"] == told.getDebugName(16)
        licence = re.search(rf"`{re.escape(name)}`.*\((OFL-[\w-]+\.txt)\)", said)[1]
        text = (FONTS / licence).read_text(encoding="utf-8")
        assert "SIL OPEN FONT LICENSE" in text and "The " + kept["family"].split()[0] in text.partition("\n")[0]


def test_every_shipped_file_is_used_and_the_page_names_its_family_first():
    assert {path.name for path in FONTS.glob("*.woff2")} == set(shipped())
    assert FAMILIES["sans"].startswith(shipped()[TEXT]["family"]) and shipped()[MATH]["family"] in FAMILIES["sans"]
    assert FAMILIES["math"].startswith(f"'{shipped()[MATH]['family']}'")
    assert FAMILIES["serif"].startswith(f"'{shipped()[QUESTION]['family']}'")
    for kept in shipped().values():
        assert json.dumps(kept["family"]) in fonts_script()


def test_digits_are_of_equal_width_without_being_asked():
    for name in (TEXT, MATH):
        table, widths = font(name).getBestCmap(), font(name)["hmtx"]
        assert len({widths[table[ord(digit)]][0] for digit in "0123456789"}) == 1, name


def test_the_weights_that_the_page_uses_lie_in_the_font():
    (axis,) = font(TEXT)["fvar"].axes
    assert f"{axis.minValue:g} {axis.maxValue:g}" == shipped()[TEXT]["weight"]
    assert font(TEXT)["gvar"].variations[font(TEXT).getBestCmap()[ord("ᵀ")]]  # it has them too


@pytest.mark.parametrize("sign", "()[]{}|‖√")
def test_a_bracket_of_a_formula_grows(sign):
    variants = font(MATH)["MATH"].table.MathVariants
    place = variants.VertGlyphCoverage.glyphs.index(font(MATH).getBestCmap()[ord(sign)])
    construction = variants.VertGlyphConstruction[place]
    assert construction.GlyphAssembly or len(construction.MathGlyphVariantRecord) > 1


# What the product shows


def strings(path: Path) -> str:
    """The texts of a module: all strings but those that stand alone, which document it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    told = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in alone)
    return "".join(node.value for node in told if isinstance(node.value, str))


def shown(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return strings(path)
    return re.sub(r"^\s*(//|#).*|\{#.*?#\}", "", text, flags=re.MULTILINE) if path.suffix in (".js", ".html") else text


TEXTS = sorted(
    path
    for pattern in (
        "assets/*.toml", "assets/views/*.toml", "assets/*.html", "assets/*.js", "assets/*.css", "assets/models/*.json",
        "assets/claims-found.json", "assets/code/**/*.txt", "app/**/*.py", "components/*.py", "compute/**/*.py",
    )
    for path in ROOT.glob(pattern)
)  # fmt: skip


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_character_of_the_texts_is_in_the_shipped_fonts(path):
    missing = set(shown(path)) - drawn(TEXT, MATH) - NOT_SHOWN
    assert not missing, f"{sorted(missing)}: assets/fonts/README.md says how a character is added"


@pytest.mark.parametrize("name", pages())
def test_every_character_of_the_figures_is_in_the_shipped_fonts(name):
    told = json.dumps(json.loads(figures_of(name).json), ensure_ascii=False)
    assert not set(told) - drawn(TEXT, MATH) - NOT_SHOWN
    assert FONT in told


def test_the_questions_beside_the_views_have_their_own_letters():
    for name in pages():
        for asked in views_of(name):
            assert set(view(asked.word).question) <= drawn(QUESTION), asked.word


# Formulas


@cache
def formulas() -> set[str]:
    """Formulas of all views over maps, rules and models."""
    questions = [
        *(Question(phi=phi, rule=rule) for phi, rule in product(PHIS, list(WRITE_RULES)[:1])),
        *(Question(rule=rule) for rule in WRITE_RULES),
        *(Question(model=model) for model in models()),
    ]
    return {
        text
        for name in pages()
        for question in questions
        for source, columns in answers(views_of(name), question).items()
        if source.endswith(".math")
        for text in columns["text"]
    }


def italic(letter: str) -> str:
    """The letter that a browser shows for an identifier of one letter."""
    name = unicodedata.name(letter).replace("GREEK", "ITALIC").replace("LATIN", "ITALIC").replace(" LETTER", "")
    try:
        return "ℎ" if letter == "h" else unicodedata.lookup(f"MATHEMATICAL {name}")
    except KeyError:
        return letter


def test_a_letter_is_known_by_its_slanted_form():
    assert [italic(letter) for letter in "kVφϕΩh·"] == list("𝑘𝑉𝜑𝜙𝛺ℎ·")


def test_every_character_of_every_formula_is_in_the_shipped_font():
    signs = set()
    for formula in formulas():
        for element in ElementTree.fromstring(f"<all>{formula}</all>").iter():
            text = element.text or ""
            alone = element.tag.endswith("mi") and len(text) == 1 and element.get("mathvariant") != "normal"
            signs |= {italic(text)} if alone else set(text)
    assert {"𝜑", "∑", "⊤"} <= signs
    assert not signs - drawn(MATH)


def test_phi_has_one_form():
    assert "φ" in unescape(mathml(r"d_\phi")) and "φ" in unescape(mathml(r"\phi_t(k)"))
    assert not [formula for formula in formulas() if "ϕ" in unescape(formula)]
