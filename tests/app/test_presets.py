"""Presets: each is a legal state of its page, and every number of its caption stands where a reader can find it."""

from __future__ import annotations

from functools import cache
from urllib.parse import urlencode

import pytest
from rendering import page as sent
from shown import fits, opened, readings

from app.figures import figure_document
from app.page import OVERVIEW, pages, view
from components.lesson import Question
from components.sweep_pictures import pictures_of
from components.teaching import teaching
from components.words import WORDS

PRESETS = [(page, preset) for page in pages() if page != OVERVIEW for preset in teaching(page).presets]
each_preset = pytest.mark.parametrize("name, preset", PRESETS, ids=[f"{page}-{p.slug}" for page, p in PRESETS])


@cache
def drawn(page):
    return figure_document((view(page),), Question(), False)[0]


def printed(name, words):
    """Everything with letters that stands on the page in that state: texts, names in figures, ticks, axes, controls."""
    texts, columns = opened(name, urlencode(words))
    yield from texts.values()
    for told in columns.values():
        for values in told.values():
            yield from (value for value in values if isinstance(value, str))
    for plot in drawn(name).roots:
        for axis in (*plot.xaxis, *plot.yaxis):
            yield axis.axis_label or ""
            yield from axis.major_label_overrides.values()
            yield from (f"{tick:g}" for tick in getattr(axis.ticker, "ticks", ()))
    yield from (picture.title for picture in pictures_of(name))
    yield from (row[0] for row in view(name).readouts)
    yield from (str(value) for value in words.values())
    yield teaching(name).met


@each_preset
def test_a_preset_is_a_legal_state_with_a_headline(name, preset):
    assert opened(name, urlencode(preset.words))[0][f"{name}.headline"] and preset.caption.endswith(".")


def test_presets_of_a_page_differ():
    for page in pages():
        words = [urlencode(sorted(p.words.items())) + p.at for p in teaching(page).presets]
        assert len(set(words)) == len(words), page
        assert len({p.slug for p in teaching(page).presets}) == len(words), page


@pytest.mark.parametrize("page", [page for page in pages() if page != OVERVIEW])
def test_a_preset_shows_what_it_changed_or_leads_to_where_that_stands(page):
    """Against the preset before it in its headline; against the opened page, unless it is that state, in its headline
    or in the numbers of its formula."""

    def shown(words):
        texts = opened(page, urlencode(words))[0]
        return texts[f"{page}.headline"], texts.get(f"{page}.values")

    last = opening = shown({})
    for preset in teaching(page).presets:
        told = shown(preset.words)
        asked = {word for word, text in preset.words.items() if WORDS[word].read(text) != WORDS[word].default}
        assert preset.at or not asked or (told[0] != last[0] and told != opening), preset.name
        last = told


def test_a_page_that_begins_from_a_preset_is_sent_with_it_chosen_and_said_in_its_open_group():
    preset = next(p for p in teaching("forms").presets if p.group)
    tree = sent("forms", preset=preset.slug)
    (chosen,) = tree.with_attribute("data-chosen")
    assert chosen.attrs["data-slug"] == preset.slug
    said = {e.attrs.get("class", ""): e for e in tree.elements if e.tag == "p"}
    assert said["caption"].text == preset.caption
    (group,) = (e for e in tree.elements if e.tag == "details" and preset.group in e.text)
    assert "open" in group.attrs
    none = sent("forms")
    assert not none.with_attribute("data-chosen") and not any(
        "open" in e.attrs for e in none.elements if e.tag == "details"
    )


@each_preset
def test_what_a_preset_brings_into_view_is_on_the_page(name, preset):
    there = {plot.name for plot in drawn(name).roots} | set(opened(name, "")[0])
    there |= {picture.name for picture in pictures_of(name)}
    assert not preset.at or preset.at in there


@each_preset
def test_every_number_of_a_caption_stands_on_the_page(name, preset):
    there = [reading for text in printed(name, preset.words) for found in readings(text) for reading in found]
    for number in readings(preset.caption):
        value, half = number[0]
        if isinstance(value, bool):  # yes and no are words of the sentence here
            continue
        assert any(fits(seen, max(half, seen_half), value, "exact") for seen, seen_half in there), (
            value,
            preset.caption,
        )
