"""Small messages are not held back."""

from __future__ import annotations

import panel.io.server  # its handlers take the place of Bokeh's
from bokeh.server.urls import per_app_patterns
from bokeh.server.views.ws import WSHandler

from app.nodelay import send_at_once


def test_a_websocket_that_opens_sends_without_delay_and_opens_as_before():
    class Handler:
        told = ()

        def open(self, *args):
            self.told += ("opened", *args)

        def set_nodelay(self, on):
            self.told += ("nodelay", on)

    send_at_once(Handler)
    handler = Handler()
    handler.open("path")
    assert handler.told == ("nodelay", True, "opened", "path")


def test_pages_open_their_websockets_by_what_is_changed(monkeypatch):
    (handler,) = [pattern[1] for pattern in per_app_patterns if issubclass(pattern[1], WSHandler)]
    told = []
    monkeypatch.setattr(panel.io.server, "_set_request_route_context", lambda *args, **more: None)
    monkeypatch.setattr(WSHandler, "open", lambda self: told.append(self))
    opening = object.__new__(handler)
    handler.open(opening)
    assert told == [opening]
