"""When things are due: the deadline of the seat on turn, callout windows, and the next visit of the bots.

`now` is what the caller's clock shows; everything that is stored goes by the database's (`moment_of`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
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
    rested_until: datetime | None = None


CLOCK_FIELDS: Final = ("deadline", "remind_at", "turn_since", "quiet_given", "time_left", "rested_until")


@dataclass(frozen=True, slots=True)
class Due:
    """What a change of position makes due. `banked` is the seat whose turn ended with its time saved, if it has any."""

    clock: TurnClock
    wake_at: datetime | None
    banked: Seat | None


def moment_of(game: Game, now: datetime) -> datetime:
    """`now` by the database's clock, which all deadlines go by: processes' clocks differ."""
    return now + game.skew


def clocks_ran_until(game: Game, now: datetime) -> datetime:
    """The moment up to which this game's clocks have run, by the database's clock.

    While the sweep is away that is its last sign of life: what has passed since will be given back (decision 31).
    """
    moment = moment_of(game, now)
    away = game.pulse is not None and moment - game.pulse > timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
    return game.pulse if away and game.pulse is not None else moment


def runs_from(game: Game, seat: Seat, moment: datetime) -> datetime:
    """When a clock of this seat's that starts at `moment` begins to run: then, or after its player's vacation."""
    return moment if seat.rest is None or game.terms.live else seat.rest.resumes_at(moment)


def window_start(game: Game, until: datetime) -> datetime:
    """When the callout window that is open `until` then began to run, by what is left of it at any moment since."""
    return until - timedelta(seconds=game.terms.callout)


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
    clock = TurnClock(deadline=since + seconds, turn_since=since, rested_until=vacation_end_for(table.game, seat))
    return with_quiet_hours(table.game, seat, clock, now=now)


def vacation_end_for(game: Game, seat: Seat) -> datetime | None:
    """The end of the vacation that a clock of this seat's, set just now, knows of."""
    return None if seat.rest is None or game.terms.live else seat.rest.vacation_until


def with_vacation(game: Game, seat: Seat, now: datetime) -> TurnClock:
    """The clock that runs, moved by as much of its player's vacation as it does not know of yet.

    A vacation begins and ends for each game by itself: whatever has kept one from it is made good by whoever next looks
    at its clock.
    """
    clock, rest = clock_of(game), seat.rest
    unknown = clock.deadline is not None and vacation_end_for(game, seat) not in (None, clock.rested_until)
    if not unknown or rest is None or rest.vacation_from is None or rest.vacation_until is None:
        return clock
    assert clock.deadline is not None
    begun, until, known, deadline = rest.vacation_from, rest.vacation_until, clock.rested_until, clock.deadline
    since = clock.turn_since or begun
    if known is not None and known > begun:  # the same vacation, with another end
        shift = until - known
    else:
        stopped = max(since, min(begun, clocks_ran_until(game, now)))
        shift, deadline = max(timedelta(), until - stopped), max(deadline, stopped)
    return replace(clock, deadline=deadline + shift, turn_since=since + shift, rested_until=until)


def with_quiet_hours(game: Game, seat: Seat, clock: TurnClock, *, now: datetime) -> TurnClock:
    """This clock of the seat's turn, its deadline moved out of the player's quiet hours, and its reminder set.

    Quiet hours set during the turn move no deadline that is near (`Rest.aim`), and all of them give one turn no more
    than `LONGEST_QUIET`; `quiet_given` are the seconds it has got already.
    """
    assert clock.deadline is not None
    deadline, given = clock.deadline, clock.quiet_given
    if seat.rest is not None and not game.terms.live:
        gift = seat.rest.out_of_quiet_hours(deadline, turn_since=clock.turn_since) - deadline
        gift = min(gift, LONGEST_QUIET - timedelta(seconds=given))
        deadline, given = deadline + gift, given + int(gift.total_seconds())
    clock = replace(clock, deadline=deadline, quiet_given=given)
    return replace(clock, remind_at=_reminder(game, seat, clock, now))


def recomputed(game: Game, seat: Seat, now: datetime) -> TurnClock | None:
    """The clock that runs as it must be by what its player's vacation and quiet hours are now; None if it is so."""
    before, known = clock_of(game), with_vacation(game, seat, now)
    if before.deadline is None:
        return None
    clock = with_quiet_hours(game, seat, known, now=now)
    if clock.deadline == before.deadline:
        clock = replace(clock, remind_at=before.remind_at)  # a reminder that was sent needs no other
    return None if clock == before else clock


def _reminder(game: Game, seat: Seat, clock: TurnClock, now: datetime) -> datetime | None:
    """When the player is to be reminded of this deadline: when little of the time is left, at once if that was before.

    None at a live table.
    """
    if game.terms.live or clock.deadline is None:
        return None
    moment = moment_of(game, now)
    since = clock.turn_since or moment
    return max(since + (clock.deadline - since) * REMIND_AFTER, runs_from(game, seat, moment))


def left_of(game: Game, seat: Seat, clock: TurnClock, stopped: datetime) -> timedelta:
    """What a running clock has left if it stops at `stopped`: what is not used up by then, or by a vacation's end."""
    assert clock.deadline is not None
    return max(timedelta(), clock.deadline - runs_from(game, seat, max(stopped, clock.turn_since or stopped)))


def left_to(seat: Seat, game: Game, now: datetime) -> timedelta:
    """The time of its own that the turn of this seat still has: without the quiet hours' gift or vacation to come."""
    if game.deadline is None:
        return game.time_left or timedelta()
    left = left_of(game, seat, with_vacation(game, seat, now), clocks_ran_until(game, now))
    return max(timedelta(), left - timedelta(seconds=game.quiet_given))


def _bank_what_is_left(table: Table, now: datetime) -> Seat | None:
    game, seat = table.game, table.on_turn
    if game.deadline is None and game.time_left is None:
        return None
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
