"""Stop, resume and extend the clock of a table.

The caller holds the game's lock. Every function saves what it changes. None of these changes is a move, because they
change no card.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from accounts.time_off import TimeOff
from common.say import N_
from games import announce
from games.clocks.bot_times import BOT_FIELDS, BotTimes, first_bot_times, orders_time, set_bot_times
from games.clocks.turn_clock import (
    CLOCK_FIELDS,
    TurnClock,
    clocks_ran_until,
    continued,
    runs_from,
    set_clock,
    time_left_at,
    window_start,
    with_quiet_hours,
    with_vacation,
)
from games.models import Game, Hand, Seat
from games.queries import Table
from games.refusals import Denied, not_started, over

LONGEST_EXTENSION: Final = timedelta(days=60)


def pause(table: Table, *, reason: str, now: datetime, since: datetime | None = None) -> bool:
    """Pause the game for this reason; return False if it was already paused for it.

    A game can be paused for several reasons. Until the last is taken away, nothing is due and callout windows do not
    run out. The deadline is stored as time left.

    :param since: when the clock stopped, by the database's clock. By default `clocks_ran_until`.
    :raises Denied: `over`, `not_started`.
    """
    require_playing(table)
    game = table.game
    if reason in game.paused_reasons:
        return False
    game.paused_reasons = sorted([*game.paused_reasons, reason])
    if game.paused_at is None:
        game.paused_at = since or clocks_ran_until(game, now)
        if game.deadline is not None:
            seat = table.on_turn
            clock = with_vacation(game, seat, now)
            left = time_left_at(game, seat, clock, game.paused_at)
            set_clock(game, replace(clock, deadline=None, remind_at=None, time_left=left))
        set_bot_times(game, BotTimes(orders_at=game.orders_at))
    game.pause_votes = []
    game.save(update_fields=["paused_reasons", "paused_at", "pause_votes", *BOT_FIELDS, *CLOCK_FIELDS])
    announce.changed(game)
    return True


def resume(table: Table, *, reason: str, now: datetime) -> bool:
    """Remove a reason to pause; return False if the game was not paused for it.

    When the last reason is removed, the clock continues with the time that was left.

    :raises Denied: `over`, `not_started`.
    """
    require_playing(table)
    game = table.game
    if reason not in game.paused_reasons:
        return False
    game.paused_reasons = [other for other in game.paused_reasons if other != reason]
    if not game.paused_reasons and game.paused_at is not None:
        restart_clocks(table, game.paused_at, now)
    game.save(update_fields=["paused_reasons", "paused_at", *BOT_FIELDS, *CLOCK_FIELDS])
    announce.changed(game)
    return True


def restart_clocks(table: Table, paused_at: datetime, now: datetime) -> None:
    """Restart the turn's clock and the callout windows with the time they had left, and set when bots are due."""
    game, hands, position = table.game, table.started.hands, table.started.position
    seat, moment = table.seats[position.turn], clocks_ran_until(game, now)
    if game.time_left is not None:
        ran = max(timedelta(), paused_at - (game.turn_since or paused_at))
        set_clock(game, continued(game, seat, left=game.time_left, ran=ran, now=now))
    game.paused_at = None
    for hand in hands:
        if hand.callout_until is not None:
            stopped = max(paused_at, window_start(game, hand.callout_until))  # the latter if it opened in an outage
            hand.callout_until += max(timedelta(), moment - stopped)
    Hand.objects.bulk_update(hands, ["callout_until"])
    # Orders that the player has stopped in this turn stay stopped.
    orders_at = None if game.orders_at is None else orders_time(table, position, now)
    set_bot_times(game, first_bot_times(table, position, now, orders_at=orders_at))


def extend(table: Table, *, seconds: int, now: datetime) -> None:
    """Give the current turn more time, also during a pause.

    :raises Denied: `over`, `not_started`, `malformed` for less than a second or more than 60 days, `forbidden` if
        no clock is running.
    """
    require_playing(table)
    game, more = table.game, timedelta(seconds=seconds)
    if not timedelta(seconds=1) <= more <= LONGEST_EXTENSION:
        sentence = N_("A clock can be extended by 1 second to {days} days.")
        raise Denied("malformed", sentence, version=game.version, days=LONGEST_EXTENSION.days)
    if game.deadline is not None:
        seat = table.on_turn
        clock = with_vacation(game, seat, now)
        assert clock.deadline is not None
        save_clock(table, with_quiet_hours(game, seat, replace(clock, deadline=clock.deadline + more), now=now))
    elif game.time_left is not None:
        game.time_left += more
        game.save(update_fields=["time_left"])
        announce.changed(game)
    else:
        raise Denied("forbidden", "No clock is running: it is a bot’s turn.", version=game.version)


def pass_on(table: Table, seat: Seat, *, time_off: TimeOff, now: datetime) -> None:
    """Let the running clock of this seat's turn go on with the time off of its new owner.

    The vacation of the owner before ends now, and the time that is left stays.
    """
    game = table.game
    if game.deadline is None or table.on_turn is not seat or seat.bot or table.started.position.phase == "buzz":
        return
    stopped, clock = clocks_ran_until(game, now), with_vacation(game, seat, now)
    since = clock.turn_since or stopped
    ran, left = runs_from(game, seat, max(stopped, since)) - since, time_left_at(game, seat, clock, stopped)
    seat.time_off = time_off
    save_clock(table, continued(game, seat, left=left, ran=ran, now=now))


def forgive_misses(table: Table, *, seat: int) -> bool:
    """Reset this seat's count of missed turns (CLOCK-3) and refill its time bank; return False if there were none.

    Does not change the current turn's time; see `extend`.
    """
    row = table.seats[seat]
    if not row.misses:
        return False
    row.misses, row.bank = 0, max(row.bank, table.game.terms.bank)
    row.save(update_fields=["misses", "bank"])
    announce.changed(table.game)
    return True


def save_clock(table: Table, clock: TurnClock) -> None:
    """Save this clock for the current turn."""
    set_clock(table.game, clock)
    table.game.save(update_fields=list(CLOCK_FIELDS))
    announce.changed(table.game)


def require_playing(table: Table) -> None:
    """Raise Denied unless the game is running.

    :raises Denied: `not_started`, `over`.
    """
    status, version = table.game.status, table.game.version
    if status == Game.Status.OPEN:
        raise not_started(version)
    if status != Game.Status.PLAYING:
        raise over(version, begun=table.game.started_at is not None)
