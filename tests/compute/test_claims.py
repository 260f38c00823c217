"""The ledger of claims, assets/claims.toml, walked: every claim that can be computed is, and the ledger is sound."""

from __future__ import annotations

import math
import tomllib
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from components.ledger_said import stored
from components.words import read_address
from compute.claims import CHECKS, RULES, agrees

LEDGER = tomllib.loads((Path(__file__).resolve().parents[2] / "assets" / "claims.toml").read_text(encoding="utf-8"))
CLAIMS, PAPERS = LEDGER["claims"], LEDGER["papers"]
KINDS = ("computed", "formula", "quoted", "statement")
PAGES = (
    *("sharpness", "memory", "rank", "sizing", "bracketing", "forms"),
    *("random-features", "normaliser", "recall", "notes"),
)
NEEDED = {"number", "topic", "lessons", "statement", "kind", "source", "page", "state"}
FOUND = {"expected", "tolerance", "compute"}

COMPUTABLE = [claim for claim in CLAIMS if claim["kind"] in ("computed", "formula")]
every_claim = pytest.mark.parametrize("claim", CLAIMS, ids=[claim["number"] for claim in CLAIMS])


@pytest.mark.parametrize("claim", COMPUTABLE, ids=[claim["number"] for claim in COMPUTABLE])
def test_the_package_finds_what_the_claim_says(claim):
    found = CHECKS[claim["compute"]]()
    said = f"{claim['statement']}\nfound {found}, expected {claim['expected']} ({claim['tolerance']})"
    assert agrees(found, claim["expected"], claim["tolerance"]), said
    assert same(found, stored()["found"][claim["number"]]), (
        f"{said}; `python -m app.notes` writes the page's values anew"
    )


def same(found, kept):
    """Equal to two digits, and to roundoff where the value is nothing but that."""
    if isinstance(found, list):
        return len(found) == len(kept) and all(map(same, found, kept))
    if isinstance(found, str | bool):
        return found == kept
    return math.isclose(found, kept, rel_tol=1e-2, abs_tol=1e-9) or (found != found and kept != kept)


def test_the_page_has_a_value_for_every_claim_that_is_computed_and_no_other():
    assert list(stored()["found"]) == [claim["number"] for claim in COMPUTABLE]


@pytest.mark.parametrize("found, kept", [(1.0, 1.02), ([1, 2], [1]), (True, False), (float("nan"), 1.0), ("a", "b")])
def test_a_value_that_fell_behind_is_noticed(found, kept):
    assert not same(found, kept)


def test_every_claim_stands_once_and_in_order():
    assert [claim["number"] for claim in CLAIMS] == [f"C{n:03d}" for n in range(1, 179)]
    assert [claim["number"] for claim in CLAIMS if claim.get("ours")] == ["C163"]


@every_claim
def test_a_claim_has_the_fields_of_its_kind_and_no_others(claim):
    own = {"quoted": {"expected"}, "statement": set()}.get(claim["kind"], FOUND)
    assert claim["kind"] in KINDS
    assert NEEDED | own <= set(claim) <= NEEDED | own | {"caveat", "ours", "shown"}
    assert claim["page"] in PAGES
    assert all(claim[name].strip() == claim[name] != "" for name in {"statement", "compute", "caveat"} & set(claim))


@every_claim
def test_it_stands_under_a_topic_and_in_a_lesson_or_is_ours(claim):
    assert claim["topic"] in LEDGER["topics"]
    assert set(claim["lessons"]) <= set(LEDGER["lessons"])
    assert bool(claim["lessons"]) != bool(claim.get("ours"))


def test_every_topic_and_lesson_has_claims_and_topics_stand_together():
    assert [topic for topic, _ in groupby(CLAIMS, key=itemgetter("topic"))] == list(LEDGER["topics"])
    assert {word for claim in CLAIMS for word in claim["lessons"]} == set(LEDGER["lessons"])


def test_every_check_is_asked_for_by_one_claim():
    assert sorted(claim["compute"] for claim in COMPUTABLE) == sorted(CHECKS)


def test_every_paper_is_whole_and_cited_and_every_citation_known():
    assert {claim["source"] for claim in CLAIMS} == set(PAPERS)
    assert all(set(paper) == {"title", "authors", "year", "identifier"} for paper in PAPERS.values())
    identifiers = [paper["identifier"] for paper in PAPERS.values()]
    assert len(set(identifiers)) == len(identifiers)


@every_claim
def test_its_state_is_an_address_that_is_taken_whole(claim):
    arguments = {name: [v.encode() for v in values] for name, values in parse_qs(claim["state"], True, True).items()}
    values, refused = read_address(arguments)
    assert not refused
    assert len(values) == len(arguments)


@pytest.mark.parametrize(
    "found, expected, tolerance",
    [
        (1, 2, "exact"),
        ([1.0, 2.0], [1.0], "exact"),
        (float("nan"), 0.0, "exact"),
        (True, False, "exact"),
        ("wrong", "right", "exact"),
        (1.02, 1.0, "absolute 0.01"),
        (102.0, 100.0, "relative 0.01"),
        (float("nan"), 0.0, "absolute 1e-12"),
        (0.3, 0.25, "at most"),
        (float("nan"), 0.25, "at most"),
        (0.2, 0.25, "at least"),
        ([1, 0.3], [1, 0.25], ["exact", "at most"]),
        ([2, 0.2], [1, 0.25], ["exact", "at most"]),
    ],
)
def test_what_misses_its_tolerance_does_not_agree(found, expected, tolerance):
    assert not agrees(found, expected, tolerance)


@pytest.mark.parametrize(
    "found, expected, tolerance",
    [
        ([float("nan"), 1.0], [float("nan"), 1], "exact"),
        (["wide", "narrow"], ["wide", "narrow"], "exact"),
        ([1.009, 1.991], [1, 2], "absolute 0.01"),
        (0.25, 0.25, "at most"),
        ([1, 0.2, 3.02], [1, 0.25, 3], ["exact", "at most", "relative 0.01"]),
    ],
)
def test_what_keeps_its_tolerance_agrees(found, expected, tolerance):
    assert agrees(found, expected, tolerance)


@every_claim
def test_its_tolerance_can_be_read(claim):
    given = claim.get("tolerance", [])
    for tolerance in [given] if isinstance(given, str) else given:
        rule, _, size = (tolerance, "", "") if tolerance in RULES else tolerance.partition(" ")
        assert rule in RULES
        assert (rule in ("absolute", "relative")) == bool(size)
        assert not size or 0 < float(size) < 1.5
