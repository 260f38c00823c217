"""Sharpness, small cases: what can be checked of each map with numbers to follow, all maps at a glance; and reports."""

from __future__ import annotations

from components.cases import Nodes, checked

CASES = {
    "softmax": {
        "C019": "softmax − the average with the kernel exp(q·k/√d_k): {}",
    },
    "elu": {
        "C020": "alike values come out alike, off by {}; no weight is negative: {}",
        "C064": "weights of a very long query − shares of relu(q)·φ(k): {}",
    },
    "relu": {"C062": "weights of longer queries move by {}; those of the identity stay: {}"},
    "favor": {
        "C090": "ten sets of 512 features: kernel values off by {} to {} on average",
        "C091": "misplaced weight grows with sharpness: {}; with d_k: {}; with fewer features: {}",
    },
    "taylor": {
        "C022": "x₁², √2·x₁x₂, x₂² of (1, 2) and of (3, 1): their product {}",
        "C095": "all second-order features of these two: {}, {}, {}, {} and {}, {}, {}, {}; their product {}",
        "C023": "that product − (q·k)²: {}; never negative: {}; a feature can be: {}; at a right angle: {}",
        "C026": "features of (q·k)² at widths 5 and 16: {} and {}",
        "C067": "weights of a very long query − shares of squared scores: {}",
    },
    "hedgehog": {
        "C104": "at its start the kernel of (1, 2) and (3, 1) is {}; features at width 16: {}",
        "C105": "its cost for twice the tokens: {} times, for twice the width {} times",
    },
    "dpfp": {"C108": "ν = 1, 2, 3 at width 16: {}, {}, {} features; share of zeros {}, {}, {}"},
}
"""For a word of a map, and each claim about it, a line with gaps."""

EVERY = {"C070": "at d_k = 16: {}, {}, {}, {}, {}, {}, {}"}
"""The line that every map has."""

REPORTS = ("C106", "C107")
"""Claims that are quoted."""


def small_cases(word: str) -> Nodes:
    return checked("sharpness", {**CASES.get(word, {}), **EVERY})
