"""Beside an example worked by hand the controls show what the example has, and their values come back with the rest."""

from __future__ import annotations

import pytest

SHOWN = """word => {
  const slot = document.querySelector(`[data-control="${word}"] .slot`), host = slot.lastElementChild
  const seen = node => node.checkVisibility()
  const button = [...host.shadowRoot.querySelectorAll('.bk-btn')]
  const ground = node => getComputedStyle(node).backgroundColor
  const other = button.map(ground).sort().find((colour, k, all) => colour == all[k + 1])
  return {
    said: getComputedStyle(host, '::after').content.replaceAll('"', ''),
    field: [...host.shadowRoot.querySelectorAll('select, input')].filter(seen).map(node => node.value),
    dark: button.filter(node => ground(node) != other).map(node => node.textContent),
    title: host.title,
  }
}"""

THERE = """([words, by_hand]) => words.every(word => {
  const host = document.querySelector(`[data-control="${word}"] .slot`).lastElementChild
  return host && !host.matches('.waiting') && ('instead' in host.dataset) == by_hand
})"""
"""Whether the widgets of these words stand where they waited, and have heard of the example or of its end."""


@pytest.mark.parametrize(
    ("page", "words", "random", "fields", "chosen"),
    [
        ("forms", {"phi": "relu", "d_k": "8"}, ("example", "random"), {"knob": "2 = d_k, by hand", "seed": "none"},
         {"d_k": ([], ["8"]), "phi": (["elu+1"], ["ReLU"])}),
        ("memory", {"stream": "hand", "keys": "orthonormal"}, ("stream", "plain"),
         {"knob": "2 = d_k, by hand", "seed": "none", "d_v": "2"},
         {"d_k": ([], ["16"]), "phi": ([], ["elu+1"]), "keys": ([], ["orthonormal"])}),
    ],
)  # fmt: skip
def test_controls_of_an_example_show_what_it_has_and_then_their_own_again(tab, page, words, random, fields, chosen):
    tab.open(page, **words)
    tab.wait(THERE, [list(fields | chosen), True])
    for word, text in fields.items():
        shown = tab.page.evaluate(SHOWN, word)
        assert shown["said"] == text and shown["field"] == [] and "by hand" in shown["title"]
    for word, (here, _) in chosen.items():
        assert tab.page.evaluate(SHOWN, word)["dark"] == here, word
    tab.choose(*random)
    tab.wait(THERE, [list(fields | chosen), False])
    for word in fields:
        shown = tab.page.evaluate(SHOWN, word)
        assert shown["said"] == "none" and len(shown["field"]) == 1, word
    for word, (_, own) in chosen.items():
        assert tab.page.evaluate(SHOWN, word)["dark"] == own, word
