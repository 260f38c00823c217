"""Driving a page: one tab, what it complains of, what it sends, what stands in its sources and what it paints."""

from __future__ import annotations

from functools import cache
from urllib.parse import parse_qs, urlencode, urlsplit

from app.page import OVERVIEW
from components.controls import make_controls
from components.lesson import SERVER, Lesson
from components.words import WORDS

READY = "document.documentElement.dataset.figures == 'ready' && document.documentElement.dataset.session == 'ready'"
PATIENCE = 60_000
"""ms: the longest that anything is waited for.  It ends what never comes, and says nothing of how fast it should."""

IDLE = f"""() => {READY} && 'rehearsed' in document.documentElement.dataset &&
  !('pending' in document.documentElement.dataset) && Bokeh.documents.every(d => d.is_idle)"""
PAINT_ALL = """() => {
  for (const model of Explorer.models.values()) Bokeh.index.find_one_by_id(model.id)?.request_repaint?.()
}"""
"""Without a painter to begin with, Bokeh lays a figure out and paints all of it."""
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
CANVASES = """
  const canvases = root => [...root.querySelectorAll('*')].flatMap(e =>
    [...(e instanceof HTMLCanvasElement ? [e] : []), ...(e.shadowRoot ? canvases(e.shadowRoot) : [])])
"""
PICTURES = """() => {
  CANVASES
  const told = {}
  for (const place of document.querySelectorAll('[data-figure]')) {
    let hash = 0, ink = 0
    for (const canvas of canvases(place)) {
      if (!canvas.width || !canvas.height) continue
      const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      const pixels = new Uint32Array(data.buffer)
      for (let i = 0; i < pixels.length; i++) if (pixels[i]) { ink++; hash = (Math.imul(hash, 31) + pixels[i] + i) | 0 }
    }
    told[place.dataset.figure] = [hash, ink]
  }
  return told
}""".replace("CANVASES", CANVASES)
PLAIN = """
  const plain = v => v == null ? v : ArrayBuffer.isView(v) ? [...v].map(plain) : Array.isArray(v) ? v.map(plain) :
    typeof v == 'number' && !Number.isFinite(v) ? null : v
  const source = name =>
    Object.fromEntries(Object.entries(Explorer.model(name).data).map(([column, values]) => [column, plain(values)]))
"""
SOURCE = f"name => {{ {PLAIN} return source(name) }}"


ANSWERED = """words => {
  const said = Explorer.server
  const here = new URLSearchParams(location.search)
  return Object.entries(words).every(([word, text]) => here.get(word) === text && (said[word] ?? null) === text)
}"""
SHIFTS = """
window.__shift = 0
new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.__shift += e.value })
  .observe({type: 'layout-shift', buffered: true})
"""


def given_up(request) -> bool:
    """Whether a request failed because nobody wants its answer any more: a dialog that measures a page in a frame was
    closed, a slide went by, a test ended.  A server that lets its visitor down has other names: ERR_EMPTY_RESPONSE,
    ERR_CONNECTION_RESET, ERR_INCOMPLETE_CHUNKED_ENCODING."""
    return request.failure == "net::ERR_ABORTED"


class Tab:
    """A page of the explorer in a browser."""

    def __init__(self, page, server: str):
        self.page, self.server = page, server
        self.complaints: list[str] = []
        self.up: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.add_init_script(SHIFTS)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("requestfailed", self._failed)
        page.on("response", self._response)
        page.on("dialog", self._dialog)
        page.on("websocket", lambda socket: socket.on("framesent", self._sent))

    def _console(self, message):
        if (
            message.type in ("error", "warning") and "willReadFrequently" not in message.text
        ):  # that is `pictures`' doing
            self.complaints.append(f"{message.type}: {message.text}")

    def _request(self, request):
        if not request.url.startswith((self.server, "data:", "blob:")):
            self.complaints.append(f"another host: {request.url}")

    def _failed(self, request):
        if not given_up(request):
            self.complaints.append(f"failed: {request.url} {request.failure}")

    def _response(self, response):
        if response.status >= 400:
            self.complaints.append(f"{response.status}: {response.url}")

    def _dialog(self, dialog):
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _sent(self, frame):
        self.up.append(frame if isinstance(frame, str) else f"{len(frame)} bytes")

    # --- coming and waiting

    def open(self, name: str, **words):
        self.visit(name, urlencode(words))

    def visit(self, name: str, query: str = ""):
        self.page.goto(f"{self.server}/{'' if name == OVERVIEW else name}" + (f"?{query}" if query else ""))
        self.settle()

    def settle(self):
        """Until nothing is under way any more."""
        self.page.wait_for_function(IDLE)
        self.page.evaluate(PAINTED)
        self.page.wait_for_function(IDLE)

    def wait(self, condition: str, argument=None):
        self.page.wait_for_function(condition, arg=argument)
        self.settle()

    def answered(self, **words: str | None):
        """Until server and address both say the words; None for a word that is its default."""
        self.wait(ANSWERED, words)

    def led(self, words: dict):
        """Until what a preset asks of the server is answered, and the server has said the rest of it too."""
        server = {word: str(text) for word, text in words.items() if WORDS[word].server}
        chosen = {word: text for word, text in server.items() if WORDS[word].read(text) != WORDS[word].default}
        self.answered(**{**dict.fromkeys(SERVER), **chosen})
        for _ in range(2):
            self.page.evaluate("fetch('/liveness').then(answer => answer.text())")
        self.settle()

    # --- looking

    @property
    def words(self) -> dict[str, str]:
        return {
            word: texts[0] for word, texts in parse_qs(urlsplit(self.page.url).query, keep_blank_values=True).items()
        }

    def text(self, node: str) -> str:
        return self.page.locator(f'[data-text="{node}"]').first.inner_text()

    def source(self, name: str) -> dict:
        return self.page.evaluate(SOURCE, name)

    def paint_all(self):
        """Every figure anew: Chromium rounds the edge of a dashed line in two ways, by what it paints beside it."""
        self.page.evaluate(PAINT_ALL)
        self.settle()

    def pictures(self) -> dict[str, list[int]]:
        """A hash and the number of painted pixels of every figure."""
        self.page.evaluate(PAINTED)
        return self.page.evaluate(PICTURES)

    def position(self, axis: str) -> int:
        return int(self.slider(axis).input_value())

    def patches(self) -> int:
        """Messages sent up since `up` was last emptied."""
        return sum('"msgtype":"PATCH-DOC"' in frame for frame in self.up)

    def sent(self, patches: int):
        """Wait until so many messages went up, and a moment more for one too many."""
        self.page.wait_for_timeout(150)
        for _ in range(100):
            if self.patches() >= patches:
                break
            self.page.wait_for_timeout(100)
        assert self.patches() == patches, self.up

    # --- doing

    def slider(self, axis: str):
        return self.page.locator(f'input[type=range][data-axis="{axis}"]').first

    def option(self, word: str, value):
        """The button of a Panel control for a value, in its open shadow root."""
        return self.page.locator(f'[data-control="{word}"] button').nth(_options(word).index(value))

    def choose(self, word: str, value, **address: str | None):
        """Take a value with the real control, and wait until the address tells the answer."""
        if self.page.locator(f'[data-control="{word}"] select').count():
            self.page.locator(f'[data-control="{word}"] select').select_option(index=_options(word).index(value))
        elif self.page.locator(f'[data-control="{word}"] input[type=text]').count():
            self.find(word, _named(word)[value])
        else:
            self.option(word, value).click()
        default = WORDS[word].default
        self.answered(**(address or {word: None if value == default else WORDS[word].write(value)}))

    def find(self, word: str, letters: str):
        """Type into a field that finds, and take the first entry with the Enter key."""
        self.page.locator(f'[data-control="{word}"] input[type=text]').click()
        self.page.keyboard.type(letters)
        self.page.keyboard.press("Enter")

    def grip(self, axis: str) -> tuple[float, float, float]:
        """Where the slider's thumb is, and the width of its way."""
        slider = self.slider(axis)
        slider.scroll_into_view_if_needed()
        box, last = slider.bounding_box(), int(slider.get_attribute("max"))
        way = box["width"] - 16
        return box["x"] + 8 + way * self.position(axis) / last, box["y"] + box["height"] / 2, way

    def drag(self, axis: str, share: float, *, steps: int = 8, release: bool = True):
        """Take the thumb with the mouse and carry it by a share of its way."""
        x, y, way = self.grip(axis)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + share * way, y, steps=steps)
        self.page.evaluate(PAINTED)
        if release:
            self.release()

    def release(self):
        self.page.mouse.up()
        self.settle()


@cache
def _options(word: str) -> list:
    options = make_controls(Lesson(), (word,))[word].options
    return list(options.values() if isinstance(options, dict) else options)


def _named(word: str) -> dict:
    """What the entries of a control are called, by value."""
    return {value: name for name, value in make_controls(Lesson(), (word,))[word].options.items()}
