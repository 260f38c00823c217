"""What holds for every view: names and owners.  A new page is tested as soon as it is in the folder."""

from __future__ import annotations

from collections import Counter

from asked import DEFAULT, binds, both_sizes, drawn, every_page, every_view, relevant, sources_of

from app.page import OVERVIEW, views_of
from components.palette import SLOTS
from components.plots import glyphs
from components.reel import is_drawn

PLACES = frozenset(
    ["x", "y", "x0", "y0", "x1", "y1", "left", "right", "top", "bottom", "width", "height", "dw", "dh", "image", "text"]
)
"""Settings of a glyph whose plain text is a column; elsewhere it may be a colour or a style."""

# Names


@every_view
@both_sizes
def test_every_name_and_column_of_an_answer_is_drawn(view, compact):
    sources = sources_of(view, compact)
    for question in relevant(view.word):
        for name, columns in view.answer(question).items():
            if is_drawn(name):
                assert set(columns) <= set(sources[name].data), (name, question)


@every_view
@both_sizes
def test_every_target_of_a_reel_is_drawn(view, compact):
    sources, answer = sources_of(view, compact), view.answer(DEFAULT)
    document = drawn((view,), compact)[0]
    glyphs_use = {renderer.data_source.name for plot in document.roots for renderer in glyphs(plot)}
    for reel, bind in binds(view):
        holder = answer[bind.pool] if bind.pool else answer[reel.name]
        assert bind.column in holder
        for index in filter(None, (bind.start, bind.stop)):
            assert index in answer[reel.name]
        if bind.source:
            assert (bind.to or bind.column) in sources[bind.source].data
            assert bind.source in glyphs_use
        elif bind.model:
            assert bind.property in document.get_model_by_name(bind.model).properties()
        else:
            assert bind.node.startswith(f"{view.word}.")
        if bind.phrase:
            source, _, column = bind.phrase.rpartition(".")
            assert answer[source][column]


@every_view
@both_sizes
def test_every_property_that_an_answer_sets_exists_and_every_colour_is_a_slot(view, compact):
    document = drawn((view,), compact)[0]
    for question in relevant(view.word):
        told = view.answer(question).get(f"{view.word}.props", {"model": [], "property": [], "value": []})
        for name, prop, value in zip(told["model"], told["property"], told["value"], strict=True):
            assert prop in document.get_model_by_name(name).properties(), (name, prop)
            if isinstance(value, str) and ":" in value:
                assert value.removeprefix("slot:") in SLOTS


@every_view
@both_sizes
def test_every_source_is_in_the_document_under_its_own_name(view, compact):
    document = drawn((view,), compact)[0]
    for name, source in sources_of(view, compact).items():
        assert name == source.name and name.startswith(f"{view.word}.")
        assert document.get_model_by_name(name) is source


@every_page
def test_a_name_stands_once_on_a_page(name):
    document, _ = drawn(views_of(name), name == OVERVIEW)
    counted = Counter(model.name for model in document.models if model.name)
    assert counted and not {model: n for model, n in counted.items() if n > 1}


@every_page
def test_figures_are_drawn_from_named_sources_only(name):
    """A glyph with an unnamed source could not be reached by an answer; a fixed guide line needs none."""
    _document, drawings = drawn(views_of(name), name == OVERVIEW)
    for view, drawing in drawings:
        for row in drawing.rows:
            for cell in row:
                assert cell.figure.name.startswith(f"{view.word}.")
                assert any(r.data_source.name for r in glyphs(cell.figure))


@every_page
def test_every_field_of_a_glyph_is_a_column_of_its_source(name):
    for renderer in (r for plot in drawn(views_of(name), name == OVERVIEW)[0].roots for r in glyphs(plot)):
        columns = renderer.data_source.data
        for spec in renderer.glyph.dataspecs():
            value = getattr(renderer.glyph, spec)
            field = value.get("field") if isinstance(value, dict) else value
            if isinstance(field, str) and (spec in PLACES or isinstance(value, dict)):
                assert field in columns, (renderer.data_source.name, spec, field)


# Owners


@every_page
def test_a_column_a_property_and_a_text_have_one_owner(name):
    """A reel or an answer, and only one reel."""
    owned = []
    for view in views_of(name):
        for _, bind in binds(view):
            if bind.source:
                owned.append(("column", bind.source, bind.to or bind.column))
            else:
                owned.append(("property", bind.model, bind.property) if bind.model else ("node", bind.node))
        for source, columns in view.answer(DEFAULT).items():
            if is_drawn(source):
                owned += [("column", source, column) for column in columns]
            elif source.endswith(".props"):
                owned += [("property", m, p) for m, p in zip(columns["model"], columns["property"], strict=True)]
            else:
                owned += [("node", node) for node in columns["node"]]
    assert not {thing: n for thing, n in Counter(owned).items() if n > 1}


@every_view
def test_an_answer_always_speaks_of_the_same_names_columns_nodes_and_properties(view):
    """What a question leaves out would keep the words of the question before."""
    first = view.answer(DEFAULT)
    for question in relevant(view.word):
        told = view.answer(question)
        assert {n: set(c) for n, c in told.items()} == {n: set(c) for n, c in first.items()}
        for name in (n for n in first if not is_drawn(n)):
            keys = ("model", "property") if name.endswith(".props") else ("node",)
            assert [told[name][key] for key in keys] == [first[name][key] for key in keys], (name, question)
