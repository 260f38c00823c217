"""The chosen feature map in plain words, behind the symbols of every page where a map is chosen."""

from __future__ import annotations

from components.lesson import Question
from components.reel import Answer
from components.sharpness_run import name_of
from components.teaching import maps
from components.view import View, texts


def chosen_map(views: tuple[View, ...], question: Question) -> Answer:
    """Name and words of the map; the overview explains no symbols."""
    if len(views) > 1 or "phi" not in views[0].ribbon:
        return {}
    word = question.map_word
    return {"map.texts": texts([("map.name", name_of(word)), ("map.words", maps()[word])])}
