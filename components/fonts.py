"""The shipped fonts, which a page brings along: it looks the same on every machine, and no sign is missing.

assets/fonts/README.md says where they come from, and kept.toml there which characters are in them.
"""

from __future__ import annotations

import json
import tomllib
from base64 import b64encode
from functools import cache
from typing import Any

from components.assets import ASSETS

FONTS = ASSETS / "fonts"


@cache
def shipped() -> dict[str, dict[str, Any]]:
    """What kept.toml says of each font, by the name of its file."""
    return tomllib.loads((FONTS / "kept.toml").read_text(encoding="utf-8"))


@cache
def fonts_script() -> str:
    """The script that puts the fonts into a page; it holds them."""
    faces = [
        {word: kept[word] for word in ("family", "style", "weight")}
        | {"data": b64encode((FONTS / name).read_bytes()).decode()}
        for name, kept in shipped().items()
    ]
    return f"{(ASSETS / 'fonts.js').read_text(encoding='utf-8').strip()}({json.dumps(faces)})\n"
