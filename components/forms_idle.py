"""Which of the choices of Two modes change nothing in a state, and why."""

from __future__ import annotations

from collections.abc import Mapping

from components.lesson import Question
from components.words import SOFTMAX
from compute.examples import HAND_K, HAND_PHI
from compute.feature_maps import spell

BY_HAND = "The three tokens by hand bring their own vectors and keep to elu+1: choose random tokens."
NO_STATE = "Softmax has no state to hand on or to break: choose a feature map."


def idle(question: Question) -> Mapping[str, str]:
    if question.example == "hand":
        return dict.fromkeys(("phi", "knob", "d_k", "seed"), BY_HAND)
    return dict.fromkeys(("chunk", "pitfall"), NO_STATE) if question.phi == SOFTMAX else {}


def instead(question: Question) -> Mapping[str, str]:
    """What the tokens by hand have: a map, a width, and no draw."""
    if question.example != "hand":
        return {}
    d_k = HAND_K.shape[1]
    return {"phi": spell(HAND_PHI), "knob": f"{HAND_PHI.d_phi(d_k)} = d_k, by hand", "d_k": str(d_k), "seed": "none"}
