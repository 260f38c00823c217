"""Pictures of sweeps from a process of their own: the same figures, without HoloViews here."""

import subprocess
import sys

import pytest
from bokeh.document import Document

from components import sweep_drawn
from components.sweep_columns import columns
from components.sweep_pictures import PICTURES
from compute.sweeps.shipped import shipped


def test_every_shipped_picture_comes_back_with_its_columns_and_ids_that_no_page_has():
    figures = sweep_drawn.drawn(tuple(PICTURES))
    assert [fig.name for fig in figures] == list(PICTURES)
    for fig in figures:
        told = columns(PICTURES[fig.name], shipped(PICTURES[fig.name].sweep))
        assert {r.data_source.name: {c: list(v) for c, v in r.data_source.data.items()} for r in fig.renderers} == {
            name: {c: list(v) for c, v in given.items()} for name, given in told.items()
        }
        assert all(len(model.id) > 12 for model in fig.references())


def test_figures_are_fresh_each_time_and_belong_to_no_document():
    name = next(iter(PICTURES))
    (first,), (second,) = sweep_drawn.drawn((name,)), sweep_drawn.drawn((name,))
    assert first is not second and first.document is None
    Document().add_root(first)


def test_a_process_that_fails_is_said(monkeypatch):
    monkeypatch.setattr(sweep_drawn, "start", lambda: done)
    done = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"], stdout=subprocess.PIPE, text=True)
    with pytest.raises(RuntimeError, match="could not be drawn: exit code 3"):
        sweep_drawn._drawn.__wrapped__()


def test_no_page_brings_holoviews_into_the_web_process():
    code = "import app.page, sys; app.page.figures_of('recall'); sys.exit('holoviews' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=sweep_drawn.ROOT).returncode == 0
