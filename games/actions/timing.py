"""When things are due: the deadline of the seat on turn, callout windows, and the next visit of the bots.

`now` is what the caller's clock shows; everything that is stored goes by the database's (`moment_of`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from accounts.rest import LONGEST_QUIET
from games import rules
from games.models import Game, Seat
from games.queries import Table

CALLOUT_COURTESY: Final = 5.0
"""Seconds a bot on turn waits while somebody can be caught, so that people can call or catch."""

REMIND_AFTER: Final = 0.8
"""The part of a turn's time after which its player is reminded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClock:
    """A turn's clock, as the columns of `Game` of these names hold it. All empty: nobody's clock runs."""

    deadline: datetime | None = None
    remind_at: datetime | None = None
    turn_since: datetime | None = None
    quiet_given: int = 0
    time_left: timedelta | None = None


CLOCK_FIELDS: Final = ("deadline", "remind_at", "turn_since", "quiet_given", "time_left")


@dataclass(frozen=True, slots=True)
class Due:
    """What a change of position makes due. `banked` is the seat whose turn ended with its time saved, if it has any."""

    clock: TurnClock
    wake_at: datetime | None
    banked: Seat | None


def moment_of(game: Game, now: datetime) -> datetime:
    """`now` by the database's clock, which all deadlines go by: processes' clocks differ."""
    return now + game.skew


def ran_until(game: Game, now: datetime) -> datetime:
    """The moment up to which this game's clocks have run, by the database's clock.

    While the sweep is away that is its last sign of life: what has passed since will be given back (decision 31).
    """
    moment = moment_of(game, now)
    away = game.pulse is not None and moment - game.pulse > timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
    return game.pulse if away and game.pulse is not None else moment


def runs_from(game: Game, seat: Seat, moment: datetime) -> datetime:
    """When a clock of this seat's that starts at `moment` begins to run: then, or after its player's vacation."""
    return moment if seat.rest is None or game.terms.live else seat.rest.back(moment)


def used_until(game: Game, seat: Seat, stopped: datetime) -> datetime:
    """The moment up to which the turn that runs has used up its time, if its clock stops at `stopped`."""
    return runs_from(game, seat, max(stopped, game.turn_since or stopped))


def schedule(table: Table, position: rules.Position, *, new_turn: bool, exposed: Collection[int], now: datetime) -> Due:
    """The deadlines that follow when `position` replaces the table's own; `table` still holds the one before.

    `exposed` are the seats whose callout window opens just now.
    """
    wake_at = None if table.game.paused_at else _next_wake(table, position, exposed, moment_of(table.game, now))
    if not new_turn:
        return Due(clock_of(table.game), wake_at, None)
    banked = _bank_what_is_left(table, now)
    return Due(turn_clock(table, position, now), wake_at, banked)


def clock_of(game: Game) -> TurnClock:
    """The clock as it runs now."""
    return TurnClock(**{name: getattr(game, name) for name in CLOCK_FIELDS})


def set_clock(game: Game, clock: TurnClock) -> None:
    """Put a clock into the row; the caller saves `CLOCK_FIELDS`."""
    for name in CLOCK_FIELDS:
        setattr(game, name, getattr(clock, name))


def turn_clock(table: Table, position: rules.Position, now: datetime) -> TurnClock:
    """The clock of the turn that begins now: none for a bot's, and once the round is over.

    It begins to run when its player is back from vacation.
    """
    seat = table.seats[position.turn]
    if position.phase == "over" or seat.bot:
        return TurnClock()
    seconds = timedelta(seconds=table.game.terms.turn_seconds(seat.bank))
    if table.game.paused_at is not None:
        return TurnClock(time_left=seconds)
    since = runs_from(table.game, seat, moment_of(table.game, now))
    return aimed(table.game, seat, deadline=since + seconds, since=since, quiet_given=0, now=now)


def aimed(game: Game, seat: Seat, *, deadline: datetime, since: datetime, quiet_given: int, now: datetime) -> TurnClock:
    """The clock of this seat's turn with this deadline, moved out of its player's quiet hours.

    Quiet hours give one turn no more than `LONGEST_QUIET` in all; `quiet_given` are the seconds it has got already.
    """
    if seat.rest is not None and not game.terms.live:
        gift = seat.rest.quiet_end(deadline) - deadline
        gift = min(gift, LONGEST_QUIET - timedelta(seconds=quiet_given))
        deadline += gift
        quiet_given += int(gift.total_seconds())
    return TurnClock(
        deadline=deadline,
        remind_at=_reminder(game, since, deadline, moment_of(game, now)),
        turn_since=since,
        quiet_given=quiet_given,
    )


def _reminder(game: Game, since: datetime, deadline: datetime, moment: datetime) -> datetime | None:
    """When the player is reminded; None at a live table, and if that moment has passed."""
    at = since + (deadline - since) * REMIND_AFTER
    return None if game.terms.live or at <= moment else at


def left_to(seat: Seat, game: Game, now: datetime) -> timedelta:
    """The time of its own that the turn of this seat still has: without the quiet hours' gift or vacation to come."""
    if game.deadline is None:
        return game.time_left or timedelta()
    return max(
        timedelta(), game.deadline - timedelta(seconds=game.quiet_given) - used_until(game, seat, ran_until(game, now))
    )


def _bank_what_is_left(table: Table, now: datetime) -> Seat | None:
    game, before = table.game, table.position
    if before is None or (game.deadline is None and game.time_left is None):
        return None
    seat = table.seats[before.turn]
    seat.bank = int(left_to(seat, game, now).total_seconds())
    return seat


def _next_wake(table: Table, position: rules.Position, exposed: Collection[int], moment: datetime) -> datetime | None:
    """When a bot has something to do: move on its turn, or look whether somebody can be caught; None if nothing."""
    if position.phase == "over" or not any(seat.bot for seat in table.seats):
        return None
    pause = bot_pause(table, position)
    if not position.exposed:
        return moment + timedelta(seconds=pause) if table.seats[position.turn].bot else None
    if not table.seats[position.turn].bot and not _bot_may_speak(table, position):
        return None
    courtesy = min(CALLOUT_COURTESY, table.game.terms.callout) if pause else 0.0
    if not exposed and table.game.wake_at is not None:
        return max(table.game.wake_at, moment)
    return moment + timedelta(seconds=max(pause, courtesy))


def first_wake(table: Table, position: rules.Position, now: datetime) -> datetime | None:
    """When a bot or the next deal is due at a table whose bots have not been looked at yet; None while it is paused."""
    if table.game.paused_at is not None:
        return None
    moment = moment_of(table.game, now)
    return moment if position.phase == "over" else _next_wake(table, position, position.exposed, moment)


def bot_pause(table: Table, position: rules.Position) -> float:
    """Seconds before a bot's next move; none once no person is left in the round to watch it."""
    people_in = any(not seat.bot and seat.index not in position.out for seat in table.seats)
    return table.game.bot_pause if people_in else 0.0


def _bot_may_speak(table: Table, position: rules.Position) -> bool:
    return any(seat.bot and seat.index not in position.out for seat in table.seats)
