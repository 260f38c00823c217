"""Citations: what they name, and when two states count as the same."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from asked import QUESTIONS

from components.about import NAME
from components.cite import DIGITS, cite, state_hash, state_words
from components.lesson import SERVER, Lesson, Question
from components.own import paste
from components.words import read_address

DAY = date(2026, 11, 29)
ROOT = Path(__file__).resolve().parents[2]
ASKED = Question(phi="favor~m~64", d_k=32, alpha=0.9)


def cited(question=ASKED, at=None, address="https://example.org/lae/memory"):
    return cite("memory", "Memory", question, at or {"n": 40}, address, DAY)


def fields(bibtex: str) -> dict[str, str]:
    """The fields of an entry, read by counting braces as BibTeX does."""
    assert re.match(r"@misc\{[\w-]+,\n", bibtex) and bibtex.endswith("\n}\n")
    depth = 0
    for mark in re.findall(r"(?<!\\)[{}]", bibtex):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    assert depth == 0
    return dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", bibtex, re.MULTILINE))


def test_an_entry_names_the_program_its_version_the_day_and_no_person():
    told, entry = fields(cited().bibtex), cited()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert told["author"] == NAME and told["title"] == "Memory" and told["urldate"] == "2026-11-29"
    assert told["note"] == f"Version {version}, state {entry.state}, accessed 2026-11-29"
    for part in (NAME, version, entry.state, "2026-11-29", entry.link, "Memory"):
        assert part in entry.text


def test_the_link_of_an_entry_leads_back_to_the_state():
    for question in QUESTIONS[:400:7]:
        link = cited(question, {"n": 41}).link
        values, refused = read_address({k: [v[0].encode()] for k, v in parse_qs(urlsplit(link).query).items()})
        assert not refused
        assert values.pop("n") == 41
        assert Lesson(**values).question == question


def test_a_default_state_has_the_bare_address():
    assert cite("rank", "Rank", Question(), {}, "https://example.org/rank", DAY).link == "https://example.org/rank"


def test_equal_states_have_equal_hashes_and_others_do_not():
    seen = {state_hash("memory", question, {"n": n}) for question in QUESTIONS for n in (3, 128)}
    assert len(seen) == 2 * len(set(QUESTIONS)) and all(re.fullmatch(rf"[0-9a-f]{{{DIGITS}}}", x) for x in seen)
    assert state_hash("memory", Question(), {"n": 128}) == state_hash("memory", Question(), {})
    assert state_hash("sharpness", Question(), {"c": 1.61}) == state_hash("sharpness", Question(), {"c": 1.6})
    assert state_hash("memory", Question(), {}) != state_hash("rank", Question(), {})


@pytest.mark.parametrize("setting", [{"theme": "dark"}, {"embed": "1"}, {"hide": "controls"}])
def test_settings_of_the_page_are_no_part_of_a_state(setting):
    assert state_words(ASKED, {"n": 40, **setting}) == state_words(ASKED, {"n": 40})
    assert set(state_words(ASKED, {"n": 40})) == {"phi", "d_k", "alpha", "n"}
    assert not set(setting) & set(SERVER)


def test_a_pasted_model_too_long_for_a_link_still_counts_and_is_said_to_be_missing():
    models = [paste(f'{{"model_type": "llama", "hidden_size": {d}, "num_hidden_layers": 2, "num_attention_heads": 4}}')
              for d in (256, 512)]  # fmt: skip
    short = Question(own=models[0])
    long = [Question(own=replace(model, text=None)) for model in models]
    assert "own=" in cited(short).link and "too long" not in cited(short).text
    assert "own=" not in cited(long[0]).link and "too long for the link" in cited(long[0]).text
    assert state_hash("sizing", long[0], {}) != state_hash("sizing", long[1], {})


def test_no_address_ends_a_field_early_or_runs_a_command():
    entry = cited(address="https://example.org/a{b}\\c d")
    assert fields(entry.bibtex)["url"].startswith("https://example.org/a%7Bb%7D%5Cc%20d?")
    assert fields(cite("x", "50 % {of} $a_b$ & #1", ASKED, {}, "https://e.org", DAY).bibtex)
