"""What is painted before any script but that of the fonts: the head is whole, and nothing moves when widgets arrive."""

from __future__ import annotations

import re
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from driving import SHIFTS

SCRIPTS = r"<script(?! src=\"\S*fonts-).*?</script>"
"""All but that of the fonts."""

BOX = """home => {
  const {x, y, width, height} = home.lastElementChild.getBoundingClientRect()
  return [x, y, width, height]
}"""


@pytest.mark.parametrize("page", ["", "sizing", "memory", "forms"])
def test_the_controls_are_painted_where_they_will_be_before_the_scripts(browser, server, tab, page):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    still = context.new_page()
    still.route("**/static/**/*.js*", lambda route: route.abort())  # BokehJS and Panel, without which none of ours runs
    still.goto(f"{server}/{page}?phi=taylor")
    homes = still.locator("[data-control]:has(> .slot > .waiting)").all()
    seen = {h.get_attribute("data-control"): [*h.locator(".waiting").bounding_box().values()] for h in homes}
    assert still.evaluate("typeof Bokeh") == "undefined"
    context.close()
    tab.open(page or "explorer", phi="taylor")
    assert len(seen) >= 4
    for word, box in seen.items():
        now = tab.page.locator(f'[data-control="{word}"] .slot').evaluate(BOX)
        assert now == pytest.approx(box, abs=1.1), word
    assert not tab.page.locator(".waiting:visible").count()


@pytest.fixture
def dribbled(server):
    """Address of a host that hands a page's document over in pieces, as a slow network or a busy machine does."""

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self):
            with urllib.request.urlopen(server + self.path) as answer:
                document = re.sub(SCRIPTS, "", answer.read().decode(), flags=re.DOTALL)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            for piece in re.split(r"(?=<figure|<aside|<span class=\"tools)|(?<=</button>)", document):
                self.wfile.write(piece.encode())
                self.wfile.flush()
                time.sleep(0.03)

        def log_message(self, *told):
            pass

    host = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{host.server_port}"
    host.shutdown()
    host.server_close()


@pytest.mark.parametrize("page", ["normaliser", "explorer"])
def test_a_document_that_comes_in_pieces_moves_nothing(browser, dribbled, page):
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    slow = context.new_page()
    slow.add_init_script(SHIFTS)
    slow.goto(f"{dribbled}/{page}")
    slow.wait_for_timeout(300)
    assert slow.locator("main figure").count() >= 3
    assert slow.evaluate("window.__shift") <= 0.01
    context.close()
