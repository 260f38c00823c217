"""In an iframe on somebody else's site: it works there without cookies, and nobody but that site drives it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from checking import check
from hosting import Host, frame, serving

from components.axes import AXES
from components.lesson import Question
from components.words import WORDS

MARKUP = '<img src=x onerror="alert(1)">'


@pytest.fixture
def host(browser, server, tmp_path):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    with serving(tmp_path) as port:
        told = Host(context.new_page(), tmp_path, port, server)
        yield told
        context.close()
    assert not told.complaints


def shows(host: Host, question: Question, **stops):
    """The framed page has the numbers of a question."""
    check(SimpleNamespace(page=host.frame()), "memory", question, **stops)


def settled(host: Host):
    host.frame().wait_for_function("!('pending' in document.documentElement.dataset)")


# What a host can do


def test_on_a_foreign_site_without_cookies_the_page_works_and_says_what_happens(host):
    host.opens()
    shut = "() => { try { localStorage; return 'open' } catch (error) { return error.name } }"
    assert host.frame().evaluate(shut) == "SecurityError"  # this browser keeps nothing for a page in a foreign frame
    assert [(m["explorer"], m["view"], m["origin"]) for m in host.heard[:2]] == [
        ("ready", "memory", host.explorer),
        ("state", "memory", host.explorer),
    ]
    assert host.heard[1]["words"] == {} and host.heard[1]["playing"] == []
    shows(host, Question())
    assert host.frame().locator("header").count() == 0
    slider = host.frame().locator('input[data-axis="n"]')
    slider.press("ArrowRight")
    host.until(n="129")
    host.frame().locator('[data-control="rule"] button').nth(2).click()
    host.until(n="129", rule="delta")
    shows(host, Question(rule="delta"), n=129)


def test_set_takes_positions_choices_and_the_theme(host):
    host.opens()
    told = host.asks("set", words={"n": 32, "rule": "delta", "theme": "dark"})
    assert told.refused == [] and told.words["n"] == "32" and told.words["theme"] == "dark"
    host.until(n="32", rule="delta", theme="dark")
    settled(host)
    shows_dark = SimpleNamespace(page=host.frame())
    check(shows_dark, "memory", Question(rule="delta"), dark=True, n=32)
    assert host.asks("set", words={"rule": None}).refused == []
    host.until(n="32", theme="dark")


def test_a_choice_sent_the_moment_the_page_is_ready_is_not_lost(host):
    host.opens(greet="{explorer: 'set', words: {keys: 'orthonormal', n: '20'}}")
    host.until(keys="orthonormal", n="20")
    settled(host)
    shows(host, Question(keys="orthonormal"), n=20)


def test_step_goes_stops_forward_and_back_and_not_beyond_the_ends(host):
    host.opens(n="3")
    assert host.asks("step").words == {"n": "4"}
    assert host.asks("step", by=-2).words == {"n": "2"}
    assert host.asks("step", axis="n", by=-1_000_000).words == {"n": "0"}
    assert host.asks("step", axis="n", by=1e300).words == {"n": "256"}
    shows(host, Question(), n=256)


def test_play_runs_until_pause_and_reset_ends_it_too(host):
    host.opens(n="0")
    assert host.asks("play").playing == ["n"]
    host.frame().wait_for_function("Explorer.at.n > 3")
    told = host.asks("pause")
    assert told.playing == [] and int(told.words["n"]) > 3
    host.page.wait_for_timeout(300)
    assert host.asks("get").words == told.words
    assert host.asks("play", axis="n").playing == ["n"]
    host.frame().wait_for_function("before => Explorer.at.n > before + 2", arg=int(told.words["n"]))
    told = host.asks("reset")
    assert told.playing == [] and told.words == {}
    host.page.wait_for_timeout(300)
    assert host.asks("get").words == {}


@pytest.mark.outside
def test_reset_brings_the_defaults_and_leaves_theme_and_frame(host):
    host.opens(n="7", rule="delta", theme="dark", hide="side")
    host.until(n="7", rule="delta", theme="dark")
    host.tells("reset")
    host.until(theme="dark")
    assert not host.frame().locator(".side").is_visible() and host.frame().locator("header").count() == 0


def test_a_locked_answer_stays_shut_until_the_host_reveals_it(host):
    host.opens(reveal="locked")
    page, marks = (
        host.frame(),
        "() => ['memory.predicted.point', 'memory.predicted.text'].map(m => Explorer.model(m).visible)",
    )
    page.locator("[data-option]").nth(0).click()
    assert page.locator(".predict .locked").is_visible() and not page.locator(".predict .because").is_visible()
    assert page.evaluate(marks) == [False, False]
    host.asks("reset")
    host.asks("set", words={"n": "32"})
    assert not page.locator(".predict .because").is_visible()
    assert host.asks("set", words={"reveal": "open"}).refused == ["reveal is not a word of this page"]
    assert not page.locator(".predict .because").is_visible()
    host.asks("reveal")
    assert page.locator(".predict .because").is_visible() and not page.locator(".predict .locked").is_visible()
    assert page.evaluate(marks) == [True, True]
    assert page.locator("[data-option][data-verdict=wrong]").count() == 1


# What is refused


def test_words_that_cannot_be_taken_are_refused_one_by_one_and_the_others_hold(host):
    host.opens()
    told = host.asks(
        "set", words={"n": "17", "c": "1", "N": "999", "nonsense": "1", "theme": "purple", "T": "", MARKUP: "x" * 999}
    )
    assert told.words == {"n": "17"}
    named = ["c", "N", "nonsense", "theme = purple", "T", MARKUP[:9]]
    assert len(told.refused) == len(named) and all(s.startswith(name) for s, name in zip(told.refused, named))
    assert max(map(len, told.refused)) < 200
    host.tells("set", words={"rule": "nonsense", "d_k": "17", "seed": "5"})
    host.until(n="17", seed="5")
    host.wait("heard.some(m => m.explorer == 'refused' && m.sentences.join().includes('rule is none of'))")
    (server,) = [m["sentences"] for m in host.heard if m["explorer"] == "refused" and "rule" in str(m["sentences"])]
    assert "d_k" in str(server)
    settled(host)
    shows(host, Question(seed=5), n=17)


ODD = {
    "no words": "{explorer: 'set'}",
    "a list": "{explorer: 'set', words: ['n']}",
    "a text": "{explorer: 'set', words: 'n=5'}",
    "nested": "{explorer: 'set', words: {n: {n: {n: 1}}, rule: [['delta']]}}",
    "no text at all": "{explorer: 'set', words: {rule: {toString: 1, valueOf: 1}}}",
    "no text of a position": "{explorer: 'set', words: {n: {toString: 1, valueOf: 1}}}",
    "endless": "{explorer: 'set', words: {n: Infinity, rule: NaN}}",
    "an exponent": "{explorer: 'set', words: {n: '1e999'}}",
    "a big number": "{explorer: 'set', words: {n: 10n ** 30n}}",
    "inherited words": "{explorer: 'set', words: {toString: '1', constructor: '1', hasOwnProperty: '1'}}",
    "a prototype": "{explorer: 'set', words: JSON.parse('{\"__proto__\": {\"n\": 5}}')}",
    "a megabyte": "{explorer: 'set', words: {rule: 'x'.repeat(1 << 20)}}",
    "thousands of words": "{explorer: 'set', words: Object.fromEntries([...Array(999).keys()].map(i => ['w' + i, 1]))}",
    "an inherited command": "{explorer: 'toString'}",
    "a prototype as command": "{explorer: '__proto__'}",
    "a long command": "{explorer: 'x'.repeat(1 << 20)}",
    "an inherited axis": "{explorer: 'play', axis: 'toString'}",
    "an inherited axis to step": "{explorer: 'step', axis: 'constructor', by: 1}",
    "an axis of another page": "{explorer: 'step', axis: 'c', by: 1}",
    "no axis": "{explorer: 'play', axis: null}",
    "an object as axis": "{explorer: 'play', axis: {toString: 1}}",
    "half a step": "{explorer: 'step', by: 0.5}",
    "a text as step": "{explorer: 'step', by: '1'}",
    "markup": f"{{explorer: 'set', words: {{rule: {MARKUP!r}, n: {MARKUP!r}}}}}",
}
SILENT = ("null", "7", "'reset'", "[]", "{}", "{explorer: 1}", "{explorer: {}}", "new ArrayBuffer(8)", "'slide:start'")
"""Messages of other programs."""


FIRST = ("no text at all", "nested", "a megabyte", "an inherited axis", "an object as axis")
"""Those that once got through."""


@pytest.mark.parametrize(
    "told",
    [pytest.param(told, id=name, marks=() if name in FIRST else pytest.mark.outside) for name, told in ODD.items()],
)
def test_a_message_that_makes_no_sense_is_refused_in_words_and_changes_nothing(told, odd):
    before = len(odd.heard)
    odd.page.evaluate(f"tell({{...{told}, id: 'odd'}})")
    odd.wait(f"heard.slice({before}).some(m => m.explorer == 'refused')")
    sentences = next(m["sentences"] for m in odd.heard[before:] if m["explorer"] == "refused")
    assert all(isinstance(s, str) and 10 < len(s) < 400 for s in sentences)
    assert odd.asks("get").words == {"n": "40"}
    assert odd.frame().locator("img, iframe").count() == 0


def test_messages_of_other_programs_are_not_answered(odd):
    before = len(odd.heard)
    for told in SILENT:
        odd.page.evaluate(f"tell({told})")
    assert odd.asks("get").words == {"n": "40"}
    assert [m["explorer"] for m in odd.heard[before:]] == ["state"]


@pytest.fixture(scope="module")
def odd(browser, server, tmp_path_factory):
    """One host for all odd messages: they change nothing."""
    folder, context = tmp_path_factory.mktemp("odd"), browser.new_context()
    with serving(folder) as port:
        told = Host(context.new_page(), folder, port, server).opens(n="40")
        yield told
        context.close()
    assert not told.complaints


# Who is not heard

EVERYTHING = """() => { for (const told of [{explorer: 'set', words: {n: '5', rule: 'delta'}},
  {explorer: 'step', by: 9}, {explorer: 'reveal'},
  {explorer: 'play'}, {explorer: 'reset'}, {explorer: 'get'}]) tell(told) }"""


def untouched(host: Host):
    host.page.wait_for_timeout(400)
    page = host.frame()
    assert page.evaluate("Explorer.told()") == {"n": "40"}
    assert not page.evaluate("Explorer.plays('n')") and not page.locator(".predict .because").is_visible()


def ready(host: Host):
    host.frame().wait_for_function("document.documentElement.dataset.session == 'ready'")


@pytest.mark.parametrize(
    "named",
    [
        "",
        "http://localhost:1",
        *(pytest.param(f"https://{o}", marks=pytest.mark.outside) for o in ("localhost", "a.example")),
    ],
)
def test_a_site_that_the_address_does_not_name_is_not_heard_and_told_nothing(host, named):
    host.opens(n="40", reveal="locked", ready=False, host=named)
    ready(host)
    host.page.evaluate(EVERYTHING)
    untouched(host)
    assert host.heard == []
    if named:  # a browser says in its console that a message is not delivered to another site than the one it is for
        assert all("does not match the recipient window" in complaint for complaint in host.complaints)
        host.complaints.clear()


def test_another_frame_of_the_right_site_is_not_heard(host):
    """Only the window that frames the page: not a neighbour, though it is of the same origin."""
    (host.folder / "neighbour.html").write_text(
        "<script>for (const words of [{n: '5'}, {rule: 'delta'}]) "
        "parent.frames[0].postMessage({explorer: 'set', words}, '*'); document.title = 'sent'</script>"
    )
    host.opens(n="40", reveal="locked")
    host.page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", frame("neighbour.html"))
    host.frame(1).wait_for_function("document.title == 'sent'")
    untouched(host)
    assert host.asks("get").words == {"n": "40"}


@pytest.mark.outside
def test_a_window_that_opened_the_page_is_not_heard_and_the_page_itself_is_no_host(host):
    host.shows("", ready=False)
    with host.page.expect_popup() as opened:
        host.page.evaluate(f"window.other = open('{host.explorer}/memory?n=40&host={host.origin}')")
    popup = opened.value
    popup.wait_for_function("document.documentElement.dataset.session == 'ready'")
    host.page.evaluate("other.postMessage({explorer: 'set', words: {n: '5'}}, '*')")
    popup.evaluate("postMessage({explorer: 'set', words: {n: '5'}}, '*')")
    popup.wait_for_timeout(300)
    assert popup.evaluate("Explorer.told()") == {"n": "40"} and host.heard == []


# Several at once


@pytest.mark.outside
def test_two_frames_and_two_visitors_share_nothing(host):
    second = frame(f"{host.explorer}/memory?embed=1&host={host.origin}")
    host.opens(more=second)
    host.wait("heard.filter(m => m.explorer == 'ready').length == 2")
    host.tells("set", words={"rule": "delta", "n": "9"})
    host.wait("heard.some(m => m.from == 0 && m.words?.rule == 'delta')")
    host.page.wait_for_timeout(200)
    assert all(m["words"] == {} for m in host.heard if m["from"] == 1 and m["explorer"] == "state")
    assert host.frame(1).evaluate("Explorer.told()") == {}
    check(SimpleNamespace(page=host.frame(1)), "memory", Question())


def test_the_words_of_the_tests_are_words():
    assert {"n", "c", "N", "T"} <= set(AXES) and {"rule", "keys", "seed", "reveal"} <= set(WORDS)
