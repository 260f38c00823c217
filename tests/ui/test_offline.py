"""Pages as files, opened from a disk with the network off.  What they show is compared with what the views answer."""

from __future__ import annotations

import pytest
from checking import check
from filed import FileTab, asked_by, offered

from app.export import LARGEST, SUFFIX, one_file, pack, write
from app.page import OVERVIEW, pages, views_of
from components.axes import AXES
from components.lesson import Question
from components.teaching import teaching
from components.view import start_positions
from components.words import WORDS


@pytest.fixture
def disk(browser):
    """A browser tab without a network.  Whatever the test did, console and network must have been silent."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_offline(True)
    tab = FileTab(context.new_page())
    yield tab
    context.close()
    assert not tab.complaints
    assert all(url.startswith("file:///") for url in tab.loaded) and len(tab.loaded) <= tab.files


@pytest.fixture(scope="session")
def sharpness(tmp_path_factory):
    path = tmp_path_factory.mktemp("file") / "a lecture's sharpness.html"  # a path as people have them
    write(path, one_file("sharpness", "theme=dark&c=4", link="http://explorer.example/sharpness?c=4"))
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The lecture pack: a minute of computing."""
    made = tmp_path_factory.mktemp("pack")
    pack(made, "")
    return made


def file_of(folder, name):
    return folder / (("index" if name == OVERVIEW else name) + SUFFIX)


def headline(tab, name) -> list[str]:
    return [tab.text(f"{view.word}.headline") for view in views_of(name)]


# One file, as a visitor saves it


def test_a_saved_page_opens_as_it_was_saved_and_answers_its_choices(disk, sharpness):
    disk.opens(sharpness)
    assert disk.loaded == [sharpness.as_uri()]
    check(disk, "sharpness", Question(), dark=True, c=4)
    before = headline(disk, "sharpness")
    for text in disk.live()["phi"]:
        disk.takes("phi", text)
        check(disk, "sharpness", asked_by({"phi": text}), dark=True, c=4)
        assert disk.page.locator(f'[data-choice="phi"][data-value="{text}"][aria-pressed=true]').count() == 1
        assert headline(disk, "sharpness") != before or text in ("elu", "softmax")
    disk.takes("phi", "elu")
    assert headline(disk, "sharpness") == before


def test_a_saved_page_moves_by_keyboard_and_mouse_and_needs_no_server_for_it(disk, sharpness):
    disk.opens(sharpness)
    last, start = len(AXES["c"].stops) - 1, AXES["c"].index(4)
    for key, at in (("ArrowRight", start + 1), ("ArrowLeft", start), ("Home", 0), ("End", last)):
        disk.slider("c").press(key)
        assert disk.position("c") == at
        check(disk, "sharpness", Question(), dark=True, c=AXES["c"].stops[at])
    disk.drag("c", -0.5)
    assert 0 < disk.position("c") < last
    check(disk, "sharpness", Question(), dark=True, c=AXES["c"].stops[disk.position("c")])


def test_a_saved_page_says_what_it_fixes_and_where_the_rest_is(disk, sharpness):
    disk.opens(sharpness)
    said(disk, "sharpness")
    assert disk.page.locator(".fixed a").get_attribute("href") == "http://explorer.example/sharpness?c=4"
    assert disk.page.locator("[data-save], [data-copy-link], [data-paste], [data-panel=code]").count() == 0


def test_a_file_that_knows_its_server_links_there_and_one_that_does_not_links_nowhere(disk, sharpness, tmp_path):
    disk.opens(sharpness)
    disk.slider("c").press("ArrowRight")
    disk.takes("phi", "taylor")
    disk.page.locator("[data-share]").click()
    link = disk.page.locator('[data-snippet="link"]').inner_text()
    assert link == "http://explorer.example/sharpness?phi=taylor&c=4.25&theme=dark"
    assert disk.page.evaluate("Stills.numbers().link") == link
    alone = tmp_path / "alone.html"
    write(alone, one_file("random-features", "theme=dark"))
    disk.files = 2
    disk.opens(alone)
    disk.page.locator("[data-share]").click()
    assert disk.page.locator("[data-panel=embed] p:not(.fits)").is_visible()
    assert not disk.page.locator("[data-panel=embed] form, [data-snippet]").first.is_visible()
    assert "link" not in disk.page.evaluate("Stills.numbers()")


def test_the_theme_of_a_file_changes_and_changes_back(disk, sharpness):
    disk.opens(sharpness)
    disk.page.locator("[data-theme-switch]").click()
    check(disk, "sharpness", Question(), dark=False, c=4)
    disk.page.locator("[data-theme-switch]").click()
    check(disk, "sharpness", Question(), dark=True, c=4)


def said(tab, name):
    """Every control of the served page is live here, or said to be fixed at the value that it has."""
    told = tab.page.locator(".fixed").inner_text() if tab.page.locator(".fixed").count() else ""
    live = tab.live()
    for control in offered(name):
        if control.word in live:
            assert set(live[control.word]) == {option.text for option in control.options}
            assert tab.page.locator(f'[data-control="{control.word}"]').is_visible()
        else:
            assert f"{control.label} {control.told}" in told, control
            assert tab.page.locator(f'[data-control="{control.word}"]').count() == 0


# The lecture pack

every_page = pytest.mark.outside


@every_page
def test_every_page_of_the_pack_opens_small_silent_painted_and_right(disk, folder, name):
    path = file_of(folder, name)
    assert path.stat().st_size <= LARGEST
    disk.opens(path)
    assert disk.loaded == [path.as_uri()]
    check(disk, name, Question())
    pictures = disk.pictures()
    assert pictures and all(ink > 1_000 for _, ink in pictures.values())
    said(disk, name)


@every_page
def test_every_live_choice_of_every_page_shows_what_the_views_answer(disk, folder, name):
    disk.opens(file_of(folder, name))
    live, before = disk.live(), headline(disk, name)
    assert live
    chosen: dict[str, str] = {}
    for word, texts in live.items():
        default = WORDS[word].write(WORDS[word].default)
        for text in (*(text for text in texts if text != default), default):
            disk.takes(word, text)
            chosen[word] = text
            check(disk, name, asked_by(chosen))
    assert headline(disk, name) == before


@every_page
def test_live_choices_of_a_page_go_together(disk, folder, name):
    """The last options of all words at once."""
    disk.opens(file_of(folder, name))
    chosen = {word: texts[-1] for word, texts in disk.live().items()}
    for word, text in chosen.items():
        disk.takes(word, text)
    check(disk, name, asked_by(chosen))


@every_page
def test_sliders_and_play_of_every_page_run(disk, folder, name):
    disk.opens(file_of(folder, name))
    at = start_positions()
    for axis in disk.page.evaluate(
        "[...new Set([...document.querySelectorAll('input[data-axis]')].map(i => i.dataset.axis))]"
    ):
        back = at[axis] == int(disk.slider(axis).get_attribute("max"))
        disk.slider(axis).press("ArrowLeft" if back else "ArrowRight")
        at[axis] += -1 if back else 1
        assert disk.position(axis) == at[axis]
        disk.settle()
        check(disk, name, Question(), **{axis: AXES[axis].stops[i] for axis, i in at.items()})
    for button in disk.page.locator("[data-play]").all():
        axis = button.get_attribute("data-play")
        disk.slider(axis).press("Home")
        button.click()
        disk.page.wait_for_function("axis => Explorer.at[axis] >= 2", arg=axis)
        # In one go: between a look and a click of ours the play may end, and the click would begin it anew.
        button.evaluate("(button, axis) => { if (Explorer.plays(axis)) button.click() }", axis)
        at[axis] = disk.position(axis)
        assert at[axis] >= 2 and not disk.page.evaluate("axis => Explorer.plays(axis)", axis)
        disk.page.wait_for_timeout(150)
        assert disk.position(axis) == at[axis]
        disk.settle()
        check(disk, name, Question(), **{axis: AXES[axis].stops[i] for axis, i in at.items()})


@every_page
def test_presets_of_a_file_lead_where_they_say(disk, folder, name):
    """Those that need what is fixed are left out."""
    disk.opens(file_of(folder, name))
    live = disk.live()
    shown = disk.page.evaluate("[...document.querySelectorAll('[data-preset]')].map(b => b.textContent)")
    offered = [] if name == OVERVIEW else [preset.name for preset in teaching(name).presets]
    assert set(shown) <= set(offered)
    for preset in () if name == OVERVIEW else teaching(name).presets:
        needs = {w: t for w, t in preset.words.items() if WORDS[w].server and WORDS[w].read(t) != WORDS[w].default}
        assert (preset.name in shown) == (set(needs) <= set(live) and all(t in live[w] for w, t in needs.items()))
        if preset.name in shown:
            button = disk.page.locator("[data-preset]", has_text=preset.name).first
            if not button.is_visible():
                disk.page.locator(".presets summary", has_text=preset.group).click()
            button.click()
            disk.settle()
            stops = {word: WORDS[word].read(text) for word, text in preset.words.items() if word in AXES}
            check(disk, name, asked_by(needs), **stops)
            assert disk.page.locator(".presets .caption").inner_text() == preset.caption
            assert not disk.page.locator("[data-left]").count()


@every_page
def test_from_page_to_page_of_the_pack_by_its_own_links(disk, folder):
    disk.opens(file_of(folder, OVERVIEW))
    disk.files = 2 * len(pages())
    for name in [*pages()][1:]:
        disk.page.locator("nav a", has_text=pages()[name]).first.click()
        disk.page.wait_for_url(file_of(folder, name).as_uri())
        disk.settle()
        assert disk.page.locator("nav a[aria-current=page]").inner_text() == pages()[name]
    disk.page.locator("nav a", has_text=pages()[OVERVIEW]).first.click()
    disk.page.wait_for_url(file_of(folder, OVERVIEW).as_uri())
    disk.settle()
    for view in views_of(OVERVIEW):
        assert disk.page.locator(f'.card a[href="{view.word}{SUFFIX}"]').count() == 1
