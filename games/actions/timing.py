"""When things are due: the deadline of the seat on turn, callout windows, and the next visit of the bots."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from games import rules
from games.models import Seat
from games.models.paces import PACES, Pace
from games.queries import Table

CALLOUT_COURTESY: Final = 5.0
"""Seconds a bot on turn waits while somebody can be caught, so that people can call or catch."""


@dataclass(frozen=True, slots=True)
class Due:
    """What a change of position makes due. `bank` is the time left to the seat whose turn ended, if it has a clock."""

    deadline: datetime | None
    wake_at: datetime | None
    banked: Seat | None


def pace_of(table: Table) -> Pace:
    return PACES[table.game.pace]


def schedule(table: Table, position: rules.Position, *, new_turn: bool, exposed: Collection[int], now: datetime) -> Due:
    """The deadlines that follow when `position` replaces the table's own; `table` still holds the one before.

    `exposed` are the seats whose callout window opens just now.
    """
    deadline, banked = table.game.deadline, None
    if new_turn:
        banked = _bank_what_is_left(table, now)
        deadline = turn_deadline(table, position, now)
    return Due(deadline, _next_wake(table, position, exposed, now), banked)


def turn_deadline(table: Table, position: rules.Position, now: datetime) -> datetime | None:
    """When the turn that begins now ends; None for a bot's, which needs no clock, and once the round is over."""
    if position.phase == "over":
        return None
    seat = table.seats[position.turn]
    if seat.bot:
        return None
    return now + timedelta(seconds=pace_of(table).turn_seconds(seat.bank))


def _bank_what_is_left(table: Table, now: datetime) -> Seat | None:
    deadline, before = table.game.deadline, table.position
    if deadline is None or before is None:
        return None
    seat = table.seats[before.turn]
    seat.bank = max(0, int((deadline - now).total_seconds()))
    return seat


def _next_wake(table: Table, position: rules.Position, exposed: Collection[int], now: datetime) -> datetime | None:
    """When a bot has something to do: move on its turn, or look whether somebody can be caught; None if nothing."""
    if position.phase == "over" or not any(seat.bot for seat in table.seats):
        return None
    pause = bot_pause(table, position)
    if not position.exposed:
        return now + timedelta(seconds=pause) if table.seats[position.turn].bot else None
    if not table.seats[position.turn].bot and not _bot_may_speak(table, position):
        return None
    courtesy = min(CALLOUT_COURTESY, pace_of(table).callout) if pause else 0.0
    if not exposed and table.game.wake_at is not None:
        return max(table.game.wake_at, now)
    return now + timedelta(seconds=max(pause, courtesy))


def bot_pause(table: Table, position: rules.Position) -> float:
    """Seconds before a bot's next move; none once no person is left in the round to watch it."""
    people_in = any(not seat.bot and seat.index not in position.out for seat in table.seats)
    return table.game.bot_pause if people_in else 0.0


def _bot_may_speak(table: Table, position: rules.Position) -> bool:
    return any(seat.bot and seat.index not in position.out for seat in table.seats)
