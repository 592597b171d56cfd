"""Save moves. People, bots and the clock all use `commit`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from common.fixed_sql import pipelined_cursor
from games import announce, rules
from games.actions import rounds, seating
from games.clocks.turn_clock import CLOCK_FIELDS, Due, moment_of, schedule, set_clock
from games.models import Game, Hand, Seat
from games.models.positions import JSON_COLUMNS, POSITION_COLUMNS, position_columns
from games.notices import player_notices
from games.queries import Table
from games.refusals import from_rules

MAX_MOVES: Final = 100_000
"""The most moves of a game. People make a few thousand at most; the bound protects code that reads a whole log."""

Line = tuple[str, list[dict[str, object]]]
"""A line of the log: the text of a move (docs/notation.md) and its events as JSON."""


def commit(
    table: Table,
    seat: int,
    moves: Sequence[rules.Move],
    *,
    now: datetime,
    token: str | None = None,
    wake: bool = True,
    by_person: bool = True,
) -> None:
    """Apply and save one or more moves of a seat, and update `table` to match. The caller holds the game's lock.

    :param token: the request's idempotency token, stored with the first move.
    :param wake: whether to ask the worker to play bots that are due afterwards.
    :param by_person: whether the player of the seat chose the moves and so has seen the table. Ignored for moves of the
        clock.
    :raises Denied: a refusal of the rules. Nothing is saved.
    """
    before, (position, log, happened) = table.started.position, _applied(table, seat, moves)
    exposed = {event.seat for event in happened if event.kind == "uno_due"}
    new_turn = rules.ends_turn(before, seat, moves[-1], position, table.options)
    counted = _count_misses(table.seats[seat], moves[-1])
    due = schedule(table, position, new_turn=new_turn, exposed=exposed, now=now)
    changed = _changed_windows(table, position, exposed, moment_of(table.game, now))
    table.started.position = position
    _save(table, changed, due, counted, seat=seat, log=log, now=now, token=token)
    left = moves[-1].kind == "leave"
    if left:
        table.seats[seat].left = True
        Seat.objects.filter(pk=table.seats[seat].pk).update(left=True)
    ended = rules.outcome(position)
    if ended is not None:
        rounds.finish(table, ended, now=now)
    if table.game.version >= MAX_MOVES and table.game.status == Game.Status.PLAYING:
        rounds.call_off(table.game, now=now)
        player_notices.closed(
            table, f"This game was called off because it reached the limit of {MAX_MOVES:,} moves.", now=now
        )
    if left:
        seating.voters_changed(table, now=now)
    own = by_person and not moves[-1].clock
    player_notices.move(table, happened, seat=seat, own=own, new_turn=new_turn, now=now)
    announce.after_commit(table.game, wake=wake)


def _applied(
    table: Table, seat: int, moves: Sequence[rules.Move]
) -> tuple[rules.Position, list[Line], list[rules.Event]]:
    """Return the position after these moves, their lines for the log, and all their events. Changes nothing.

    :raises Denied: a refusal of the rules.
    """
    round_, position = table.started.round, table.started.position
    shuffle = rules.Shuffler(bytes(round_.secret)).shuffle
    log: list[Line] = []
    happened: list[rules.Event] = []
    played = rules.replay(position, [(seat, move) for move in moves], table.options, shuffle)
    try:
        for move, (after, events) in zip(moves, played, strict=True):
            position = after
            log.append((str(move), [event.to_json() for event in events]))
            happened.extend(events)
    except rules.Refused as refused:
        raise from_rules(refused, table.game.version) from refused
    return position, log, happened


def _count_misses(seat: Seat, move: rules.Move) -> Seat | None:
    """Count a turn that the clock played, or reset the count at a move of the player (CLOCK-3).

    :returns: the seat if its count changed, else None.
    """
    before = seat.misses
    if not move.clock:
        seat.misses = 0
    elif rules.KINDS[move.kind].of_turn:
        seat.misses += 1
    return None if seat.misses == before else seat


def _changed_windows(table: Table, position: rules.Position, exposed: Collection[int], moment: datetime) -> list[Hand]:
    """Open and close callout windows in the hand rows; return the rows that changed.

    The windows of the seats in `exposed` open now and get the full time (CLOCK-2).
    """
    hands = table.started.hands
    window = moment + timedelta(seconds=table.game.terms.callout)
    changed = []
    for n, hand in enumerate(hands):
        until = None
        if n in position.exposed:
            until = window if n in exposed else hand.callout_until or window
        if until != hand.callout_until:
            hand.callout_until = until
            changed.append(hand)
    return changed


def _assigned(columns: Iterable[str]) -> str:
    return ", ".join(f"{column} = %s" for column in columns)


_GAME_COLUMNS: Final = ("version", "wake_at", *CLOCK_FIELDS)
_INSERT_MOVE: Final = """
INSERT INTO games_move (game_id, round_id, n, seat, text, at, events, token, by_bot)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_UPDATE_ROUND: Final = f"UPDATE games_round SET {_assigned(POSITION_COLUMNS)} WHERE id = %s"  # noqa: S608  # our columns
_UPDATE_HAND: Final = "UPDATE games_hand SET callout_until = %s WHERE id = %s"
_UPDATE_SEAT: Final = "UPDATE games_seat SET bank = %s, misses = %s WHERE id = %s"
_UPDATE_GAME: Final = f"UPDATE games_game SET {_assigned(_GAME_COLUMNS)} WHERE id = %s"  # noqa: S608  # our columns


def _save(
    table: Table,
    changed: Sequence[Hand],
    due: Due,
    counted: Seat | None,
    *,
    seat: int,
    log: Sequence[Line],
    now: datetime,
    token: str | None,
) -> None:
    """Update the rows of `table`, and write them and the lines of the log in one round trip.

    :param counted: the seat whose count of missed turns changed, if any.
    """
    game, round_, position = table.game, table.started.round, table.started.position
    by_bot = table.seats[seat].held_for_owner and log[-1][0] != "leave"
    first = game.version + 1
    game.version += len(log)
    game.wake_at = due.wake_at
    set_clock(game, due.clock)
    columns = position_columns(position)
    for name, value in columns.items():
        setattr(round_, name, value)
    seats = {one.pk: one for one in (due.banked, counted) if one is not None}
    with pipelined_cursor() as cursor:
        for n, (text, events) in enumerate(log, first):
            once = token if n == first else None
            line = (game.pk, round_.pk, n, seat, text, now, json.dumps(events), once, by_bot)
            cursor.execute(_INSERT_MOVE, line)
        for name in JSON_COLUMNS:
            columns[name] = None if columns[name] is None else json.dumps(columns[name])
        cursor.execute(_UPDATE_ROUND, [*columns.values(), round_.pk])
        for hand in changed:
            cursor.execute(_UPDATE_HAND, [hand.callout_until, hand.pk])
        for pk, its in seats.items():
            cursor.execute(_UPDATE_SEAT, [its.bank, its.misses, pk])
        cursor.execute(_UPDATE_GAME, [*(getattr(game, name) for name in _GAME_COLUMNS), game.pk])
