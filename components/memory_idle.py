"""Which of the memory's choices change nothing in a state, and why."""

from __future__ import annotations

from collections.abc import Mapping

from components.lesson import Question
from components.memory_run import WIDTH
from components.words import SOFTMAX
from compute.pair_streams import HAND_K, HAND_V

BY_HAND = "The pairs by hand bring their own keys and values."
RAW = "These keys do not pass through φ: choose keys φ(k)."
NONE = "none"
NO_MAP = f"Without a feature map keys stay as they are, {WIDTH} wide."


def idle(question: Question) -> Mapping[str, str]:
    if question.stream == "hand":
        return dict.fromkeys(("phi", "knob", "d_k", "seed", "keys", "d_v", "rho"), BY_HAND)
    if question.keys != "phi":
        return dict.fromkeys(("phi", "knob", "d_k"), RAW)
    return {"d_k": NO_MAP} if question.phi == SOFTMAX else {}


def instead(question: Question) -> Mapping[str, str]:
    """What the pairs by hand have: keys that pass through no φ, and no draw."""
    if question.stream != "hand":
        return {}
    d_k, d_v = (str(vectors.shape[1]) for vectors in (HAND_K, HAND_V))
    return {"phi": NONE, "knob": f"{d_k} = d_k, by hand", "d_k": d_k, "seed": NONE, "keys": NONE, "d_v": d_v}
