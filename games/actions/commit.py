"""Save moves. People, bots and the clock all use `commit`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from common.fixed_sql import pipelined_cursor
from common.say import ENGLISH, Say
from games import announce, rules
from games.actions import rounds, seating, standing_orders
from games.actions.penalties import is_penalty, require_first_miss
from games.clocks.bot_times import BOT_FIELDS, bot_times, orders_time, set_bot_times
from games.clocks.turn_clock import CLOCK_FIELDS, moment_of, schedule, set_clock
from games.models import Game, Seat
from games.models.positions import JSON_COLUMNS, POSITION_COLUMNS, position_columns
from games.notices import player_notices
from games.queries import Table
from games.queries.orders import can_intercept
from games.refusals import Denied, from_rules

MAX_MOVES: Final = 100_000
"""The most moves of a game. People make a few thousand at most; the bound protects code that reads a whole log."""

MAX_ORDERS: Final = 200
"""The most plays of standing orders after a move. A longer chain needs cards that come back into hands."""


class AppliedMove(NamedTuple):
    """A move that was applied: a line of the log, with the position after it and its events.

    `by_order`: the standing orders of the seat made the move.
    """

    seat: int
    move: rules.Move
    position: rules.Position
    events: tuple[rules.Event, ...]
    by_order: bool = False


Check = Callable[[Table, rules.Position, int, rules.Move], None]
"""A check of a seat's move in a position of a table. It raises Denied."""


def commit(
    table: Table,
    seat: int,
    moves: Sequence[rules.Move],
    *,
    now: datetime,
    check_next: Check | None = None,
    token: str | None = None,
    wake: bool = True,
    by_person: bool = True,
    by_order: bool = False,
) -> None:
    """Apply and save one or more moves of a seat, and update `table` to match. The caller holds the game's lock.

    Either all moves are saved or none (RUN-6). The plays of standing orders that follow are saved with them. Turns,
    clocks and callout windows are as if each move had been sent by itself at this moment.

    :param check_next: called for each move after the first, before the rules judge it. Moves that a player sends
        together need `require_step`, because a refusal by the rules could tell hidden cards.
    :param token: the request's idempotency token, stored with the first move.
    :param wake: whether to ask the worker to play bots that are due afterwards.
    :param by_person: whether the player of the seat chose the moves and so has seen the table. Ignored for moves of the
        clock and of standing orders.
    :param by_order: the standing orders of the seat make the moves, on its turn.
    :raises Denied: a refusal of the rules or of `check_next`. Nothing is saved.
    """
    log = _applied(table, seat, moves, check_next, by_order=by_order)
    log += _by_order(table, log[-1])
    changes = _Changes()
    table.game.revision += 1
    for line in log:
        _advance(table, line, changes, now)
    if not by_order and _count_misses(table.seats[seat], moves[-1]):
        changes.seats.add(seat)
    position, happened = table.started.position, [event for line in log for event in line.events]
    _save(table, changes, log=log, now=now, token=token, further=len(moves) - 1)
    left = moves[-1].kind == "leave"
    if left:
        table.seats[seat].left = True
        Seat.objects.filter(pk=table.seats[seat].pk).update(left=True)
    ended = rules.outcome(position)
    if ended is not None:
        rounds.finish(table, ended, now=now)
    if table.game.version >= MAX_MOVES and table.game.status == Game.Status.PLAYING:
        rounds.call_off(table.game, now=now)
        player_notices.closed(table, "too_many_moves", number=MAX_MOVES, now=now)
    if left:
        seating.voters_changed(table, now=now)
    own = by_person and not (moves[-1].clock or by_order)
    player_notices.move(
        table, happened, seat=seat, own=own, new_turn=changes.new_turn, without_orders=changes.without_orders, now=now
    )
    announce.after_commit(table.game, wake=wake)


def _applied(
    table: Table, seat: int, moves: Sequence[rules.Move], check_next: Check | None, *, by_order: bool
) -> list[AppliedMove]:
    """Return the lines that these moves add to the log. Changes nothing.

    :raises Denied: a refusal of the rules or of `check_next`. It names the move if there are several.
    """
    position, log = table.started.position, list[AppliedMove]()
    shuffle = rules.Shuffler(bytes(table.started.round.secret)).shuffle
    for number, move in enumerate(moves, 1):
        try:
            if log and check_next is not None:
                check_next(table, position, seat, move)
            position, events = rules.apply(position, seat, move, table.options, shuffle)
        except rules.Refused as refused:
            raise _of_line(number, moves, from_rules(refused, table.game.version)) from refused
        except Denied as denied:
            raise _of_line(number, moves, denied) from denied
        log.append(AppliedMove(seat, move, position, events, by_order))
    if any(event.kind == "missed" for event in log[0].events):
        require_first_miss(table, seat)
    return log


def _by_order(table: Table, line: AppliedMove) -> list[AppliedMove]:
    """Return the lines that standing orders add to the log after this one, out of turn. Changes nothing."""
    log: list[AppliedMove] = []
    if not can_intercept(table):
        return log
    shuffle = rules.Shuffler(bytes(table.started.round.secret)).shuffle
    while len(log) < MAX_ORDERS:
        play = standing_orders.next_play(table, line.position, after=line.seat, shuffle=shuffle)
        if play is None:
            break
        seat, move = play
        position, events = rules.apply(line.position, seat, move, table.options, shuffle)
        line = AppliedMove(seat, move, position, events, by_order=True)
        log.append(line)
    return log


def _of_line(number: int, moves: Sequence[rules.Move], denied: Denied) -> Denied:
    """Return the refusal of one of several plays that were sent together, with the sentence that says which."""
    if len(moves) == 1:
        return denied
    move = moves[number - 1]
    in_api = "Card {number} ({move}): {why} No card was played."  # as docs/api.md says
    message = ENGLISH.text("api", in_api, number=number, move=move, why=denied.message)

    def said(say: Say) -> str:
        card = rules.card_name(move.card or "", say)
        refused = say.text("refusal", "{card} was refused, so no card was played.", card=card)
        return " ".join((refused, denied.said(say)))

    return Denied(denied.code, said, message=message, rule=denied.rule, version=denied.version)


@dataclass(slots=True)
class _Changes:
    """What the moves of one `commit` have changed: the numbers of seats whose rows and hand rows are to be saved.

    `lost` are the numbers of the seats that lost their hands. `without_orders` are the seats whose orders for their own
    turn have ended.
    """

    seats: set[int] = field(default_factory=set)
    hands: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    without_orders: list[Seat] = field(default_factory=list)
    new_turn: bool = False


def _advance(table: Table, line: AppliedMove, changes: _Changes, now: datetime) -> None:
    """Put the position after a line into `table`, and what is due after it."""
    game, started = table.game, table.started
    exposed = {event.seat for event in line.events if event.kind == "uno_due"}
    new_turn = rules.ends_turn(started.position, line.seat, line.move, line.position, table.options)
    game.version += 1
    due = schedule(table, line.position, new_turn=new_turn, now=now)
    kinds = {event.kind for event in line.events}
    changes.without_orders += standing_orders.end_turn_orders(table, started.position, line.position, line.events)
    times = bot_times(
        table,
        line.position,
        now,
        exposed=exposed,
        card_played="played" in kinds,
        orders_at=_orders_at(table, line, now, new_turn=new_turn),
        penalty=is_penalty(kinds),
    )
    set_bot_times(game, times)
    set_clock(game, due.clock)
    if due.banked is not None:
        changes.seats.add(due.banked.index)
    changes.hands |= _change_windows(table, line.position, exposed, moment_of(game, now))
    changes.new_turn |= new_turn
    if "knocked_out" in kinds:
        for seat, faces in rules.lost_hands(started.position, line.events, table.options).items():
            hand = started.hands[seat]
            hand.lost, hand.lost_side = list(faces), started.position.extra.side or ""
            changes.lost.add(seat)
    started.position = line.position


def _orders_at(table: Table, line: AppliedMove, now: datetime, *, new_turn: bool) -> datetime | None:
    """Return when the orders of the player who is on turn after a line play; None if they do not.

    In a turn that goes on they keep their time, until its player makes a move of the turn or stops them.
    """
    before = table.game.orders_at
    if not new_turn and (before is None or line.move.kind in rules.TURN_MOVES):
        return None
    at = orders_time(table, line.position, now)
    return at if at is None or new_turn else before


def _count_misses(seat: Seat, move: rules.Move) -> bool:
    """Count a turn that the clock played, or reset the count at a move of the player (CLOCK-3).

    :returns: whether the count changed.
    """
    before = seat.misses
    if not move.clock:
        seat.misses = 0
    elif rules.KINDS[move.kind].of_turn:
        seat.misses += 1
    return seat.misses != before


def _change_windows(table: Table, position: rules.Position, exposed: Collection[int], moment: datetime) -> set[int]:
    """Open and close callout windows in the hand rows; return the seats whose rows changed.

    The windows of the seats in `exposed` open now and get the full time (CLOCK-2).
    """
    window = moment + timedelta(seconds=table.game.terms.callout)
    changed = set()
    for n, hand in enumerate(table.started.hands):
        until = None
        if n in position.exposed:
            until = window if n in exposed else hand.callout_until or window
        if until != hand.callout_until:
            hand.callout_until = until
            changed.add(n)
    return changed


def _assigned(columns: Iterable[str]) -> str:
    return ", ".join(f"{column} = %s" for column in columns)


_GAME_COLUMNS: Final = ("version", *BOT_FIELDS, *CLOCK_FIELDS)
_INSERT_MOVE: Final = """
INSERT INTO games_move (game_id, round_id, n, seat, text, at, events, token, further, by_bot, by_order)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_UPDATE_ROUND: Final = f"UPDATE games_round SET {_assigned(POSITION_COLUMNS)} WHERE id = %s"  # noqa: S608  # our columns
_UPDATE_HAND: Final = "UPDATE games_hand SET callout_until = %s WHERE id = %s"
_SAVE_LOST_HAND: Final = "UPDATE games_hand SET lost = %s, lost_side = %s WHERE id = %s"
_UPDATE_ORDERS: Final = "UPDATE games_seat SET orders = %s WHERE id = %s"
_UPDATE_SEAT: Final = "UPDATE games_seat SET bank = %s, misses = %s WHERE id = %s"
_UPDATE_GAME: Final = f"UPDATE games_game SET revision = revision + 1, {_assigned(_GAME_COLUMNS)} WHERE id = %s"  # noqa: S608  # our columns


def _save(
    table: Table, changes: _Changes, *, log: Sequence[AppliedMove], now: datetime, token: str | None, further: int
) -> None:
    """Write the rows of `table`, which has the changes already, and the lines of the log in one round trip.

    :param further: how many lines after the first were sent with it.
    """
    game, round_ = table.game, table.started.round
    first = game.version - len(log) + 1
    columns = position_columns(table.started.position)
    for name, value in columns.items():
        setattr(round_, name, value)
    with pipelined_cursor() as cursor:
        for n, line in enumerate(log, first):
            once, more = (token, further) if n == first and token is not None else (None, 0)
            events = json.dumps([event.to_json() for event in line.events])
            by_bot = table.seats[line.seat].held_for_owner and line.move.kind != "leave" and not line.by_order
            row = (game.pk, round_.pk, n, line.seat, str(line.move), now, events, once, more, by_bot, line.by_order)
            cursor.execute(_INSERT_MOVE, row)
        for name in JSON_COLUMNS:
            columns[name] = None if columns[name] is None else json.dumps(columns[name])
        cursor.execute(_UPDATE_ROUND, [*columns.values(), round_.pk])
        for n in sorted(changes.hands):
            hand = table.started.hands[n]
            cursor.execute(_UPDATE_HAND, [hand.callout_until, hand.pk])
        for hand in (table.started.hands[n] for n in sorted(changes.lost)):
            cursor.execute(_SAVE_LOST_HAND, [hand.lost, hand.lost_side, hand.pk])
        for its in (table.seats[n] for n in sorted(changes.seats)):
            cursor.execute(_UPDATE_SEAT, [its.bank, its.misses, its.pk])
        for its in changes.without_orders:
            cursor.execute(_UPDATE_ORDERS, [json.dumps(its.orders), its.pk])
        cursor.execute(_UPDATE_GAME, [*(getattr(game, name) for name in _GAME_COLUMNS), game.pk])
