"""A page as the server sends it, without a server."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from types import SimpleNamespace

from bokeh.document import Document
from bokeh.embed.bundle import bundle_for_objs_and_resources
from bokeh.embed.elements import html_page_for_render_items
from bokeh.embed.util import RenderItem
from bokeh.resources import Resources
from panel.io.state import set_curdoc

from app.page import serve


def document(name: str, **words: str | bytes | list[bytes]) -> Document:
    """The session document of a visitor who came with these address words."""
    given = {
        word: text if isinstance(text, list) else [text if isinstance(text, bytes) else text.encode()]
        for word, text in words.items()
    }
    return _filled(lambda: serve(name), given)


def _filled(fill: Callable[[], None], given: dict[str, list[bytes]]) -> Document:
    doc = Document()
    request = SimpleNamespace(arguments=given, headers={}, cookies={})
    context = SimpleNamespace(id="test", destroyed=False, request=request, server_context=SimpleNamespace(sessions=[]))
    doc._session_context = lambda: context
    with set_curdoc(doc):
        fill()
    return doc


def page(name: str, **words) -> Tree:
    return _sent(document(name, **words))


def html_of(fill: Callable[[], None], **words: str) -> tuple[str, Document]:
    """What is sent of a page that fills its document in its own way."""
    tree = _sent(_filled(fill, {word: [text.encode()] for word, text in words.items()}))
    return tree.html, tree.doc


def _sent(doc: Document) -> Tree:
    item = RenderItem(token="token", roots=doc.roots, use_for_title=False)
    bundle = bundle_for_objs_and_resources(None, Resources(mode="server", root_url="/"))
    html = html_page_for_render_items(bundle, {}, [item], doc.title, doc.template, doc.template_variables)
    return Tree(html, doc)


class Tree(HTMLParser):
    """Every element with its attributes and the text inside it."""

    VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))

    def __init__(self, html: str, doc: Document):
        super().__init__()
        self.html, self.doc, self.elements, self._open = html, doc, [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = SimpleNamespace(tag=tag, attrs=dict(attrs), text="")
        self.elements.append(element)
        if tag not in self.VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data):
        for element in self._open:
            element.text += data

    def with_attribute(self, name):
        return [element for element in self.elements if name in element.attrs]

    def texts(self) -> dict[str, str]:
        """What stands in every text node, a list line by line."""
        return {
            element.attrs["data-text"]: element.text.strip() if "data-lines" in element.attrs else element.text
            for element in self.with_attribute("data-text")
        }

    def data(self) -> str:
        return next(element.text for element in self.elements if element.attrs.get("id") == "page-data")
