"""A pasted config as a short text for an address: the keys that matter, compressed."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from .errors import ConfigError
from .guard import MAX_BYTES, admit
from .keys import WRAPPERS, Keys
from .reader import read_config

MAX_TEXT = 2_000
"""Characters an address may carry."""

BROKEN = ConfigError("config", "in the address is damaged", "paste the file again")


def to_text(config: dict[str, Any] | str) -> str | None:
    """The config reduced to the keys its bill came from, as URL-safe text; None if longer than MAX_TEXT characters."""
    config = admit(config)
    inner, used = Keys(config).inner, dict(read_config(config).used)
    kept: dict[str, Any] = {}
    for key in used:
        head, _, tail = key.partition(".")
        place = inner if head in inner else config
        if tail and isinstance(place.get(head), dict):
            kept.setdefault(head, {})[tail] = place[head][tail]
        elif head not in WRAPPERS:
            kept[head] = place[head]
    packed = zlib.compress(json.dumps(kept, separators=(",", ":")).encode(), 9)
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return text if len(text) <= MAX_TEXT else None


def from_text(text: str) -> dict[str, Any]:
    """The reduced config behind a text; ConfigError if the text is damaged or unpacks to too much."""
    if not isinstance(text, str) or not text.isascii() or len(text) > MAX_TEXT:
        raise BROKEN
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(packed, MAX_BYTES)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise BROKEN
        return admit(raw.decode("utf-8"))
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise BROKEN from None
