"""Pages of other people: a web server of their own, and a page there that frames the explorer and speaks with it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

from driving import PATIENCE

PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>a page of somebody else</title><link rel="icon" href="data:,">
<body>{frames}<script>
window.heard = []
addEventListener('message', ({{data, origin, source}}) => {{
  const from = [...document.querySelectorAll('iframe')].findIndex(frame => frame.contentWindow == source)
  heard.push({{origin, from, ...data}})
  if (window.greet && data.explorer == 'ready') tell(window.greet)
}})
window.tell = (told, frame = 0) => document.querySelectorAll('iframe')[frame].contentWindow.postMessage(told, '*')
</script></body>
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """The port at which a folder is served until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def frame(src: str) -> str:
    return f'<iframe src="{escape(src)}" width="1200" height="760"></iframe>'


class Host:
    """A page at http://localhost:PORT around pages of the explorer at 127.0.0.1, which is another site to a browser.

    `heard` is everything that was told to it.
    """

    def __init__(self, page, folder: Path, port: int, explorer: str):
        self.page, self.folder, self.explorer = page, folder, explorer
        self.origin = f"http://localhost:{port}"
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("response", lambda r: r.status >= 400 and self.complaints.append(f"{r.status}: {r.url}"))

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def opens(self, name: str = "memory", *, more: str = "", ready: bool = True, greet=None, **words: str):
        """Open the host page with a frame on a page of the explorer.  more: further frames."""
        query = urlencode({"embed": "1", "host": self.origin, **words})
        return self.shows(frame(f"{self.explorer}/{name}?{query}") + more, ready=ready, greet=greet)

    def shows(self, html: str, *, ready: bool = True, greet=None):
        (self.folder / "host.html").write_text(PAGE.format(frames=html), encoding="utf-8")
        if greet is not None:
            self.page.add_init_script("window.greet = " + greet)
        self.page.goto(f"{self.origin}/host.html")
        if ready:
            self.wait("heard.some(m => m.explorer == 'ready')")
        return self

    def wait(self, condition: str, argument=None):
        self.page.wait_for_function(condition, arg=argument)

    @property
    def heard(self) -> list[dict]:
        return self.page.evaluate("heard")

    def tells(self, explorer: str, **more):
        self.page.evaluate("told => tell(told)", {"explorer": explorer, **more})

    def asks(self, explorer: str, **more) -> SimpleNamespace:
        """Send a message with an id; the state that comes back for it, and the sentences of what was refused."""
        mark = f"ask {len(self.heard)}"
        self.tells(explorer, id=mark, **more)
        self.wait("mark => heard.some(m => m.explorer == 'state' && m.id == mark)", mark)
        told = [m for m in self.heard if m.get("id") == mark]
        return SimpleNamespace(
            words=told[-1]["words"],
            playing=told[-1]["playing"],
            refused=[s for m in told if m["explorer"] == "refused" for s in m["sentences"]],
        )

    def until(self, **words: str):
        """Until a state was told that has exactly these words."""
        self.wait(
            "words => { const m = heard.filter(m => m.explorer == 'state').at(-1); return m && "
            "JSON.stringify(Object.entries(m.words).sort()) == JSON.stringify(Object.entries(words).sort()) }",
            words,
        )

    def frame(self, number: int = 0):
        """The framed page, for looking into it."""
        return self.page.locator("iframe").nth(number).element_handle().content_frame()
