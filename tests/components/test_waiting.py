"""What stands in a control's place before the session says what its widget says."""

from __future__ import annotations

import pytest
from asked import MARKUP

from components.controls import CONTROLS, make_controls
from components.lesson import Lesson
from components.waiting import waiting


@pytest.mark.parametrize("word", CONTROLS)
def test_every_control_is_told_before_it_is_there(word):
    lesson = Lesson(phi="favor~m~64", rule="gated_delta", keys="correlated")
    widget = make_controls(lesson, (word,))[word]
    told = waiting(widget)
    if not widget.visible:
        assert told == ""
        return
    listed = getattr(widget, "options", None)
    if type(widget).__name__ == "Segmented":
        names = list(listed)
        assert told.count("<button") == len(names) and told.count("bk-active") == 1 + widget.stylesheets[0].count(
            "bk-active"
        )
        chosen = next(name for name, value in listed.items() if value == widget.value)
        assert f'bk-active">{chosen}<' in told
    elif type(widget).__name__ == "Choice":
        assert f"<option>{next(name for name, value in listed.items() if value == widget.value)}<" in told
    else:
        assert (widget.placeholder if listed else f"{widget.value:g}") in told


def test_names_are_escaped():
    widget = make_controls(Lesson(), ("model",))["model"]
    widget.placeholder = MARKUP
    assert MARKUP not in waiting(widget)
