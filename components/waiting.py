"""What stands in a control's place until the session is there: the same look, nothing to press.

A page is painted before its scripts have run.  Each control is then drawn as HTML in a shadow root of its own, with
the style sheets that its widget will bring, so the head is whole from the first paint on and nothing moves later.
"""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn

from components.widgets import Segmented

BASE = (
    ":host { display: block } .bk-btn, .bk-input { box-sizing: border-box; font-variant-numeric: inherit } "
    ".bk-input { width: 100%; margin: 0 } label { border-bottom: 1px solid transparent } "
    ".noUi-target { position: relative } .noUi-connect { height: 100%; border-radius: 3px }"
)
"""Of BokehJS's own sheets, which come with its script, what a control's size depends on."""


def waiting(widget: pn.widgets.Widget) -> str:
    """The widget as HTML that is safe to put into a page; empty while it is of no use."""
    if not widget.visible:
        return ""
    sheet = BASE + "".join(sheet for sheet in widget.stylesheets if isinstance(sheet, str))
    width = f' style="width:{widget.width}px"' if widget.width else ""
    # `<` does not occur in the house's sheets; an end tag in one would end the style element.
    said = "".join(f' {name}="{escape(text)}"' for name, text in widget.attributes.items())
    return (
        f'<div class="waiting"{width}{said} inert><template shadowrootmode="closed">'
        f"<style>{sheet.replace('<', '')}</style>{_inside(widget)}</template></div>"
    )


def _inside(widget: Any) -> str:
    closed = " disabled" if widget.disabled else ""
    if isinstance(widget, Segmented):
        buttons = "".join(_button(name, value == widget.value, closed) for name, value in _options(widget))
        return f'<div class="bk-btn-group">{buttons}</div>'
    label = f"<label>{escape(widget.label)}</label>" if getattr(widget, "label", "") else ""
    if isinstance(widget, pn.widgets.Select):
        chosen = next((name for name, value in _options(widget) if value == widget.value), "")
        return f'{label}<select class="bk-input"{closed}><option>{escape(chosen)}</option></select>'
    if hasattr(widget, "end") and hasattr(widget, "step") and not isinstance(widget, pn.widgets.IntInput):
        share = (widget.value - widget.start) / (widget.end - widget.start)
        return (
            f'<div class="bk-slider-title">{escape(widget.label)}: <strong>{widget.value:g}</strong></div>'
            f'<div class="noUi-target"><div class="noUi-connect" style="width:{100 * share:.2f}%"></div></div>'
        )
    told = widget.value if widget.value is not None else ""
    said = escape(str(getattr(widget, "placeholder", "") or ""))
    return f'{label}<input class="bk-input"{closed} value="{escape(str(told))}" placeholder="{said}">'


def _options(widget: Any) -> list[tuple[str, Any]]:
    listed = widget.options
    return [(str(name), value) for name, value in (listed.items() if isinstance(listed, dict) else zip(listed, listed))]


def _button(name: str, chosen: bool, closed: str) -> str:
    return f'<button class="bk-btn bk-btn-default{" bk-active" if chosen else ""}"{closed}>{escape(name)}</button>'
