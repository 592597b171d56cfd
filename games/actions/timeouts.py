"""Let the clock act when time runs out. Its moves are saved by `commit` and logged like all others."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

import structlog
from django.conf import settings
from django.db import transaction

from games import queries, rules
from games.actions import seating, table_events
from games.actions.commit import commit
from games.actions.next_round import deal_next
from games.clocks import pausing, vacations
from games.clocks.turn_clock import moment_of, recomputed
from games.locks import lock_game
from games.models import Game, Seat, TableEvent
from games.notices import player_notices
from games.queries import Table, backlog

log = structlog.get_logger(__name__)


class ClockAct(Enum):
    """The result of `let_clock_act`."""

    NOTHING = auto()  # nothing was due
    ACTED = auto()  # the clock made moves, or its deadline moved
    VACATION = auto()  # nothing was done: try to take a day of vacation first


def is_due(table: Table, now: datetime) -> bool:
    """Return True if a deadline or a callout window of this table has passed, by the database's time."""
    game, moment = table.game, moment_of(table.game, now)
    if game.status != Game.Status.PLAYING or game.paused_at is not None or table.playing is None:
        return False
    if game.deadline is not None and game.deadline <= moment:
        return True
    return any(hand.callout_until is not None and hand.callout_until <= moment for hand in table.playing.hands)


def run_out(*, game_id: int, now: datetime) -> bool:
    """Let the clock act if a move came too late; return True if it did.

    Does nothing while the sweep does not run: it gives the lost time back when it runs again.
    """
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        if backlog.sweep_is_stale(moment_of(table.game, now), grace=timedelta(seconds=settings.SWEEP_GRACE_SECONDS)):
            log.error("the sweep is stale: deadlines are not held", game=game_id)
            return False
        act = let_clock_act(table, now=now)
    return conclude(table, act, now=now)


def conclude(table: Table, act: ClockAct, *, now: datetime) -> bool:
    """Do what follows `let_clock_act` in transactions of its own: take a day of vacation, or deal the next round.

    :returns: whether the clock acted.
    """
    game_id = table.game.pk
    if act is ClockAct.VACATION:
        user_id = table.on_turn.user_id
        if user_id is not None:
            vacations.take_a_day(user_id=user_id, now=now)
        # If a day was taken, this call moves the deadline, and a task moves the person's others. If not, it is a miss.
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            act = let_clock_act(table, now=now, vacation=False)
    if table.playing is not None and table.playing.over:
        deal_next(game_id=game_id, now=now)
    return act is ClockAct.ACTED


def let_clock_act(table: Table, *, now: datetime, vacation: bool = True) -> ClockAct:
    """Close callout windows whose time has passed (CLOCK-2), then play for the seat whose time has run out (CLOCK-1).

    A deadline that now falls in its player's vacation or quiet hours is moved instead. The caller holds the lock.

    :param vacation: return `VACATION` for players who use vacation days instead of missing turns, and do not play for
        them.
    """
    if not is_due(table, now):
        return ClockAct.NOTHING
    game, moment = table.game, moment_of(table.game, now)
    deadline = game.deadline
    turn_is_over = deadline is not None and deadline <= moment
    # The end of the turn often closes windows anyway. Only those that ended before it get a line in the log.
    _close_windows(table, now, before=deadline if turn_is_over else None)
    # Standing orders may have ended the turn.
    turn_is_over = game.deadline is not None and game.deadline <= moment
    if not turn_is_over or _moved_deadline(table, now):
        return ClockAct.ACTED
    seat = table.on_turn
    if vacation and seat.time_off is not None and seat.time_off.auto_vacation and game.stops_for_vacations:
        return ClockAct.VACATION
    commit(table, seat.index, default_moves(table), now=now)
    _close_windows(table, now)  # a race or an option can leave them open (BUZZ-2, CALL-1)
    _answer_misses(table, seat, now)
    return ClockAct.ACTED


def _close_windows(table: Table, now: datetime, *, before: datetime | None = None) -> None:
    """Close the callout windows whose time has passed (CLOCK-2). With `before`, only those that ended before it."""
    moment = moment_of(table.game, now)
    for hand in table.started.hands:
        until = hand.callout_until
        if until is not None and until <= moment and (before is None or until < before):
            commit(table, hand.seat.index, [rules.Move("uno", clock=True)], now=now)


def default_moves(table: Table) -> list[rules.Move]:
    """Return the clock's moves for the seat on turn: one, or a draw and what to do with the drawn card (CLOCK-1)."""
    round_, position = table.started.round, table.started.position
    seat, options = position.turn, table.options
    first = rules.default_move(position, seat, options)
    shuffle = rules.Shuffler(bytes(round_.secret)).shuffle
    after, _ = rules.apply(position, seat, first, options, shuffle)
    if after.phase == "drawn":
        return [first, rules.default_move(after, seat, options)]
    return [first]


def _moved_deadline(table: Table, now: datetime) -> bool:
    """Move a deadline out of its player's vacation or quiet hours; return True if it is in the future now."""
    game, seat = table.game, table.on_turn
    clock = recomputed(game, seat, now)
    if clock is None or clock.deadline is None or clock.deadline <= moment_of(game, now):
        return False
    pausing.save_clock(table, clock)
    return True


def _answer_misses(table: Table, seat: Seat, now: datetime) -> None:
    """Replace a player who has missed too many turns by a bot, or let them leave, as the table says (CLOCK-3).

    If the round is over, the player leaves when the next one is dealt.
    """
    game = table.game
    if seat.misses < game.misses_allowed or game.status != Game.Status.PLAYING:
        return
    if game.after_misses == Game.AfterMisses.BOT:
        seating.replace_by_bot(table, seat=seat.index, now=now)
        table_events.record(TableEvent.Kind.BOT_BEGAN, game=game, seat=seat.index, now=now)
        player_notices.bot_took_over(table, seat, now=now)
    elif seat.index not in table.started.position.out and not table.started.over:
        commit(table, seat.index, [rules.Move("leave")], now=now, by_person=False)
        player_notices.taken_out(table, seat, now=now)
