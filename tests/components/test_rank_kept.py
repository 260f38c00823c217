"""Singular values that are kept are those of the maps as they are now, and rank as these do."""

from __future__ import annotations

import numpy as np
import pytest
from asked import VIEWS
from damaged import WAYS, damaged

from components import rank_kept
from components.controls import CONTROLS
from components.lesson import Lesson, Question
from components.offered import turned
from components.rank_kept import DEFAULTS, ENTRIES, FILE, KEPT, TURNED, holds, is_kept, kept, load
from components.rank_run import TOLERANCES, ranks, values_of
from components.rank_steps import COARSE, FINE, near, steps_of, values_at
from components.rank_values import computed
from components.words import PHIS, SEEDS, SOFTMAX, WIDTHS, WORDS, Refused
from compute.feature_maps import Dpfp, EluPlusOne, read_member, spell

ROUNDOFF = {"float64": 1e-11, "float32": 3e-5}
"""Relative singular values below which another processor may find others."""


DRAWS = [(4, 31), (8, 9), (16, 0), (32, 63), (64, 17), (16, SEEDS - 1)]


@pytest.mark.parametrize("kind", KEPT, ids="-".join)
@pytest.mark.parametrize("d_k, seed", DRAWS)
def test_what_is_kept_is_what_is_computed(d_k, seed, kind):
    words, grain = KEPT[kind]
    for word in words:
        _check(None if word == SOFTMAX else read_member(word), d_k, seed, *kind, grain)


@pytest.mark.parametrize("d_k, seed", [*DRAWS, (8, 70), (64, 98)])
def test_so_it_is_with_a_knob_turned(d_k, seed):
    assert {key[2] for key in ENTRIES[TURNED] if key[3] == d_k} == {spell(phi) for phi in turned(d_k)}
    for phi in turned(d_k):
        _check(phi, d_k, seed, "float64", "none", COARSE)
        assert not is_kept(phi, d_k, seed, "float32") and not is_kept(phi, d_k, seed, mask="causal")


def _check(phi, d_k, seed, precision, mask, grain):
    """The same values, zeros and gaps, and as many above each tolerance as roundoff leaves open."""
    asked = phi, d_k, seed, precision, mask
    assert is_kept(*asked), asked
    told, now = kept(*asked), computed(*asked)
    np.testing.assert_array_equal(np.isnan(told), np.isnan(now), str(asked))
    clear = now > ROUNDOFF[precision]
    np.testing.assert_allclose(told[clear], now[clear], rtol=near(grain), err_msg=str(asked))
    assert np.all(told[~clear & ~np.isnan(now)] < 2 * ROUNDOFF[precision]), asked
    low, high = _counted(0.98 * now), _counted(1.02 * now)
    seen = (precision == "float64") | (ROUNDOFF[precision] < TOLERANCES)
    assert np.all((low <= ranks(told)) | ~seen) and np.all((ranks(told) <= high) | ~seen), asked


@pytest.mark.parametrize("d_k, seed", [(4, 12), (16, 55), (64, 90)])
def test_with_a_knob_turned_every_rank_is_the_rank_of_what_is_computed(d_k, seed):
    """At every tolerance and number of tokens, closer than a step is wide: a tolerance lies between two."""
    seen = ROUNDOFF["float64"] < TOLERANCES
    for phi in turned(d_k):
        told, now = ranks(kept(phi, d_k, seed)), computed(phi, d_k, seed)
        low, high = (ranks(now, TOLERANCES * (1 + by))[:, seen] for by in (1e-3, -1e-3))
        assert np.all(low <= told[:, seen]) and np.all(told[:, seen] <= high), spell(phi)


def _counted(values):
    return np.sum(values[:, None, :] > TOLERANCES[:, None], axis=-1)


@pytest.mark.parametrize("grain", [FINE, COARSE])
def test_a_step_ranks_as_the_values_on_it(grain):
    """By hand: a step is 10^(1/600) or 10^(1/50) wide, and a tolerance lies between two."""
    values = np.array([1, 0.5, 1.0001e-1, 1e-1, 0.9999e-1, 1.001e-10, 0.999e-10, 1.001e-13, 1e-15, 0])
    told = values_at(steps_of(values, grain), grain)
    np.testing.assert_array_equal(ranks(told), ranks(values))
    np.testing.assert_allclose(told[:-2], values[:-2], rtol=10 ** (0.5 / grain) - 1 + 1e-12)
    assert told[0] == 1 and told[-1] == told[-2] == 0


def test_pages_read_what_is_kept_and_say_so():
    fine, coarse = (f"computed {load()['date']}, kept to {of} %" for of in ("0.2", "2"))
    for question, where in (
        (Question(seed=5), fine),
        (Question(phi=SOFTMAX, d_k=64), fine),
        (Question(seed=SEEDS - 1, d_k=4), fine),
        (Question(phi=SOFTMAX, mask="causal"), fine),
        (Question(precision="float32"), coarse),
        (Question(phi="dpfp~nu~6", seed=8, d_k=64), coarse),
        (Question(phi="taylor~symmetric~true", seed=2), fine),
        (Question(phi="favor~m~128"), "computed now"),
        (Question(phi="favor~m~64", precision="float32"), "computed now"),
        (Question(mask="causal"), "computed now"),
    ):
        texts = VIEWS["rank"].answer(question)["rank.texts"]
        assert texts["text"][texts["node"].index("rank.found")] == where, question
        asked = question.map, question.d_k, question.seed, question.precision, question.mask
        drawn, now = values_of(*asked), computed(*asked)
        assert np.allclose(drawn, now, rtol=0, atol=1e-6, equal_nan=True) == (where == "computed now")


def test_every_map_is_kept_at_every_width_and_draw_in_a_few_megabytes():
    """4.5 MB are of the defaults, 1 MB with a knob turned."""
    assert tuple(DEFAULTS.values()) == PHIS
    assert all(holds(word, d_k) for _, _, word, d_k in (key for keys in ENTRIES.values() for key in keys))
    assert FILE.stat().st_size < 6_000_000
    draws = CONTROLS["seed"].make(Lesson())
    assert (draws.start, draws.end) == (0, SEEDS - 1)
    with pytest.raises(Refused):
        WORDS["seed"].read(str(SEEDS))
    for seed in (0, SEEDS - 1):
        assert all(is_kept(None, d_k, seed) for d_k in WIDTHS)
    assert not is_kept(None, 16, SEEDS) and not is_kept(None, 12, 0)
    assert not is_kept(read_member("favor~m~128"), 16, 0)


def test_a_draw_of_the_defaults_reads_nothing_of_other_members(monkeypatch):
    read = []
    monkeypatch.setattr(rank_kept, "_archive", lambda: pytest.fail("a part that was not asked for"))
    monkeypatch.setattr(rank_kept, "_steps", lambda seed, entry: read.append(entry) or np.zeros(99_999, np.uint16))
    kept(read_member("elu"), 16, 3)
    assert read == ["16"]
    kept(read_member("dpfp~nu~6"), 16, 3)
    assert read == ["16", TURNED]


def test_a_map_that_has_changed_is_not_read_from_the_file(monkeypatch):
    assert holds.__wrapped__("elu", 16) and holds.__wrapped__("dpfp~nu~4", 16)
    monkeypatch.setattr(EluPlusOne, "features", lambda self, x: np.maximum(x, 0))
    whole = Dpfp.features
    monkeypatch.setattr(Dpfp, "features", lambda self, x: whole(self, x) ** 1.1)
    assert not holds.__wrapped__("elu", 16) and not holds.__wrapped__("dpfp~nu~4", 16)


def test_a_map_that_is_wider_now_is_not_read_from_the_file(monkeypatch):
    assert holds.__wrapped__("favor", 16)
    monkeypatch.setattr(rank_kept, "MEMBERS", {read_member("favor~m~128"): "favor"})
    assert not holds.__wrapped__("favor", 16)


@pytest.mark.parametrize("way", WAYS)
def test_without_a_file_in_one_piece_values_are_computed_and_the_log_says_so(way, monkeypatch, tmp_path, caplog):
    remembered = "load", "_archive", "_steps", "readable"
    file = damaged(rank_kept, way, {"FINE": FINE + 1}, remembered, monkeypatch, tmp_path)
    for phi, what in (("elu", "at d_k = 16"), ("dpfp~nu~6", "with a knob turned")):
        assert not is_kept(read_member(phi), 16, 0)
        assert f"draw 0 {what} is computed instead of read" in caplog.text and str(file) in caplog.text


def test_a_file_of_other_stops_is_refused(monkeypatch):
    monkeypatch.setattr(rank_kept, "STOPS", (16, 32))
    with pytest.raises(ValueError, match=r"^spectra.npz was made for other stops; run python -m components.rank_kept"):
        load.__wrapped__()
