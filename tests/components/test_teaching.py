"""What stands beside a view: notes tied to marks, a question whose answer is drawn, a model, sources, presets."""

from __future__ import annotations

import json
import re

import pytest

from app.page import OVERVIEW, figures_of, pages
from components.assets import ASSETS
from components.teaching import teaching

VIEWS = [name for name in pages() if name != OVERVIEW]
every_view = pytest.mark.parametrize("name", VIEWS)
MODELS = {json.loads(path.read_text())["name"] for path in (ASSETS / "models").glob("*.json")}
OTHERS = {"Performer", "xLSTM-7B", "Based"}
"""Real models that the sizing page has no configuration of."""


def marks(name: str) -> dict[str, bool]:
    """Whether each named model of a page's figures is visible at first."""
    told = {}
    for _, drawing in figures_of(name).drawings:
        for cell in (cell for row in drawing.rows for cell in row):
            told |= {m.name: m.visible for m in cell.figure.references() if m.name and "visible" in m.properties()}
    return told


@every_view
def test_three_notes_are_each_tied_to_marks_that_are_drawn(name):
    notices, drawn = teaching(name).notices, marks(name)
    assert len(notices) == 3
    for notice in notices:
        assert notice.marks and all(drawn[mark] for mark in notice.marks), notice.text


def test_where_a_note_leads_is_a_preset_of_another_page():
    led = [(name, *to) for name in VIEWS for notice in teaching(name).notices for to in notice.see]
    assert led and all(
        page in VIEWS and page != name and preset in teaching(page).presets for name, page, preset in led
    )


@every_view
def test_the_question_has_one_right_answer_that_is_drawn_and_hidden_at_first(name):
    question, drawn = teaching(name).question, marks(name)
    assert len(set(question.options)) == 3 and 0 <= question.right < 3 and question.because
    assert question.marks and not any(drawn[mark] for mark in question.marks)


@every_view
def test_it_is_met_in_a_real_model_and_its_sources_can_be_found(name):
    told = teaching(name)
    assert any(re.split(r"[ -]", model)[0] in told.met for model in MODELS | OTHERS)
    assert told.cite and all(re.search(r"arXiv:\d{4}\.\d{5}|\b(19|20)\d\d\b", cite) for cite in told.cite)


@every_view
def test_presets_have_a_name_and_a_caption_of_their_own(name):
    presets = teaching(name).presets
    assert len(presets) >= 4 and all(preset.caption.endswith((".", "?")) for preset in presets)
    assert len({preset.name for preset in presets}) == len({preset.caption for preset in presets}) == len(presets)


@every_view
def test_what_stands_beside_the_figure_is_short_enough_to_be_read_beside_it(name):
    told = teaching(name)
    longest = {30: [note.text for note in told.notices], 45: [told.met, *(preset.caption for preset in told.presets)]}
    assert not [text for words, texts in longest.items() for text in texts if len(text.split()) > words]
