"""What the queue refuses: by number, by estimate, and with a sentence that says so."""

from __future__ import annotations

from itertools import pairwise

import pytest
from sweep_cases import LONG, RECALL, SHORT, WAIT_S, short, until

from compute.sweeps.tickets import Refused


def test_one_visitor_has_one_sweep(runner):
    ticket = runner.submit("crosstalk", LONG, "ann")
    with pytest.raises(Refused, match="One sweep at a time"):
        runner.submit("recall", SHORT, "ann")
    ticket.cancel()
    assert runner.submit("recall", SHORT, "ann").result(WAIT_S).complete


def test_the_queue_is_bounded_and_says_where_one_stands(runner):
    first = runner.submit("crosstalk", LONG)
    until(lambda: runner.running is not None)
    tickets = [runner.submit("recall", short(i)) for i in range(1, 21)]
    assert [ticket.progress.position for ticket in tickets] == list(range(1, 21))
    assert all(a.progress.left_s <= b.progress.left_s for a, b in pairwise(tickets))
    with pytest.raises(Refused, match="20 sweeps are waiting; try again in about"):
        runner.submit("recall", short(21))
    tickets[3].cancel()
    assert runner.submit("recall", short(21)).progress.position == 20
    first.cancel()
    for ticket in tickets[4:]:
        ticket.cancel()
    assert tickets[0].result(WAIT_S).complete


def test_what_takes_too_long_is_refused_before_it_starts(runner):
    runner.submit("recall", SHORT).result(WAIT_S)
    with pytest.raises(Refused, match=r"about \d+ min on this machine"):
        runner.submit("crosstalk")


def test_a_first_question_that_is_too_long_is_refused_once_the_device_is_known(runner):
    with pytest.raises(Refused, match=r"about \d+ min on this machine"):
        runner.submit("crosstalk").result(WAIT_S)
    until(lambda: runner.busy is None)


def test_the_estimate_learns_from_what_was_measured(runner):
    before = runner.estimate_s(RECALL, RECALL.quick)
    told = runner.submit("recall", RECALL.quick).result(WAIT_S)
    assert runner.estimate_s(RECALL, RECALL.quick) == pytest.approx(told.about["seconds"], rel=0.05)
    assert before > 0
