"""Which of the memory's choices change nothing in a state, and why."""

from __future__ import annotations

from collections.abc import Mapping

from components.lesson import Question
from components.memory_run import WIDTH
from components.words import SOFTMAX

BY_HAND = "The pairs by hand bring their own keys and values."
RAW = "These keys do not pass through φ: choose keys φ(k)."
NO_MAP = f"Without a feature map keys stay as they are, {WIDTH} wide."


def idle(question: Question) -> Mapping[str, str]:
    if question.stream == "hand":
        return dict.fromkeys(("phi", "knob", "d_k", "seed", "keys", "d_v", "rho"), BY_HAND)
    if question.keys != "phi":
        return dict.fromkeys(("phi", "knob", "d_k"), RAW)
    return {"d_k": NO_MAP} if question.phi == SOFTMAX else {}
