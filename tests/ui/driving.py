"""Driving a page: one tab, what it complains of, what it sends, what stands in its sources and what it paints."""

from __future__ import annotations

from functools import cache
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
from asked import piece_of

from app.page import OVERVIEW, figures_of, views_of
from components.axes import AXES
from components.controls import make_controls
from components.lesson import Lesson, Question
from components.palette import SLOTS
from components.reel import fill, is_drawn
from components.view import start_positions
from components.words import WORDS

READY = "document.documentElement.dataset.figures == 'ready' && document.documentElement.dataset.session == 'ready'"
IDLE = f"""() => {READY} && !('pending' in document.documentElement.dataset) && Bokeh.documents.every(d => d.is_idle)"""
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
PICTURES = """() => {
  const canvases = root => [...root.querySelectorAll('*')].flatMap(e =>
    [...(e instanceof HTMLCanvasElement ? [e] : []), ...(e.shadowRoot ? canvases(e.shadowRoot) : [])])
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
}"""
PLAIN = """
  const plain = v => v == null ? v : ArrayBuffer.isView(v) ? [...v].map(plain) : Array.isArray(v) ? v.map(plain) :
    typeof v == 'number' && !Number.isFinite(v) ? null : v
  const source = name =>
    Object.fromEntries(Object.entries(Explorer.model(name).data).map(([column, values]) => [column, plain(values)]))
"""
SOURCE = f"name => {{ {PLAIN} return source(name) }}"
EVERYTHING = f"""([sources, texts, props]) => {{ {PLAIN}
  return {{
    sources: Object.fromEntries(sources.map(name => [name, source(name)])),
    texts: texts.map(node => {{
      const home = document.querySelector(`[data-text="${{node}}"]`)
      const lines = home && 'lines' in home.dataset && [...home.children].map(line => line.textContent)
      return lines ? lines.join('\\n') : home?.textContent
    }}),
    props: props.map(([name, prop]) => {{ const v = Explorer.model(name)[prop]; return v?.value ?? v }}),
    at: Object.fromEntries(
      [...document.querySelectorAll('input[type=range][data-axis]')].map(i => [i.dataset.axis, +i.value])),
  }}
}}"""
ANSWERED = """words => {
  const told = Bokeh.documents.map(d => d.get_model_by_name('answer.page.words')).find(m => m)?.data
  const said = told?.word ? Object.fromEntries(told.word.map((word, k) => [word, told.text[k]])) : Explorer.page.server
  const here = new URLSearchParams(location.search)
  return Object.entries(words).every(([word, text]) => here.get(word) === text && (said[word] ?? null) === text)
}"""
SHIFTS = """
window.__shift = 0
new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.__shift += e.value })
  .observe({type: 'layout-shift', buffered: true})
"""


class Tab:
    """A page of the explorer in a browser."""

    def __init__(self, page, server: str):
        self.page, self.server = page, server
        self.complaints: list[str] = []
        self.up: list[str] = []
        page.set_default_timeout(15_000)
        page.add_init_script(SHIFTS)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url} {request.failure}"))
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

    def pictures(self) -> dict[str, list[int]]:
        """A hash and the number of painted pixels of every figure."""
        self.page.evaluate(PAINTED)
        return self.page.evaluate(PICTURES)

    def position(self, axis: str) -> int:
        return int(self.slider(axis).input_value())

    def patches(self) -> int:
        """Messages sent up since `up` was last emptied."""
        return sum('"msgtype":"PATCH-DOC"' in frame for frame in self.up)

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


def moved_by(name: str, axis: str) -> set[str]:
    """Figures of a page that a reel on the axis reaches, by the sources and models they are drawn from."""
    targets = {
        target
        for view in views_of(name)
        for reel in view.reels
        if reel.axis == axis
        for bind in reel.binds
        for target in (bind.source, bind.model)
        if target
    }
    reached = set()
    for _, drawing in figures_of(name).drawings:
        for cell in (cell for row in drawing.rows for cell in row):
            drawn_from = {renderer.data_source.name for renderer in cell.figure.renderers}
            marks = {m.name for m in (*cell.figure.center, *cell.figure.left, cell.figure.x_range, cell.figure.y_range)}
            if targets & (drawn_from | marks):
                reached.add(cell.figure.name)
    return reached


def expected(name: str, question: Question, at: dict[str, int]) -> dict[str, dict]:
    """What must stand in every figure source of a page for a question and positions, read off the views' answers."""
    told: dict[str, dict] = {}
    for view in views_of(name):
        answer = view.answer(question)
        for source, columns in answer.items():
            if is_drawn(source):
                told.setdefault(source, {}).update(columns)
        for reel in view.reels:
            for bind in (bind for bind in reel.binds if bind.source):
                piece = piece_of(reel, bind, answer, at[reel.axis], at)
                told.setdefault(bind.source, {})[bind.to or bind.column] = piece
    return told


def expected_texts(name: str, question: Question, at: dict[str, int]) -> dict[str, str]:
    told = {}
    for view in views_of(name):
        answer = view.answer(question)
        told.update(zip(*(answer[f"{view.word}.texts"][key] for key in ("node", "text")), strict=True))
        for reel in view.reels:
            for bind in (bind for bind in reel.binds if bind.node):
                piece = piece_of(reel, bind, answer, at[reel.axis], at)
                source, _, column = bind.phrase.rpartition(".")
                told[bind.node] = piece if isinstance(piece, str) else fill(answer[source][column][0], piece)
        if name == OVERVIEW:
            told = {node: text for node, text in told.items() if node not in view.side_nodes}
    return told


def expected_properties(name: str, question: Question, at: dict[str, int], dark: bool = False) -> list[tuple]:
    rows = []
    for view in views_of(name):
        answer = view.answer(question)
        props = answer.get(f"{view.word}.props", {"model": [], "property": [], "value": []})
        rows += zip(props["model"], props["property"], props["value"], strict=True)
        rows += [
            (bind.model, bind.property, piece_of(reel, bind, answer, at[reel.axis], at))
            for reel in view.reels
            for bind in reel.binds
            if bind.model
        ]
    hexes = {f"slot:{slot}": pair[dark] for slot, pair in SLOTS.items()}
    return [
        (m, p, hexes.get(v, v) if isinstance(v, str) else v if isinstance(v, list) else float(v)) for m, p, v in rows
    ]


def check(tab: Tab, name: str, question: Question, dark: bool = False, **stops):
    """Every number, text and property on the page is what the views answer."""
    at = start_positions(stops)
    wanted, texts = expected(name, question, at), expected_texts(name, question, at)
    props = expected_properties(name, question, at, dark)
    shown = tab.page.evaluate(EVERYTHING, [list(wanted), list(texts), [row[:2] for row in props]])
    assert shown["at"] == {axis: at[axis] for axis in shown["at"]}
    for source, columns in wanted.items():
        for column, values in columns.items():
            same_numbers(shown["sources"][source][column], values, f"{source}.{column}")
    assert dict(zip(texts, shown["texts"], strict=True)) == texts
    for (model, prop, value), found in zip(props, shown["props"], strict=True):
        assert found == value or np.isclose(float(found), value), (model, prop, found, value)


def same_numbers(shown, values, where: str):
    flat = np.ravel(np.asarray(values, dtype=object))
    if any(isinstance(x, str) for x in flat):
        assert shown == ([values] if isinstance(values, str) else list(values)), where
        return
    found = np.ravel(np.asarray(_floats(shown), dtype=float))
    wanted = np.ravel(np.asarray(values, dtype=float))
    wanted = np.where(np.isfinite(wanted), wanted, np.nan)  # `plain` shows no number the same way, whatever is not one
    assert len(found) >= len(wanted), where
    np.testing.assert_allclose(found[: len(wanted)], wanted, rtol=2e-6, atol=1e-12, err_msg=where)
    assert np.isnan(found[len(wanted) :]).all(), where


def _floats(shown):
    if isinstance(shown, list):
        return [
            x
            for item in shown
            for x in (_floats(item) if isinstance(item, list) else [np.nan if item is None else item])
        ]
    return [np.nan if shown is None else shown]


__all__ = ["AXES", "SLOTS", "Question", "Tab", "check", "expected", "moved_by", "same_numbers", "start_positions"]
