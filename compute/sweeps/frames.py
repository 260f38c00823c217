"""Messages between the web process and the one that computes: a line of JSON, and bytes of packed arrays if any."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

LENGTHS = struct.Struct(">II")
LONGEST = 64 << 20


def write_frame(stream: BinaryIO, told: dict[str, Any], payload: bytes = b"") -> None:
    text = json.dumps(told).encode()
    stream.write(LENGTHS.pack(len(text), len(payload)) + text + payload)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next message, None at the end of the stream.  EOFError in the middle of one, ValueError for nonsense."""
    head = stream.read(LENGTHS.size)
    if not head:
        return None
    if len(head) < LENGTHS.size:
        raise EOFError("the stream ended inside a message")
    text, payload = LENGTHS.unpack(head)
    if text + payload > LONGEST:
        raise ValueError("the message is too long")
    body = stream.read(text + payload)
    if len(body) < text + payload:
        raise EOFError("the stream ended inside a message")
    return json.loads(body[:text]), body[text:]
