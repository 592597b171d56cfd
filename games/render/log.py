"""The page of a table's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.urls import reverse

from common.readers_language import say
from games.queries import GameView, LogLine
from games.render import words
from games.render.log_rows import LogNote, LogRow, log_of


class LogPart(NamedTuple):
    """The part of a log that a page shows: moves `before` + 1 to `to` of `newest`."""

    before: int
    to: int
    newest: int


class PlayerLink(NamedTuple):
    """A player at the table. `url` is empty if they have no page."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of the log.

    `replay_url` and `record_url` are empty until the game has ended. `shown` says which moves are on the page and is
    empty if all are. `earlier_url` and `later_url` are empty where there is no such page.
    """

    name: str
    lines: Sequence[LogRow]
    players: Sequence[PlayerLink]
    table_url: str
    replay_url: str
    record_url: str
    shown: str
    earlier_url: str
    later_url: str


def log_page_of(
    view: GameView, lines: Sequence[LogLine], notes: Sequence[LogNote], *, part: LogPart, most: int, now: datetime
) -> LogPage:
    """Return the page with this part of the log: its `lines`, and the `notes` between them, both oldest first.

    `most` is the number of moves on a full page.
    """
    args = [view.id]
    here = reverse("log", args=args)
    later_url = ""
    if part.to < part.newest:
        later_url = here if part.to + most >= part.newest else f"{here}?to={part.to + most}"
    shown = ""
    if part.to - part.before < part.newest:
        first = part.before + 1
        shown = say.text("log", "Moves {first} to {last} of {all}", first=first, last=part.to, all=part.newest)
    return LogPage(
        name=words.table_name(view),
        lines=log_of(view, lines, now, notes),
        players=[PlayerLink(seat.name, words.profile_url(seat.username)) for seat in view.seats],
        table_url=reverse("game", args=args),
        replay_url=reverse("replay", args=args) if view.ended else "",
        record_url=reverse("record", args=args) if view.ended else "",
        shown=shown,
        earlier_url=f"{here}?to={part.before}" if part.before else "",
        later_url=later_url,
    )
