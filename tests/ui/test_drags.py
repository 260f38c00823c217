"""A slider under a real mouse: exactly the linked pictures change, and nothing goes up until it is let go."""

from __future__ import annotations

import numpy as np
import pytest
from checking import check, moved_by

from app.page import OVERVIEW, figures_of, pages, view, views_of
from components.axes import AXES
from components.lesson import Question
from components.sharpness_run import STEP
from components.view import start_positions
from compute.sharpness import match_weights
from compute.sizing import bill, load_model
from compute.toys import queries_and_keys

OWN = {view(word).axis: word for word in pages() if word != OVERVIEW}
SHARES = {"c": 0.2, "n": -0.3, "N": -0.4, "T": -0.25}
DRAGS = [(page, axis) for axis, own in OWN.items() for page in (OVERVIEW, own) if axis in SHARES]
every_drag = pytest.mark.parametrize("page, axis", DRAGS, ids=lambda x: x)


def test_every_axis_under_a_finger_is_tried():
    assert set(SHARES) == {v.axis for v in views_of(OVERVIEW)}


@every_drag
def test_a_drag_changes_exactly_the_linked_pictures_and_tells_the_server_once_it_rests(tab, page, axis):
    tab.open(page)
    before, texts = tab.pictures(), tab.page.locator("[data-text]").all_text_contents()
    tab.page.mouse.move(*tab.grip(axis)[:2])
    tab.page.evaluate("scrollY")
    before = tab.pictures()
    tab.up.clear()
    tab.drag(axis, SHARES[axis], release=False)
    during = tab.pictures()
    assert tab.up == []
    changed = {figure for figure in before if before[figure] != during[figure]}
    assert changed == moved_by(page, axis)
    assert tab.page.locator("[data-text]").all_text_contents() != texts
    tab.release()
    tab.sent(1)
    i = tab.position(axis)
    assert i != start_positions()[axis]
    check(tab, page, Question(), **{axis: AXES[axis].stops[i]})
    tab.wait("axis => new URLSearchParams(location.search).has(axis)", axis)
    assert tab.words == {axis: str(AXES[axis].stops[i])}


@every_drag
def test_arrow_keys_step_and_say_where_they_are(tab, page, axis):
    tab.open(page)
    slider, i = tab.slider(axis), tab.position(axis)
    said = slider.get_attribute("aria-valuetext")
    assert said == AXES[axis].say(AXES[axis].stops[i])
    slider.focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.settle()
    assert tab.position(axis) == i - 1
    assert slider.get_attribute("aria-valuetext") == AXES[axis].say(AXES[axis].stops[i - 1]) != said
    assert tab.page.locator(f'output[data-axis="{axis}"]').first.inner_text() == AXES[axis].say(AXES[axis].stops[i - 1])
    tab.page.keyboard.press("Home")
    tab.settle()
    check(tab, page, Question(), **{axis: AXES[axis].stops[0]})
    tab.page.keyboard.press("End")
    tab.settle()
    check(tab, page, Question(), **{axis: AXES[axis].stops[-1]})


def test_both_ends_and_back_leave_no_trace(tab):
    tab.open("memory")
    first = tab.pictures()
    tab.slider("n").focus()
    start = tab.position("n")
    tab.page.keyboard.press("Home")
    tab.settle()
    assert tab.text("memory.headline") != "" and tab.pictures() != first
    tab.page.evaluate("i => Explorer.seek('n', i)", start)
    tab.settle()
    assert tab.pictures() == first


def test_the_bars_under_the_finger_are_computes_weights(tab):
    tab.open("sharpness", phi="taylor", d_k="8")
    tab.drag("c", 0.25)
    c = AXES["c"].stops[tab.position("c")]
    K = queries_and_keys(8, 0)[1][:32]
    for column, phi in (("weight", Question(phi="taylor").map), ("softmax", None)):
        w = match_weights(phi, K[11], K, np.array([c])).w[0]
        # Softmax travels in whole steps that no canvas can show; a step is as exact as it claims to be.
        off = STEP / 2 if column == "softmax" else 0
        np.testing.assert_allclose(tab.source("sharpness.bars")[column], w, rtol=1e-5, atol=1e-7 + off)


def test_the_dots_under_the_finger_are_the_bill(tab):
    tab.open("sizing", model="qwen3.8-27b")
    tab.drag("T", -0.3)
    b = bill(load_model("qwen3.8-27b"), AXES["T"].stops[tab.position("T")])
    dots = tab.source("sizing.dots")
    assert {b.kv_bytes, b.state_bytes} <= {round(y) for y in dots["y"]}
    assert set(dots["x"]) == {b.tokens}


# Play


def test_play_goes_on_by_itself_and_stops_at_the_end(tab):
    tab.open("memory", n="200")
    play = tab.page.locator('[data-play="n"]').first
    tab.page.locator('[data-speed="n"]').select_option("60")
    tab.up.clear()
    play.click()
    assert play.get_attribute("aria-pressed") == "true"
    tab.page.wait_for_function("Explorer.at.n > 203")
    assert tab.up == []
    tab.page.wait_for_function(
        "Explorer.at.n == 256 && document.querySelector('[data-play=n]').getAttribute('aria-pressed') == 'false'"
    )
    tab.settle()
    tab.sent(1)
    check(tab, "memory", Question(), n=256)
    play.click()
    tab.page.wait_for_function("Explorer.at.n > 1 && Explorer.at.n < 200")  # from the start again
    play.click()
    tab.settle()


def test_pause_stops_where_it_is_and_steps_go_one_by_one(tab):
    tab.open("memory", n="20")
    play = tab.page.locator('[data-play="n"]').first
    play.click()
    tab.page.wait_for_function("Explorer.at.n > 21")
    # In one go: on a slow machine the play may end between a look and a click of ours, which would begin it anew.
    play.evaluate("button => { if (Explorer.plays('n')) button.click() }")
    n = tab.position("n")
    tab.page.wait_for_timeout(250)
    assert tab.position("n") == n and play.get_attribute("aria-pressed") == "false"
    tab.page.locator('[data-step="n"][data-by="1"]').click()
    tab.settle()
    check(tab, "memory", Question(), n=n + 1)
    tab.page.locator('[data-step="n"][data-by="-1"]').click()
    tab.page.locator('[data-step="n"][data-by="-1"]').click()
    tab.settle()
    check(tab, "memory", Question(), n=n - 1)


def runs(tab, axis: str) -> list[int]:
    """Every position from the press on play until the play ends by itself."""
    return tab.page.evaluate(
        """axis => new Promise(done => {
          const seen = []
          document.addEventListener('explorer:seek', ({detail}) => { if (detail.axis == axis) seen.push(detail.index) })
          document.addEventListener('explorer:rest', () => done(seen), {once: true})
          document.querySelector(`[data-play="${axis}"]`).click()
        })""",
        axis,
    )


def test_a_short_example_is_read_from_its_first_token_to_its_last_at_a_speed_that_can_be_followed(tab):
    tab.open("forms")
    slider, speed = tab.slider("t"), tab.page.locator('[data-speed="t"]')
    assert slider.get_attribute("max") == "2" and speed.input_value() == "1"
    assert runs(tab, "t") == [0, 1, 2]
    tab.choose("example", "random", example="random")
    assert slider.get_attribute("max") == "36" and speed.input_value() == "4"
    speed.select_option("60")
    assert runs(tab, "t")[-1] == 36
    assert runs(tab, "t")[0] == 0  # from the end it begins again
    tab.settle()


def test_where_a_page_opens_play_begins_at_the_beginning_and_where_a_hand_put_it_it_goes_on(tab):
    tab.open("memory")
    tab.page.locator('[data-speed="n"]').select_option("60")
    assert runs(tab, "n")[0] == 0
    tab.slider("n").press("ArrowLeft")
    assert runs(tab, "n")[0] == 256
    tab.settle()


def test_the_space_bar_on_the_slider_plays_and_pauses(tab):
    tab.open("rank")
    tab.slider("N").press(" ")
    assert tab.page.evaluate("Explorer.plays('N')")
    tab.slider("N").press(" ")
    assert not tab.page.evaluate("Explorer.plays('N')")
    tab.settle()


def test_touching_the_slider_stops_the_play(tab):
    tab.open(OVERVIEW)
    play = tab.page.locator('[data-play="n"]').first
    if not play.count():
        pytest.skip("the overview has no play button")
    play.click()
    tab.slider("n").focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.settle()
    assert play.get_attribute("aria-pressed") == "false"


def test_every_reel_turns_without_the_server(tab):
    """Figures are files: a page that never had a session is drawn, and its sliders work."""
    tab.page.route_web_socket("**/ws", lambda socket: socket.close())
    tab.page.goto(f"{tab.server}/rank")
    tab.page.wait_for_function("document.documentElement.dataset.figures == 'ready'")
    tab.page.evaluate("Explorer.seek('N', 3)")
    told = tab.source("rank.outline")
    assert told["bottom"] == [AXES["N"].stops[3]]
    tab.complaints.clear()  # Bokeh says that it has no connection


def test_figures_are_fetched_once_and_kept(tab):
    fetched = []
    tab.page.on("response", lambda r: fetched.append(r) if "figures-" in r.url else None)
    tab.open("rank")
    tab.open("rank")
    assert len(figures_of("rank").json) > 1_000
    assert [r.url.partition("?")[0].rpartition("/")[2] for r in fetched]
    assert (
        fetched[-1].from_service_worker
        or len(fetched) == 1
        or fetched[-1].request.timing["responseStart"] < 0
        or _cached(fetched[-1])
    )


def _cached(response) -> bool:
    return response.status == 304 or "max-age" in (response.header_value("cache-control") or "")
