"""The ledger walked through the views: the state that a claim links to shows the claimed value.

SHOWN says where each value stands.  A claim of a view that has a value and is not in it fails.
"""

from __future__ import annotations

import pytest
from shown import at, fits, numbers, opened, shows

from app.page import pages
from components.ledger import claims

GAP = "forms.recurrent_gap"


def steps(*places: int, source: str = "forms.numbers.text") -> dict[int, str]:
    """Items of a claim in the numbered fields of the hand example."""
    return {item: f"{source}[{place}]" for item, place in enumerate(places)}


HAND_STEP = (10, 11, 12, 13, 14, 15, 16, 17, 20, 18, 19)
"""Fields of S row by row, z, numerator, denominator and output."""

SHOWN: dict[str, str | dict[int, str]] = {
    # A place, or one for each item of the claim that is shown.
    # Bracketing
    "C001": {0: "bracketing.row.1.arithmetic"},
    "C002": {0: "bracketing.right_sizes.text"},
    "C003": "bracketing.same",
    "C004": "bracketing.left_flops",
    "C005": "bracketing.right_flops",
    "C006": "bracketing.headline",
    "C007": "bracketing.product",
    "C008": "bracketing.left_flops",
    "C009": "bracketing.right_flops",
    "C010": "bracketing.aside",
    "C011": {0: "bracketing.aside"},
    "C012": {1: "bracketing.headline"},
    "C013": {0: "bracketing.sums"},
    "C014": {0: "bracketing.left_sizes.text", 1: "bracketing.right_sizes.text"},
    "C015": "bracketing.aside",
    "C016": {0: "bracketing.doubled", 1: "bracketing.doubled"},
    "C017": {2: "bracketing.decoding"},
    "C018": "bracketing.aside",
    "C050": "bracketing.right_flops",
    "C051": {0: "bracketing.row.0.arithmetic", 1: "bracketing.row.0.arithmetic"},
    "C052": {0: "bracketing.row.0.arithmetic"},
    "C055": {0: "bracketing.row.2.bytes", 1: "bracketing.row.2.arithmetic", 2: "bracketing.row.2.arithmetic"},
    "C056": {0: "bracketing.row.0.bytes", 1: "bracketing.row.0.arithmetic", 2: "bracketing.row.0.arithmetic"},
    "C057": {0: "bracketing.row.1.bytes", 1: "bracketing.row.1.arithmetic", 2: "bracketing.row.1.arithmetic"},
    "C058": {1: "bracketing.next", 2: "bracketing.next"},
    "C059": {0: "bracketing.cases", 5: "bracketing.cases"},
    "C154": {0: "bracketing.reports", 1: "bracketing.reports"},
    # Two modes
    "C024": GAP,
    "C025": {0: "forms.cases[3]"},
    "C030": GAP,
    "C031": dict.fromkeys(range(5), "forms.cases[1]"),
    "C032": {
        2: "forms.numbers.text[8]",
        3: "forms.numbers.text[9]",
        8: "forms.numbers.text[0]",
        9: "forms.numbers.text[1]",
    },
    "C033": steps(*HAND_STEP),
    "C034": steps(*HAND_STEP),
    "C035": steps(*HAND_STEP),
    "C036": {
        **steps(*range(9), source="forms.matrix_numbers.text"),
        11: "forms.sentence",
        14: "forms.headline",
        15: "forms.headline",
    },
    "C037": dict.fromkeys(range(4), "forms.sentence"),
    "C038": GAP,
    "C039": {1: "forms.checks.ones_parallel[t=37]"},
    "C040": dict.fromkeys(range(3), "forms.kept"),
    "C041": "forms.sentence",
    "C042": "forms.cases[0]",
    "C043": "forms.chunkwise_gap",
    "C044": {0: "forms.cases[2]", 1: "forms.cases[2]", 2: "forms.headline", 3: "forms.headline"},
    "C045": "forms.loop_gradients",
    "C046": {0: "forms.numbers.text[18]", 1: "forms.numbers.text[19]"},
    "C047": {1: "forms.headline", 2: "forms.headline"},
    "C048": {
        t + 3 * (form == "recurrent"): f"forms.checks.ones_{form}[t={t + 1}]"
        for form in ("parallel", "recurrent")
        for t in range(3)
    },
    "C049": {0: GAP},
    "C054": "forms.cases[4]",
    "C176": "forms.aside",
    "C158": {0: "forms.sums.bf16[n=512]"},
    # Sharpness
    "C019": "sharpness.cases[0]",
    "C020": dict.fromkeys(range(2), "sharpness.cases[0]"),
    "C022": "sharpness.cases[0]",
    "C023": dict.fromkeys(range(4), "sharpness.cases[2]"),
    "C026": dict.fromkeys(range(2), "sharpness.cases[3]"),
    "C060": dict.fromkeys(range(6), "sharpness.cases[1]"),
    "C062": dict.fromkeys(range(2), "sharpness.cases[0]"),
    "C063": dict.fromkeys(range(2), "sharpness.cases[1]"),
    "C064": "sharpness.cases[2]",
    "C067": "sharpness.cases[9]",
    "C070": dict.fromkeys(range(7), "sharpness.cases[10]"),
    "C071": dict.fromkeys(range(2), "sharpness.cases[0]"),
    "C090": dict.fromkeys(range(2), "sharpness.cases[0]"),
    "C091": dict.fromkeys(range(3), "sharpness.cases[1]"),
    "C093": dict.fromkeys(range(2), "sharpness.cases[4]"),
    "C094": dict.fromkeys(range(2), "sharpness.cases[5]"),
    "C095": dict.fromkeys(range(9), "sharpness.cases[1]"),
    "C096": dict.fromkeys(range(2), "sharpness.cases[6]"),
    "C097": dict.fromkeys(range(3), "sharpness.cases[8]"),
    "C103": "sharpness.cases[7]",
    "C104": dict.fromkeys(range(2), "sharpness.cases[0]"),
    "C105": dict.fromkeys(range(2), "sharpness.cases[1]"),
    "C108": dict.fromkeys(range(6), "sharpness.cases[0]"),
    "C065": "sharpness.entropy",
    "C066": {1: "sharpness.curves.elu[c=0.25]", 2: "sharpness.curves.elu[c=16]", 3: "sharpness.ends.limit[word=elu]"},
    "C068": {0: "sharpness.curves.softmax[c=16]", 1: "sharpness.curves.elu[c=16]"},
    "C089": dict.fromkeys(range(3), "sharpness.misplaced"),
    "C164": {0: "sharpness.entropy", 1: "sharpness.entropy", 2: "sharpness.order"},
    # Random features
    "C072": "random-features.cases[0]",
    "C073": "random-features.cases[1]",
    "C074": dict.fromkeys(range(3), "random-features.cases[2]"),
    "C075": {0: "random-features.cases[3]"},
    "C076": "random-features.cases[4]",
    "C077": {0: "random-features.variance", 1: "random-features.variance"},
    "C078": {0: "random-features.cases[5]", 1: "random-features.cases[5]"},
    "C079": {0: "random-features.four"},
    "C080": {1: "random-features.negative"},
    "C081": dict.fromkeys(range(4), "random-features.cases[6]"),
    "C082": {2: "random-features.kept"},
    "C083": "random-features.cases[7]",
    "C084": {1: "random-features.aside", 2: "random-features.aside"},
    "C085": "random-features.ladder.text[0]",
    "C086": {1: "random-features.ladder.text[3]"},
    "C087": {0: "random-features.aside"},
    "C088": {2: "random-features.low"},
    "C092": "random-features.headline",
    # Memory
    "C109": {1: "memory.energies.energy[n=256]"},
    "C112": "memory.cases[0]",
    "C117": "memory.cases[2]",
    "C125": "memory.cases[1]",
    "C128": dict.fromkeys(range(2), "memory.cases[3]"),
    "C129": dict.fromkeys(range(4), "memory.cases[5]"),
    "C130": "memory.cases[7]",
    "C131": dict.fromkeys(range(3), "memory.cases[8]"),
    "C132": "memory.cases[9]",
    "C133": dict.fromkeys(range(3), "memory.cases[4]"),
    "C137": dict.fromkeys(range(4), "memory.cases[10]"),
    "C138": dict.fromkeys(range(4), "memory.cases[6]"),
    "C110": dict.fromkeys(range(6), "memory.sentence"),
    "C111": dict.fromkeys((0, 1, 2, 3, 6, 7), "memory.sentence"),
    "C113": {0: "memory.energies.energy[n=32]"},
    "C114": {2: "memory.energies.least[n=64]"},
    "C115": "memory.energies.law[n=2]",
    "C116": "memory.energies.law[n=64]",
    "C118": "memory.curve.law[n=32]",
    "C119": "memory.far",
    "C120": {1: "memory.energies.energy[n=256]"},
    "C121": {0: "memory.energies.law[n=64]"},
    "C122": {
        0: "memory.names.text[0]",
        1: "memory.curve.law[n=8]",
        2: "memory.curve.law[n=32]",
        3: "memory.curve.law[n=128]",
    },
    "C123": {0: "memory.energies.law[n=64]"},
    "C134": {1: "memory.sentence", 2: "memory.headline", 3: "memory.headline"},
    "C135": "memory.signal.weight[pair=1]",
    "C136": "memory.signal.weight[pair=1]",
    # Recall
    "C124": {2: "recall.sentence"},
    "C127": "recall.cases[0]",
    "C139": {0: "recall.cases[2]", 1: "recall.cases[2]"},
    "C155": "recall.reports[0]",
    "C156": {0: "recall.reports[1]", 1: "recall.reports[1]"},
    "C157": "recall.reports[2]",
    "C178": "recall.cases[1]",
    # Rank
    "C027": "rank.own",
    "C028": {0: "rank.cases[0]", 1: "rank.cases[0]"},
    "C099": "rank.limit",
    "C126": "rank.cases[1]",
    "C160": {0: "rank.own", 1: "rank.far.rank[N=512,word=elu]"},
    "C161": {0: "rank.own", 1: "rank.block"},
    "C162": {0: "rank.own", 1: "rank.block", 2: "rank.growth.elu[N=256]"},
    "C163": {4: "rank.own"},
    # Normaliser
    "C021": {0: "normaliser.hand_signed", 1: "normaliser.hand_signed"},
    "C061": {0: "normaliser.cases[0]", 1: "normaliser.cases[0]"},
    "C140": "normaliser.cases[1]",
    "C141": dict.fromkeys(range(3), "normaliser.hand_floor"),
    "C166": dict.fromkeys(range(4), "normaliser.hand_derivative"),
    "C167": {0: "normaliser.hand_growth"},
    "C165": {0: "normaliser.power", 1: "normaliser.power"},
    "C168": {0: "normaliser.derivative_names.text[2]"},
    "C169": dict.fromkeys(range(4), "normaliser.quoted"),
    "C170": "normaliser.cases[2]",
    "C171": "normaliser.cases[3]",
    "C172": "normaliser.cases[4]",
    "C173": "normaliser.cases[5]",
    "C174": {3: "normaliser.negative"},
    "C175": {0: "normaliser.short"},
    "C177": "normaliser.shares.near[tokens=1024]",
    # Sizing
    "C053": "sizing.cases[2]",
    "C098": {0: "sizing.aside"},
    "C100": {0: "sizing.cases", 1: "sizing.cases"},
    "C101": {0: "sizing.meets"},
    "C142": "sizing.row.0.arithmetic",
    "C143": {0: "sizing.cases[1]", 1: "sizing.cases[1]"},
    "C144": {1: "sizing.meets"},
    "C145": {0: "sizing.row.0.bytes", 1: "sizing.rate", 2: "sizing.meets"},
    "C146": dict.fromkeys(range(6), "sizing.used"),
    "C147": {1: "sizing.headline"},
    "C148": {0: "sizing.rate", 1: "sizing.headline"},
    "C149": "sizing.twin",
    "C150": "sizing.headline",
    "C151": {0: "sizing.row.1.kind", 1: "sizing.row.0.kind", 2: "sizing.used"},
    "C152": {1: "sizing.fixed"},
    "C153": {0: "sizing.fixed", 3: "sizing.meets"},
    "C159": {0: "sizing.cases[0]"},
}

OF_VIEWS = {number for number, claim in claims().items() if claim.page in pages()}
WITH_VALUE = {number for number in OF_VIEWS if claims()[number].expected is not None}
"""All but statements that have no value to show."""


def test_every_claim_of_a_view_is_shown():
    assert set(SHOWN) == WITH_VALUE


def items(number: str) -> list[tuple[int, str]]:
    told = SHOWN[number]
    return list(told.items()) if isinstance(told, dict) else [(0, told)]


def wanted(number: str, item: int) -> tuple[float, str]:
    """What the ledger expects of one item, and how near; a quotation is repeated exactly."""
    claim = claims()[number]
    many = isinstance(claim.expected, list)
    tolerance = claim.tolerance[item] if isinstance(claim.tolerance, list) else claim.tolerance or "exact"
    return claim.expected[item] if many else claim.expected, tolerance


CASES = [(number, item, place) for number in SHOWN for item, place in items(number)]


@pytest.mark.parametrize("number, item, place", CASES, ids=[f"{number}-{item}" for number, item, _ in CASES])
def test_the_state_that_a_claim_links_to_shows_its_value(number, item, place):
    claim, (expected, tolerance) = claims()[number], wanted(number, item)
    assert place.startswith(claim.page + ".")
    told = at(claim.page, claim.state, place)
    assert shows(claim.page, claim.state, place, expected, tolerance), f"{claim.statement}\n{expected} is not in {told}"


@pytest.mark.parametrize("number", SHOWN)
def test_what_is_found_is_not_what_the_place_shows_anywhere(number):
    """A value that would be found at the wrong size too is not found: half or twice of it must fail somewhere."""
    claim = claims()[number]
    for factor in (0.4, 2.6):
        moved = [
            shows(claim.page, claim.state, place, expected * factor, tolerance)
            for item, place in items(number)
            for expected, tolerance in [wanted(number, item)]
            if not isinstance(expected, str | bool) and expected and expected == expected
            if tolerance not in ("at most", "at least")
        ]
        assert not moved or not all(moved), factor


@pytest.mark.parametrize("number", sorted(OF_VIEWS))
def test_every_linked_state_opens(number):
    texts, columns = opened(claims()[number].page, claims()[number].state)
    assert texts[f"{claims()[number].page}.headline"] and columns


# The reading itself


@pytest.mark.parametrize(
    "text, value",
    [
        ("rank 16; softmax reaches 256.", 256), ("1,048,576 tokens", 1048576), ("2.2·10¹² FLOPs", 2.2e12),
        ("4.4·10⁻¹⁶", 4.4e-16), ("reads 78 % short", 0.78), ("280 MiB", 280 * 2**20), ("o₃ = (7/12, 2/3)", 7 / 12),
        ("32 × 128 × 128 × 4 B", 524288), ("−0.98", -0.98), ("never more than ¼", 0.25),
        ("the read is 0/0", float("nan")), ("[[1, 5], [4, 4]]", 5),
    ],
)  # fmt: skip
def test_a_number_is_read_from_a_text(text, value):
    assert any(fits(found, 0, value, "relative 1e-9") for found, _ in numbers(text))


@pytest.mark.parametrize("text, value", [("rank 160", 16), ("0.709", 0.71), ("1,024", 24), ("2.2·10¹²", 2.2)])
def test_a_number_is_read_whole(text, value):
    assert not any(fits(found, 0, value, "exact") for found, _ in numbers(text))


def test_digits_that_were_not_written_are_not_asked_for():
    (value, half), *_ = numbers("0.71")
    assert fits(value, half, 0.7071, "exact") and not fits(value, half, 0.7151, "exact")
    assert not fits(781, 0, 780, "exact") and fits(781, 0, 781.25, "exact")
