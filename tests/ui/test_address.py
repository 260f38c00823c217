"""The address is the session: read, written, undone, and never trusted."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from asked import MARKUP, SCRIPT, outside
from checking import check

from app.page import OVERVIEW
from components.axes import AXES
from components.lesson import Question
from components.words import WORDS

# Reading


def test_every_word_of_a_link_is_restored_on_the_overview(tab):
    told = "phi=favor~m~64 d_k=8 seed=3 row=17 rule=gated_delta keys=correlated rho=0.9 alpha=0.9 beta=0.25"
    told += " model=qwen3.8-27b c=4 n=17 N=64 T=4096 theme=dark"
    words = dict(pair.split("=") for pair in told.split())
    tab.open(OVERVIEW, **words)
    question = Question(**{word: WORDS[word].read(text) for word, text in words.items() if WORDS[word].server})
    check(tab, OVERVIEW, question, dark=True, c=4, n=17, N=64, T=4096)
    assert tab.text("page.notice") == ""
    tab.wait("!document.documentElement.hasAttribute('data-pending')")
    assert tab.words == words


HIDDEN = """() => !document.documentElement.hasAttribute('data-pending') ||
  getComputedStyle(document.querySelector('.figure')).visibility == 'hidden'"""


def test_until_its_answer_is_in_a_link_shows_no_other_figures(tab):
    tab.page.goto(f"{tab.server}/rank?phi=taylor", wait_until="commit")
    tab.page.wait_for_selector("h2", state="attached")
    assert tab.page.evaluate(HIDDEN)
    tab.settle()
    assert tab.page.locator(".figure").first.is_visible()


def test_defaults_are_left_out_and_the_address_is_written_short(tab):
    tab.open("rank", phi="favor~m~256", d_k="16", N="256", theme="light")
    tab.wait("location.search == '?phi=favor'")


# Writing


def test_dragging_rewrites_the_address_and_leaves_no_history(tab):
    tab.open("memory")
    entries = tab.page.evaluate("history.length")
    tab.drag("n", -0.2, release=False)
    tab.wait("location.search.includes('n=')")  # written while the finger rests, before it lets go
    tab.release()
    tab.drag("n", 0.1)
    assert tab.page.evaluate("history.length") == entries


def test_a_choice_leaves_one_history_entry_that_back_undoes_and_forward_redoes(tab):
    tab.open(OVERVIEW)
    entries = tab.page.evaluate("history.length")
    tab.drag("n", -0.2)
    n = tab.position("n")
    tab.choose("phi", "taylor")
    tab.choose("rule", "delta", phi="taylor", rule="delta")
    assert tab.page.evaluate("history.length") == entries + 2
    tab.page.go_back()
    tab.answered(phi="taylor", rule=None)
    check(tab, OVERVIEW, Question(phi="taylor"), n=n)
    tab.page.go_back()
    tab.answered(phi=None, rule=None)
    check(tab, OVERVIEW, Question(), n=n)
    tab.page.go_forward()
    tab.answered(phi="taylor", rule=None)
    check(tab, OVERVIEW, Question(phi="taylor"), n=n)
    assert tab.page.evaluate("history.length") == entries + 2
    assert "bk-active" in tab.option("phi", "taylor").get_attribute("class")


def test_a_choice_after_back_starts_a_new_future(tab):
    tab.open("memory")
    tab.choose("rule", "delta")
    tab.page.go_back()
    tab.answered(rule=None)
    entries = tab.page.evaluate("history.length")
    tab.choose("keys", "orthonormal", keys="orthonormal", rule=None)
    assert tab.page.evaluate("history.length") == entries
    tab.page.go_back()
    tab.answered(keys=None, rule=None)
    check(tab, "memory", Question())


def test_a_link_copied_from_the_address_bar_opens_the_same_page(tab, browser, server):
    from driving import Tab

    tab.open(OVERVIEW)
    tab.drag("c", 0.2)
    tab.choose("phi", "relu")
    tab.wait("location.search.includes('c=')")
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = Tab(context.new_page(), server)
    other.page.goto(tab.page.url)
    other.settle()
    tab.page.mouse.move(720, 5)
    other.page.mouse.move(720, 5)
    assert other.pictures() == tab.pictures() and other.page.url == tab.page.url
    context.close()
    assert not other.complaints


# Hostile


def hostile(tab, name, query, *named):
    """The page works, names what it refused, and nothing of it became an element."""
    tab.visit(name, query)
    notice = tab.text("page.notice")
    for word in named:
        assert word in notice, (word, notice[:200])
    assert tab.page.evaluate("document.querySelectorAll('img, [onerror], iframe, object').length") == 0
    assert tab.page.locator("text=Traceback").count() == 0
    return notice


def test_markup_in_every_word_is_refused_by_name_on_every_page(tab, name):
    hostile(tab, name, urlencode({word: f"{MARKUP}{SCRIPT}" for word in WORDS}), *(f"{word} " for word in WORDS))
    check(tab, name, Question())
    tab.wait("location.search == ''")


@pytest.mark.parametrize("text", ["9" * 1_000, "\0"], ids=["long", "nul"])
def test_unreadable_values_in_every_word_are_refused(tab, text):
    hostile(tab, OVERVIEW, urlencode({word: text for word in WORDS}), *(f"{word} " for word in WORDS))
    check(tab, OVERVIEW, Question())
    tab.wait("location.search == ''")


def test_words_out_of_range_are_refused_not_clamped(tab):
    bad = {name: outside(word)[-1] for name, word in WORDS.items()}
    hostile(tab, OVERVIEW, urlencode(bad), *(f"{word} = {text}" for word, text in bad.items()))
    check(tab, OVERVIEW, Question())
    tab.wait("location.search == ''")


@pytest.mark.parametrize("word", ["phi", "d_k", "n", "theme", "v"])
def test_one_bad_word_leaves_the_others_standing(tab, word):
    other = ("d_k", "8", 8) if word != "d_k" else ("seed", "3", 3)
    hostile(tab, "rank", f"{word}={quote(MARKUP)}&{other[0]}={other[1]}", f"{word} ")
    check(tab, "rank", Question(**{other[0]: other[2]}))
    tab.wait("told => location.search == told", f"?{other[0]}={other[1]}")


def test_ten_kilobytes_in_one_word_and_an_unknown_and_a_repeated_one(tab):
    notice = hostile(
        tab,
        "memory",
        f"phi={'x' * 10_000}&{quote(MARKUP)}=1&n=5&n=6&rule=delta&rule=decay",
        "phi ",
        "n stands 2 times",
        "rule stands 2 times",
        MARKUP,
    )
    assert "xxx" not in notice or len(notice) < 500
    check(tab, "memory", Question(rule="delta"), n=5)
    tab.wait("location.search == '?rule=delta&n=5'")


def test_words_that_cannot_live_together_still_make_a_page(tab):
    """DPFP has at most 2·d_k − 1 shifts; ReLU of four numbers may be all zero."""
    tab.open(OVERVIEW, phi="relu", d_k="4", keys="phi")
    assert tab.page.locator(".figure").first.is_visible()
    tab.open("sharpness", phi="dpfp~nu~31", d_k="4")
    assert tab.page.locator(".figure").first.is_visible()


def test_choosing_what_cannot_live_together_does_not_stop_the_page(tab):
    tab.open("memory", phi="relu", keys="phi")
    tab.option("d_k", 4).click()
    tab.settle()
    tab.choose("rule", "delta")


def test_an_empty_question_mark_and_a_fragment_are_no_words(tab):
    tab.visit("rank", "")
    tab.page.goto(f"{tab.server}/rank?#here")
    tab.settle()
    assert tab.text("page.notice") == ""


# Presets


def presets(tab) -> list[dict[str, str]]:
    return tab.page.evaluate("[...document.querySelectorAll('[data-preset]')].map(b => JSON.parse(b.dataset.preset))")


@pytest.mark.parametrize("page", ["sharpness", "memory", "rank", "sizing"])
def test_every_preset_leads_to_the_state_it_names(tab, page):
    tab.open(page)
    for i, words in enumerate(presets(tab)):
        tab.page.locator("[data-preset]").nth(i).click()
        words = {word: str(text) for word, text in words.items()}
        server = {word: text for word, text in words.items() if WORDS[word].server}
        tab.led(words)
        stops = {word: WORDS[word].read(text) for word, text in words.items() if word in AXES}
        check(tab, page, Question(**{word: WORDS[word].read(text) for word, text in server.items()}), **stops)


def test_a_preset_leaves_one_history_entry_that_back_undoes(tab):
    tab.open("memory")
    both = [i for i, words in enumerate(presets(tab)) if {WORDS[w].server for w in words} == {True, False}]
    entries = tab.page.evaluate("history.length")
    words = presets(tab)[both[0]]
    tab.page.locator("[data-preset]").nth(both[0]).click()
    tab.answered(
        **{w: str(t) for w, t in words.items() if WORDS[w].server and WORDS[w].read(str(t)) != WORDS[w].default}
    )
    assert tab.page.evaluate("history.length") == entries + 1
    tab.page.go_back()
    tab.wait("location.search == ''")
    tab.answered(rule=None, keys=None)
    check(tab, "memory", Question())


def test_other_pages_are_handed_what_a_hand_chose_and_not_what_a_preset_did(tab):
    tab.open("rank")
    handed = "new URL(document.querySelector('nav a[data-page=sharpness]').href).search"
    tab.choose("phi", "relu", phi="relu")
    assert tab.page.evaluate(handed) == "?phi=relu"
    taylor = next(i for i, words in enumerate(presets(tab)) if words.get("phi") == "taylor")
    tab.page.locator("[data-preset]").nth(taylor).click()
    tab.answered(phi="taylor")
    assert "phi" not in tab.page.evaluate(handed)
    tab.choose("mask", "causal", phi="taylor", mask="causal")
    assert tab.page.evaluate(handed) == "?mask=causal"
    tab.page.reload()  # it is the preset's choice still
    tab.settle()
    assert tab.page.evaluate(handed) == "?mask=causal"


def test_after_back_the_next_choice_can_be_undone_again(tab):
    """Also when going back changed nothing that the server knows."""
    tab.open("memory")
    tab.page.evaluate("() => { history.pushState(null, '', '?n=200'); Explorer.seek('n', 200) }")
    tab.page.go_back()
    tab.wait("Explorer.at.n == 128")
    entries = tab.page.evaluate("history.length")
    tab.choose("rule", "delta")
    tab.choose("keys", "orthonormal", rule="delta", keys="orthonormal")
    assert tab.page.evaluate("history.length") >= entries + 1
    tab.page.go_back()
    tab.answered(rule="delta", keys=None)
    tab.page.go_back()
    tab.answered(rule=None, keys=None)
    check(tab, "memory", Question())
