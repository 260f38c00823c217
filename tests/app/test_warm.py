"""What the server does before its first visitor is not left to that visitor."""

from __future__ import annotations

from jinja2 import meta

from app.page import ASSETS, template


def test_every_part_of_the_page_is_compiled_with_it():
    made = template().environment
    compiled, waiting = {name for _, name in made.cache}, {template().name}
    while waiting:
        name = waiting.pop()
        assert name in compiled
        waiting |= set(meta.find_referenced_templates(made.parse((ASSETS / name).read_text(encoding="utf-8"))))
