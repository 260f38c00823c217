"""Memory: every read and the state are those of writing pair by pair, and the headline says the mean."""

from __future__ import annotations

import re

import numpy as np
import pytest
from asked import DEFAULT, VIEWS, relevant, said, shown

from components.lesson import Question
from components.memory_answer import pairs
from components.says import decimals
from components.words import SOFTMAX
from compute.memory import WRITE_RULES, crosstalk_energy


def answer(question=DEFAULT):
    return VIEWS["memory"].answer(question)


MEMORIES = [q for q in relevant("memory") if q.model == DEFAULT.model]
memory_ids = [f"{q.keys}-{q.rule}-{q.phi}-{q.d_k}-{q.rho:g}-{q.alpha:g}-{q.beta:g}-{q.seed}" for q in MEMORIES]
SOME = [q for q in MEMORIES if q.keys != "phi"] + [q for q in MEMORIES if q.keys == "phi" and q.d_k == 4][::3]
some_ids = [memory_ids[MEMORIES.index(q)] for q in SOME]


def written_one_by_one(question):
    """Cosine of every read after every write, and every state, from the rule itself."""
    own = question.keys == "phi"
    K, V = pairs(question.keys, question.rho if question.keys == "correlated" else 0.5,
                 question.phi if own else SOFTMAX, question.d_k if own else 32, question.seed)  # fmt: skip
    rule, S = WRITE_RULES[question.rule](), np.zeros((K.shape[1], V.shape[1]))
    states, cosines = [S], [np.empty(0)]
    for n in range(len(K)):
        S = rule(S, K[n], V[n], alpha=question.alpha, beta=question.beta)
        reads = K[: n + 1] @ S
        lengths = np.maximum(np.linalg.norm(reads, axis=1) * np.linalg.norm(V[: n + 1], axis=1), 1e-300)
        states.append(S)
        cosines.append(np.sum(reads * V[: n + 1], axis=1) / lengths)
    return states, cosines


@pytest.mark.parametrize("question", SOME, ids=some_ids)
def test_memory_shows_what_writing_one_by_one_gives(question):
    told, cosines = answer(question), written_one_by_one(question)[1]
    most, reads = len(cosines) - 1, shown("memory", question, "memory.pairs", "cosine")
    for n in range(257):
        np.testing.assert_allclose(reads[n], cosines[min(n, most)], atol=0.5 / 127 + 1e-6, err_msg=str(n))
    mean = np.array([np.nan, *(c.mean() for c in cosines[1:])])
    newest = np.array([np.nan, *(c[-1] for c in cosines[1:])])
    curve = told["memory.curve"]
    np.testing.assert_allclose(curve["mean"][1 : most + 1], mean[1:], atol=1e-5)
    np.testing.assert_allclose(curve["newest"][1 : most + 1], newest[1:], atol=1e-5)
    assert np.isnan(curve["mean"][most + 1 :]).all()
    oldest = np.array([c[0] for c in cosines[1:]])
    last = np.minimum(np.arange(1, 257), most)
    ends = np.asarray(shown("memory", question, "memory.ends", "y"))[1:]
    np.testing.assert_allclose(ends, np.stack([oldest[last - 1], newest[last]], axis=1), atol=1e-5)


@pytest.mark.parametrize("rule", WRITE_RULES)
def test_the_picture_of_the_state_is_the_state(rule):
    question = Question(rule=rule)
    states, frames = written_one_by_one(question)[0], shown("memory", question, "memory.state", "image")
    numbers = [written_at(title) for title in said("memory", question, "memory.frame")]
    scale = max(np.abs(states[n]).max() for n in numbers)
    told = answer(question)["memory.texts"]
    assert told["text"][told["node"].index("memory.scale")] == f"±{decimals(scale)}"
    for frame, n in zip(frames, numbers, strict=True):
        np.testing.assert_allclose((frame.astype(float) - 127.5) / 127.5 * scale, states[n], atol=scale * 0.51 / 127.5)


def test_the_frame_shown_is_the_last_one_sent_up_to_n():
    """The first writes each have their own."""
    numbers = [written_at(title) for title in said("memory", DEFAULT, "memory.frame")]
    assert numbers[:17] == list(range(17))
    for n, at in enumerate(numbers):
        assert at == max(m for m in numbers if m <= n) and n - at < 64


def written_at(title):
    return int(re.search(r"\d+", title)[0])


def test_crosstalk_of_an_additive_memory_is_about_the_gram_matrix():
    """Measured over one draw of values, expected over all of them."""
    K = pairs("random", 0.5, SOFTMAX, 32, 0)[0]
    drawn = answer()["memory.energies"]["energy"]
    for n in (32, 128, 256):
        assert drawn[n - 1] == pytest.approx(crosstalk_energy(K[:n]), rel=0.15)


@pytest.mark.parametrize("question", MEMORIES, ids=memory_ids)
def test_the_memory_headline_says_the_mean_cosine_that_is_drawn(question):
    curve = answer(question)["memory.curve"]["mean"]
    most = int(np.max(np.flatnonzero(np.isfinite(curve))))
    for n, text in enumerate(said("memory", question, "memory.headline")):
        if 1 < n <= most:
            assert text.startswith(f"{n} ") or f" {n} " in text, text
            if re.search("cosine (under 0.0001|about 0)", text):
                assert abs(curve[n]) < 1e-4
                continue
            number = re.search(r"cosine (−?\d+(?:\.\d+)?)", text)[1].replace("−", "-")
            half = 0.5001 * 10.0 ** -len(number.partition(".")[2])
            assert float(number) == pytest.approx(curve[n], abs=half + 1e-6), text


@pytest.mark.parametrize("question", MEMORIES, ids=memory_ids)
def test_the_mean_of_the_bars_is_the_point_on_the_curve(question):
    curve = answer(question)["memory.curve"]["mean"]
    reads, here = (shown("memory", question, f"memory.{s}", c) for s, c in (("pairs", "cosine"), ("here", "y")))
    for n in (1, 2, 31, 32, 33, 128, 256):
        assert np.mean(reads[n]) == pytest.approx(here[n], abs=0.5 / 127 + 1e-6)
        if np.isfinite(curve[n]):
            assert here[n] == pytest.approx(curve[n], abs=1e-6)


def test_a_law_is_drawn_only_where_one_holds():
    for rule, kind in WRITE_RULES.items():
        law = answer(Question(rule=rule))["memory.curve"]["law"]
        assert np.isfinite(law[2:]).all() != kind.corrects
    law, mean = (answer()["memory.curve"][name] for name in ("law", "mean"))
    np.testing.assert_allclose(law[8:], 1 / np.sqrt(1 + np.arange(7, 256) / 32), rtol=0.03)
    np.testing.assert_allclose(mean[8:], law[8:], atol=0.06)
