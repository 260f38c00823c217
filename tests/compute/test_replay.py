"""Recorded work, on a CPU: the recording stands in for CUDA's and writes what it is given into its own inputs."""

import threading

import pytest
import torch

from compute.attention import half, replay
from compute.attention.replay import KEPT, SEEN, Replayed


class Recorded:
    """As `replay.Recording`, without a device."""

    made, ended = [], []

    def __init__(self, work, tensors, options):
        self.inputs = [torch.empty_like(x) for x in tensors]
        self.again = lambda: work(*self.inputs, **options)
        self.made.append(self)

    def replay(self, tensors):
        for own, x in zip(self.inputs, tensors, strict=True):
            own.copy_(x)
        return self.again()

    def end(self):
        self.ended.append(self)


@pytest.fixture(autouse=True)
def nothing_recorded(monkeypatch):
    """And as if no other thread were running, whatever ran before this test."""
    monkeypatch.setattr(Recorded, "made", [])
    monkeypatch.setattr(Recorded, "ended", [])
    monkeypatch.setattr(threading, "active_count", lambda: 1)


def double(x, *, by=2):
    return (x * by, None)


def test_shapes_are_recorded_from_the_third_time_on_and_replayed_on_new_inputs():
    replayed = Replayed(double, Recorded)
    for i in range(6):
        out, none = replayed(torch.full((3,), float(i)))
        assert (out.tolist(), none) == ([2.0 * i] * 3, None)
        assert len(Recorded.made) == (i >= SEEN)


def test_another_shape_dtype_or_option_is_another_recording():
    replayed = Replayed(double, Recorded)
    for i in range(SEEN + 2):
        for x, by in ((torch.ones(3), 2), (torch.ones(3, 1), 2), (torch.ones(3).double(), 2), (torch.ones(3), 5)):
            out, _ = replayed(x * i, by=by)
            assert torch.equal(out, x * i * by)
    assert len(Recorded.made) == 4


def test_options_are_told_apart_by_name_in_whatever_order_they_come():
    replayed = Replayed(lambda x, *, by, plus: (x * by + plus,), Recorded)
    for i in range(SEEN + 2):
        assert replayed(torch.ones(1) * i, by=2, plus=5)[0].item() == 2 * i + 5
        assert replayed(torch.ones(1) * i, plus=2, by=5)[0].item() == 5 * i + 2


def test_shapes_that_came_longest_ago_are_forgotten_and_their_memory_given_back():
    replayed = Replayed(double, Recorded)
    for n in range(1, KEPT + 2):
        for _ in range(SEEN + 1):
            replayed(torch.ones(n))
    assert [len(told.inputs[0]) for told in Recorded.ended] == [1]
    replay.forget()
    assert len(Recorded.ended) == KEPT + 1
    replayed(torch.ones(KEPT))
    assert len(Recorded.made) == KEPT + 1


def test_shapes_in_use_stay_whatever_else_comes():
    replayed = Replayed(double, Recorded)
    for n in range(3 * KEPT):
        replayed(torch.ones(1))
        replayed(torch.ones(2 + n))
    assert len(Recorded.made) == 1 and not Recorded.ended


def test_nothing_is_recorded_beside_another_thread(monkeypatch):
    replayed = Replayed(double, Recorded)
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    for _ in range(SEEN + 3):
        assert replayed(torch.ones(3))[0].tolist() == [2.0] * 3
    assert not Recorded.made
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    replayed(torch.ones(3))
    assert len(Recorded.made) == 1


def test_nothing_is_recorded_off_the_default_stream(monkeypatch):
    monkeypatch.setattr(replay, "unusual", lambda x: True)
    replayed = Replayed(double, Recorded)
    for _ in range(SEEN + 3):
        assert replayed(torch.ones(3))[0].tolist() == [2.0] * 3
    assert not Recorded.made


def test_what_cannot_be_recorded_is_done_as_it_is_written():
    tried = []

    def refuse(work, tensors, options):
        tried.append(tensors)
        raise RuntimeError("out of memory")

    replayed = Replayed(double, refuse)
    for _ in range(SEEN + 3):
        assert replayed(torch.ones(3))[0].tolist() == [2.0] * 3
    assert len(tried) == 1


def test_errors_of_the_work_are_its_own():
    def fails(x):
        raise ValueError("x must be smaller")

    replayed = Replayed(fails, Recorded)
    for _ in range(SEEN + 2):
        with pytest.raises(ValueError, match="x must be smaller"):
            replayed(torch.ones(3))


def test_within_a_recording_nothing_is_recorded_or_remembered(monkeypatch):
    """What is made there belongs to the recording: a constant that others found in the cache would be garbage."""
    monkeypatch.setattr(replay, "recorded_now", lambda x: True)
    monkeypatch.setattr(half, "recorded_now", lambda x: True)
    replayed = Replayed(double, Recorded)
    for _ in range(SEEN + 2):
        replayed(torch.ones(3))
    assert not Recorded.made and not replayed.met
    like = torch.ones(1)
    assert half._earlier(5, like) is not half._earlier(5, like)
    monkeypatch.setattr(half, "recorded_now", lambda x: False)
    assert half._earlier(5, like) is half._earlier(5, like)


def test_the_products_of_a_recording_are_those_of_the_work():
    """Every kind of call: with sums, with a state to return, resumed from one."""
    replayed = Replayed(half._products, Recorded)
    for i in range(SEEN + 2):
        torch.manual_seed(i)
        q, k, v = (torch.randn(2, 40, 8).bfloat16() for _ in range(3))
        for state in ((), (torch.randn(2, 8, 8), torch.randn(2, 8))):
            told = {"chunk": 16, "denominators": True, "states": True}
            got, want = replayed(q, k, v, *state, **told), half._products(q, k, v, *state, **told)
            assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))
    assert len(Recorded.made) == 2
