"""Recall beside a cache, sharp and mild; beside a memory that forgets in time; and what others report."""

from __future__ import annotations

CASES = {
    "C127": "sharp softmax over a cache of 500 pairs, width 16: share read back right {}",
    "C178": "mild softmax over the same: the right one of 500 gets {} of the weight",
    "C139": "8 new pairs after 512 old ones, cosine: width 16 with a flush {}, width 64 without {}",
}
"""For each claim that is computed, a line with gaps."""

REPORTS = ("C155", "C156", "C157")
"""Claims that are quoted."""
