"""Where a visitor asks for a sweep: what is sent to the browser, for a run, a cancel, a refusal and a death."""

import time
from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest

from app import desk
from components.sweep_columns import columns
from components.sweep_pictures import PICTURES
from components.sweep_shown import finding, said
from compute.sweeps.places import find
from compute.sweeps.registry import SWEEPS
from compute.sweeps.runner import ONE_AT_A_TIME
from compute.sweeps.runner import Runner as Real
from compute.sweeps.running import run
from compute.sweeps.shipped import shipped
from compute.sweeps.store import Store
from compute.sweeps.tickets import Progress, Refused

NAME = "rank.rank_sweep"
SWEEP = SWEEPS[PICTURES[NAME].sweep]


class Document:
    """Callbacks run when the test says so, as a session's turn comes."""

    def __init__(self):
        self.session_context = SimpleNamespace(destroyed=False)
        self.callbacks = []

    def add_next_tick_callback(self, callback):
        self.callbacks.append(callback)

    def turn(self):
        callbacks, self.callbacks = self.callbacks, []
        for callback in callbacks:
            callback()


class Ticket(Future):
    def __init__(self):
        super().__init__()
        self.listener, self.partial = None, None

    def on_progress(self, listener):
        self.listener = listener


class Runner:
    """Stands in for the queue: the test decides what happens to a ticket."""

    place = None

    def __init__(self):
        self.tickets, self.refuses = [], ""

    def submit(self, sweep, question, visitor):
        assert (sweep, question) == (SWEEP, SWEEP.quick) and visitor == "visitor 1"
        if self.refuses:
            raise Refused(self.refuses)
        self.tickets.append(Ticket())
        return self.tickets[-1]


@pytest.fixture
def queue(monkeypatch):
    made = Runner()
    monkeypatch.setattr(desk, "runner", lambda: made)
    return made


@pytest.fixture
def told():
    return {}


@pytest.fixture
def visitor(told, queue):
    return desk.Desk(Document(), told.__setitem__, "visitor 1")


@pytest.fixture(scope="module")
def result():
    return run(SWEEP, SWEEP.quick, find("cpu"))


def state(told) -> tuple:
    sent = told["page.sweep"]
    assert sent["name"] == [NAME]
    return sent["state"][0], sent["fraction"][0], sent["text"][0]


def test_a_run_says_that_it_asks_how_far_it_is_and_then_shows_its_columns(visitor, told, queue, result):
    visitor.ask(NAME, "run")
    assert state(told) == ("running", 0.0, "Asking for a place …")
    (ticket,) = queue.tickets
    ticket.listener(Progress(0.25, 2, 40.0))
    assert state(told)[1] == 0.0  # nothing is written from another thread
    visitor.document.turn()
    assert state(told) == ("running", 0.25, "Waiting, 2 ahead; about 40 s left.")
    ticket.listener(Progress(0.5, 0, 20.0, place="a card", notes=("Smaller pieces.",)))
    visitor.document.turn()
    assert state(told) == ("running", 0.5, "50% on a card; about 20 s left. Smaller pieces.")
    ticket.set_result(result)
    visitor.document.turn()
    assert state(told) == ("done", 1.0, said(result))
    for name, wanted in columns(PICTURES[NAME], result).items():
        assert all(list(told[name][column]) == list(values) for column, values in wanted.items())


def test_a_cancel_shows_what_was_finished_and_labels_it(visitor, told, queue, result):
    visitor.ask(NAME, "run")
    about = {**result.about, "finished": 3}
    queue.tickets[0].partial = type(result)(result.arrays, about)
    visitor.ask(NAME, "cancel")
    assert queue.tickets[0].cancelled() and visitor.ticket is None
    name, fraction, text = state(told)
    assert name == "cancelled" and fraction == pytest.approx(3 / about["points"])
    assert text.endswith(f"3 of {about['points']} points")


def test_a_cancel_before_the_first_point_says_so_and_leaves_the_picture(visitor, told, queue):
    visitor.ask(NAME, "run")
    visitor.ask(NAME, "cancel")
    assert state(told) == ("idle", 0.0, "Cancelled before the first point was finished.") and set(told) == {
        "page.sweep"
    }


def test_a_picture_that_cannot_be_made_ends_the_run_and_leaves_the_one_before(
    visitor, told, queue, result, monkeypatch, caplog
):
    def broken(*_):
        raise ZeroDivisionError("no columns")

    monkeypatch.setattr(desk, "columns", broken)
    visitor.ask(NAME, "run")
    queue.tickets[0].set_result(result)
    visitor.document.turn()
    assert state(told) == ("idle", 0.0, "The run is over, but its picture could not be made; the one before stays.")
    assert set(told) == {"page.sweep"} and NAME in caplog.text and "no columns" in caplog.text
    visitor.ask(NAME, "run")  # and another may be asked for
    assert state(told)[0] == "running"


def test_what_a_picture_shows_is_told_with_it_and_stays_while_a_run_goes_on(visitor, told, queue, result):
    visitor.ask(NAME, "run")
    assert told["page.sweep"]["finding"] == [""]
    queue.tickets[0].set_result(result)
    visitor.document.turn()
    assert told["page.sweep"]["finding"] == [finding(result, PICTURES[NAME])] != [""]


def test_a_refusal_is_told_as_the_queue_says_it(visitor, told, queue):
    queue.refuses = "20 runs are waiting; come back in about 5 min."
    visitor.ask(NAME, "run")
    assert state(told) == ("idle", 0.0, queue.refuses) and visitor.ticket is None


def test_who_has_a_run_in_hand_keeps_it_whatever_else_is_asked(visitor, told, queue):
    """The same again, as by a double click, and another, which the queue might know and answer at once."""
    visitor.ask(NAME, "run")
    visitor.ask(NAME, "run")
    assert state(told)[0] == "running"
    visitor.ask("memory.crosstalk_sweep", "run")
    assert told["page.sweep"]["name"] == ["memory.crosstalk_sweep"] and told["page.sweep"]["state"] == ["idle"]
    assert told["page.sweep"]["text"] == [ONE_AT_A_TIME]
    (ticket,) = queue.tickets
    ticket.listener(Progress(0.5, place="a card"))
    visitor.document.turn()
    assert state(told)[:2] == ("running", 0.5)
    visitor.ask(NAME, "cancel")
    assert ticket.cancelled()


def test_a_run_that_fails_is_said_in_one_sentence(visitor, told, queue, caplog):
    visitor.ask(NAME, "run")
    queue.tickets[0].set_exception(RuntimeError("the worker died 25 times"))
    visitor.document.turn()
    assert state(told) == ("idle", 0.0, "The run failed: the worker died 25 times") and "rank.rank_sweep" in caplog.text


def test_back_shows_the_result_that_comes_with_the_program(visitor, told):
    visitor.ask(NAME, "back")
    came = shipped(SWEEP.word)
    assert state(told) == ("shipped", 1.0, said(came))
    np.testing.assert_array_equal(
        told["rank.rank_sweep_cells"]["color"], columns(PICTURES[NAME], came)["rank.rank_sweep_cells"]["color"]
    )


@pytest.mark.parametrize("name", ["", "rank", "<b>", None, 3, ["rank.rank_sweep"]])
def test_a_name_that_is_no_picture_is_passed_over(visitor, told, queue, name):
    visitor.ask(name, "run")
    assert told == {} and queue.tickets == []


def test_a_session_that_is_gone_is_told_nothing(visitor, told, queue):
    visitor.ask(NAME, "run")
    visitor.document.session_context.destroyed = True
    queue.tickets[0].listener(Progress(0.5))
    assert visitor.document.callbacks == []


def test_a_sweep_that_cannot_be_computed_here_says_why_instead_of_failing(visitor, told, queue, monkeypatch):
    monkeypatch.setattr(desk, "lacks", lambda sweep: "it needs a barn")
    visitor.ask(NAME, "run")
    assert state(told) == ("idle", 0.0, "This sweep cannot run: it needs a barn.") and queue.tickets == []


def test_every_message_says_which_device_there_is_now(visitor, told, queue, monkeypatch):
    monkeypatch.setattr(desk, "device", lambda: SimpleNamespace(badge="an abacus"))
    visitor.ask(NAME, "run")
    assert told["page.sweep"]["device"] == ["an abacus"]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    made = Real(Store(tmp_path_factory.mktemp("store")), environ={"EXPLORER_DEVICE": "cpu"})
    yield made
    made.close()


@pytest.mark.parametrize("name", [n for n, picture in PICTURES.items() if not SWEEPS[picture.sweep].needs_torch])
def test_a_real_run_of_every_picture_ends_with_a_whole_one(name, told, real, monkeypatch):
    """Through the process that computes: what it sends is what the picture is made of."""
    monkeypatch.setattr(desk, "runner", lambda: real)
    visitor = desk.Desk(Document(), told.__setitem__, "visitor 1")
    visitor.ask(name, "run")
    until = time.monotonic() + 60
    while told["page.sweep"]["state"] != ["done"] and time.monotonic() < until:
        visitor.document.turn()
        time.sleep(0.05)
    assert told["page.sweep"]["state"] == ["done"], told["page.sweep"]
    sweep = SWEEPS[PICTURES[name].sweep]
    if not sweep.timed:
        want = columns(PICTURES[name], run(sweep, sweep.quick, find("cpu")))
        assert told[f"{name}_cells"]["said"] == want[f"{name}_cells"]["said"]
