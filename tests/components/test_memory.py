"""Memory: every read and the state are those of writing pair by pair, and the headline says the mean."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from asked import DEFAULT, VIEWS, relevant, said, shown

from components.lesson import Question
from components.memory_run import SPLIT_AT, STEP, pairs, stream_of
from components.says import decimals
from compute.memory import WRITE_RULES, crosstalk_energy
from compute.toys import queries_and_keys


def answer(question=DEFAULT):
    return VIEWS["memory"].answer(question)


MEMORIES = [q for q in relevant("memory") if q.model == DEFAULT.model]
memory_ids = [
    f"{q.stream}-{q.duel}-{q.pair}-{q.d_v}-{q.keys}-{q.rule}-{q.phi}-{q.d_k}-{q.rho:g}-{q.alpha:g}-{q.beta:g}-{q.seed}"
    for q in MEMORIES
]
PLAIN = [q for q in MEMORIES if q.stream == "plain"]
SOME = [q for q in PLAIN if q.keys != "phi"] + [q for q in PLAIN if q.keys == "phi" and q.d_k == 4][::3]
some_ids = [memory_ids[MEMORIES.index(q)] for q in SOME]


def written_one_by_one(question, word=None):
    """Cosine of every read after every write, and every state, from the rule itself."""
    K, V, keep, _ = pairs(stream_of(question))
    rule, S = WRITE_RULES[word or question.rule](), np.zeros((K.shape[1], V.shape[1]))
    states, cosines = [S], [np.empty(0)]
    for n in range(len(K)):
        S = rule(S, K[n], V[n], alpha=question.alpha * keep[n], beta=question.beta)
        reads = K[: n + 1] @ S
        lengths = np.maximum(np.linalg.norm(reads, axis=1) * np.linalg.norm(V[: n + 1], axis=1), 1e-300)
        states.append(S)
        cosines.append(np.sum(reads * V[: n + 1], axis=1) / lengths)
    return states, cosines


STREAMED = [
    Question(stream="overwrite", rule=rule, beta=1.0, keys=keys) for rule in WRITE_RULES for keys in ("random", "phi")
]
STREAMED += [Question(stream="topics", rule=rule, alpha=1.0, duel="additive", pair=230) for rule in WRITE_RULES]
STREAMED += [Question(stream="ungated", rule="decay", alpha=0.98)]
STREAMED += [Question(stream="topics", keys="orthonormal"), Question(d_v=8), Question(d_v=128, rule="delta")]
streamed = pytest.mark.parametrize("question", STREAMED, ids=lambda q: f"{q.stream}-{q.keys}-{q.rule}-{q.duel}-{q.d_v}")


def wanted_since(question, n):
    """First pair, from 0, that is still wanted after n writes: the last eight, the current topic, or all."""
    return {"overwrite": max(0, n - 8), "topics": (n - 1) // 32 * 32, "ungated": (n - 1) // 32 * 32}.get(
        question.stream, 0
    )


@streamed
def test_streams_are_read_as_writing_one_by_one_gives_and_averaged_over_what_is_wanted(question):
    told, cosines = answer(question), written_one_by_one(question)[1]
    reads = shown("memory", question, "memory.pairs", "cosine")
    for n in (0, 1, 7, 8, 9, 31, 32, 33, 64, 65, 200, 256):
        np.testing.assert_allclose(reads[n], cosines[n], atol=0.5 / 127 + 1e-6, err_msg=str(n))
        if n:
            mean = np.mean(cosines[n][wanted_since(question, n) :])
            assert told["memory.curve"]["mean"][n] == pytest.approx(mean, abs=1e-5)
            assert told["memory.reel"]["ends_y"][n] == pytest.approx(
                [cosines[n][wanted_since(question, n)], cosines[n][-1]], abs=1e-5
            )
            assert shown("memory", question, "memory.stale", "right")[n] == wanted_since(question, n) + 0.5


def test_a_flushed_topic_reads_as_if_it_were_the_first():
    """The gate leaves nothing behind, so the law of a fresh memory holds in each topic."""
    fresh, later = answer(Question(rule="decay", alpha=1.0)), answer(Question(stream="topics", rule="decay", alpha=1.0))
    np.testing.assert_allclose(later["memory.curve"]["law"][33:65], fresh["memory.curve"]["law"][1:33], rtol=1e-6)
    reads = shown("memory", Question(stream="topics", rule="decay", alpha=1.0), "memory.pairs", "cosine")[64]
    weights = shown("memory", Question(stream="topics", rule="decay", alpha=1.0, pair=64), "memory.split", "weight")[64]
    assert len(reads) == 64 and not weights[:32].any() and weights[63] == pytest.approx(1)


def test_delta_forgets_the_stale_value_that_adding_keeps():
    orthonormal = Question(stream="overwrite", keys="orthonormal", beta=1.0)
    after = {
        rule: shown("memory", replace(orthonormal, rule=rule), "memory.pairs", "cosine")[64] for rule in WRITE_RULES
    }
    assert after["delta"][-8:] == pytest.approx(1) and abs(after["delta"][:-8]).max() < 0.6
    assert np.mean(after["additive"][-8:]) == pytest.approx(1 / 8**0.5, abs=0.1)


@pytest.mark.parametrize("pair", [1, 20, 200])
@pytest.mark.parametrize("rule", WRITE_RULES)
def test_a_read_taken_apart_adds_up_to_the_read(rule, pair):
    """Weights times values is what the state says under the pair's key, up to the 127ths in which they travel."""
    question = Question(rule=rule, pair=pair, beta=1.0)
    K, V, *_ = pairs(stream_of(question))
    states = written_one_by_one(question)[0]
    weights, own = (shown("memory", question, f"memory.{s}", "weight") for s in ("split", "signal"))
    for n in (1, 20, 33, 130, 200, 256):
        at = max(m for m in SPLIT_AT if m <= n)
        assert len(weights[n]) == at
        if pair <= at:
            np.testing.assert_allclose(
                weights[n] @ V[:at], K[pair - 1] @ states[at], atol=STEP / 2 * abs(V).sum(0).max()
            )
            assert own[n] == pytest.approx(weights[n][pair - 1], abs=STEP)
    texts = said("memory", question, "memory.apart")
    assert "not written" in texts[pair - 1] and f"after {SPLIT_AT[-1]} writes" in texts[256]


def test_three_pairs_by_hand_give_the_numbers_of_the_book():
    question = Question(stream="hand", pair=1)
    texts = said("memory", question, "memory.sentence")
    assert texts[2].startswith("S = [[1, 2], [4, 0]]; key 1 reads (1, 2) = v₁.")
    assert texts[3].startswith("S = [[1, 5], [4, 4]]; key 1 reads (1, 5) = v₁ + 0.6·v₃.")
    third = said("memory", replace(question, pair=3), "memory.sentence")[3]
    assert third.startswith("S = [[1, 5], [4, 4]]; key 3 reads (3.8, 6.2) = 0.6·v₁ + 0.8·v₂ + v₃.")


def test_the_pairs_by_hand_follow_every_rule_and_its_dials():
    question = Question(stream="hand", pair=3, rule="delta", beta=0.5)
    told = said("memory", question, "memory.sentence")[3]
    read = "S = [[−0.07, 2.32], [1.24, 1.76]]; key 3 reads (0.95, 2.8) = 0.15·v₁ + 0.2·v₂ + 0.5·v₃."
    assert told == f"{read} This write took its error from (−1.9, 4.4) to (−0.95, 2.2)."
    whole = said("memory", replace(question, pair=2, beta=1.0), "memory.sentence")[2]
    assert whole == "S = [[1, 2], [4, 0]]; key 2 reads (4, 0) = v₂. This write took its error from (4, 0) to (0, 0)."
    faded = said("memory", replace(question, rule="gated_delta", alpha=0.5), "memory.sentence")[3]
    assert faded.startswith("S = [[−0.1375, 1.705], [0.65, 1.94]]")


def test_a_duel_shows_the_rival_as_it_is_alone():
    question = Question(rule="delta", beta=1.0, duel="additive")
    rival = shown("memory", question, "memory.pairs", "rival")
    alone = shown("memory", DEFAULT, "memory.pairs", "cosine")
    assert all(np.array_equal(a, b) for a, b in zip(rival, alone, strict=True))
    told, other = answer(question)["memory.curve"], answer(Question(rule="additive"))["memory.curve"]
    np.testing.assert_array_equal(told["rival"], other["mean"])
    text = said("memory", question, "memory.headline")[128]
    recent, other_recent, own, against, gap = (float(x.replace("−", "-")) for x in re.findall(r"[−+]?\d+\.\d+", text))
    newest_32 = [np.mean(reads[128][-32:]) for reads in (shown("memory", question, "memory.pairs", "cosine"), rival)]
    assert (recent, other_recent) == pytest.approx(newest_32, abs=0.01)
    assert (own, against) == pytest.approx((told["mean"][128], told["rival"][128]), abs=0.005)
    assert gap == pytest.approx(told["mean"][128] - told["rival"][128], abs=0.005)
    assert not any(np.size(r) for r in shown("memory", DEFAULT, "memory.pairs", "rival"))


def test_wider_values_are_recognised_more_often():
    shares = [
        float(re.match(r"[\d.]+", said("memory", Question(d_v=d_v), "memory.named")[64])[0]) for d_v in (8, 32, 128)
    ]
    assert shares == pytest.approx([26, 81, 100], abs=12) and shares == sorted(shares)


def taylor_overlap():
    """From the kernel 1 + s + s²/2 alone, without a feature."""
    s = queries_and_keys(16, 0)[1][:256]
    kernel = 1 + (s @ s.T) + (s @ s.T) ** 2 / 2
    squares = kernel**2 / np.outer(np.diag(kernel), np.diag(kernel))
    return (squares.sum() - 256) / (256 * 255)


@pytest.mark.parametrize(
    "question, expected, law",
    [
        (Question(), 1 / 32, "0.031"),
        (Question(keys="phi", phi="identity"), 1 / 16, "0.062"),
        (Question(keys="phi", phi="elu"), 0.49, "0.062"),
        (Question(keys="phi", phi="taylor"), taylor_overlap(), "0.0037"),
        (Question(keys="correlated", rho=0.5), 0.25 + 0.25 / 31, "0.258"),
        (Question(keys="orthonormal"), 0, "0"),
    ],
    ids=lambda x: f"{x.keys}-{x.phi}" if isinstance(x, Question) else "",
)
def test_positive_maps_overlap_more_than_the_law_takes_them_to(question, expected, law):
    """Measured beside the law; the expected values are theory, a kernel's, or were found outside this program."""
    texts = answer(question)["memory.texts"]
    measured, by_law = texts["text"][texts["node"].index("memory.overlap")].split(", by the law ")
    assert float(measured) == pytest.approx(expected, rel=0.15, abs=1e-9) and by_law == law


def test_no_memory_reads_better_than_the_best_line():
    for question in (DEFAULT, Question(rule="delta", beta=1.0), Question(keys="phi", phi="taylor")):
        curve = answer(question)["memory.curve"]
        assert (curve["mean"][2:] < curve["best"][2:] + 0.02).all()
        room = 153 if question.keys == "phi" else 32
        assert curve["best"][room] == 1 > curve["best"][room + 1]


def test_the_overview_does_not_carry_what_it_does_not_show():
    told = VIEWS["memory"].card.answer(Question(duel="delta", pair=7))
    assert not {"memory.splits", "memory.rivals", "memory.energies", "memory.stale"} & set(told)
    assert "sentence" not in told["memory.reel"] and "rival" not in told["memory.curve"]


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
    assert numbers[:9] == list(range(9))
    for n, at in enumerate(numbers):
        assert at == max(m for m in numbers if m <= n) and n - at < 64


def written_at(title):
    return int(re.search(r"\d+", title)[0])


def test_crosstalk_of_an_additive_memory_is_about_the_gram_matrix():
    """Measured over one draw of values, expected over all of them."""
    K = pairs(stream_of(DEFAULT)).K
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


@pytest.mark.parametrize("question", PLAIN, ids=[memory_ids[MEMORIES.index(q)] for q in PLAIN])
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
