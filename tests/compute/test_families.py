"""Knobs are checked when a member is made, and a spelling in an address leads back to the member or is refused."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from compute.families import Member, knob, knobs, read, spell
from compute.feature_maps import FEATURE_MAPS, read_member

every_word = pytest.mark.parametrize("word", FEATURE_MAPS)


@dataclass(frozen=True)
class Pot(Member):
    """A family of one with a real knob."""

    word = "pot"
    warmth: float = knob(0.5, -1.0, 100.0, "how warm", offered=(0.0, 1.0))


@every_word
def test_a_knob_outside_its_bounds_is_refused_by_name(word):
    Map = FEATURE_MAPS[word]
    for f in knobs(Map):
        low, high = f.metadata["bounds"]
        bad = [None, "3", np.nan, [1]]
        bad += [0, 1, "true"] if isinstance(f.default, bool) else [low - 1, high + 1, True, 2.5]
        for value in bad:
            with pytest.raises(ValueError, match=f"^{f.name} must be "):
                Map(**{f.name: value})


def test_numpy_numbers_make_the_same_member():
    Favor = FEATURE_MAPS["favor"]
    assert hash(Favor(m=np.int64(64), orthogonal=np.bool_(False))) == hash(Favor(m=64, orthogonal=False))
    assert spell(Favor(m=np.int64(64), orthogonal=np.bool_(False))) == "favor~m~64~orthogonal~false"


@every_word
def test_a_spelling_leads_back_to_the_member(word):
    Map = FEATURE_MAPS[word]
    assert spell(Map()) == word
    assert read_member(word) == Map()
    for f in knobs(Map):
        for value in f.metadata["offered"]:
            member = Map(**{f.name: value})
            assert read_member(spell(member)) == member
            assert spell(member) == (word if value == f.default else f"{word}~{f.name}~{str(value).lower()}")


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("", "phi must be one of identity, elu"),
        ("softmax", "phi must be one of"),
        ("Favor", "phi must be one of"),
        ("elu~m~4", "phi knob of elu must be left out, got 'm'"),
        ("favor~n~4", "phi knob of favor must be one of m, seed, orthogonal, got 'n'"),
        ("favor~m", "phi must name a value after each knob, got 'm' alone"),
        ("favor~m~", "m must be a whole number, got ''"),
        ("favor~m~5", "m must be from 16 to 4096, got 5"),
        ("favor~m~1000000", "m must be from 16 to 4096"),
        ("favor~m~1e2", "m must be a whole number"),
        ("favor~m~064", "m must be a whole number"),
        ("favor~m~٦٤", "m must be a whole number"),
        ("favor~m~64\n", "m must be a whole number"),
        ("favor~m~64~m~64", "m must be given once"),
        ("favor~seed~-1", "seed must be from 0 to 9999"),
        ("favor~orthogonal~False", "orthogonal must be true or false, got 'False'"),
        ("hedgehog~W~1", "phi knob of hedgehog must be left out"),
        ("taylor~symmetric~1", "symmetric must be true or false"),
        ("favor~__class__~1", "phi knob of favor must be one of"),
        ("x" * 10_000, "phi must be at most 200 characters long, got 10000"),
        ("favor~m~" + "9" * 180, "m must be a whole number"),
        ("~" * 150, "phi must be one of"),
        (None, "phi must be text, got NoneType"),
    ],
)
def test_a_bad_spelling_is_refused_in_one_clear_sentence(text, complaint):
    with pytest.raises(ValueError, match="^" + re.escape(complaint)) as refused:
        read_member(text)
    assert len(str(refused.value)) < 250


def test_a_member_that_no_address_may_hold_is_not_spelled():
    with pytest.raises(ValueError, match=r"^W of hedgehog cannot be written"):
        spell(FEATURE_MAPS["hedgehog"](W=np.eye(2)))
    with pytest.raises(ValueError, match=r"^m must be from 16 to 4096"):
        spell(FEATURE_MAPS["favor"](m=8))


def test_a_real_knob_is_spelled_and_read_back():
    for warmth in (0.0, 0.1, 1 / 3, 1e-7, 1.0):
        member = read(spell(Pot(warmth=warmth)), {"pot": Pot}, "vessel")
        assert member == Pot(warmth=warmth)
    assert spell(Pot(warmth=np.float64(0.25))) == "pot~warmth~0.25"
    assert type(Pot(warmth=1).warmth) is float


@pytest.mark.parametrize("spelled", ["nan", "inf", "-0.5", "1.5", "1_0", " 1", "0x1", "1e999", "½", ""])
def test_a_bad_real_knob_is_refused(spelled):
    with pytest.raises(ValueError, match=r"^warmth must be "):
        read(f"pot~warmth~{spelled}", {"pot": Pot}, "vessel")


def test_members_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Pot().warmth = 1.0
