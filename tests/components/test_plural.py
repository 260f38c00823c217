"""One token is one token, at the first stop of every axis."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import VIEWS, binds, said

from components.lesson import Question
from components.says import counted_tokens


def test_a_count_of_tokens_is_said_as_people_say_it():
    assert [counted_tokens(n) for n in (0, 1, 2, 1048576)] == ["0 tokens", "1 token", "2 tokens", "1,048,576 tokens"]


@pytest.mark.parametrize("word", VIEWS)
def test_no_sentence_of_a_view_speaks_of_1_tokens(word):
    question = Question()
    nodes = {bind.node for _, bind in binds(VIEWS[word]) if bind.node}
    texts = [str(text) for node in nodes for text in np.ravel(np.array(said(word, question, node), dtype=object))]
    assert texts and not [text for text in texts if re.search(r"(?<![\d.,])1 (tokens|steps|numbers|rows)\b", text)]
