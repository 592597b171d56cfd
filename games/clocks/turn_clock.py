"""Compute when the deadline of the turn or of a race for the buzzer is, and the other times of its clock.

`now` is the time by the caller's clock. Stored times go by the database's clock (`moment_of`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from accounts.time_off import LONGEST_QUIET
from games import rules
from games.models import Game, Seat
from games.queries import Table
from mail.channels.base import NEAR

REMIND_AFTER: Final = 0.8
"""The part of a turn's time after which its player is reminded."""
BEFORE_SLEEP: Final = timedelta(minutes=15)
"""How long before their quiet hours players are reminded of a turn that ends in them or soon after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClock:
    """A turn's clock: the columns of `Game` with these names. If all are empty, no clock is running."""

    deadline: datetime | None = None
    remind_at: datetime | None = None
    turn_since: datetime | None = None
    quiet_seconds_added: int = 0
    time_left: timedelta | None = None
    vacation_counted_until: datetime | None = None


CLOCK_FIELDS: Final = (
    "deadline",
    "remind_at",
    "turn_since",
    "quiet_seconds_added",
    "time_left",
    "vacation_counted_until",
)


@dataclass(frozen=True, slots=True)
class Due:
    """The clock after a change of position."""

    clock: TurnClock
    banked: Seat | None  # the seat whose turn ended, with its new time bank; None if its clock did not run


def moment_of(game: Game, now: datetime) -> datetime:
    """Convert `now` to the database's clock. All deadlines go by that clock, because processes' clocks differ."""
    return now + game.skew


def clocks_ran_until(game: Game, now: datetime) -> datetime:
    """Return the time up to which this game's clocks have run, by the database's clock.

    That is the sweep's last heartbeat while the sweep does not run, because the time since then will be given back
    (decision 30).
    """
    moment = moment_of(game, now)
    down = game.swept_at is not None and moment - game.swept_at > timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
    return game.swept_at if down and game.swept_at is not None else moment


def runs_from(game: Game, seat: Seat, moment: datetime) -> datetime:
    """Return when a clock that is started at `moment` begins to run: then, or after the player's vacation."""
    return seat.time_off.resumes_at(moment) if seat.time_off and game.stops_for_vacations else moment


def window_start(game: Game, until: datetime) -> datetime:
    """Return when the callout window that closes at `until` began to run."""
    return until - timedelta(seconds=game.terms.callout)


def schedule(table: Table, position: rules.Position, *, new_turn: bool, now: datetime) -> Due:
    """Return the clock when `position` replaces the table's current position.

    On a new turn, this sets `bank` of the seat whose turn ended. The caller saves it (`Due.banked`).
    """
    if not new_turn:
        return Due(clock_of(table.game), None)
    banked = _bank_what_is_left(table, now)
    return Due(turn_clock(table, position, now), banked)


def clock_of(game: Game) -> TurnClock:
    """Return the clock stored in the game row."""
    return TurnClock(**{name: getattr(game, name) for name in CLOCK_FIELDS})


def set_clock(game: Game, clock: TurnClock) -> None:
    """Put a clock into the game row. The caller saves `CLOCK_FIELDS`."""
    for name in CLOCK_FIELDS:
        setattr(game, name, getattr(clock, name))


def turn_clock(table: Table, position: rules.Position, now: datetime) -> TurnClock:
    """Return the clock of a turn that begins now: an empty one for a bot, or if the round is over.

    If the player is on vacation, it starts to run when they are back. A race for the buzzer ends after the callout
    time, also if a bot opened it (BUZZ-2).
    """
    seat, terms, is_race = table.seats[position.turn], table.game.terms, position.phase == "buzz"
    if position.phase == "over" or (seat.bot and not is_race):
        return TurnClock()
    seconds = timedelta(seconds=terms.callout if is_race else terms.turn_seconds(seat.bank))
    if table.game.paused_at is not None:
        return TurnClock(time_left=seconds)
    since = runs_from(table.game, seat, moment_of(table.game, now))
    clock = TurnClock(
        deadline=since + seconds, turn_since=since, vacation_counted_until=vacation_end_for(table.game, seat)
    )
    return with_quiet_hours(table.game, seat, clock, now=now)


def vacation_end_for(game: Game, seat: Seat) -> datetime | None:
    """Return the end of the player's vacation, for the clock's `vacation_counted_until`; None where none counts."""
    return seat.time_off.vacation_until if seat.time_off and game.stops_for_vacations else None


def with_vacation(game: Game, seat: Seat, now: datetime) -> TurnClock:
    """Return the game's clock, moved by the part of its player's vacation that it does not include yet.

    A vacation is applied to each game separately. If that failed for this game, the next call applies it.
    """
    clock, time_off = clock_of(game), seat.time_off
    pending = clock.deadline is not None and vacation_end_for(game, seat) not in (None, clock.vacation_counted_until)
    if not pending or time_off is None or time_off.vacation_from is None or time_off.vacation_until is None:
        return clock
    assert clock.deadline is not None
    begun, until, deadline = time_off.vacation_from, time_off.vacation_until, clock.deadline
    applied_until = clock.vacation_counted_until
    since = clock.turn_since or begun
    if applied_until is not None and applied_until > begun:  # the same vacation, but its end has changed
        shift = until - applied_until
    else:
        stopped = max(since, min(begun, clocks_ran_until(game, now)))
        shift, deadline = max(timedelta(), until - stopped), max(deadline, stopped)
    return replace(clock, deadline=deadline + shift, turn_since=since + shift, vacation_counted_until=until)


def with_quiet_hours(game: Game, seat: Seat, clock: TurnClock, *, now: datetime) -> TurnClock:
    """Return this clock with its deadline moved out of the player's quiet hours, and with its reminder set.

    Quiet hours that were set during the turn do not move a near deadline (`TimeOff.out_of_quiet_hours`). A turn gets at
    most `LONGEST_QUIET` from quiet hours in total; `clock.quiet_seconds_added` counts the seconds it has got.
    """
    assert clock.deadline is not None
    deadline, given = clock.deadline, clock.quiet_seconds_added
    if seat.time_off is not None and not game.terms.live:
        gift = seat.time_off.out_of_quiet_hours(deadline, turn_since=clock.turn_since) - deadline
        gift = min(gift, LONGEST_QUIET - timedelta(seconds=given))
        deadline, given = deadline + gift, given + int(gift.total_seconds())
    clock = replace(clock, deadline=deadline, quiet_seconds_added=given)
    return replace(clock, remind_at=_reminder(game, seat, clock, now))


def recomputed(game: Game, seat: Seat, now: datetime) -> TurnClock | None:
    """Return the game's clock with the player's current vacation and quiet hours applied; None if nothing changes."""
    before, with_time_off = clock_of(game), with_vacation(game, seat, now)
    if before.deadline is None:
        return None
    clock = with_quiet_hours(game, seat, with_time_off, now=now)
    if clock.deadline == before.deadline:
        clock = replace(clock, remind_at=before.remind_at)  # do not send a second reminder of the same deadline
    return None if clock == before else clock


def _reminder(game: Game, seat: Seat, clock: TurnClock, now: datetime) -> datetime | None:
    """Return when to remind the player of this deadline: after `REMIND_AFTER` of the time, or before they sleep.

    None at a live table.
    """
    if game.terms.live or clock.deadline is None:
        return None
    moment = moment_of(game, now)
    since = clock.turn_since or moment
    earliest = max(since, runs_from(game, seat, moment))
    remind_at = max(since + (clock.deadline - since) * REMIND_AFTER, earliest)
    if seat.time_off is not None:
        asleep, awake = seat.time_off.quiet_hours_at(remind_at)
        if remind_at < awake and clock.deadline < awake + NEAR and asleep - BEFORE_SLEEP >= earliest:
            return asleep - BEFORE_SLEEP
    return remind_at


def time_left_at(game: Game, seat: Seat, clock: TurnClock, stopped: datetime) -> timedelta:
    """Return the time left on a running clock that stops at `stopped`. Time on vacation is not used up."""
    assert clock.deadline is not None
    return max(timedelta(), clock.deadline - runs_from(game, seat, max(stopped, clock.turn_since or stopped)))


def continued(game: Game, seat: Seat, *, left: timedelta, ran: timedelta, now: datetime) -> TurnClock:
    """Return the clock of a turn that goes on now with the time that was `left`, after it `ran` for some time.

    If the player is on vacation, it goes on when they are back.
    """
    begins = runs_from(game, seat, clocks_ran_until(game, now))
    clock = TurnClock(
        deadline=begins + left,
        turn_since=begins - ran,
        quiet_seconds_added=game.quiet_seconds_added,
        vacation_counted_until=vacation_end_for(game, seat),
    )
    return with_quiet_hours(game, seat, clock, now=now)


def unspent_time(game: Game, seat: Seat, now: datetime) -> timedelta:
    """Return the time left of this seat's turn, without what quiet hours or a vacation add."""
    if game.deadline is None:
        return game.time_left or timedelta()
    left = time_left_at(game, seat, with_vacation(game, seat, now), clocks_ran_until(game, now))
    return max(timedelta(), left - timedelta(seconds=game.quiet_seconds_added))


def _bank_what_is_left(table: Table, now: datetime) -> Seat | None:
    """Put the time that is left into the seat's time bank. Return the seat, or None if its clock did not run.

    What is left of a race for the buzzer belongs to nobody.
    """
    game, seat = table.game, table.on_turn
    if (game.deadline is None and game.time_left is None) or table.started.position.phase == "buzz":
        return None
    seat.bank = int(unspent_time(game, seat, now).total_seconds())
    return seat
