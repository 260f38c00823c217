"""Numbers under the symbols of the normaliser's formulas: what each way divides by, summed here token by token."""

from __future__ import annotations

import re

import numpy as np
import pytest

from app.page import view
from components.axes import AXES
from components.formula import at_stops
from components.lesson import Question
from components.words import PHIS, WAYS
from compute.streams import as_met, stream

VIEW = view("normaliser")
AT = (4, 64, 1024)


def formula(**words) -> tuple[str, dict]:
    told = VIEW.answer(Question(**words))
    return dict(zip(told["normaliser.math"]["node"], told["normaliser.math"]["text"]))["normaliser.values"], told


def numbers(t: int, **words) -> list[str]:
    """What stands under the symbols after t tokens, t itself left out."""
    shown, told = formula(**words)
    made = at_stops(shown, {"tokens": AXES["tokens"].index(t)}, told)
    return re.findall(r'data-column="[^"]+">([^<]*)<', made)


def silu(x):
    return x / (1 + np.exp(-x))


def elu(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def walk(features, of_value=lambda v: v, gamma=None, temper=0.5):
    """S [32, d, 8], n [32, d] and φ(q) [32, d] after each of AT, by the recurrence as it is written beside the figure;
    width 16, so that a tempered query is half of what is drawn."""
    drawn = stream(16, 0)
    q, K, V = (np.asarray(x, float) for x in (drawn.Q, as_met(drawn.K), as_met(drawn.V)))
    gamma = np.ones(32) if gamma is None else np.tile(gamma, 4)
    S, n = np.zeros((32, 16, 8)), np.zeros((32, 16))
    for t in range(AT[-1]):
        k, v = features(temper * K[:, t]), of_value(V[:, t])
        S, n = gamma[:, None, None] * S + k[:, :, None] * v[:, None, :], gamma[:, None] * n + k
        if t + 1 in AT:
            yield S, n, features(temper * q)


def root(x):
    return np.sqrt(np.mean(x**2, axis=-1))


def read(S, q):
    return np.einsum("nde,nd->ne", S, q)


def identity(x):
    return x


def divisors(way: str) -> list[list[float]]:
    """After each of AT, the middle one of 32 draws; lightning's eight heads share a norm, so four."""
    if way == "mlstm":
        return [[np.median(np.maximum(np.abs(np.sum(n * q, -1)), 1))] for _, n, q in walk(identity)]
    if way == "transnormer":
        return [[np.median(root(read(S, q)))] for S, _, q in walk(elu)]
    heads = np.arange(8)
    if way == "lightning":
        walked = walk(silu, silu, np.exp(-(2.0 ** -(heads + 1))), temper=1.0)
        return [[np.median(root(read(S, q).reshape(4, 64)))] for S, _, q in walked]
    found = []
    for S, n, q in walk(identity, gamma=1 - 2.0 ** -(5 + heads)):
        floor = np.maximum(np.abs(np.sum(n * q, -1)), 1)
        found.append([np.median(floor), np.median(root(read(S, q) / floor[:, None]))])
    return found


def said(text: str) -> float:
    mantissa, _, exponent = text.replace("−", "-").replace(",", "").partition("·10")
    return float(mantissa) * 10.0 ** int(exponent.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")) or 0)


@pytest.mark.parametrize("way", WAYS[1:])
def test_under_what_a_way_divides_by_stands_its_value_in_the_middle_draw(way):
    for t, wanted in zip(AT, divisors(way), strict=True):
        assert [said(text) for text in numbers(t, way=way)] == pytest.approx(wanted, rel=6e-3)


@pytest.mark.parametrize(("phi", "features"), [("elu", elu), ("identity", identity), ("silu", silu)])
def test_under_the_sums_symbols_stands_the_denominator_of_the_headlines_draw(phi, features):
    for t, (_, n, q) in zip(AT, walk(features), strict=True):
        wanted = [n[0] @ q[0], n[0] @ q[0] / t, n[0] @ q[0]]
        assert [said(text) for text in numbers(t, phi=phi)] == pytest.approx(wanted, rel=6e-3)


@pytest.mark.parametrize("phi", PHIS)
def test_numbers_on_both_sides_of_the_sums_equation_are_equal(phi):
    """As far as their digits go, at every number of tokens, also where all is zero."""
    for d_k, seed in ((16, 0), (4, 50)):
        for t in AXES["tokens"].stops:
            total, mean, again = (said(text) for text in numbers(t, phi=phi, d_k=d_k, seed=seed))
            digits = 6e-3 if 0.01 <= abs(total) < 1e5 and abs(mean) >= 1e-4 else 0.11  # powers of ten have two
            assert total == again == pytest.approx(t * mean, rel=digits), (d_k, t)


def test_under_the_symbol_of_the_decay_stand_the_least_and_the_greatest_of_the_heads():
    for way, ends in (("retnet", (1 - 2**-5, 1 - 2**-12)), ("lightning", (np.exp(-0.5), np.exp(-(2**-8))))):
        (told,) = re.findall(r"<mtext>([\d.]+)&#x000A0;to&#x000A0;([\d.]+)</mtext>", formula(way=way)[0])
        assert [float(x) for x in told] == pytest.approx(ends, rel=1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_no_place_under_a_symbol_is_ever_empty(way):
    for phi in PHIS:
        shown, told = formula(way=way, phi=phi, d_k=4, seed=11)
        assert 'data-column="' in shown
        for i in range(len(AXES["tokens"].stops)):
            assert not re.search("></mtext>", at_stops(shown, {"tokens": i}, told))
