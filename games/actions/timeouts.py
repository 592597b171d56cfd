"""What happens when time runs out: the clock plays, as one more player, through the same `commit` as everybody.

Its moves are lines of the log, so that every game replays.
"""

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
from games.models import Game, Seat
from games.notices import player_notices
from games.queries import Table, backlog

log = structlog.get_logger(__name__)


class ClockAct(Enum):
    """What became of it: nothing was due, the clock has acted or moved, or a day of vacation is to be tried first."""

    NOTHING = auto()
    ACTED = auto()
    VACATION = auto()


def is_due(table: Table, now: datetime) -> bool:
    """Whether the clock has something to do at this table, by the database's time."""
    game, moment = table.game, moment_of(table.game, now)
    if game.status != Game.Status.PLAYING or game.paused_at is not None or table.playing is None:
        return False
    if game.deadline is not None and game.deadline <= moment:
        return True
    return any(hand.callout_until is not None and hand.callout_until <= moment for hand in table.playing.hands)


def run_out(*, game_id: int, now: datetime) -> bool:
    """Let the clock act where a move came too late; says whether it did.

    While the sweep is away nobody is too late: what it missed is given back when it returns.
    """
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        if backlog.sweep_is_stale(moment_of(table.game, now), grace=timedelta(seconds=settings.SWEEP_GRACE_SECONDS)):
            log.error("the sweep is stale: deadlines are not held", game=game_id)
            return False
        act = let_clock_act(table, now=now)
    return conclude(table, act, now=now)


def conclude(table: Table, act: ClockAct, *, now: datetime) -> bool:
    """What follows on `let_clock_act` in transactions of its own: a day of vacation, or the next deal."""
    game_id = table.game.pk
    if act is ClockAct.VACATION:
        user_id = table.on_turn.user_id
        if user_id is not None:
            vacations.take_a_day(user_id=user_id, now=now)
        # If a day was taken, `let_clock_act` moves this deadline, and a task those elsewhere. If not, it is a miss.
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            act = let_clock_act(table, now=now, vacation=False)
    if table.playing is not None and table.playing.over:
        deal_next(game_id=game_id, now=now)
    return act is ClockAct.ACTED


def let_clock_act(table: Table, *, now: datetime, vacation: bool = True) -> ClockAct:
    """Close the callout windows whose time has passed (CLOCK-2), then play for whose time has run out (CLOCK-1).

    A deadline that has come to fall in its player's vacation or quiet hours moves instead. With `vacation` a player who
    takes days of vacation instead of misses is left alone. The caller holds the lock.
    """
    if not is_due(table, now):
        return ClockAct.NOTHING
    game, moment = table.game, moment_of(table.game, now)
    deadline = game.deadline
    turn_is_over = deadline is not None and deadline <= moment
    hands = table.started.hands
    for hand in hands:
        until = hand.callout_until
        # A window that the turn's end closes anyway needs no line of its own.
        if until is not None and until <= moment and (deadline is None or not turn_is_over or until < deadline):
            commit(table, hand.seat.index, [rules.Move("uno", clock=True)], now=now)
    if not turn_is_over or _rested(table, now):
        return ClockAct.ACTED
    seat = table.on_turn
    if vacation and seat.rest is not None and seat.rest.auto_vacation and not game.terms.live:
        return ClockAct.VACATION
    commit(table, seat.index, default_moves(table), now=now)
    _answer_misses(table, seat, now)
    return ClockAct.ACTED


def default_moves(table: Table) -> list[rules.Move]:
    """The clock's moves for the seat on turn: one, or a draw and the play of what it found (CLOCK-1)."""
    round_, position = table.started.round, table.started.position
    seat, options = position.turn, table.options
    first = rules.default_move(position, seat, options)
    shuffle = rules.Shuffler(bytes(round_.secret)).shuffle
    after, _ = rules.apply(position, seat, first, options, shuffle)
    if after.phase == "drawn":
        return [first, rules.default_move(after, seat, options)]
    return [first]


def _rested(table: Table, now: datetime) -> bool:
    """Move a deadline that passed in its player's vacation or quiet hours; says whether it lies ahead now."""
    game, seat = table.game, table.on_turn
    clock = recomputed(game, seat, now)
    if clock is None or clock.deadline is None or clock.deadline <= moment_of(game, now):
        return False
    pausing.save_clock(table, clock)
    return True


def _answer_misses(table: Table, seat: Seat, now: datetime) -> None:
    """After the last miss that the table allows a bot takes the seat, or its player leaves (CLOCK-3).

    If the round is over, the player leaves with the next deal.
    """
    game, misses = table.game, seat.misses
    if misses < game.misses_allowed or game.status != Game.Status.PLAYING:
        return
    if game.after_misses == Game.AfterMisses.BOT:
        seating.replace_by_bot(table, seat=seat.index, now=now)
        table_events.record(table_events.BOT_BEGAN, game=game, seat=seat.index, now=now)
        player_notices.bot_took_over(table, seat, misses=misses, now=now)
    elif seat.index not in table.started.position.out and not table.started.over:
        commit(table, seat.index, [rules.Move("leave")], now=now, by_person=False)
        player_notices.taken_out(table, seat, misses=misses, now=now)
