"""Widgets of the house, and what they lean on in Panel."""

from __future__ import annotations

import panel as pn

from components.controls import make_controls
from components.lesson import Lesson


def test_a_choice_does_not_have_panel_count_what_keeps_the_server_busy(monkeypatch):
    """No page shows it, and counting took a sixth of what a choice costs the server."""
    counted = []
    monkeypatch.setattr(type(pn.state), "_add_busy_event", lambda self, event: counted.append(event))
    monkeypatch.setattr(type(pn.state), "_remove_busy_event", lambda self, event: None)
    lesson = Lesson()
    widgets = make_controls(lesson, ("rule", "alpha", "seed"))
    for word, told in (("rule", {"active": 1}), ("alpha", {"value": 0.75}), ("seed", {"value": 3})):
        widgets[word]._process_events(told)
    assert (lesson.rule, lesson.alpha, lesson.seed) == ("decay", 0.75, 3)
    assert counted == []
    pn.widgets.TextInput()._process_events({"value": "counted"})
    assert counted
