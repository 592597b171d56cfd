"""The page of a game as its reader sees it: whole, as a fragment, or after a move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Self
from xml.etree import ElementTree as ET

from django.test import Client

from games.models import Game
from tests.support.pages import Page

HTMX: Final = {"HX-Request": "true"}


class GamePage(Page):
    """A page of a game, or a page of its log."""

    @classmethod
    def of(cls, browser: Client, game: Game, rest: str = "", *, fragment: bool = False) -> Self:
        """Return what a browser gets at the address of a game, or `rest` after it."""
        return cls(browser.get(f"{game.get_absolute_url()}{rest}", headers=HTMX if fragment else {}))

    @classmethod
    def after(cls, browser: Client, game: Game, fields: dict[str, object], *, htmx: bool = True) -> Self:
        """Return what a browser gets after it sends the form of a move; without HTMX it follows the redirect."""
        sent = browser.post(f"{game.get_absolute_url()}move/", fields, headers=HTMX if htmx else {}, follow=not htmx)
        return cls(sent)

    @property
    def main(self) -> ET.Element:
        return self.one(id="main")

    @property
    def version(self) -> int:
        return int(self.main.get("data-version", ""))

    @property
    def deal(self) -> int:
        return int(self.main.get("data-deal", ""))

    @property
    def headline(self) -> str:
        return self.part("headline")

    @property
    def refetches(self) -> str:
        """The query with which the open page fetches itself."""
        return self.main.get("hx-get", "").partition("?")[2]

    @property
    def goes_on(self) -> bool:
        """True if the page fetches the next moment of a round by itself."""
        return "data-more" in self.main.attrib

    @property
    def told(self) -> tuple[list[str], str]:
        """The sentences of the events, and what is said after them."""
        events = self.one("ol", id="events")
        after = " ".join(filter(None, (events.get("data-now"), events.get("data-tip"))))
        return ["".join(span.itertext()) for span in events.iter("span")], after

    @property
    def buttons(self) -> list[tuple[str, str]]:
        """The name and the value of each button that sends a field."""
        return [
            (one.get("name", ""), one.get("value", ""))
            for one in self.all("button")
            if {"name", "value"} <= {*one.keys()}
        ]

    @property
    def plays(self) -> list[str]:
        """The cards of the hand that a press plays, in the order of the hand."""
        return [move.split()[1] for move in self.values("move") if move.startswith("play ")]

    @property
    def log(self) -> list[str]:
        """The lines of the log, newest first, without numbers and times."""
        return [" ".join("".join(_told_in(line)).split()) for line in self.one("section", id="log").iter("li")]


def _told_in(part: ET.Element) -> Iterator[str]:
    """Yield the text of a part without that of its links and times."""
    yield part.text or ""
    for child in part:
        if child.tag not in ("a", "time"):
            yield from _told_in(child)
        yield child.tail or ""


def log_lines(browser: Client, game: Game, rest: str = "", *, fragment: bool = False) -> list[str]:
    """Return the lines of the log on a page of a game, newest first, without numbers and times."""
    return GamePage.of(browser, game, rest, fragment=fragment).log
