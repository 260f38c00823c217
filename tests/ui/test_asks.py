"""Choices that the server answers, with the real controls: every number on the page is the new answer."""

from __future__ import annotations

import pytest
from checking import check

from app.page import OVERVIEW, pages
from components.axes import AXES
from components.lesson import Question
from compute.memory import WRITE_RULES

CHOICES = [
    (OVERVIEW, "phi", "taylor"), (OVERVIEW, "phi", "favor"), (OVERVIEW, "phi", "softmax"), (OVERVIEW, "d_k", 32),
    (OVERVIEW, "keys", "orthonormal"), (OVERVIEW, "rule", "gated_delta"), (OVERVIEW, "model", "llama-3.1-8b"),
    ("sharpness", "phi", "dpfp"), ("memory", "keys", "phi"), ("memory", "rule", "delta"), ("rank", "d_k", 64),
    ("sizing", "phi", "hedgehog"), ("sizing", "model", "qwen3.8-27b"),
]  # fmt: skip


@pytest.mark.parametrize("page, word, value", CHOICES)
def test_a_choice_is_answered_everywhere(tab, page, word, value):
    tab.open(page)
    tab.choose(word, value)
    check(tab, page, Question(**{word: value}))


def test_a_seed_is_typed(tab):
    tab.open("rank")
    field = tab.page.locator('[data-control="seed"] input')
    field.fill("7")
    field.press("Enter")
    tab.answered(seed="7")
    check(tab, "rank", Question(seed=7))


def test_a_width_of_features_is_chosen_where_the_map_has_one(tab):
    tab.open("sharpness", phi="favor")
    tab.page.locator('[data-control="knob"] select').select_option("64")
    tab.answered(phi="favor~m~64")
    check(tab, "sharpness", Question(phi="favor~m~64"))


def test_an_answer_lands_where_the_finger_is(tab):
    """The server does not know the positions: the browser turns its reels again."""
    tab.open(OVERVIEW)
    tab.drag("n", -0.25)
    tab.drag("c", 0.2)
    n, c = (AXES[axis].stops[tab.position(axis)] for axis in ("n", "c"))
    tab.choose("phi", "relu")
    check(tab, OVERVIEW, Question(phi="relu"), n=n, c=c)


def test_quick_choices_end_with_the_last(tab):
    tab.open(OVERVIEW)
    for phi in ("taylor", "relu", "softmax", "dpfp", "hedgehog"):
        tab.option("phi", phi).click()
    tab.answered(phi="hedgehog")
    check(tab, OVERVIEW, Question(phi="hedgehog"))


def test_choices_one_after_another_are_all_answered(tab):
    """No answer is lost on its way, not even when the controls themselves change with it."""
    tab.open(OVERVIEW)
    for phi in ("taylor", "elu", "favor", "relu", "taylor", "elu", "dpfp", "elu"):
        tab.choose("phi", phi)
    check(tab, OVERVIEW, Question())


TRIED = (
    "Bokeh.documents.some(each => each.get_model_by_name('page.carrier')?.tags.some(m => m.name == 'answer.page.told'))"
)
COUNTED = "window.answers = 0; document.addEventListener('explorer:answered', () => { answers++ })"


def test_the_way_of_an_answer_is_tried_under_a_pointer_and_shows_nothing(tab):
    tab.open("forms")
    tab.page.evaluate(COUNTED)
    tab.option("example", "random").hover()
    tab.page.wait_for_function(TRIED)
    tab.page.wait_for_timeout(100)
    assert tab.page.evaluate("[answers, location.search]") == [0, ""]
    tab.option("example", "random").click()
    tab.answered(example="random")
    check(tab, "forms", Question(example="random"))


HELD = "() => { window.held = []; Paint.seen = work => { held.push(work) } }"
SHOWN = "() => Bokeh.documents.map(each => each.get_model_by_name('control.rho')).find(Boolean).visible"


def test_what_a_choice_changes_on_the_controls_waits_until_its_picture_is_seen(tab):
    tab.open("memory")
    tab.page.evaluate(HELD)
    tab.option("keys", "correlated").click()
    tab.page.wait_for_function("Explorer.server.keys == 'correlated' && held.length == 2")  # the address, and a dial
    assert not tab.page.evaluate(SHOWN)
    tab.page.evaluate("for (const work of held) work()")
    assert tab.page.evaluate(SHOWN) and tab.words["keys"] == "correlated"


NEAR = """told => Bokeh.documents.map(each => each.get_model_by_name('page.event')?.data).some(
  data => data?.kind[0] == 'near' && data.told[0] == JSON.stringify(told))"""


def test_the_button_on_which_the_pointer_rests_is_told_and_changes_nothing(tab):
    tab.open("memory")
    for rule in ("decay", "delta"):  # from one button to the next, which pointerover does not tell outside their group
        tab.option("rule", rule).hover()
        tab.wait(NEAR, {"word": "rule", "at": [*WRITE_RULES].index(rule)})
    check(tab, "memory", Question())


def test_a_choice_and_its_opposite_restore_the_first_picture(tab):
    tab.open(OVERVIEW)
    tab.page.mouse.move(720, 5)
    tab.paint_all()
    first = tab.pictures()
    tab.choose("phi", "taylor")
    tab.choose("phi", "elu")
    tab.page.mouse.move(720, 5)
    tab.paint_all()
    check(tab, OVERVIEW, Question())
    assert tab.pictures() == first


def test_one_choice_moves_all_four_views(tab):
    tab.open(OVERVIEW, keys="phi")
    before = tab.pictures()
    tab.choose("phi", "taylor", phi="taylor", keys="phi")
    tab.page.mouse.move(720, 5)
    changed = {figure.partition(".")[0] for figure, picture in tab.pictures().items() if picture != before[figure]}
    assert changed == {"sharpness", "memory", "rank", "sizing"}


def test_two_visitors_do_not_see_each_other(tab, browser, server):
    from driving import Tab

    tab.open("memory")
    context = browser.new_context()
    other = Tab(context.new_page(), server)
    other.open("memory")
    other.choose("rule", "delta")
    tab.settle()
    check(tab, "memory", Question())
    context.close()
    assert not other.complaints


def test_a_click_on_the_kernel_matrix_makes_that_row_the_query(tab):
    tab.open(OVERVIEW)
    row = click_row(tab, 0.4)
    check(tab, OVERVIEW, Question(row=row))
    assert f"row {row}" in tab.page.locator('[data-text="sharpness.subject"]').text_content()
    click_row(tab, 0.4, back=True)
    check(tab, OVERVIEW, Question())


def test_a_row_chosen_on_its_own_page_travels_in_the_address(tab):
    tab.open("rank")
    row = click_row(tab, 0.7)
    check(tab, "rank", Question(row=row))
    tab.page.locator("nav a", has_text=pages()["sharpness"]).click()
    tab.page.wait_for_url("**/sharpness?**")
    tab.settle()
    check(tab, "sharpness", Question(row=row))


def click_row(tab, share, back=False):
    """Click at a share of the matrix' height; the row is what the figure's own scale says is there."""
    place = tab.page.locator('[data-figure="rank.matrix"]')
    place.scroll_into_view_if_needed()
    frame = tab.page.evaluate("""() => {
      const {left, top, width, height} = Bokeh.index.find_one_by_id(Explorer.model('rank.matrix').id).frame.bbox
      return {left, top, width, height}
    }""")
    box = place.bounding_box()
    y = frame["top"] + share * frame["height"]
    tab.page.mouse.click(box["x"] + frame["left"] + frame["width"] / 2, box["y"] + y)
    if back:
        tab.answered(row=None)
        return None
    tab.page.wait_for_function("new URLSearchParams(location.search).has('row')")
    tab.settle()
    row = int(tab.words["row"])
    assert abs(row - share * 256) <= 2
    return row
