"""Recall from a cache, sharp and mild; and what others report."""

from __future__ import annotations

CASES = {
    "C127": "sharp softmax over a cache of 500 pairs, width 16: share read back right {}",
    "C178": "mild softmax over the same: the right one of 500 gets {} of the weight",
}
"""For each claim that is computed, a line with gaps."""

REPORTS = ("C155", "C156", "C157")
"""Claims that are quoted."""
