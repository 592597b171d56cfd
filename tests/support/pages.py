"""Helpers for tests of pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from typing import Any, Final
from xml.etree import ElementTree as ET

from accounts.models import User
from games.actions import lobby
from games.models import Game
from tests.support.tables import NOON

CHOICES: Final = {
    "players": "3",
    "bots": "0",
    "bot": "careful",
    "bot_pause": "1",
    "target": "0",
    "pace": "standard",
    "public": "1",
    "preset": "no-mercy",
}
"""The fields of the form for a new table."""


def open_table(user: User, **options: Any) -> Game:
    """Make a table that waits for players, with a person as its host."""
    return lobby.create_table(user=user, choices=lobby.TableChoices(**options), now=NOON).game


def text_of(response: Any) -> str:
    """Return the text of a page, without markup."""
    return words_in(response.content.decode())


def words_in(markup: str) -> str:
    """Return the text of a piece of HTML, with one space between words."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", markup))


VOID: Final = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class _Tree(HTMLParser):
    """Builds the tree of a page whose elements are all closed, except those that cannot have contents."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.builder, self.open = ET.TreeBuilder(), ["page"]
        self.builder.start("page", {})
        self.feed(markup)
        self.close()
        assert self.open == ["page"], f"{self.open} are not closed"
        self.builder.end("page")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        self.open.append(tag)
        if tag in VOID:
            self.builder.end(self.open.pop())

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, f"</{tag}> closes another element"
            self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        self.builder.data(data)


def words_of(part: ET.Element) -> str:
    """Return the text of a part of a page, with one space between words."""
    return " ".join(" ".join(part.itertext()).split())


class Page:
    """A page or a fragment of the site. Its parts are found by what they are for."""

    def __init__(self, response: Any) -> None:
        self.response, self.status = response, response.status_code
        self.html: str = response.content.decode()

    @cached_property
    def root(self) -> ET.Element:
        return _Tree(self.html).builder.close()

    @property
    def text(self) -> str:
        """The text with one space between words."""
        return words_of(self.root)

    @property
    def title(self) -> str:
        return words_of(self.one("title"))

    def all(self, tag: str = "*", **attributes: str) -> Iterator[ET.Element]:
        """Return the elements with these attributes. The underscore of a name is a hyphen in the page."""
        wanted = {name.strip("_").replace("_", "-"): value for name, value in attributes.items()}
        for element in self.root.iter(None if tag == "*" else tag):
            if all(element.get(name) == value for name, value in wanted.items()):
                yield element

    def one(self, tag: str = "*", **attributes: str) -> ET.Element:
        found = list(self.all(tag, **attributes))
        assert len(found) == 1, f"{len(found)} elements are {tag} with {attributes}"
        return found[0]

    def has(self, tag: str = "*", **attributes: str) -> bool:
        return any(True for _ in self.all(tag, **attributes))

    def values(self, name: str) -> list[str]:
        """Return the values of all buttons and fields with this name."""
        return [element.get("value", "") for element in self.all(name=name)]

    def field(self, name: str) -> str:
        """Return the value of the only field with this name."""
        return self.one(name=name).get("value", "")

    def chosen(self, name: str) -> list[str]:
        """Return the chosen values of a group of buttons or of a list."""
        options = [*self.all(name=name), *(one for box in self.all("select", name=name) for one in box.iter("option"))]
        return [one.get("value", "") for one in options if {"checked", "selected"} & set(one.attrib)]

    def labels(self, name: str) -> dict[str, str]:
        """Return the texts of the choices of a group of buttons, by their values."""
        return {
            field.get("value", ""): words_of(label)
            for label in self.all("label")
            for field in label.iter("input")
            if field.get("name") == name
        }

    def links_to(self, address: str) -> list[ET.Element]:
        return list(self.all("a", href=address))

    def part(self, name: str) -> str:
        """Return the text of the part with this id, or an empty text."""
        return " ".join(map(words_of, self.all(id=name)))


def group(response: Any, name: str) -> str:
    """Return the HTML of one group of games on the front page, or an empty text."""
    html = response.content.decode()
    found = re.search(rf'<section class="group[^"]*" aria-labelledby="group-{name}">.*?</section>', html, re.DOTALL)
    return found[0] if found else ""
