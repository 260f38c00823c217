"""The ledger walked through the views: the state that a claim links to shows the value where it says."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from shown import at, fits, opened, readings, shown, shows, slack

from app.page import pages
from components.ledger import Item, claims
from components.ledger_said import found
from components.teaching import teaching

STILL = (".cases[", ".reports[", "normaliser.hand_", "normaliser.quoted", "memory.far", "random-features.ladder",
         "recall.flushed_bars.", "forms.sums.", "normaliser.derivative_names.")  # fmt: skip
"""Places whose numbers belong to a claim by themselves: worked by hand, quoted, bounds, or for sizes of their own."""

OF_VIEWS = {number: claim for number, claim in claims().items() if claim.page in pages()}
ITEMS = [(number, i, item) for number, claim in OF_VIEWS.items() for i, item in enumerate(claim.items) if item.shown]
NUMBERS = [(n, i, item) for n, i, item in ITEMS if not isinstance(item.expected, str | bool)]


def live(number: str) -> list[Item]:
    """What a claim shows of the state that it links to; a quotation is the same in all."""
    if OF_VIEWS[number].kind == "quoted":
        return []
    return [item for item in OF_VIEWS[number].items if item.shown and not any(mark in item.shown for mark in STILL)]


def each(items):
    return pytest.mark.parametrize(
        "number, item", [(n, item) for n, _, item in items], ids=[f"{n}-{i}" for n, i, _ in items]
    )


def test_every_claim_of_a_view_with_a_value_says_where_it_is_shown():
    silent = {number for number, claim in OF_VIEWS.items() if claim.items and not any(i.shown for i in claim.items)}
    assert not silent
    assert not [number for number, claim in claims().items() if number not in OF_VIEWS and claim.shown]


@each(ITEMS)
def test_the_state_that_a_claim_links_to_shows_its_value(number, item):
    claim = claims()[number]
    assert item.shown.startswith(claim.page + ".")
    told = at(claim.page, claim.state, item.shown.partition("#")[0])
    assert shows(claim.page, claim.state, item.shown, item.expected, tolerance(item)), (
        f"{claim.statement}\n{item.expected} is not at {item.shown}: {told}"
    )


def tolerance(item: Item) -> str:
    """A quotation is repeated exactly."""
    return item.tolerance or "exact"


@each(NUMBERS)
def test_another_value_would_not_be_found_there(number, item):
    """The claimed value moved past its tolerance and the rounding of what is shown; a bound moved past that."""
    claim = claims()[number]
    told = shown(claim.page, claim.state, item.shown)
    for value, half in told:
        if value != value:
            moved = [1.0]
        elif tolerance(item) in ("at most", "at least"):
            step = half + 0.01 * (abs(value) or 1)
            moved = [value - half - step] if tolerance(item) == "at most" else [value + half + step]
        else:
            step = 2 * (slack(item.expected, tolerance(item)) + (half or 0.5))
            moved = [value - step, value + step]
        assert not any(fits(value, half, wrong, tolerance(item)) for wrong in moved)


@each(NUMBERS)
def test_what_is_shown_is_not_rounded_until_it_fits(number, item):
    claim = claims()[number]
    value, half = shown(claim.page, claim.state, item.shown)[0]
    assert value != value or half <= max(0.1 * abs(value), slack(item.expected, tolerance(item)))


@each([(n, i, item) for n, i, item in NUMBERS if OF_VIEWS[n].compute and OF_VIEWS[n].caveat])
def test_where_a_view_writes_another_number_than_was_found_the_condition_speaks_of_the_draw(number, item):
    """Not of curves, whose numbers nobody reads, nor of bounds."""
    claim, value = claims()[number], found()[number]
    value = value[claim.items.index(item)] if len(claim.items) > 1 else value
    there = shown(claim.page, claim.state, item.shown)
    if item.shown.partition("#")[0].partition("[")[0] in opened(claim.page, claim.state)[0]:
        rounded = any(fits(told, 1.01 * half, value, "exact") for told, half in there)
        assert rounded or tolerance(item) in ("at most", "at least") or "draw" in claim.caveat


@pytest.mark.parametrize("number", sorted(OF_VIEWS))
def test_every_linked_state_opens(number):
    texts, columns = opened(claims()[number].page, claims()[number].state)
    assert texts[f"{claims()[number].page}.headline"] and columns


# A value that stands there whatever the state says nothing about it


@pytest.mark.parametrize("number", [number for number in OF_VIEWS if live(number)])
def test_another_state_shows_another_value(number):
    claim = OF_VIEWS[number]
    others = {other.state for other in OF_VIEWS.values() if other.page == claim.page} - {claim.state}
    others |= {urlencode(preset.words) for preset in teaching(claim.page).presets}
    assert any(not _all_shown(claim.page, state, live(number)) for state in others), live(number)


def _all_shown(page, state, items):
    try:
        return all(shows(page, state, item.shown, item.expected, tolerance(item)) for item in items)
    except (LookupError, ValueError, TypeError):  # the place is not there in that state
        return False


# The reading itself


@pytest.mark.parametrize(
    "text, value",
    [
        ("rank 16; softmax reaches 256.", 256), ("1,048,576 tokens", 1048576), ("2.2·10¹² FLOPs", 2.2e12),
        ("4.4·10⁻¹⁶", 4.4e-16), ("reads 78 % short", 0.78), ("280 MiB", 280 * 2**20), ("o₃ = (7/12, 2/3)", 7 / 12),
        ("32 × 128 × 128 × 4 B", 524288), ("−0.98", -0.98), ("never more than ¼", 0.25), ("positive: yes", True),
        ("the read is 0/0", float("nan")), ("[[1, 5], [4, 4]]", 5),
    ],
)  # fmt: skip
def test_a_number_is_read_from_a_text(text, value):
    assert any(fits(found, 0, value, "relative 1e-9") for reading in readings(text) for found, _ in reading)


@pytest.mark.parametrize(
    "text, value", [("rank 160", 16), ("0.709", 0.71), ("1,024", 24), ("2.2·10¹²", 2.2), ("yes", 1)]
)
def test_a_number_is_read_whole(text, value):
    assert not any(fits(found, 0, value, "exact") for reading in readings(text) for found, _ in reading)


def test_digits_that_were_not_written_are_not_asked_for():
    (((value, half),),) = readings("0.71")
    assert fits(value, half, 0.7071, "exact") and not fits(value, half, 0.7151, "exact")
    assert not fits(781, 0, 780, "exact") and fits(781, 0, 781.25, "exact")
