"""The log of a table as one viewer may know it: the moves, and the staff acts and events between them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from games import rules
from games.models.log_rows import EventRow, LogRow, read_between_moves, read_last_moves, read_log
from games.models.moderation import LOOK
from games.queries.former_holders import (
    Holders,
    held_by_current_owner,
    holder_at,
    holders_of,
    name_between,
    names_at,
    was_set_aside,
)
from games.queries.tables import Table

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class LogLine:
    """An accepted move as one viewer may know it.

    `by_bot` is True if a bot made it for the owner of the seat or in place of a removed player, and `by_order` if the
    seat's standing orders made it. `by_staff`: staff made the player leave. `former` has the names of the seats that
    somebody else has today, by seat.
    """

    n: int
    round: int
    seat: int
    text: str
    at: datetime
    events: tuple[rules.Event, ...]
    by_bot: bool = False
    by_order: bool = False
    by_staff: bool = False
    former: Mapping[int, str] = field(default_factory=dict)

    @property
    def by_clock(self) -> bool:
        """True if the clock made it for the seat (CLOCK-1, CLOCK-2)."""
        return self.text.startswith("clock ")

    def is_of(self, you: int | None) -> bool:
        """Return True if the person in seat `you` made it: not a former owner, the clock, a bot or standing orders."""
        return self.seat == you and not (self.seat in self.former or self.by_clock or self.by_bot or self.by_order)

    def made_by(self, holders: Holders) -> LogLine:
        """Return the line with the people who had the seats then."""
        if not holders:
            return self
        maker = holder_at(holders, self.seat, self.n)
        by_bot = self.by_bot or (maker is not None and maker.stand_in)
        by_staff = self.text == "leave" and was_set_aside(holders, self.seat, self.n)
        return replace(self, by_bot=by_bot, by_staff=by_staff, former=names_at(holders, self.n))


def log_of(
    table: Table, user: User | None, *, after: int = 0, until: int | None = None, last: int | None = None
) -> list[LogLine]:
    """Return the log of a table as a person may know it, oldest move first. Runs one query.

    It has the moves after version `after` up to version `until`, or up to the table's version. At most the `last`
    newest are returned; None is no limit. Somebody to whom staff gave a seat does not see which cards it drew before.
    """
    end = table.game.version if until is None else min(until, table.game.version)
    you, lines = table.seat_of(user), []
    for line in read_log(table.game.pk, after, end, last):
        holders = holders_of(table.seats, line.changes)
        reader = you if you is not None and held_by_current_owner(holders, you, line.n) else None
        lines.append(_line(line, rules.redact(line.events, reader, line.over), holders))
    return lines


def last_lines(tables: Iterable[Table]) -> dict[int, LogLine]:
    """Return the newest line of the log of each table, by the game's id. Runs one query.

    They have only what everybody could see when the move was made. Tables without a move are left out.
    """
    asked = {table.game.pk: table for table in tables}
    found = read_last_moves({number: table.game.version for number, table in asked.items()}) if asked else {}
    return {
        number: _line(row, rules.redact(row.events, None, over=False), holders_of(asked[number].seats, row.changes))
        for number, row in found.items()
    }


def _line(row: LogRow, events: tuple[rules.Event, ...], holders: Holders) -> LogLine:
    line = LogLine(row.n, row.round, row.seat, row.text, row.at, events, row.by_bot, row.by_order)
    return line.made_by(holders)


class You(Enum):
    """Stands for the reader instead of a name. It cannot be confused with any username."""

    YOU = auto()


class DoneAct(NamedTuple):
    """An act of staff at a table, as its players may know it.

    It was done after move `version`, 0 before the first. `person` is who it was about, and `before` is who it took a
    seat from. Both are current names: empty if the person is gone, `You.YOU` for the reader, and None for a bot or if
    the act has no such person.
    """

    act: str
    version: int
    at: datetime
    person: str | You | None
    before: str | You | None
    details: dict[str, Any]


class PastEvent(NamedTuple):
    """An event at a table that is no move, such as a pause (`TableEvent`). It happened after move `version`.

    `name` is the current name of who had the seat then that it is about: `You.YOU` for the reader, None if it is about
    no seat.
    """

    kind: str
    version: int
    at: datetime
    name: str | You | None


def between_moves(
    table: Table, user: User | None, *, since: int = 0, until: int | None = None, last: int | None = None
) -> list[DoneAct | PastEvent]:
    """Return what happened between the moves of a table as a person may know it, oldest first. Runs one query.

    It has the staff acts, without their reasons, and the events from version `since` up to version `until`, or to the
    table's version. At most the `last` newest of each are read; None is no limit.
    """
    game, you = table.game, table.seat_of(user)
    hidden = () if game.ended else (LOOK,)
    acts, events = read_between_moves(
        game.pk, since, game.version if until is None else until, without=hidden, last=last
    )

    def called(name: str | None, number: int | None) -> str | You | None:
        return You.YOU if user is not None and user.pk == number else name

    done = (
        DoneAct(
            row.act,
            row.version,
            row.at,
            called(row.person, row.person_id),
            called(row.before, row.before_id),
            row.details,
        )
        for row in acts
    )
    happened = (PastEvent(row.kind, row.version, row.at, _holder_called(table, row, you)) for row in events)
    # Events that a staff act caused have the same time. The merge is stable, so they follow the act.
    return list(heapq.merge(done, happened, key=attrgetter("version", "at")))


def _holder_called(table: Table, event: EventRow, you: int | None) -> str | You | None:
    """Return who had the seat of an event then."""
    if event.seat is None:
        return None
    former = name_between(holders_of(table.seats, event.changes), event.seat, event.version, event.at)
    if former is not None:
        return former
    return You.YOU if event.seat == you else table.seats[event.seat].name
