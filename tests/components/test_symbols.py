"""Symbols: plain words are written once, what a page names is in the table, and the chosen map is explained."""

from __future__ import annotations

import pytest

from app.page import OVERVIEW, pages, view, views_of
from app.session import answers
from components.lesson import Question
from components.sharpness_run import name_of
from components.teaching import maps, symbols, teaching
from components.words import PHIS
from compute.feature_maps import FEATURE_MAPS

MAPPED = [page for page in pages() if page != OVERVIEW and "phi" in view(page).ribbon]


def test_every_view_explains_the_symbols_of_its_formula_and_the_table_holds_no_other():
    named = {page: [symbol for symbol, _ in teaching(page).symbols] for page in pages() if page != OVERVIEW}
    assert all(named.values())
    labels = {kind.label for kind in FEATURE_MAPS.values()}
    assert {symbol for listed in named.values() for symbol in listed} - labels == set(symbols())


def test_every_map_has_its_words():
    assert tuple(maps()) == tuple(PHIS)
    assert len(set(maps().values())) == len(PHIS)


@pytest.mark.parametrize("phi", PHIS)
def test_a_page_explains_the_map_that_is_chosen_and_no_other(phi):
    told = {page: answers(views_of(page), Question(phi=phi)).get("map.texts") for page in pages()}
    assert {page for page in told if told[page]} == set(MAPPED)
    assert all(told[page]["text"] == [name_of(phi), maps()[phi]] for page in MAPPED)
    assert not {name for page in MAPPED for name, _ in teaching(page).symbols} & {name_of(phi)}


def test_the_overview_says_what_it_is_about():
    assert "exp(q·k)" in teaching(OVERVIEW).about
