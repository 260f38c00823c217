"""One visitor's session: what is sent down after a choice, and what may come up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading

import numpy as np
import pytest
from bokeh.document import Document
from hypothesis import given
from hypothesis import strategies as st

import app.session as session_module
from app.page import OVERVIEW, pages, views_of
from app.session import EVENT_CHARACTERS, Session, answers, same
from components.lesson import Lesson, Question
from components.words import PHIS, WORDS

every_page = pytest.mark.parametrize("name", pages())


class Visit:
    """A session whose next-tick callbacks are kept until `settle` runs them, as the event loop would."""

    def __init__(self, name: str = OVERVIEW, **words):
        self.document, self.waiting = Document(), []
        self.document.add_next_tick_callback = self.waiting.append
        self.lesson, self.views = Lesson(**words), views_of(name)
        self.session = Session(self.views, self.lesson, self.document)

    def settle(self):
        async def run():
            while self.waiting:
                await self.waiting.pop(0)()

        asyncio.run(run())

    def sent(self) -> dict[str, dict]:
        """Columns that stand in the answer sources."""
        return {name: dict(source.data) for name, source in self.session.sources.items() if source.data}

    def event(self, kind, told, count=1):
        self.session.event.data = {"kind": [kind], "told": [told], "count": [count]}

    @property
    def notice(self) -> str:
        told = self.session.sources.get("page.notice")
        return told.data["text"][0] if told else ""

    @property
    def words(self) -> dict[str, str]:
        """What the browser is told to write into the address."""
        told = self.sent().get("page.words", {"word": [], "text": []})
        return dict(zip(told["word"], told["text"], strict=True))


CHOICES = {
    "phi": "favor", "d_k": 32, "seed": 5, "row": 101, "rule": "delta", "keys": "correlated", "model": "qwen3.8-27b",
}  # fmt: skip


@every_page
def test_a_session_begins_with_nothing_to_send(name):
    visit = Visit(name)
    visit.session.ask()
    visit.settle()
    assert visit.sent() == {}


@pytest.mark.parametrize("word, value", CHOICES.items(), ids=CHOICES)
@every_page
def test_only_what_a_choice_changes_is_sent_and_it_is_the_answer(name, word, value):
    visit = Visit(name)
    setattr(visit.lesson, word, value)
    visit.settle()
    old, new = answers(visit.views, Question()), answers(visit.views, Question(**{word: value}))
    sent = visit.sent()
    sent.pop("page.words", None)
    for source, columns in new.items():
        changed = {column for column, values in columns.items() if not same(values, old[source][column])}
        if not changed:
            assert source not in sent
        elif source.rpartition(".")[2] in ("texts", "math", "props"):
            assert set(sent[source]) == set(columns)  # rows of a told list go together
        else:
            assert set(sent[source]) == changed
        for column, values in sent.get(source, {}).items():
            assert same(values, columns[column])
    assert set(sent) <= set(new)


@every_page
def test_going_back_sends_what_the_browser_no_longer_has(name):
    """After a choice and its undoing the sources, laid over the defaults, say the defaults."""
    visit = Visit(name)
    for phi in ("favor", "taylor", "elu"):
        visit.lesson.phi = phi
        visit.settle()
    default = answers(visit.views, Question())
    for source, columns in visit.sent().items():
        if not source.startswith("page."):
            assert all(same(values, default[source][column]) for column, values in columns.items())


@every_page
def test_after_a_random_walk_the_browser_has_what_was_asked_last(name):
    visit, rng = Visit(name), np.random.default_rng(3)
    browser = {source: dict(columns) for source, columns in answers(visit.views, Question()).items()}
    for _ in range(12):
        word = rng.choice(["phi", "d_k", "rule", "keys", "model", "row"])
        value = {"phi": PHIS, "d_k": (8, 16), "rule": ("additive", "delta"), "keys": ("random", "phi"),
                 "model": ("minimax-01", "llama-3.1-8b"), "row": (None, 3)}[word]  # fmt: skip
        setattr(visit.lesson, word, value[rng.integers(len(value))])
        visit.settle()
        for source, columns in visit.sent().items():
            browser.setdefault(source, {}).update(columns)
        for source, columns in answers(visit.views, visit.lesson.question).items():
            assert all(same(browser[source][column], values) for column, values in columns.items()), (
                source,
                visit.lesson.question,
            )


def test_the_words_of_the_address_are_told_with_the_answer():
    visit = Visit(seed=4)
    visit.lesson.phi = "favor~m~64"
    visit.settle()
    assert visit.words == {"phi": "favor~m~64", "seed": "4"}
    visit.lesson.take({"phi": "elu", "seed": "0"})
    visit.settle()
    assert visit.words == {}


# Asks coalesce


def test_changes_that_come_while_an_answer_is_made_are_answered_once_with_the_newest(monkeypatch):
    visit, asked, gate = Visit(), [], threading.Event()

    def slow(views, question):
        asked.append(question.phi)
        gate.wait(10)
        return answers(views, question)

    monkeypatch.setattr(session_module, "answers", slow)
    told = []
    monkeypatch.setattr(
        visit.session, "tell", lambda answer, tell=visit.session.tell: (told.append(answer), tell(answer))
    )

    async def run():
        visit.lesson.phi = "relu"
        (answer,) = [visit.waiting.pop()]
        running = asyncio.ensure_future(answer())
        await asyncio.sleep(0.05)
        for phi in ("silu", "favor", "taylor", "dpfp"):
            visit.lesson.phi = phi
        assert visit.waiting == []  # busy: nothing is queued behind
        gate.set()
        await running

    asyncio.run(run())
    assert asked == ["relu", "dpfp"] and len(told) == 1
    assert visit.words == {"phi": "dpfp"}
    assert "DPFP" in str(visit.sent()["sharpness.phrases"])


def test_an_answer_that_fails_leaves_the_session_able_to_answer(monkeypatch):
    visit = Visit()

    def broken(views, question):
        raise ValueError("phi is broken")

    with monkeypatch.context() as patch:
        patch.setattr(session_module, "answers", broken)
        visit.lesson.phi = "relu"
        with contextlib.suppress(ValueError):
            visit.settle()
    visit.lesson.phi = "favor"
    visit.settle()
    assert visit.words == {"phi": "favor"}


def test_two_visitors_share_no_state():
    one, two = Visit(), Visit()
    one.lesson.phi = "relu"
    one.settle()
    two.settle()
    assert two.sent() == {} and two.lesson.phi == "elu"


# Events


def test_words_that_come_up_are_taken_and_absent_ones_are_left():
    visit = Visit(seed=4)
    visit.event("words", json.dumps({"phi": "relu", "d_k": "8"}))
    assert visit.lesson.question == Question(phi="relu", d_k=8, seed=4)
    visit.event("words", json.dumps({"phi": None, "seed": None, "d_k": "8"}), 2)
    assert visit.lesson.question == Question(d_k=8)
    assert visit.notice == ""


def test_a_tap_takes_a_row_and_a_second_tap_lets_it_go():
    visit = Visit()
    visit.event("tap", json.dumps({"what": "row", "at": 7}))
    assert visit.lesson.row == 7
    visit.event("tap", json.dumps({"what": "row", "at": 7}), 2)
    assert visit.lesson.row is None


BAD_EVENTS = {
    "no JSON": ("words", "{"),
    "a number": ("words", "1"),
    "a list": ("words", "[]"),
    "null": ("words", "null"),
    "bytes": ("words", b"{}"),
    "nothing": ("words", None),
    "an object": ("words", {"phi": "relu"}),
    "deep": ("words", "[" * 3_000),
    "huge": ("words", json.dumps({"phi": "relu", "more": "x" * EVENT_CHARACTERS})),
    "markup": ("words", json.dumps({"phi": "<img src=x onerror=alert(1)>"})),
    "markup everywhere": ("words", json.dumps({word: "</script>" for word in WORDS})),
    "a nested word": ("words", json.dumps({"phi": {"phi": "relu"}})),
    "a list for a word": ("words", json.dumps({"phi": ["relu"]})),
    "a bool for a number": ("words", json.dumps({"d_k": True})),
    "infinity": ("words", '{"rho": Infinity}'),
    "NaN": ("words", '{"rho": NaN}'),
    "a huge number": ("words", '{"seed": ' + "9" * 1_000 + "}"),
    "no width": ("words", '{"d_k": 5}'),
    "a surrogate": ("words", '{"phi": "\\ud800"}'),
    "a dunder": ("words", '{"__class__": "x", "phi ": "relu"}'),
    "a negative row": ("tap", '{"what": "row", "at": -1}'),
    "a row beyond": ("tap", '{"what": "row", "at": 256}'),
    "a fractional row": ("tap", '{"what": "row", "at": 3.5}'),
    "a row in words": ("tap", '{"what": "row", "at": "7"}'),
    "a row of all rows": ("tap", '{"what": "row", "at": [1, 2]}'),
    "a true row": ("tap", '{"what": "row", "at": true}'),
    "a tap on nothing": ("tap", '{"what": "column", "at": 3}'),
    "a tap without a place": ("tap", '{"what": "row"}'),
    "another kind": ("shutdown", "{}"),
    "a kind that is a list": (["words"], '{"phi": "relu"}'),
    "a rest": ("rest", '{"word": "n", "value": 12}'),
}


@pytest.mark.parametrize("kind, told", BAD_EVENTS.values(), ids=BAD_EVENTS)
def test_a_bad_event_changes_nothing_and_raises_nothing(kind, told):
    visit = Visit()
    visit.event(kind, told)
    assert visit.lesson.question == Question()
    assert visit.waiting == []
    assert "<" not in visit.notice or kind == "words"  # the page shows a notice as text, never as markup
    assert len(visit.notice) < 6_000


@pytest.mark.parametrize(
    "data", [{}, {"kind": []}, {"kind": ["words"], "told": []}, {"told": ["{}"]}, {"kind": ["words"]}]
)
@pytest.mark.filterwarnings("ignore:ColumnDataSource")
def test_an_event_without_its_columns_is_passed_over(data):
    visit = Visit()
    visit.session.event.data = data
    assert visit.lesson.question == Question()


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12))
TOLD = st.dictionaries(st.sampled_from([*WORDS, "what", "at"]), VALUES, max_size=4).map(json.dumps)


@given(st.sampled_from(["words", "tap", "rest", ""]), st.one_of(st.text(max_size=60), TOLD))
def test_whatever_comes_up_leaves_a_legal_lesson(kind, told):
    visit = Visit("sizing")
    visit.event(kind, told)
    for word, value in ((name, getattr(visit.lesson, name)) for name in Question.__dataclass_fields__):
        assert WORDS[word].read(WORDS[word].write(value)) == value


def test_a_refused_word_is_named_and_the_next_good_event_clears_the_notice():
    visit = Visit()
    visit.event("words", json.dumps({"phi": "nonsense", "d_k": "8"}))
    assert visit.notice.startswith("phi ") and visit.lesson.d_k == 8
    visit.event("words", json.dumps({"d_k": "16"}), 2)
    assert visit.notice == ""


# Equality


class Odd:
    def __eq__(self, other):
        raise AssertionError("compared by value")


def test_same_is_identity_first():
    odd = Odd()
    assert same(odd, odd)


@pytest.mark.parametrize("a, b, equal", [
    ([1, 2], [1, 2], True),
    ([1, 2], [1, 3], False),
    ([1], [1, 1], False),
    (["a"], ["a"], True),
    ([["a", "b"]], [["a", "c"]], False),
    (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
    (np.array([1.0, np.nan]), np.array([np.nan, 1.0]), False),
    (np.array([1.0]), np.array([1.0], dtype=np.float32), False),
    (np.zeros((2, 3)), np.zeros((3, 2)), False),
    (np.zeros(2), [0.0, 0.0], False),
    (np.array([1, 2], dtype=np.uint8), np.array([1, 2], dtype=np.uint8), True),
    (1, 1.0, False),
    (1, True, False),
    ("1", 1, False),
    (None, None, True),
    (None, [], False),
    ([np.zeros(2)], [np.zeros(2)], True),
])  # fmt: skip
def test_same_compares_columns_by_value_and_kind(a, b, equal):
    assert same(a, b) is equal and same(b, a) is equal
