"""Lists that open on demand: a value for every gap, a source for every report, and no title over nothing."""

from __future__ import annotations

import pytest

from components import (
    bracketing_orders,
    memory_cases,
    normaliser_hand,
    random_features_cases,
    rank_cases,
    recall_cases,
    sharpness_cases,
)
from components.cases import cases, checked, reported
from components.ledger import claims
from components.ledger_said import found
from components.words import PHIS

ROOMS = {
    "bracketing": bracketing_orders, "memory": memory_cases, "normaliser": normaliser_hand,
    "random-features": random_features_cases, "rank": rank_cases, "recall": recall_cases,
}  # fmt: skip
LINES = [(view, number, line) for view, room in ROOMS.items() for number, line in room.CASES.items()]
LINES += [
    ("sharpness", number, line)
    for lines in (*sharpness_cases.CASES.values(), sharpness_cases.EVERY)
    for number, line in lines.items()
]
REPORTS = [(view, number) for view, room in ROOMS.items() for number in getattr(room, "REPORTS", ())]
REPORTS += [("sharpness", number) for number in sharpness_cases.REPORTS]


@pytest.mark.parametrize("view, number, line", LINES)
def test_a_line_stands_in_the_view_of_its_claim_and_has_a_gap_for_every_value(view, number, line):
    value = found()[number]
    assert claims()[number].page == view
    assert line.count("{}") == (len(value) if isinstance(value, list) else 1)


@pytest.mark.parametrize("view, number", REPORTS)
def test_only_quotations_are_reported_each_with_its_source(view, number):
    assert claims()[number].kind == "quoted" and claims()[number].page == view
    title, (_, text) = reported(view, [number])
    assert title == (f"{view}.reports_title", "1 report, not computed here")
    assert text.startswith(f"{number} {claims()[number].statement}") and text.endswith(("0)", "4)", "5)"))


def test_truths_and_numbers_fill_the_gaps():
    (_, title), (_, text) = checked("random-features", {"C075": "{}, {}"})
    assert title == "1 small case" and text == "C075 0.7866, yes"


def test_a_list_without_lines_has_no_title():
    assert cases("forms", {}) == [("forms.cases_title", ""), ("forms.cases", "")]


def test_every_map_of_the_sharpness_list_is_one_of_the_selector():
    assert set(sharpness_cases.CASES) <= set(PHIS)
