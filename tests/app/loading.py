"""A page as a file, read: what opening it would fetch."""

from __future__ import annotations

from html.parser import HTMLParser

CHEAP = "random-features"
"""The page that is made fastest."""


class Loads(HTMLParser):
    """Every address that opening the page fetches, its links, and the text of its scripts and styles."""

    LOADED = (
        *((tag, "src") for tag in ("script", "img", "iframe", "source", "embed", "video", "audio", "track", "input")),
        *((tag, "href") for tag in ("link", "use", "image")),
        ("object", "data"),
    )

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.loads, self.links, self.scripts, self.styles, self.data, self._in = [], [], [], [], {}, None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.loads += [told[attr] for name, attr in self.LOADED if name == tag and attr in told]
        self.loads += [told[attr] for attr in ("srcset", "background", "poster") if attr in told]
        self.styles += [told["style"]] if "style" in told else []
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        self._in = (tag, told) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self._in = None

    def handle_data(self, text):
        if self._in and self._in[0] == "style":
            self.styles.append(text)
        elif self._in and self._in[1].get("id"):
            self.data[self._in[1]["id"]] = text
        elif self._in:
            self.scripts.append(text)
