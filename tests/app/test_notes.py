"""The notes: every claim stands there once with its source, what it says, what is found, and a link that is legal."""

from __future__ import annotations

import json
import re
from functools import cache
from urllib.parse import parse_qs, parse_qsl

import pytest
from rendering import Tree, html_of, page

from app.context import between_stops
from app.notes import serve
from app.page import NOTES, OVERVIEW, claimed, fonts_address, navigation, pages
from components.ledger import claims, lessons, papers, topics
from components.ledger_said import OUTCOMES, expected, figure, found, rows
from components.words import read_address

every_claim = pytest.mark.parametrize("number", claims())


def notes(**words) -> Tree:
    return Tree(*html_of(serve, **words))


TREE = notes()
ROWS = {e.attrs["id"]: e for e in TREE.elements if e.tag == "tr" and "id" in e.attrs}


def test_every_claim_has_one_row_in_the_ledger_s_order():
    assert list(ROWS) == list(claims())
    assert len(TREE.with_attribute("id")) == len({e.attrs["id"] for e in TREE.with_attribute("id")})


@every_claim
def test_a_row_tells_claim_caveat_source_and_values(number):
    claim, text = claims()[number], " ".join(ROWS[number].text.split())
    row = next(r for r in rows() if r.claim is claim)
    for part in (claim.statement, claim.caveat, papers()[claim.source].identifier, row.says, row.finds):
        assert " ".join(part.split()) in text
    assert OUTCOMES[row.outcome] in text
    assert ROWS[number].attrs["data-topic"] in topics()
    assert set(ROWS[number].attrs["data-lessons"].split()) <= set(lessons())


def test_measurements_of_others_are_quoted_and_nothing_is_found_for_them():
    for row in rows():
        assert (row.outcome == "quoted") == (row.claim.kind == "quoted")
        assert bool(row.finds) == bool(row.claim.compute) == (row.claim.number in found())


def test_the_introduction_counts_what_the_table_holds():
    lead = next(e.text for e in TREE.elements if e.attrs.get("class") == "lead")
    numbers = [int(n) for n in re.findall(r"\b(\d+)\b", lead)][:4]
    outcomes = [row.outcome for row in rows()]
    computed = sum(o in ("agrees", "caveat", "differs") for o in outcomes)
    assert numbers == [len(outcomes), computed, outcomes.count("caveat"), outcomes.count("quoted")]
    assert ("all agree" in lead) == ("differs" not in outcomes)


@every_claim
def test_its_link_opens_a_view_at_a_state_that_is_taken_whole(number):
    links = [e.attrs["href"] for e in TREE.elements if "data-see" in e.attrs and e in _inside(number)]
    claim = claims()[number]
    if claim.page not in pages():
        assert not links
        return
    address, _, part = links[0].partition("#")
    to, _, query = address.partition("?")
    values, refused = read_address({word: [v.encode() for v in texts] for word, texts in parse_qs(query, True).items()})
    assert (to, query, part) == (claim.page, claim.state, number) and not refused and not between_stops(values)


def _inside(number):
    """Elements that stand after this row's start and before the next one's."""
    i = TREE.elements.index(ROWS[number])
    rest = TREE.elements[i + 1 :]
    end = next((k for k, e in enumerate(rest) if e.tag == "tr"), len(rest))
    return rest[:end]


def test_filters_offer_every_topic_lesson_view_and_outcome_that_occurs():
    offered = {e.attrs["value"] for e in TREE.elements if e.tag == "option"} - {""}
    used = {row.claim.page for row in rows()} & set(pages())
    assert offered == {*topics(), *lessons(), *used, *(row.outcome for row in rows())}


@pytest.mark.parametrize("name", [name for name in pages() if name != OVERVIEW])
def test_a_view_leads_to_its_own_claims(name):
    """The notes read the part of the address behind `of-`; a view without claims leads to all of them."""
    parts = [e.attrs for e in page(name).elements if e.attrs.get("data-part", "").startswith("#of-")]
    assert [(e["data-page"], e["data-part"], e["href"]) for e in parts] == [
        (NOTES, f"#of-{name}", f"{NOTES}#of-{name}")
    ]


@every_claim
def test_the_page_of_a_claim_knows_what_to_mark(number):
    """Nodes, lists and figures that the script will look for are there; a line leads back to this row."""
    claim = claims()[number]
    if claim.page not in pages():
        return
    known, tree = claimed(claim.page)[number], shown(claim.page, claim.state)
    assert (known["says"], known["caveat"]) == (claim.statement, claim.caveat)
    assert bool(known["nodes"] or known["figures"]) == bool(claim.items)
    assert set(known["nodes"]) <= set(tree.texts())
    assert set(known["figures"]) <= {e.attrs["data-figure"] for e in tree.with_attribute("data-figure")}


@cache
def shown(name: str, state: str) -> Tree:
    return page(name, **dict(parse_qsl(state)))


@pytest.mark.parametrize("name", [name for name in pages() if name != OVERVIEW])
def test_lines_of_lists_lead_to_the_notes_of_their_claims(name):
    lines = [e.attrs["data-claim"] for e in page(name).elements if e.tag == "li" and "data-claim" in e.attrs]
    parts = {e.attrs["data-part"]: e.attrs["href"] for e in page(name).elements if "data-part" in e.attrs}
    assert lines and all(claims()[number].page == name for number in lines)
    assert all(parts[f"#{number}"] == f"{NOTES}#{number}" for number in lines)


def test_the_navigation_stands_above_and_marks_the_notes():
    links = [(e.attrs["data-page"], e.text) for e in TREE.elements if "data-page" in e.attrs]
    assert links[1:] == navigation()
    assert [e.text for e in TREE.elements if e.attrs.get("aria-current") == "page"] == ["Notes"]


def test_the_address_sets_the_theme_and_nothing_else_gets_into_the_page():
    hostile = notes(theme="dark", embed="1", phi="<img src=x>", nonsense="<b>")
    assert hostile.elements[0].attrs["data-theme"] == "dark" and "data-embed" in hostile.elements[0].attrs
    assert "<img" not in hostile.html and "<b>" not in hostile.html
    assert not [e for e in hostile.elements if e.tag == "header"]


def test_the_page_needs_no_other_file_than_the_fonts_of_all_pages():
    assert [e.attrs["src"] for e in TREE.elements if e.tag == "script" and "src" in e.attrs] == [fonts_address()]
    assert not [e for e in TREE.elements if e.tag == "link" and e.attrs["rel"] == "stylesheet"]


# Numbers in words


@pytest.mark.parametrize(
    "value, said",
    [
        (True, "yes"), (512.0, "512"), (2199023255552, "2.199·10¹²"), (0.709, "0.709"), (float("nan"), "undefined"),
        (-1.2784, "−1.278"), (0.999999666, "0.9999997"), (2.4e-16, "2·10⁻¹⁶"), ("S refused", "S refused"), (0, "0"),
        (999.9999999999991, "1,000"), (22026.4658, "22,026.47"),
    ],
)  # fmt: skip
def test_a_number_is_said_with_the_digits_that_matter(value, said):
    assert figure(value) == said


@pytest.mark.parametrize(
    "value, tolerance, said",
    [
        (2.2e12, "relative 0.001", "2.2·10¹² ± 0.1 %"), (0.71, "absolute 0.01", "0.71 ± 0.01"),
        (0.25, "at most", "at most 0.25"), (0.0, "absolute 1e-14", "0 up to roundoff"), (3.8, "absolute 1e-14", "3.8"),
        ([1, 0.3], ["exact", "at least"], "1; at least 0.3"), ([1, 2], "exact", "1; 2"),
    ],
)  # fmt: skip
def test_a_tolerance_is_said_with_what_it_belongs_to(value, tolerance, said):
    assert expected(value, tolerance) == said


def test_the_stored_values_are_plain_json_with_their_versions():
    from components.ledger_said import FILE

    made = json.loads(FILE.read_text(encoding="utf-8"))["made"]
    assert set(made) == {"date", "numpy", "torch"} and re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
