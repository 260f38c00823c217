"""Streams of pairs: what is written when, what the gate does, and what is still wanted."""

from __future__ import annotations

import numpy as np
import pytest

from compute.crosstalk import every_read
from compute.memory import read, unit, write
from compute.pair_streams import HAND_K, HAND_V, KEYS_IN_TURN, STREAMS, TOPIC, mean_wanted

rng = np.random.default_rng(3)
K, V = unit(rng.standard_normal((100, 12))), rng.standard_normal((100, 5))

every_stream = pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)


@every_stream
def test_a_stream_says_something_of_every_write(stream):
    told = stream(K, V)
    N = len(told.V)
    assert told.K.shape[0] == N == len(told.keep) and len(told.since) == N + 1
    assert set(told.keep) <= {0.0, 1.0} and told.keep[0] == 1
    n = np.arange(1, N + 1)
    assert told.since[0] == 0 and (told.since[1:] < n).all() and (np.diff(told.since) >= 0).all()


@every_stream
def test_a_stream_is_named_by_its_word(stream):
    assert STREAMS[stream.word] is stream


def test_by_hand_is_the_memory_on_paper():
    told = STREAMS["hand"](K, V)
    S = write(told.K, told.V)
    np.testing.assert_allclose(S, [[1, 5], [4, 4]])
    assert read(S, HAND_K[2]) == pytest.approx([3.8, 6.2])
    assert write(told.K[:2], told.V[:2]).tolist() == [[1, 2], [4, 0]]
    assert told.V is HAND_V


def test_in_turn_every_eighth_key_is_the_same_and_only_the_newest_of_each_is_wanted():
    told = STREAMS["overwrite"](K, V)
    np.testing.assert_array_equal(told.K[5::KEYS_IN_TURN], np.broadcast_to(K[5], (12, 12)))
    for n in range(1, 101):
        wanted = told.K[told.since[n] : n]
        assert len(np.unique(wanted, axis=0)) == len(wanted) == min(n, KEYS_IN_TURN)


def test_topics_without_a_gate_are_the_same_pairs_and_nothing_flushes():
    gated, told = STREAMS["topics"](K, V), STREAMS["ungated"](K, V)
    assert all(np.array_equal(getattr(gated, name), getattr(told, name)) for name in ("K", "V", "since"))
    assert np.array_equal(told.keep, np.ones(len(V)))


def test_topics_start_where_the_gate_flushes():
    told = STREAMS["topics"](K[:20], V)
    assert np.flatnonzero(told.keep == 0).tolist() == [32, 64, 96]
    for n in range(1, 101):
        assert told.since[n] % TOPIC == 0 and 1 <= n - told.since[n] <= TOPIC
    # pairs before the flush have no weight at all
    reads = every_read(told.K, told.V, "decay", alpha=told.keep)
    assert reads.own[-1, 95] == 0 and reads.own[-1, 96] == pytest.approx(1, abs=1e-14)  # a unit key's own square
    np.testing.assert_array_equal(told.K[20:40], K[:20])


def test_the_mean_over_wanted_pairs_is_the_plain_mean_when_all_are_wanted():
    x = np.tril(rng.standard_normal((100, 100)))
    by_hand = [x[n - 1, :n].mean() for n in range(1, 101)]
    np.testing.assert_allclose(mean_wanted(x, np.zeros(101, dtype=int)), by_hand)
    x[np.triu_indices(100, 1)] = np.nan
    since = STREAMS["topics"](K, V).since
    np.testing.assert_allclose(mean_wanted(x, since), [x[n - 1, since[n] : n].mean() for n in range(1, 101)])
