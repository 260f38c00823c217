"""Formulas beside the views: the symbol that a finger moves has its number underneath."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from asked import VIEWS

from components.formula import at_stops
from components.lesson import Question
from components.memory_run import overlap, stream_of
from components.says import decimals
from compute.memory import WRITE_RULES


def values(view: str, question: Question) -> str:
    told = VIEWS[view].answer(question)[f"{view}.math"]
    return dict(zip(told["node"], told["text"]))[f"{view}.values"]


def read(view: str, question: Question, **at: int) -> list[str]:
    """The formulas beside a view at these stops, as text."""
    blocks = xml.fromstring(f"<all>{at_stops(values(view, question), at, VIEWS[view].answer(question))}</all>")
    return [re.sub(r"\s", "", "".join(block.itertext())) for block in blocks]


@pytest.mark.parametrize(
    "view", ["bracketing", "sharpness", "random-features", "memory", "rank", "normaliser", "recall", "sizing"]
)
def test_the_formula_beside_a_view_follows_its_finger(view):
    assert set(re.findall(r'data-under="(\w+)"', values(view, Question()))) == {VIEWS[view].axis}


def test_of_softmax_bracketing_counts_one_order_at_the_fingers_length():
    assert read("bracketing", Question(phi="softmax", head=64), T=40)[1] == "FLOPs=2T1,0242(d64+d)"
    assert read("bracketing", Question(head=64), T=40)[1] == "leftright=T1,024T*64=16"
    assert read("bracketing", Question(head=128), T=0)[1] == "leftright=T1T*128=1/128"


@pytest.mark.parametrize(
    ("question", "bound"),
    [
        (Question(), "rank≤min(N256,dφ16)"),
        (Question(phi="taylor"), "rank≤min(N256,dφ273,distinctmonomials153)"),
        (Question(phi="dpfp~nu~4"), "rank≤min(N256,dφ128)"),
        (Question(mask="causal"), "rankofblock≤min(N2128,dφ16)"),
    ],
)
def test_the_bound_of_the_rank_is_that_of_what_is_counted_and_names_monomials_where_there_are_such(question, bound):
    assert read("rank", question, N=8) == [bound]


def test_a_cache_comes_to_what_the_bill_says_of_its_layers_alone():
    """By hand: 44 layers of 2·2·128·2 B a token, and 52 windows of 1,023 tokens at 2·16·128·2 B."""
    assert read("sizing", Question(model="falcon-h1-7b"), T=40)[0] == "cache=L442nkv2d128b2T1,024=44MiB"
    assert read("sizing", Question(model="gemma-3-27b-it"), T=80)[1].endswith("W1,024−1)=415.6MiB")
    assert read("sizing", Question(), T=0)[0].endswith("T1=40KiB")


def test_random_features_say_the_variance_at_the_fingers_length_and_at_the_usual_one():
    here, usual = read("random-features", Question(head=16), r=0)
    assert here == "relativevariance=exp(‖q+k‖0.252)−1dφ256" and usual.endswith("exp(2dk16)−1dφ=11.6")


@pytest.mark.parametrize("rule", WRITE_RULES)
def test_the_formula_beside_the_memory_follows_n_whatever_the_rule(rule):
    assert "n64" in "".join(read("memory", Question(rule=rule), n=64))


@pytest.mark.parametrize(
    ("question", "law"),
    [
        (Question(), "crosstalk/signal≈(n64−1)1d32"),
        (Question(keys="correlated", rho=0.25), "crosstalk/signal≈(n64−1)(ρ0.252+(1−ρ)2d32−1)"),
        (Question(keys="phi", phi="softmax"), "crosstalk/signal≈(n64−1)1d32"),
        (Question(keys="orthonormal"), "crosstalk=0,pairskeptapart=min(n64,d32)"),
        (Question(keys="orthonormal", rule="delta"), "crosstalk=0,pairskeptapart=min(n64,d32)"),
        (Question(rule="decay", alpha=0.9), "crosstalk≈(n64−1)1d321−α0.92nn(1−α2)"),
        (Question(rule="decay", alpha=1.0), "crosstalk≈(n64−1)1d32"),
        (Question(rule="delta", keys="phi", phi="taylor"), "leastmissofanywrite=max(0,1−d153n64)"),
    ],
)
def test_the_law_beside_the_memory_is_that_of_its_rule_and_keys(question, law):
    assert law in read("memory", question, n=64)


@pytest.mark.parametrize("rule", WRITE_RULES)
@pytest.mark.parametrize("keys", ["random", "correlated", "orthonormal"])
def test_before_the_first_pair_a_formula_has_no_number_to_work_out(rule, keys):
    empty, first = (" ".join(read("memory", Question(rule=rule, keys=keys), n=n)) for n in (0, 1))
    assert "nnoneyet" in empty and "n0" not in empty and empty.replace("noneyet", "1") == first


@pytest.mark.parametrize("rule", WRITE_RULES)
def test_orthonormal_keys_disturb_nothing_and_no_more_of_them_fit_than_the_formula_says(rule):
    asked = Question(keys="orthonormal", rule=rule)
    drawn = VIEWS["memory"].answer(asked)
    most = int(drawn["memory.reel"]["n"].max())
    assert f"d{most}" in "".join(read("memory", asked, n=200)) and np.nanmax(drawn["memory.energies"]["energy"]) < 1e-9


def test_of_features_the_law_has_the_overlap_that_they_have_and_not_that_of_random_keys():
    asked = Question(keys="phi", phi="elu")
    (law,) = (line for line in read("memory", asked, n=64) if "cos" in line)
    alike = decimals(overlap(stream_of(asked)), 3)
    assert alike in law and float(alike) > 0.1


@pytest.mark.parametrize("stream", ["overwrite", "topics", "ungated"])
def test_a_law_for_keys_that_are_all_different_is_not_shown_for_others(stream):
    assert not any("crosstalk" in line or "miss" in line for line in read("memory", Question(stream=stream)))
