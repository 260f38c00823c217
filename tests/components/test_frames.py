"""What holds for every view: shapes, frames, answers, weight."""

from __future__ import annotations

import json
import sys
from copy import deepcopy

import numpy as np
import pytest
from asked import (
    DEFAULT,
    QUESTIONS,
    binds,
    both_sizes,
    drawn,
    every_page,
    every_view,
    piece_of,
    relevant,
    sources_of,
)

from app.figures import figure_document
from app.page import OVERVIEW, views_of
from app.session import answers, same
from components.axes import AXES
from components.lesson import Question
from components.reel import is_drawn
from components.view import start_positions
from components.words import WORDS

MEGABYTE = 1_000_000

# Shapes


@every_view
@both_sizes
def test_columns_of_a_source_are_equally_long(view, compact):
    for name, source in sources_of(view, compact).items():
        assert len({len(column) for column in source.data.values()}) == 1, name


@every_view
def test_columns_keep_their_length_and_dtype_whatever_is_asked(view):
    """The browser writes into the arrays it has; only a pool, which is replaced as a whole, may change its length."""
    pools, reels = {bind.pool for _, bind in binds(view)}, {reel.name for reel in view.reels}
    first = view.answer(DEFAULT)
    for question in relevant(view.word):
        for name, columns in view.answer(question).items():
            if not is_drawn(name):
                continue
            assert len({len(column) for column in columns.values()}) == 1, (name, question)
            for column, values in columns.items():
                old = first[name][column]
                if name not in pools:
                    assert len(values) == len(old), (name, column, question)
                assert isinstance(values, np.ndarray) == isinstance(old, np.ndarray), (name, column, question)
                if isinstance(values, np.ndarray):
                    assert values.dtype == old.dtype, (name, column, question)
                    assert name in reels or values.shape[1:] == old.shape[1:], (name, column, question)


@every_view
def test_numbers_travel_as_arrays_of_few_bytes(view):
    """A list of numbers would be sent as text; int64 is not typed in the browser."""
    for name, columns in view.answer(DEFAULT).items():
        for column, values in columns.items():
            if is_drawn(name) and not isinstance(values, np.ndarray):
                assert all(isinstance(x, str | list) for x in values), (name, column)


@every_view
def test_columns_that_a_reel_writes_into_can_hold_what_it_brings(view):
    sources = sources_of(view, False)
    for question in relevant(view.word):
        answer = view.answer(question)
        for reel, bind in binds(view):
            if not bind.source:
                continue
            target = sources[bind.source].data[bind.to or bind.column]
            target = target[0] if bind.image else target
            for i in range(len(AXES[reel.axis].stops)):
                piece = piece_of(reel, bind, answer, i)
                assert np.size(piece) <= np.size(target), (reel.name, bind.column, i, question)
                if np.size(piece) < np.size(target):  # the rest becomes NaN, which only a float can be
                    assert np.asarray(target).dtype.kind == "f", (reel.name, bind.column, i, question)


# Frames


@every_view
def test_every_reel_has_one_row_for_each_stop_of_its_axis(view):
    for question in relevant(view.word):
        answer = view.answer(question)
        for reel in view.reels:
            stops = AXES[reel.axis].stops
            assert {len(column) for column in answer[reel.name].values()} == {len(stops)}, reel.name


@every_view
def test_a_reel_that_marks_the_position_marks_its_own_stops(view):
    answer = view.answer(DEFAULT)
    marked = [reel for reel in view.reels if reel.axis in answer[reel.name]]
    assert marked
    for reel in marked:
        np.testing.assert_allclose(answer[reel.name][reel.axis], AXES[reel.axis].stops)


@every_view
@both_sizes
def test_figures_start_with_the_frame_of_the_initial_stop(view, compact):
    answer, sources = view.answer(DEFAULT), sources_of(view, compact)
    document, positions = drawn((view,), compact)[0], start_positions()
    for reel, bind in binds(view):
        piece = piece_of(reel, bind, answer, positions[reel.axis])
        if bind.source:
            column = sources[bind.source].data[bind.to or bind.column]
            shown = column[0] if bind.image else column
            if np.size(piece) < np.size(shown):
                assert np.isnan(np.asarray(shown[len(piece) :], dtype=float)).all()
                shown = shown[: len(piece)]
            if isinstance(piece, str | list):
                assert list(shown) == ([piece] if isinstance(piece, str) else piece)
            else:
                np.testing.assert_allclose(np.ravel(shown).astype(float), np.ravel(piece).astype(float), rtol=1e-6)
        elif bind.model:
            assert getattr(document.get_model_by_name(bind.model), bind.property) == pytest.approx(piece)


@every_view
def test_figures_show_every_column_that_an_answer_owns(view):
    answer, sources = view.answer(DEFAULT), sources_of(view, False)
    for name, columns in answer.items():
        for column, values in columns.items() if is_drawn(name) else ():
            assert same(sources[name].data[column], values)


@every_view
def test_a_text_that_a_reel_says_is_text_at_every_stop(view):
    """A row that is a list fills every gap of its phrase."""
    for question in relevant(view.word):
        answer = view.answer(question)
        for reel, bind in binds(view):
            for i in range(len(AXES[reel.axis].stops)) if bind.node else ():
                piece = piece_of(reel, bind, answer, i)
                if not isinstance(piece, str):
                    source, _, column = bind.phrase.rpartition(".")
                    assert 0 < answer[source][column][0].count("{}") <= len(piece)
                    assert all(isinstance(part, str) for part in piece)
                    piece = " ".join(piece)
                assert "nan" not in piece.lower().split() and "inf" not in piece.lower().split(), (piece, question)


# Answers


@every_view
def test_an_answer_is_the_same_again(view):
    for question in relevant(view.word):
        again = view.answer(question)
        assert all(same(again[n][c], v) for n, columns in view.answer(question).items() for c, v in columns.items())


@every_page
def test_drawing_leaves_the_cached_answers_alone(name):
    views = views_of(name)
    before = deepcopy(answers(views, DEFAULT))
    document, _ = figure_document(views, DEFAULT, name == OVERVIEW)
    document.to_json()
    after = answers(views, DEFAULT)
    assert all(same(after[n][c], v) for n, columns in before.items() for c, v in columns.items())


@every_view
def test_every_question_that_the_address_can_ask_has_an_answer(view):
    """Words are legal one by one; together they must be so too, or the page would wait for ever."""
    unanswered = {}
    for question in QUESTIONS:
        try:
            view.answer(question)
        except (ValueError, ArithmeticError, RuntimeWarning) as error:
            unanswered.setdefault(str(error), question)
    assert not unanswered


# Size


def weight(column) -> int:
    return (
        column.nbytes if isinstance(column, np.ndarray) else len(json.dumps(list(column), ensure_ascii=False).encode())
    )


@every_page
def test_the_reels_of_a_page_weigh_at_most_a_megabyte(name):
    views = views_of(name)
    carried = {n for v in views for reel in v.reels for n in (reel.name, *(b.pool for b in reel.binds if b.pool))}
    for question in dict.fromkeys(question for view in views for question in relevant(view.word)):
        told = {n: columns for v in views if question in relevant(v.word) for n, columns in v.answer(question).items()}
        assert sum(weight(c) for n in carried & set(told) for c in told[n].values()) <= MEGABYTE, question


def test_the_stops_of_an_axis_rise_and_are_found_by_their_values():
    """Where neighbours are equal any of them will do."""
    for axis in AXES.values():
        assert list(axis.stops) == sorted(axis.stops) and len(axis.stops) <= 257
        assert [axis.stops[axis.index(stop)] for stop in axis.stops] == list(axis.stops)
        assert axis.index(WORDS[axis.word].default) == axis.stops.index(WORDS[axis.word].default)


@every_view
def test_an_answer_made_afresh_is_equal(view):
    """Nothing is remembered between questions: an emptied cache gives the same numbers."""
    asked = relevant(view.word)[:: max(1, len(relevant(view.word)) // 6)]
    before = [deepcopy(view.answer(question)) for question in asked]
    for module in [m for name, m in sys.modules.items() if name.partition(".")[0] in ("components", "compute")]:
        for thing in list(vars(module).values()):
            if hasattr(thing, "cache_clear"):
                thing.cache_clear()
    for question, old in zip(reversed(asked), reversed(before), strict=True):
        new = view.answer(question)
        assert all(same(new[n][c], v) for n, columns in old.items() for c, v in columns.items()), question


def test_the_questions_cover_every_word():
    """A walk that misses a choice would prove nothing about it."""
    for name in set(Question.__dataclass_fields__) - {"own"}:  # a pasted model has its own tests
        assert len({getattr(question, name) for question in QUESTIONS}) > 1, name
