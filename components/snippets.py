"""How a view gets into somebody's page: texts with gaps that the link builder fills.

Gaps: {url} and {title} as they are, {url_html} and {title_html} for an attribute, {url_py} as a Python literal,
{width} and {height} in CSS pixels.  A view that is higher than that is drawn at its own size, {inner_width} and
{inner_height}, and scaled down, {scaled}, in a box of the size wanted, {box} to {box_end}.
"""

from __future__ import annotations

from dataclasses import dataclass

FRAME = (
    '{box}<iframe src="{url_html}" title="{title_html}" width="{inner_width}" height="{inner_height}" '
    'style="border:0;display:block{scaled}" allow="fullscreen; clipboard-write" loading="lazy"></iframe>{box_end}'
)


@dataclass(frozen=True)
class Snippet:
    """A place that a view is put into, and the text to put there.  framed: without the page's bar."""

    word: str
    label: str
    text: str
    framed: bool = True


SNIPPETS = (
    Snippet("link", "Link", "{url}", framed=False),
    Snippet("iframe", "HTML", FRAME),
    # reveal.js keeps frames within 95 % of a slide unless told otherwise; it loads a data-src when its slide is near,
    # and takes it away afterwards.
    Snippet(
        "reveal",
        "reveal.js",
        '<section>\n  {box}<iframe data-src="{url_html}" title="{title_html}" '
        'width="{inner_width}" height="{inner_height}" '
        'style="border:0;display:block;max-width:none;max-height:none{scaled}" allow="fullscreen; clipboard-write" '
        "data-preload></iframe>{box_end}\n</section>",
    ),
    Snippet("quarto", "Quarto", "```{=html}\n" + FRAME + "\n```"),
    Snippet(
        "jupyter",
        "Jupyter",
        "from IPython.display import IFrame\n\nIFrame({url_py}, width={width}, height={height})",
    ),
    Snippet("markdown", "Markdown", "[{title}]({url})", framed=False),
)

SIZES = {"slide": (1200, 760), "page": (900, 720), "column": (680, 900)}
"""Widths and heights of a frame to start from, in CSS pixels."""
