"""A visitor without a browser: it fetches a page, pulls the session over the websocket and turns a control.

One process holds hundreds of them, so what they cost is the server's cost alone.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

PATIENCE = 60
"""Seconds before a silent server counts as broken."""

READY = {
    "kind": "MessageSent",
    "msg_type": "bokeh_event",
    "msg_data": {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}},
}
"""What a browser says when all is drawn; Panel waits for it before it calls a session loaded."""


class Visitor:
    """One live session.  `down` counts the bytes that its websocket has brought."""

    def __init__(self, url: str):
        self.url, self.down, self.count = url, 0, 0
        self.document: dict[str, Any] = {}

    async def enter(self) -> None:
        """Everything a browser does until the page answers, but for the files that it may keep."""
        page = await AsyncHTTPClient().fetch(HTTPRequest(self.url, request_timeout=PATIENCE, connect_timeout=PATIENCE))
        token = re.search(r'"token"\s*:\s*"([^"]+)"', page.body.decode())[1]
        parts = urlsplit(page.effective_url)
        request = HTTPRequest(
            f"ws://{parts.netloc}{parts.path.rstrip('/')}/ws",
            headers={"Origin": f"http://{parts.netloc}"}, connect_timeout=PATIENCE,
        )  # fmt: skip
        self.socket = await websocket_connect(request, subprotocols=["bokeh", token], max_message_size=1 << 30)
        self.socket.protocol.set_nodelay(True)  # as browsers do
        await self.receive()
        await self.send("PULL-DOC-REQ", {})
        while (told := await self.receive())[0] != "PULL-DOC-REPLY":
            pass
        self.document = told[1]
        await self.send("PATCH-DOC", {"events": [READY]})
        while (await self.receive())[0] != "OK":
            pass

    def leave(self) -> None:
        self.socket.close()

    async def send(self, kind: str, content: dict[str, Any]) -> None:
        self.count += 1
        for frame in ({"msgid": str(self.count), "msgtype": kind}, {}, content):
            await self.socket.write_message(json.dumps(frame))

    async def receive(self, within: float = PATIENCE) -> tuple[str, Any]:
        """Kind and content of the next message.  TimeoutError when none begins in time."""
        header = json.loads(await self._frame(within))
        await self._frame()
        content = json.loads(await self._frame())
        for _ in range(2 * header.get("num_buffers", 0)):
            await self._frame()
        return header["msgtype"], content

    async def _frame(self, within: float = PATIENCE) -> str | bytes:
        # `read_message` survives no cancelling: a frame that comes later would be lost with it.
        waiting = self.__dict__.setdefault("waiting", None) or asyncio.ensure_future(self.socket.read_message())
        self.waiting = waiting
        done, _ = await asyncio.wait([waiting], timeout=within)
        if not done:
            raise TimeoutError
        self.waiting = None
        if (frame := waiting.result()) is None:
            raise ConnectionError("the server closed the session")
        self.down += len(frame)
        return frame

    def control(self, label: str) -> str:
        """Id of the group of buttons one of which says `label`."""
        for model in _models(self.document):
            if label in (model["attributes"].get("labels") or ()):
                return model["id"]
        raise LookupError(f"{self.url} has no button {label!r}: did its page fail?")

    async def choose(self, control: str, button: int, quiet: float = 0.15) -> int:
        """Press a button and wait for the answer and the silence after it (s); the number of patches that came."""
        change = {"kind": "ModelChanged", "model": {"id": control}, "attr": "active", "new": button}
        await self.send("PATCH-DOC", {"events": [change]})
        patches = 0
        try:
            while True:
                kind, _ = await self.receive(quiet if patches else PATIENCE)
                patches += kind == "PATCH-DOC"
        except TimeoutError:
            return patches


def _models(told: Any) -> Iterator[dict[str, Any]]:
    """Every model in a pulled document."""
    if isinstance(told, dict):
        if "id" in told and isinstance(told.get("attributes"), dict):
            yield told
        told = list(told.values())
    if isinstance(told, list):
        for part in told:
            yield from _models(part)
