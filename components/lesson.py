"""The lesson of one visitor: the server words, live; and the question they make, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, make_dataclass
from typing import Any

import param

from components.words import SOFTMAX, WORDS, Refused
from compute.feature_maps import FeatureMap, read_member

SERVER = {name: word for name, word in WORDS.items() if word.server}

_Fields = make_dataclass("_Fields", [(name, Any, word.default) for name, word in SERVER.items()], frozen=True)


@dataclass(frozen=True)
class Question(_Fields):
    """What a view is asked: one value for each server word of the table.  Hashable, so answers are cached by it."""

    @property
    def map(self) -> FeatureMap | None:
        """The chosen feature map; None for softmax."""
        return None if self.phi == SOFTMAX else read_member(self.phi)

    @property
    def map_word(self) -> str:
        """The word of the map's family, which is also its colour slot."""
        return self.phi.partition("~")[0]


def fit(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Values that also go together: a map that does not exist at the width d_k falls back to its family's default."""
    values = dict(values)
    question = Question(**{name: value for name, value in values.items() if name in SERVER})
    try:
        if question.map is not None:
            question.map.d_phi(question.d_k)
    except ValueError as reason:
        values["phi"] = question.map_word
        return values, [f"phi = {question.phi} does not exist at d_k = {question.d_k}: {reason}"]
    return values, []


class Lesson(param.Parameterized):
    """Shared state of one visitor.  Views and controls read it; nothing else is shared."""

    def __init__(self, **values: Any):
        super().__init__(**fit(values)[0])
        self.param.watch(self._fit, ["phi", "d_k"])
        self.param.watch(lambda _: setattr(self, "own", None), "model")  # a model from the list replaces a pasted one

    def _fit(self, *_: Any) -> None:
        self.phi = fit({"phi": self.phi, "d_k": self.d_k})[0]["phi"]

    @property
    def question(self) -> Question:
        return Question(**{f.name: getattr(self, f.name) for f in fields(Question)})

    def take(self, values: Mapping[str, str]) -> list[str]:
        """Set server words from texts, each checked like the address; a sentence for each refusal."""
        good, refused = {}, []
        for name, text in values.items():
            try:
                good[name] = SERVER[name].read(text)
            except (KeyError, Refused) as reason:
                refused.append(f"{name} {reason}")
        good, clash = fit({"phi": self.phi, "d_k": self.d_k, **good})
        self.param.update(**good)
        return refused + clash


for _name, _word in SERVER.items():
    Lesson.param.add_parameter(_name, param.Parameter(_word.default, doc=_word.meaning))
