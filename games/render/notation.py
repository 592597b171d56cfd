"""The page of the notation, made from docs/notation.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

from common.say import ENGLISH

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "notation.md"
API_PAGE: Final = "api.md"
"""The file that the notation links to. The site has a page of its own with the same facts."""


class Chapter(NamedTuple):
    """A chapter of the notation, for the list of contents."""

    id: str
    title: str


class Notation(NamedTuple):
    """The notation as HTML, without its title, and its chapters."""

    html: SafeString
    chapters: Sequence[Chapter]


@cache
def notation() -> Notation:
    """Return the notation. The file is the project's own, so its HTML is safe."""
    text = DOCUMENT.read_text()
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text.partition("\n")[2])
    chapters = _with_ids(tokens)
    _adapt(tokens, chapters[0].title)
    return Notation(mark_safe(parser.renderer.render(tokens, parser.options, {})), chapters)  # noqa: S308  # as above


def _with_ids(tokens: Sequence[Token]) -> list[Chapter]:
    """Give each heading an address of its own. Return the chapters."""
    chapters = []
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            chapter = Chapter(slugify(content.content), content.content)
            token.attrSet("id", chapter.id)
            if token.tag == "h2":
                chapters.append(chapter)
    return chapters


def _adapt(tokens: list[Token], heading: str) -> None:
    """Let wide tables and examples scroll by themselves, by keyboard too, and name the columns for screen readers."""
    numbers = count(1)
    for index, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                heading = tokens[index + 1].content
            case "table_open":
                # In English like the document.
                label = escape(ENGLISH.text("notation", "Table {n}: {title}", n=next(numbers), title=heading))
                _replace(tokens, index, f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>')
            case "table_close":
                _replace(tokens, index, "</table></div>")
            case "th_open" if tokens[index + 1].content:
                token.attrSet("scope", "col")
            case "th_open":
                token.tag = tokens[index + 2].tag = "td"
            case "fence":
                _replace(tokens, index, f'<pre class="scroll" tabindex="0"><code>{escape(token.content)}</code></pre>')
            case "inline":
                for link in token.children or ():
                    if str(link.attrGet("href") or "").startswith(API_PAGE):
                        link.attrSet("href", reverse("api-v1:openapi-view"))


def _replace(tokens: list[Token], index: int, html: str) -> None:
    tokens[index] = Token("html_block", "", 0, content=f"{html}\n")
