"""Messages leave when they are written.

Bokeh sends one in three parts or more; left alone, TCP holds back a small part until the one before is acknowledged,
which a browser does after up to 40 ms.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from bokeh.server.views.ws import WSHandler


def send_at_once(handler: type[WSHandler] = WSHandler) -> None:
    """Every websocket that opens from now on sends without delay."""
    opened = handler.open

    @wraps(opened)
    def open(self: WSHandler, *args: Any) -> Any:
        self.set_nodelay(True)
        return opened(self, *args)

    handler.open = open
