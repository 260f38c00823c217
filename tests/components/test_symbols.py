"""Symbols: plain words are written once, and what a page names is in the table."""

from __future__ import annotations

from app.page import OVERVIEW, pages
from components.teaching import symbols, teaching


def test_every_view_explains_the_symbols_of_its_formula_and_the_table_holds_no_other():
    named = {page: [symbol for symbol, _ in teaching(page).symbols] for page in pages() if page != OVERVIEW}
    assert all(named.values())
    assert {symbol for listed in named.values() for symbol in listed} == set(symbols())


def test_the_overview_says_what_it_is_about():
    assert "exp(q·k)" in teaching(OVERVIEW).about
