"""Compute when bots and standing orders are due: to move, to call or catch, and to react to a card just played.

A reaction is a play out of turn or a press of the buzzer. People race bots for these, so bots take about as long as
people do. All times go by the database's clock.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from games import rules
from games.clocks.turn_clock import moment_of
from games.models import Game
from games.models.orders import orders_of
from games.queries import Table, legal_moves
from games.queries.orders import has_orders
from games.queries.turn_orders import move_by_order

ORDERS_WAIT: Final = timedelta(seconds=60)
"""How long after a turn has begun, or orders were set in it, the standing orders of its player play.

The player can stop them until then, and others cannot tell from the time which of the orders played.
"""

CALLOUT_GRACE: Final = 5.0
"""Seconds that a bot on turn waits while a player can be caught, so that people have time to call or catch."""

# 0.6 to 1.8 s, less what the task that makes the move may be early (bot_turn.EARLY) or late.
REACTION_SECONDS: Final = (0.65, 1.7)
"""The shortest and the longest time in which a bot reacts to a card."""

STRAIGHT_SECONDS: Final = 1.4
"""How much longer bots wait for everything while a straight is open: at least 2 s, in which its player sees what
continues it, and everybody what could intercept it.

They do not wait longer at tables whose bots do not wait before they move.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotTimes:
    """When bots are due: the columns of `Game` with these names.

    `wake_at` is the earliest of all. `react_at` has the time of each seat whose bot may react, or is empty. `orders_at`
    is when the standing orders of the player on turn play, None if they do not. Only while one of these two has a time,
    `bots_move_at` is needed to know when bots make their other moves; None is never.
    """

    wake_at: datetime | None = None
    bots_move_at: datetime | None = None
    react_at: list[datetime | None] = field(default_factory=list)
    orders_at: datetime | None = None


BOT_FIELDS: Final = ("wake_at", "bots_move_at", "react_at", "orders_at")


def set_bot_times(game: Game, times: BotTimes) -> None:
    """Put these times into the game row. The caller saves `BOT_FIELDS`."""
    for name in BOT_FIELDS:
        setattr(game, name, getattr(times, name))


def bot_times(
    table: Table,
    position: rules.Position,
    now: datetime,
    *,
    exposed: Collection[int],
    card_played: bool,
    orders_at: datetime | None,
    penalty: bool = False,
) -> BotTimes:
    """Return when bots are due if `position` is the one after the line of the table's version.

    :param orders_at: when standing orders play, from `orders_time`, or the time that was set earlier in the turn. It is
        kept in a pause, in which nothing is due.
    :param exposed: the seats whose callout window opens with that line.
    :param card_played: whether it plays a card, so that bots can react to it. Otherwise they still react to the card
        before, at the time set then.
    :param penalty: whether it only costs its seat something. Then the bot on turn keeps its time, so that nobody can
        put off its move.
    """
    game, moment = table.game, moment_of(table.game, now)
    if game.paused_at is not None:
        return BotTimes(orders_at=orders_at)
    if position.phase == "over":
        return BotTimes()
    if not any(seat.bot for seat in table.seats):
        return _earliest(None, [], orders_at)
    move_at = _next_move(table, position, exposed, moment, penalty=penalty)
    # A page can show the card once it is saved, and that is at least the time later that the lock was waited for.
    shown_at = moment + game.waited if card_played else None
    return _earliest(move_at, _reactions(table, position, shown_at), orders_at)


def first_bot_times(table: Table, position: rules.Position, now: datetime, *, orders_at: datetime | None) -> BotTimes:
    """Return when bots or the next deal are due after a deal, a resume or a change of seats.

    :param orders_at: as in `bot_times`.
    """
    if position.phase == "over" and table.game.paused_at is None:
        return BotTimes(wake_at=moment_of(table.game, now))
    return bot_times(table, position, now, exposed=position.exposed, card_played=True, orders_at=orders_at)


def orders_time(table: Table, position: rules.Position, now: datetime) -> datetime | None:
    """Return when the standing orders of the seat on turn play if it gets them or the turn now; None if none fits."""
    seat = table.seats[position.turn]
    if position.phase == "over" or seat.bot or not has_orders(table):
        return None
    if move_by_order(orders_of(seat), position, seat.index, table.options) is None:
        return None
    return moment_of(table.game, now) + ORDERS_WAIT


def with_orders_at(game: Game, orders_at: datetime | None) -> BotTimes:
    """Return when bots are due if only the time of the standing orders changes."""
    if game.paused_at is not None:
        return BotTimes(orders_at=orders_at)
    return _earliest(_bots_move_at(game), game.react_at, orders_at)


def is_reaction(position: rules.Position, seat: int, move: rules.Move) -> bool:
    """Return True if a move is a play out of turn or a press of the buzzer."""
    return move.kind == "buzz" or (seat != position.turn and move.kind in rules.TURN_MOVES)


def without_asked(game: Game, until: datetime) -> BotTimes:
    """Return when bots are due after all that were due `until` then have been asked and none wanted to move."""
    react_at = [_if_later(at, until) for at in game.react_at]
    return _earliest(_if_later(_bots_move_at(game), until), react_at, _if_later(game.orders_at, until))


def _if_later(at: datetime | None, until: datetime) -> datetime | None:
    return None if at is None or at <= until else at


def moves_are_due(game: Game, until: datetime) -> bool:
    """Return True if bots that are due `until` then may make moves other than reactions."""
    at = _bots_move_at(game)
    return at is not None and at <= until


def _bots_move_at(game: Game) -> datetime | None:
    """Return when bots make moves other than reactions, None for never."""
    return game.bots_move_at if any(game.react_at) or game.orders_at is not None else game.wake_at


def human_time(secret: bytes, version: int, seat: int) -> timedelta:
    """Return how long the bot of a seat takes to react to the card of this version. It is the same each time.

    :param secret: the secret of the round, so that no player can compute the time.
    """
    rng = random.Random(f"{secret.hex()}:{version}:{seat}")  # noqa: S311  # a few bits of a time tell nothing of the seed
    return timedelta(seconds=rng.uniform(*REACTION_SECONDS))


def _earliest(move_at: datetime | None, react_at: list[datetime | None], orders_at: datetime | None) -> BotTimes:
    others = [at for at in (*react_at, orders_at) if at is not None]
    if not others:
        return BotTimes(wake_at=move_at)
    return BotTimes(
        wake_at=min(others if move_at is None else [*others, move_at]),
        bots_move_at=move_at,
        react_at=react_at,
        orders_at=orders_at,
    )


def _next_move(
    table: Table, position: rules.Position, exposed: Collection[int], moment: datetime, *, penalty: bool
) -> datetime | None:
    """Return when a bot is due to take its turn or to check whether to call or catch; None if no bot is."""
    turn_is_bots, game = bool(table.seats[position.turn].bot), table.game
    pause = game.bot_pause if _people_in(table, position) else 0.0
    longer = _longer_for_straight(table, position)
    if longer:
        pause = max(pause, REACTION_SECONDS[0]) + longer
    before = _bots_move_at(game)
    if not position.exposed:
        if not turn_is_bots or position.phase == "buzz":
            return None
        return max(before, moment) if penalty and before is not None else moment + timedelta(seconds=pause)
    if not turn_is_bots and not any(seat.bot and seat.index not in position.out for seat in table.seats):
        return None
    grace = min(CALLOUT_GRACE, game.terms.callout) if pause else 0.0
    if not exposed and before is not None:
        return max(before, moment)
    return moment + timedelta(seconds=max(pause, grace))


def _reactions(table: Table, position: rules.Position, shown_at: datetime | None) -> list[datetime | None]:
    """Return when the bot of each seat reacts to the top card, or an empty list if none does.

    :param shown_at: when a page could show the card; None if it was the top card before.
    """
    game, options, secret = table.game, table.options, bytes(table.started.round.secret)
    if not options.plays_out_of_turn and options.buzzers != "race":
        return []
    react_at: list[datetime | None] = [None] * len(table.seats)
    with_people = _people_in(table, position)
    longer = timedelta(seconds=_longer_for_straight(table, position))
    for seat in (seat.index for seat in table.seats if seat.bot and seat.index not in position.out):
        if not any(is_reaction(position, seat, move) for move in legal_moves(table, position, seat)):
            continue
        if shown_at is None:
            react_at[seat] = game.react_at[seat] if game.react_at else None
        else:
            waits = human_time(secret, game.version, seat) + longer if with_people else timedelta()
            react_at[seat] = shown_at + waits
    return react_at if any(react_at) else []


def _longer_for_straight(table: Table, position: rules.Position) -> float:
    """Return how many seconds longer bots wait because a straight is open that can be continued card by card."""
    game = table.game
    is_open = position.extra.run is not None and game.terms.races
    return STRAIGHT_SECONDS if is_open and game.bot_pause and _people_in(table, position) else 0.0


def _people_in(table: Table, position: rules.Position) -> bool:
    return any(not seat.bot and seat.index not in position.out for seat in table.seats)
