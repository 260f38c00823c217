"""Figures that stand alone: what a slide shows of a page says by itself what is plotted."""

from __future__ import annotations

import numpy as np
import pytest
from asked import DEFAULT, VIEWS
from bokeh.models import LogScale, Segment, Text

from components.memory import VIEW as MEMORY
from components.placing import share
from components.plots import MARGIN, RIGHT
from components.recall import VIEW as RECALL

LETTER = 5.4
"""Mean width of a letter in px at the size of labels, generously."""

DRAWINGS = {
    f"{view.word}{' card' * compact}": (chosen, compact)
    for view in VIEWS.values()
    for chosen, compact in ((view, False), *([(view.card, True)] if view.card else []))
}
BOXES = ("forms.recurrence", "bracketing.left_order", "bracketing.right_order")
"""Rectangles that are named one by one, along no axis."""


@pytest.fixture(scope="module", params=DRAWINGS)
def drawing(request):
    view, compact = DRAWINGS[request.param]
    return view, view.draw(DEFAULT, compact)


def figures(drawn):
    return [cell.figure for row in drawn.rows for cell in row]


def test_every_axis_of_every_figure_says_what_it_is_of(drawing):
    for fig in figures(drawing[1]):
        if fig.name not in BOXES:
            assert all(axis.axis_label and axis.visible for axis in (fig.xaxis[0], fig.yaxis[0])), fig.name


def test_ticks_that_find_no_room_are_left_out_and_not_drawn_upon_each_other(drawing):
    for fig in figures(drawing[1]):
        assert type(fig.xaxis[0].major_label_policy).__name__ == "NoOverlap", fig.name


PHONE = 240
"""Width of a frame on a phone, px."""


def before_the_border(fig, x):
    """px from a name's x to the end of the frame, on a phone: none where names stand in the border alone."""
    ends = (fig.x_range.start, fig.x_range.end)
    at = share(x, *ends, log=isinstance(fig.x_scale, LogScale)) if isinstance(x, np.ndarray) else np.ones(1)
    return PHONE * (1 - at.max())


def test_names_of_lines_fit_into_the_border_that_is_kept_for_them(drawing):
    for fig in figures(drawing[1]):
        for renderer in fig.renderers:
            glyph, data = renderer.glyph, renderer.data_source.data
            if renderer.level == "annotation" and {"tick", "from"} & set(data) and glyph.text_align != "right":
                longest = max(len(part) for text in data[glyph.text] for part in str(text).split("\n"))
                room = fig.min_border_right + before_the_border(fig, data[glyph.x])
                assert glyph.x_offset + LETTER * longest <= room + 1, (fig.name, data[glyph.text])


def test_the_slider_lies_under_the_frame_of_its_view(drawing):
    view, drawn = drawing
    lowest = drawn.rows[-1][0].figure
    assert (lowest.min_border_left, lowest.min_border_right) == (view.left, view.room + RIGHT), lowest.name


def test_a_name_in_the_border_has_a_swatch_drawn_like_its_line():
    fig = next(fig for fig in figures(RECALL.draw(DEFAULT, False)) if fig.name == "recall.bytes")
    swatches = next(r for r in fig.renderers if isinstance(r.glyph, Segment))
    dashes = dict(zip(swatches.data_source.data["rule"], swatches.data_source.data["dash"]))
    assert dashes["delta_full"] == "dashed" and dashes["delta"] == "solid"


def test_labels_stand_on_ground_and_rules_lie_under_them():
    fig = figures(MEMORY.draw(DEFAULT, False))[0]
    said = [r.glyph for r in fig.renderers if isinstance(r.glyph, Text)]
    assert said and all(glyph.background_fill_alpha > 0.5 for glyph in said)
    assert fig.select_one({"name": "memory.room"}).level == "underlay"
    assert fig.min_border_left == MARGIN
