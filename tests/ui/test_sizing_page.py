"""Sizing's page as its visitors use it: find a model, paste one of their own, hand on the link, paste nonsense."""

from __future__ import annotations

import json

import pytest
from asked import MARKUP, SCRIPT

from compute.sizing import human_bytes, load_model, model_config, reserve

LLAMA = model_config("llama-3.1-8b")
PASTED = "() => document.querySelector('[data-text=\"page.paste\"]').textContent"
OPENED = "document.querySelectorAll('img, [onerror], iframe, object, main script').length"

# What is pasted, and what its refusal has to name.
NONSENSE = {
    "markup for a model type": (json.dumps(LLAMA | {"model_type": MARKUP}), MARKUP),
    "more than 1 MiB": ('{"a": "' + "x" * (1 << 20) + '"}', "larger than"),
    "a MiB that escapes to six": ("\x01" * (1 << 20), "larger than"),
    "depth 33": ('{"a":' * 33 + "1" + "}" * 33, "deeper than 32"),
    "5,001 keys": (json.dumps({f"k{i}": 0 for i in range(5_001)}), "5,000 keys"),
    "a key twice": ('{"hidden_size": 1, "hidden_size": 2}', "'hidden_size' stands twice"),
    "NaN": ('{"hidden_size": NaN}', "NaN"),
    "16 digits": ('{"hidden_size": 1234567890123456}', "15 digits"),
    "not JSON": ("what a fine day", "not JSON"),
    "half a file": ('{"model_type": "llama", "num_hid', "not JSON"),
    "nothing": ("  \n ", "is empty"),
    "a path": ("/etc/passwd", "path"),
    "an unknown type": ('{"model_type": "brand_new", "num_hidden_layers": 2}', "'brand_new'"),
}


def paste(tab, text):
    """Put the text into the box as a paste would, and wait for the sentence about it."""
    tab.page.evaluate(
        """text => {
          const box = document.querySelector('[data-paste]')
          box.value = text
          box.dispatchEvent(new Event('input'))
          Explorer.say('page.paste', '')
        }""",
        text,
    )
    tab.page.locator("[data-paste-go]").click()
    tab.page.wait_for_function(f"() => ({PASTED})() != ''")
    return tab.page.evaluate(PASTED)


def test_whatever_is_pasted_gets_one_sentence_and_costs_nothing_that_was_there(tab):
    tab.open("sizing", model="qwen3.8-27b")
    before, address = tab.text("sizing.headline"), tab.page.url
    for what, (text, named) in NONSENSE.items():
        sentence = paste(tab, text)
        assert named in sentence and sentence.count("\n") == 0 and len(sentence) < 400, (what, sentence)
        assert sentence.endswith("."), (what, sentence)
        kept = tab.page.locator("[data-paste]").input_value()
        assert kept == text, what
        assert tab.text("sizing.headline") == before and tab.page.url == address, what
    assert tab.page.evaluate(OPENED) == 0

    sentence = paste(tab, json.dumps(LLAMA | {f"{MARKUP}{SCRIPT}": 1, "torch_dtype": "<b>half</b>"}))
    assert "Read as llama, 32 layers" in sentence
    tab.wait("document.querySelector('h2').textContent.startsWith('Your llama model')")
    for summary in tab.page.locator("details.folded summary").all():
        summary.click()
    assert MARKUP in tab.text("sizing.ignored") and "<b>half</b>" in tab.page.locator("main").inner_text()
    assert tab.page.evaluate(OPENED) == 0
    assert "own=" in tab.page.url and "Your llama model" in tab.page.locator(
        '[data-control="model"] input'
    ).get_attribute("placeholder")


def test_the_link_of_a_pasted_model_opens_the_same_bill_for_a_colleague(tab, browser, server):
    from driving import Tab

    tab.open("sizing")
    paste(tab, json.dumps(model_config("kimi-linear-48b-a3b")))
    tab.wait("new URLSearchParams(location.search).has('own')")
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = Tab(context.new_page(), server)
    other.page.goto(tab.page.url)
    other.settle()
    for node in ("sizing.headline", "sizing.total", "sizing.row.0.arithmetic", "sizing.meets"):
        assert other.text(node) == tab.text(node) != ""
    context.close()
    assert not other.complaints
    tab.page.locator("[data-paste-clear]").click()
    tab.wait("!new URLSearchParams(location.search).has('own')")
    assert tab.text("sizing.headline").startswith("MiniMax-01")


def test_a_model_is_found_by_the_keyboard_compared_and_counted_in_pages(tab):
    tab.open("sizing")
    tab.page.locator('[data-control="model"] input').focus()
    tab.page.keyboard.type("8-27")
    tab.page.keyboard.press("Enter")
    tab.answered(model="qwen3.8-27b")
    for letters in ("kimi", "deepseek", "gpt-2"):
        tab.find("compare", letters)
        tab.wait("letters => location.search.includes(letters)", letters)
    tab.find("compare", "× deep")
    tab.answered(model="qwen3.8-27b", compare="kimi-linear-48b-a3b,gpt-2")
    tab.option("engine", "vllm-0.33").click()
    tab.answered(model="qwen3.8-27b", compare="kimi-linear-48b-a3b,gpt-2", engine="vllm-0.33")
    made = reserve(load_model("qwen3.8-27b"), 1 << 20)
    assert tab.text("sizing.total") == f"{human_bytes(made.padded_bytes)} = {made.padded_bytes:,} B"
    assert tab.text("sizing.headline").count("vLLM 0.33 reserves") == 1
    assert "⌈T ÷ 784⌉ pages × 3,211,264 B" in tab.text("sizing.row.0.arithmetic")
    href = tab.page.locator("a.carry").get_attribute("href")
    assert href.startswith("memory?") and "n=256" in href and tab.text("sizing.load") == "8,192"


def test_a_list_goes_when_the_keyboard_leaves_its_field(tab):
    tab.open("sizing")
    model, compare = (tab.page.locator(f'[data-control="{word}"] .bk-menu') for word in ("model", "compare"))
    tab.page.locator('[data-control="model"] input[type=text]').focus()
    model.wait_for(state="visible")
    tab.page.keyboard.press("Tab")
    compare.wait_for(state="visible")
    model.wait_for(state="hidden")
    tab.page.keyboard.press("Tab")
    compare.wait_for(state="hidden")


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_width_needs_sideways_scrolling(tab, width):
    tab.page.set_viewport_size({"width": width, "height": 844})
    tab.open("sizing", model="kimi-linear-48b-a3b", conv="fp8", compare="deepseek-v3,llama-3.1-8b,gpt-oss-20b")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.page.locator("details.more").get_attribute("open") is not None  # a link that uses it shows it
    assert tab.page.locator('[data-control="conv"] select').is_visible()


CONFIG = json.dumps(LLAMA)


@pytest.mark.parametrize("page", ["", "sizing"])
def test_a_config_is_taken_wherever_it_is_pasted_and_the_button_says_whether_there_is_anything_to_do(
    browser, server, page
):
    from driving import Tab

    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    tab = Tab(context.new_page(), server)
    tab.page.goto(f"{server}/{page}")
    tab.settle()
    go, back = tab.page.locator("[data-paste-go]"), tab.page.locator("[data-paste-clear]")
    assert not back.is_visible() and not (go.count() and go.is_enabled())
    tab.page.evaluate("text => navigator.clipboard.writeText(text)", CONFIG)
    tab.page.locator("h2").first.click()
    tab.page.keyboard.press("Control+V")
    tab.wait("new URLSearchParams(location.search).has('own')")
    assert "Read as llama, 32 layers" in tab.text("page.paste") and back.is_visible()
    assert "Your llama model" in tab.text("sizing.headline")
    if page:
        assert go.is_disabled() and go.inner_text() == "sized, as shown"
        tab.page.locator("[data-paste]").press("End")
        tab.page.locator("[data-paste]").type(" ")
        assert go.is_enabled() and go.inner_text() == "size my model"
    tab.page.evaluate('navigator.clipboard.writeText(\'{"model_type": "brand_new"}\')')
    tab.page.locator("h2").first.click()
    tab.page.keyboard.press("Control+V")
    tab.wait("document.documentElement.dataset.pasted == 'refused'")
    assert "'brand_new'" in tab.text("page.paste") and "Your llama model" in tab.text("sizing.headline")
    back.click()
    tab.wait("!new URLSearchParams(location.search).has('own')")
    assert not back.is_visible() and tab.page.locator('[data-text="page.paste"]').text_content() == ""
    context.close()
    assert not tab.complaints


def test_a_file_dropped_on_the_overview_is_read(tab):
    tab.open("explorer")
    tab.page.evaluate(
        """text => {
          const carried = new DataTransfer()
          carried.items.add(new File([text], 'config.json', {type: 'application/json'}))
          const told = kind => document.querySelector('main').dispatchEvent(
            new DragEvent(kind, {dataTransfer: carried, bubbles: true, cancelable: true}))
          if (told('dragover')) throw Error('the page would not take it')
          told('drop')
        }""",
        CONFIG,
    )
    tab.wait("new URLSearchParams(location.search).has('own')")
    assert "Your llama model" in tab.text("sizing.headline")
