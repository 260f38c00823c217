"""Two modes, one function: is it really the same answer?"""

from __future__ import annotations

from components.cases import cases_of
from components.forms_answer import answer
from components.forms_idle import idle, instead
from components.forms_picture import (
    captioned,
    draw_constants,
    draw_differences,
    draw_matrix,
    draw_outputs,
    draw_recurrence,
    draw_sums,
    share_tokens,
)
from components.lesson import Question
from components.reel import Bind, Reel
from components.view import Cell, Drawing, View


def _frame(column: str, **to: object) -> Bind:
    """A piece of the frame of the last token read."""
    return Bind(column, pool="forms.frames", start="last", **to)


REELS = (
    Reel(
        "forms.reel",
        "t",
        (
            _frame("cells", source="forms.cells", to="value"),
            _frame("numbers", source="forms.numbers", to="text"),
            _frame("top", source="forms.row"),
            _frame("bottom", source="forms.row"),
            _frame("middle", source="forms.row", to="y"),
            _frame("sum", source="forms.row", to="text"),
            _frame("handed", source="forms.handed", to="start"),
            _frame("unread", source="forms.unread", to="left"),
            *(_frame("token", model=f"forms.{name}.here", property="location") for name in ("values", "differences")),
            _frame("end_x", source="forms.ends", to="x"),
            _frame("end_y", source="forms.ends", to="y"),
            _frame("end_text", source="forms.ends", to="text"),
            _frame("token_pair", source="forms.gap_ends", to="x"),
            _frame("gap_y", source="forms.gap_ends", to="y"),
            _frame("gap_text", source="forms.gap_ends", to="text"),
            *(
                _frame(name, node=f"forms.{name}")
                for name in ("headline", "sentence", "step", "recurrent_gap", "chunkwise_gap", "denominator")
            ),
        ),
        end="forms.frames.end",
    ),
)


def draw(question: Question, compact: bool) -> Drawing:
    sources = VIEW.sources(question)
    top, middle, low = (176, 120, 96) if compact else (202, 142, 112)
    outputs, differences = draw_outputs(sources, middle), draw_differences(sources, middle)
    constants = draw_constants(sources, low)
    share_tokens(outputs, differences, constants)
    return Drawing(
        (
            (
                Cell(draw_recurrence(sources, top), title_node="forms.step"),
                Cell(draw_matrix(sources, top), width=276, title_node="forms.grid"),
            ),
            (captioned(outputs), captioned(differences)),
            (captioned(constants), captioned(draw_sums(sources, low))),
        ),
        sources,
    )


VIEW = View(
    word="forms",
    title="Two modes",
    place=2,
    question="Is it really the same answer?",
    axis="t",
    asks=("example", "chunk", "pitfall"),
    reels=REELS,
    draw=draw,
    answer=answer,
    idle=idle,
    instead=instead,
    readouts=(
        ("outputs, recurrent − parallel", "forms.recurrent_gap"),
        ("outputs, chunkwise − parallel", "forms.chunkwise_gap"),
        ("gradients, loop − matrix", "forms.loop_gradients"),
        ("gradients, chunks − matrix", "forms.chunk_gradients"),
        ("denominator · sum of the row", "forms.denominator"),
        ("chunks", "forms.chunks"),
        ("S and z, handed on", "forms.kept"),
        ("FLOPs of the three", "forms.flops"),
        ("z of elu+1 kept in bfloat16", "forms.long"),
    ),
    lists=(cases_of("forms"),),
    player="read token by token",
)
