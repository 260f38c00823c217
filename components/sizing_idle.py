"""Which of sizing's choices change nothing in a state, and why."""

from __future__ import annotations

from collections.abc import Mapping

from components.lesson import Question
from components.sizing_asked import shape_of
from compute.sizing import all_softmax_twin, with_feature_map

NO_LINEAR = "φ would widen the states of linear layers, and this model has none."


def idle(question: Question) -> Mapping[str, str]:
    shape = shape_of(question)[0]
    widened = with_feature_map(shape, lambda d_k: d_k) is not None
    return {} if widened or all_softmax_twin(shape) not in (None, shape) else {"phi": NO_LINEAR}
