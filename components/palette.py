"""Colours and fonts, each stated once: a slot has a light and a dark value.

Python draws with the light value; the page's script knows the table and swaps slots for the dark theme.
Feature maps keep the Okabe-Ito family.  Rules and byte kinds are quieter, so that colour means φ.
"""

from __future__ import annotations

SLOTS: dict[str, tuple[str, str]] = {
    # name: (light, dark).  No two slots share a value, so a value names its slot.
    "ink": ("#1d2125", "#f0ede6"),
    "muted": ("#666c74", "#9aa1aa"),
    "faint": ("#b9bcc0", "#4b5159"),
    "band": ("#f0f1f2", "#24282d"),
    "ground": ("#ffffff", "#1b1e22"),
    "softmax": ("#1f2328", "#efece5"),
    "elu": ("#0072b2", "#4aa8e8"),
    "relu": ("#3b9bd6", "#86cdf6"),
    "favor": ("#cb8000", "#f2b23c"),
    "trig": ("#857000", "#b5a24c"),
    "taylor": ("#008562", "#2fc79a"),
    "hedgehog": ("#b2549b", "#e29acb"),
    "dpfp": ("#c8500a", "#ff8a4c"),
    "identity": ("#767c85", "#a6adb6"),
    "silu": ("#868c94", "#b3bac2"),
    "additive": ("#a8602f", "#d99666"),
    "decay": ("#7c7a34", "#b9b569"),
    "delta": ("#3a7d68", "#74bda5"),
    "gated_delta": ("#6c5ca0", "#a99bdc"),
    "cache": ("#ad4f26", "#e58a5f"),
    "state": ("#2c6a98", "#6fb0de"),
    "conv": ("#5f8f8a", "#8fc4be"),
    "window": ("#8d7430", "#c9ae63"),
    "mapped": ("#845f1c", "#c79a4e"),
    # models beside the chosen one
    "other1": ("#7d4f9e", "#b995d8"),
    "other2": ("#4f7d2f", "#93c26c"),
    "other3": ("#b0466e", "#e88fb0"),
}

LIGHT = {slot: light for slot, (light, _) in SLOTS.items()}

DASHES = {"identity": "dashed", "silu": "dotdash", "trig": "dashed"}
"""Maps without a colour of their own family are told apart by dash and label."""

FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'STIX Two Math', sans-serif"
"""All text.  Pages bring Inter along, and STIX Two Math for the few signs that it lacks; a picture that was saved, or a
notebook, takes what its machine has."""

FAMILIES = {
    "sans": FONT,
    "serif": "'STIX Two Text', Georgia, serif",
    "math": "'STIX Two Math', 'Latin Modern Math', 'Cambria Math', math, serif",
    "mono": f"'JetBrains Mono', 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace, {FONT}",
}
"""By the name of their CSS variable.  No font of equal widths is shipped; Inter has the signs that one may lack."""

UNDER_TEXT = 0.62
"""Opacity up to which numbers can be read on a cell, by day and by night: 5 to 1 at the least."""


def diverging(most: float = 1.0) -> list[str]:
    """256 colours for signed images: blue, transparent, orange.  One palette for paper and night."""
    cold, warm = "#2c7fb8", "#d9782d"
    alphas = [round(255 * most * (i / 127) ** 0.6) for i in range(128)]
    return [f"{cold}{a:02x}" for a in reversed(alphas)] + [f"{warm}{a:02x}" for a in alphas]


def rising(most: float = 1.0) -> list[str]:
    """256 colours for nonnegative images: transparent to blue."""
    return [f"#2c7fb8{round(255 * most * (i / 255) ** 0.75):02x}" for i in range(256)]
