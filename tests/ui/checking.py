"""What must stand on a page, read off the answers of its views, and whether it does."""

from __future__ import annotations

import re

import numpy as np
from asked import piece_of
from driving import PLAIN, Tab

from app.page import OVERVIEW, figures_of, views_of
from components.axes import AXES
from components.lesson import Question
from components.palette import SLOTS
from components.plots import glyphs
from components.reel import fill, is_drawn
from components.view import start_positions

EVERYTHING = f"""([sources, texts, props]) => {{ {PLAIN}
  return {{
    sources: Object.fromEntries(sources.map(name => [name, source(name)])),
    texts: texts.map(node => {{
      const home = document.querySelector(`[data-text="${{node}}"]`)
      const lines = home && 'lines' in home.dataset && [...home.children].map(line => line.textContent)
      return lines ? lines.join('\\n') : home?.textContent
    }}),
    props: props.map(([name, prop]) => {{ const v = Explorer.model(name)[prop]; return v?.value ?? v }}),
    at: Object.fromEntries(
      [...document.querySelectorAll('input[type=range][data-axis]')].map(i => [i.dataset.axis, +i.value])),
    under: [...document.querySelectorAll('[data-under]')].map(place => [place.dataset.under, place.textContent]),
  }}
}}"""


def moved_by(name: str, axis: str) -> set[str]:
    """Figures of a page that a reel on the axis reaches, by the sources and models they are drawn from."""
    targets = {
        target
        for view in views_of(name)
        for reel in view.reels
        if reel.axis == axis
        for bind in reel.binds
        for target in (bind.source, bind.model)
        if target
    }
    reached = set()
    for _, drawing in figures_of(name).drawings:
        for cell in (cell for row in drawing.rows for cell in row):
            drawn_from = {renderer.data_source.name for renderer in glyphs(cell.figure)}
            marks = {m.name for m in (*cell.figure.center, *cell.figure.left, cell.figure.x_range, cell.figure.y_range)}
            if targets & (drawn_from | marks):
                reached.add(cell.figure.name)
    return reached


def expected(name: str, question: Question, at: dict[str, int]) -> dict[str, dict]:
    """What must stand in every figure source of a page for a question and positions, read off the views' answers."""
    told: dict[str, dict] = {}
    for view in views_of(name):
        answer = view.answer(question)
        for source, columns in answer.items():
            if is_drawn(source):
                told.setdefault(source, {}).update(columns)
        for reel in view.reels:
            for bind in (bind for bind in reel.binds if bind.source):
                piece = piece_of(reel, bind, answer, at[reel.axis], at)
                told.setdefault(bind.source, {})[bind.to or bind.column] = piece
    return told


def expected_texts(name: str, question: Question, at: dict[str, int]) -> dict[str, str]:
    told = {}
    for view in views_of(name):
        answer = view.answer(question)
        told.update(zip(*(answer[f"{view.word}.texts"][key] for key in ("node", "text")), strict=True))
        for reel in view.reels:
            for bind in (bind for bind in reel.binds if bind.node):
                piece = piece_of(reel, bind, answer, at[reel.axis], at)
                source, _, column = bind.phrase.rpartition(".")
                told[bind.node] = piece if isinstance(piece, str) else fill(answer[source][column][0], piece)
        if name == OVERVIEW:
            told = {node: text for node, text in told.items() if node not in view.side_nodes}
    return told


def expected_properties(name: str, question: Question, at: dict[str, int], dark: bool = False) -> list[tuple]:
    rows = []
    for view in views_of(name):
        answer = view.answer(question)
        props = answer.get(f"{view.word}.props", {"model": [], "property": [], "value": []})
        rows += zip(props["model"], props["property"], props["value"], strict=True)
        rows += [
            (bind.model, bind.property, piece_of(reel, bind, answer, at[reel.axis], at))
            for reel in view.reels
            for bind in reel.binds
            if bind.model
        ]
    hexes = {f"slot:{slot}": pair[dark] for slot, pair in SLOTS.items()}
    return [
        (m, p, hexes.get(v, v) if isinstance(v, str) else v if isinstance(v, list) else float(v)) for m, p, v in rows
    ]


def under_finger(name: str, question: Question, at: dict[str, int]) -> list[list[str]]:
    """Axes whose number, or what a column says of it, stands in a formula of the page, in their order, with that."""
    told = []
    for view in views_of(name):
        answer = view.answer(question)
        maths = answer[f"{view.word}.math"]
        for node, formula in zip(maths["node"], maths["text"], strict=True):
            if name == OVERVIEW and node in view.side_nodes:
                continue
            for axis, column in re.findall(r'data-under="(\w+)"(?: data-column="([^"]+)")?', formula):
                source, _, of = column.rpartition(".")
                told.append([axis, answer[source][of][at[axis]] if column else AXES[axis].number(at[axis])])
    return told


def check(tab: Tab, name: str, question: Question, dark: bool = False, **stops):
    """Every number, text and property on the page is what the views answer."""
    at = start_positions(stops)
    wanted, texts = expected(name, question, at), expected_texts(name, question, at)
    props = expected_properties(name, question, at, dark)
    shown = tab.page.evaluate(EVERYTHING, [list(wanted), list(texts), [row[:2] for row in props]])
    # By what stands there: short lengths stand at several positions, since octaves are equally wide.
    told = {axis: AXES[axis].stops[i] for axis, i in shown["at"].items()}
    assert told == {axis: AXES[axis].stops[at[axis]] for axis in told}
    assert shown["under"] == under_finger(name, question, at)
    for source, columns in wanted.items():
        for column, values in columns.items():
            same_numbers(shown["sources"][source][column], values, f"{source}.{column}")
    assert dict(zip(texts, shown["texts"], strict=True)) == texts
    for (model, prop, value), found in zip(props, shown["props"], strict=True):
        assert found == value or np.isclose(float(found), value), (model, prop, found, value)


def same_numbers(shown, values, where: str):
    flat = np.ravel(np.asarray(values, dtype=object))
    if any(isinstance(x, str) for x in flat):
        assert shown == ([values] if isinstance(values, str) else list(values)), where
        return
    found = np.ravel(np.asarray(_floats(shown), dtype=float))
    wanted = np.ravel(np.asarray(values, dtype=float))
    wanted = np.where(np.isfinite(wanted), wanted, np.nan)  # `plain` shows no number the same way, whatever is not one
    assert len(found) >= len(wanted), where
    np.testing.assert_allclose(found[: len(wanted)], wanted, rtol=2e-6, atol=1e-12, err_msg=where)
    assert np.isnan(found[len(wanted) :]).all(), where


def _floats(shown):
    if isinstance(shown, list):
        return [
            x
            for item in shown
            for x in (_floats(item) if isinstance(item, list) else [np.nan if item is None else item])
        ]
    return [np.nan if shown is None else shown]


__all__ = ["AXES", "SLOTS", "Question", "Tab", "check", "expected", "moved_by", "same_numbers", "start_positions"]
